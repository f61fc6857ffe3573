//! What the f64 reference expects a Frame to show, computed from the very factors that the engine
//! gets: where singular values tie, other factors would be just as valid and give other numbers.

use attnscope_attention::compare::{Comparison, Tolerance, compare};
use attnscope_attention::layer::{Biases, Layer, Output, Tensor};
use attnscope_attention::output::layer_output;
use attnscope_attention::project::{Projected, project};
use attnscope_attention::reference::{Head, Map};
use attnscope_engine::{Engine, Frame, MapView, OutputMatrix, Pool, ReadResults};
use attnscope_engine_gpu::GpuEngine;
use attnscope_scene::Quantity;

/// Numbers under a name.
pub type Named<T> = Vec<(&'static str, Vec<T>)>;

/// A Frame and its expected results.
pub struct Check {
    pub name: String,
    pub frame: Frame,
    want: Named<f64>,
}

impl Check {
    /// Computes with the reference everything that `frame` shows.
    pub fn new(name: impl Into<String>, frame: Frame) -> Self {
        Self {
            name: name.into(),
            want: wanted(&frame),
            frame,
        }
    }

    /// Compares it with what the engine shows.
    pub fn judge(&self, engine: &mut GpuEngine) -> Vec<Comparison> {
        let seen = seen(engine, &self.frame);
        assert_eq!(seen.len(), self.want.len());
        seen.iter()
            .zip(&self.want)
            .map(|((what, got), (_, want))| {
                let what = format!("{} {what}", self.name);
                let found = compare(what.clone(), got, want, Tolerance::ENGINE);
                if found.is_equal() {
                    return found;
                }
                let tolerance = Tolerance::ENGINE.with_spread(spread(&self.frame));
                compare(what, got, want, tolerance)
            })
            .collect()
    }
}

/// R of SPEC 7 over all heads of `frame`.
pub fn spread(frame: &Frame) -> f64 {
    (0..frame.layer.heads)
        .map(|number| head(frame, number).score_spread())
        .fold(0.0, f64::max)
}

/// The head of `frame`, with the score of its factors if it has any.
pub fn head(frame: &Frame, head: usize) -> Head {
    let (layer, mut config) = (&frame.layer, frame.config.clone());
    let (Some(rank), Some(factors)) = (config.score_rank, &frame.score_factors) else {
        return Head::new(layer, &config, &frame.biases, head).unwrap();
    };
    // The first columns of q̃ and k̃ as queries and keys, padded with zeros. P_K is in them, and
    // the row that all keys have in common comes after them.
    let (width, dim) = (factors.q.shape[2], layer.head_dim);
    let cut = |tensor: &Tensor| {
        let mut rows = vec![0.0; layer.seq_len * dim];
        for (to, from) in rows
            .chunks_exact_mut(dim)
            .zip(tensor.outer(head).chunks_exact(width))
        {
            for (to, &from) in to.iter_mut().zip(from).take(rank as usize) {
                *to = f64::from(from);
            }
        }
        rows
    };
    let mut k = cut(&factors.k);
    let common = &factors.k.outer(head)[layer.seq_len * width..];
    for row in k.chunks_exact_mut(dim) {
        for (k, &c) in row.iter_mut().zip(common).take(rank as usize) {
            *k += f64::from(c);
        }
    }
    let projected = Projected {
        q: cut(&factors.q),
        k,
        v: project(layer, head).v,
    };
    config.score_rank = None;
    let biases = Biases {
        p_k: None,
        ..frame.biases.clone()
    };
    Head::from_projected(layer, &projected, &config, &biases, head).unwrap()
}

/// W_1 cut to `rank` rows and W_2 to as many columns, as a layer with these factors.
fn cut(layer: &Layer, w_1: &Tensor, w_2: &Tensor, rank: usize) -> Layer {
    let (all, d) = (w_1.shape[0], w_1.shape[1]);
    let rank = rank.min(all);
    let columns: Vec<f32> = w_2
        .data
        .chunks_exact(all)
        .flat_map(|row| &row[..rank])
        .copied()
        .collect();
    let bias = match &layer.output {
        Output::Full(linear) => linear.bias.clone(),
        _ => None,
    };
    Layer {
        output: Output::Factors {
            w_1: Tensor::new(&[rank, d], &w_1.data[..rank * d]).unwrap(),
            w_2: Tensor::new(&[d, rank], columns).unwrap(),
            bias,
        },
        ..layer.clone()
    }
}

/// O `[L, d]`, Y, Y at the output rank, ‖T_c‖² and ‖Y‖², as far as the layer has them.
fn outputs(frame: &Frame) -> Named<f64> {
    let layer = &frame.layer;
    let (l, n, d) = (layer.seq_len, layer.head_dim, layer.model_dim());
    let o: Vec<f64> = (0..layer.heads)
        .flat_map(|h| head(frame, h).output().unwrap())
        .collect();
    let flat: Vec<f64> = (0..l * d)
        .map(|at| o[((at % d / n) * l + at / d) * n + at % n])
        .collect();
    let mut config = frame.config.clone();
    let rank = config.out_rank.take();
    let y = layer_output(layer, &config, &o, None).unwrap();
    let square = |of: &[f64]| of.iter().map(|v| v * v).sum::<f64>();
    let factors = match (&layer.output, &frame.out_factors) {
        (Output::Factors { w_1, w_2, .. }, _) => Some((w_1, w_2)),
        (_, Some(factors)) => Some((&factors.w_1, &factors.w_2)),
        _ => None,
    };
    let energies = factors.map_or_else(Vec::new, |(w_1, _)| {
        w_1.data
            .chunks_exact(d)
            .map(|row| {
                let component = flat.chunks_exact(d).map(|o| {
                    let terms = o.iter().zip(row).map(|(o, &w)| o * f64::from(w));
                    terms.sum::<f64>()
                });
                square(&component.collect::<Vec<_>>())
            })
            .collect()
    });
    let energy = square(&y);
    let mut all = vec![("O", flat), ("Y", y)];
    if let (Some(rank), Some((w_1, w_2)), Output::Full(_)) = (rank, factors, &layer.output) {
        let low = cut(layer, w_1, w_2, rank as usize);
        all.push((
            "Y at the rank",
            layer_output(&low, &config, &o, None).unwrap(),
        ));
    }
    all.push(("component energies", energies));
    all.push(("energy of Y", vec![energy]));
    all
}

/// Values, visible shares and range of `view`.
fn texels(map: &Map, len: usize, view: &MapView) -> Named<f64> {
    let of = match view.quantity {
        Quantity::Weights => &map.weights,
        Quantity::Score => &map.score,
    };
    let rect = view.rect;
    let edge = |first: u32, cells: u32, texels: u32, at: u32| {
        (first + (u64::from(at) * u64::from(cells) / u64::from(texels)) as u32) as usize
    };
    let (mut values, mut shares, mut range) = (Vec::new(), Vec::new(), Vec::<f64>::new());
    for y in 0..view.texel_rows {
        for x in 0..view.texel_cols {
            let rows = edge(rect.row, rect.rows, view.texel_rows, y)
                ..edge(rect.row, rect.rows, view.texel_rows, y + 1);
            let cols = edge(rect.col, rect.cols, view.texel_cols, x)
                ..edge(rect.col, rect.cols, view.texel_cols, x + 1);
            let cells = rows.len() * cols.len();
            let seen: Vec<f64> = rows
                .flat_map(|i| cols.clone().map(move |j| i * len + j))
                // A fully masked row that gets the mean has weights although it sees nothing.
                .filter(|&at| {
                    let mean = view.quantity == Quantity::Weights && map.weights[at] != 0.0;
                    map.visible[at] || mean
                })
                .map(|at| of[at])
                .collect();
            let value = match view.pool {
                Pool::Max => seen
                    .iter()
                    .copied()
                    .fold(0.0f64, |a, b| if b.abs() > a.abs() { b } else { a }),
                Pool::Mean => seen.iter().sum::<f64>() / seen.len().max(1) as f64,
            };
            if !seen.is_empty() {
                range.push(value);
            }
            values.push(value);
            shares.push(seen.len() as f64 / cells as f64);
        }
    }
    let ends = range.iter().copied().reduce(f64::min);
    let ends = ends.zip(range.iter().copied().reduce(f64::max));
    let name = match view.quantity {
        Quantity::Weights => "A",
        Quantity::Score => "r",
    };
    vec![
        (name, values),
        ("visible", shares),
        ("range", ends.map_or_else(Vec::new, |(a, b)| vec![a, b])),
    ]
}

/// Everything that `frame` shows, from the reference.
pub fn wanted(frame: &Frame) -> Named<f64> {
    let mut all = Vec::new();
    if let Some(view) = &frame.map {
        let map = head(frame, view.head as usize).map();
        all.extend(texels(&map, frame.layer.seq_len, view));
    }
    if frame.output.is_some() {
        all.extend(outputs(frame));
    }
    all
}

/// Everything that `frame` shows, from the engine.
pub fn seen(engine: &mut GpuEngine, frame: &Frame) -> Named<f32> {
    engine.draw(frame).unwrap();
    engine.finish();
    // All copies start before the first is awaited.
    let map = frame.map.as_ref().map(|_| engine.read_map());
    let report = engine.report();
    let mut matrices = Vec::new();
    if frame.output.is_some() {
        matrices.push(("O", engine.read_matrix(OutputMatrix::Heads)));
        matrices.push(("Y", engine.read_matrix(OutputMatrix::Full)));
        if frame.out_factors.is_some() {
            matrices.push(("Y at the rank", engine.read_matrix(OutputMatrix::LowRank)));
        }
    }
    let mut all = Vec::new();
    let report = engine.block_on(report).unwrap();
    if let (Some(map), Some(view)) = (map, &frame.map) {
        let map = engine.block_on(map).unwrap();
        let name = match view.quantity {
            Quantity::Weights => "A",
            Quantity::Score => "r",
        };
        let range = report.map_range.map_or_else(Vec::new, |r| vec![r.0, r.1]);
        all.extend([
            (name, map.values),
            ("visible", map.visible),
            ("range", range),
        ]);
    }
    for (name, matrix) in matrices {
        all.push((name, engine.block_on(matrix).unwrap()));
    }
    if frame.output.is_some() {
        all.push(("component energies", report.component_energy));
        all.push(("energy of Y", vec![report.output_energy]));
    }
    all
}
