//! How the CPU computes each pass of the table in `attnscope-engine`, and q, k and v, which have no
//! module of their own.

use attnscope_attention::layer::Input;
use attnscope_engine::Part;
use attnscope_engine::centring::{centred_rows, common_output, common_row};
use attnscope_engine::passes::Pass;
use attnscope_engine::steps::{Job, Step};

use super::engine::{CpuEngine, Shown};
use super::tile::{Matrix, linear};

/// Does a job, or as much of it as the remaining multiply-adds allow; returns whether it is done.
pub(super) type Compute = fn(&mut CpuEngine, &Shown, Job, &mut i64) -> bool;

/// How the CPU computes `pass`; `None` for a pass computed inside the passes that read it: tensors
/// are used in place, k', v' and normalisers are computed with their rows.
pub(super) fn function(pass: Pass) -> Option<Compute> {
    Some(match pass {
        Pass::Layer
        | Pass::ScoreFactors
        | Pass::ScoreBias
        | Pass::KeyBias
        | Pass::ValueBias
        | Pass::Stats => return None,
        Pass::Query | Pass::Key | Pass::Value => CpuEngine::project,
        Pass::Map => CpuEngine::map,
        Pass::Strip => CpuEngine::small_map,
        Pass::HeadOutput => CpuEngine::attend,
        Pass::Components => CpuEngine::components,
        Pass::LayerOutput => CpuEngine::full,
        Pass::Energy => CpuEngine::energy,
        Pass::PartialSum => CpuEngine::partial,
        Pass::LowRankOutput => CpuEngine::low_rank,
        Pass::FullTexels | Pass::LowTexels => CpuEngine::output_texels,
        Pass::DrawMap => CpuEngine::draw_map,
        Pass::DrawStrip => CpuEngine::draw_strip_later,
        Pass::DrawOutput => CpuEngine::draw_output,
    })
}

/// Whether `pass` has steps on the CPU.
pub(super) fn computes(pass: Pass) -> bool {
    function(pass).is_some()
}

/// The cost of a completed step, if it was not subtracted during the work.
pub(super) fn taken_after(step: Step) -> i64 {
    match step.job.pass {
        Pass::Map | Pass::Strip => 0,
        _ => step.cost as i64,
    }
}

impl CpuEngine {
    /// Small maps that are done in one part are drawn together.
    fn draw_strip_later(&mut self, _: &Shown, _: Job, _: &mut i64) -> bool {
        self.strip_waits = true;
        true
    }

    /// Rows of q, k or v of one head. The common row was subtracted from the keys and follows them.
    fn project(&mut self, shown: &Shown, job: Job, _: &mut i64) -> bool {
        let (head, rows) = (job.unit as usize, job.rows);
        let part = match job.pass {
            Pass::Query => Part::Q,
            Pass::Key => Part::K,
            _ => Part::V,
        };
        let layer = &shown.frame.layer;
        let (len, dim) = (layer.seq_len, layer.head_dim);
        let to = &mut self.heads[part as usize][head];
        let given = match &layer.input {
            Input::Heads { q, k, v } => [q, k, v][part as usize].outer(head).to_vec(),
            Input::Hidden { x, w_q, w_k, w_v } => {
                let d = x.data.len() / len;
                let at = head * dim;
                if let Some(map) = [w_q, w_k, w_v][part as usize] {
                    let (common, centred) = &mut self.input;
                    if common.is_empty() {
                        *common = common_row(&x.data, d);
                        *centred = centred_rows(&x.data, common);
                    }
                    let moved = common_output(map, common, at..at + dim);
                    let of = |data| Matrix { data, stride: d };
                    let w = of(&map.weight.data[at * d..]);
                    // The bias adds the same to all keys.
                    let bias = (part != Part::K).then_some(&*moved);
                    let rows = rows.0 as usize..rows.1 as usize;
                    to.resize(len * dim, 0.0);
                    linear(of(centred), w, (dim, d), bias, rows.clone(), to);
                    if part == Part::K && rows.end == len {
                        to.extend(moved);
                    }
                    return true;
                }
                let row = |row: &[f32]| row[at..at + dim].to_vec();
                x.data.chunks_exact(d).flat_map(row).collect()
            }
        };
        *to = given;
        if part == Part::K {
            let common = common_row(to, dim);
            *to = centred_rows(to, &common);
            to.extend(common);
        }
        true
    }
}
