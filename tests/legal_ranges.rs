//! Random layers whose parameters are drawn from everything that a link may ask for, and products of
//! the ends of their ranges, through both engines against the f64 reference (SPEC 7).
//!
//! `ATTNSCOPE_CASES=50000` judges so many, `ATTNSCOPE_SEED=7` draws others.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::Arc;

use attnscope_attention::bias::Numbers;
use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::layer::ScoreBias;
use attnscope_attention::low_rank;
use attnscope_attention::visibility::Visibility;
use attnscope_engine::{Engine, Frame, OutputMatrix};
use attnscope_engine_cpu::CpuEngine;
use attnscope_scene::resolve::Sizes;
use attnscope_scene::sanitize::range;
use attnscope_scene::{BiasShape, Mechanism, Quantity, Scale, Scene};
use support::random::{cases, seed};
use support::recipe::Recipe;
use support::wanted::{head, spread};
use support::{matrix, output, read, whole_map};

/// Draws numbers of one case.
struct Draw(Numbers);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        (self.0.uniform() * count as f64) as usize
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn chance(&mut self, share: f64) -> bool {
        self.0.uniform() < share
    }

    /// A legal value of `key`: an end of its range one time in five, else even in its logarithm over
    /// six decades, with either sign where there is one.
    fn legal(&mut self, key: &str) -> f32 {
        let (min, max) = range(key);
        let size = if self.chance(0.2) {
            max
        } else {
            (max * 10f64.powf(-6.0 * self.0.uniform())).max(min.max(0.0))
        };
        let negative = min < 0.0 && self.chance(0.5);
        (if negative { -size } else { size }) as f32
    }

    fn maybe(&mut self, share: f64, key: &str) -> f32 {
        if self.chance(share) {
            self.legal(key)
        } else {
            0.0
        }
    }

    fn visibility(&mut self, seq_len: usize, dilated: bool) -> Visibility {
        let mut reach = || self.chance(0.5).then(|| self.below(seq_len + 3) as i32 - 2);
        let (left, right) = (reach(), reach());
        Visibility {
            causal: self.chance(0.3),
            left,
            right,
            dilation: if dilated { 2 + self.below(4) as u32 } else { 1 },
            sinks: if self.chance(0.3) {
                1 + self.below(4) as u32
            } else {
                0
            },
            globals: if self.chance(0.2) {
                1 + self.below(3) as u32
            } else {
                0
            },
            padding: if self.chance(0.1) {
                self.below(seq_len) as u32
            } else {
                0
            },
        }
    }

    /// Everything of a Scene that weights and outputs depend on, the mask aside.
    fn scene(&mut self, kind: usize) -> Scene {
        let mut scene = Scene {
            mechanism: Mechanism::Cjar,
            ..Scene::default()
        };
        if self.chance(0.5) {
            scene.scale = Scale::Free(self.legal("scale"));
        }
        let cjar = &mut scene.cjar;
        cjar.reading = [
            Reading::Softmax,
            Reading::Bias,
            Reading::Bias,
            Reading::Product,
        ][kind % 4];
        cjar.segment = (kind / 4)
            .is_multiple_of(3)
            .then(|| 1 + self.below(40) as u32);
        cjar.score_rank = (kind / 12)
            .is_multiple_of(4)
            .then(|| 1 + self.below(20) as u32);
        for (bias, key, each) in [
            (&mut cjar.p_k, "pk", "pk.position"),
            (&mut cjar.p_v, "pv", "pv"),
        ] {
            bias.per_position = self.chance(0.5);
            bias.amplitude = self.maybe(0.5, if bias.per_position { each } else { key });
            bias.shape = self.one(&[
                BiasShape::Normal,
                BiasShape::Xavier,
                BiasShape::Sinusoidal,
                BiasShape::OneHot,
            ]);
            bias.seed = self.below(1000) as u32;
        }
        let s = &mut cjar.s;
        s.amplitude = self.maybe(0.8, "s");
        s.slope = self.maybe(0.4, "s.slope");
        s.decay = self.maybe(0.4, "s.decay");
        s.wave = self.maybe(0.4, "s.wave");
        s.bump = self.maybe(0.5, "s.bump");
        s.period = self.legal("s.period");
        s.width = self.legal("s.width");
        s.at = self.below(60) as f32 - 30.0;
        s.dense = (kind / 48).is_multiple_of(4);
        let (legal, moved) = scene.clone().sanitize();
        assert!(moved.is_empty() && legal == scene, "{moved:?}");
        scene
    }
}

/// Case `at`: its Frame, and the link of its choices.
fn case(at: u64) -> (Frame, String) {
    let mut draw = Draw(Numbers::new(seed() as u32, at));
    // Few pipelines for few cases: making one costs as much as ten cases.
    let kinds = (cases() as usize / 20).clamp(24, 384);
    let kind = draw.below(kinds) * 43 % 384;
    let scene = draw.scene(kind);
    let seq_len = 1 + draw.below(48);
    let recipe = Recipe {
        seed: at as u32,
        heads: 1 + draw.below(2),
        seq_len,
        head_dim: draw.one(&[1, 3, 8, 16, 32, 32]),
        strength: draw.one(&[0.5, 1.0, 1.5]),
        hidden: (kind / 192 == 1).then_some(0.4),
        visibility: draw.visibility(seq_len, kind / 96 % 2 == 1),
        // r of all keys of a row is large, and its differences are not.
        k_common: if draw.chance(0.2) {
            10f32.powf(4.0 * draw.0.uniform() as f32).round()
        } else {
            0.0
        },
        ..Recipe::default()
    };
    let mut frame = recipe.frame();
    let sizes = Sizes::from(&*frame.layer);
    frame.config = scene.config(sizes);
    frame.config.visibility = recipe.visibility;
    frame.config.empty = if kind.is_multiple_of(7) {
        FullyMasked::Mean
    } else {
        FullyMasked::Zero
    };
    frame.biases = scene.biases(sizes);
    if frame.config.score_rank.is_some() {
        let factors = low_rank::score_factors(&frame.layer, &frame.biases).unwrap();
        frame.score_factors = Some(Arc::new(factors));
    }
    (frame, scene.to_fragment())
}

/// A of one head and O, as one engine gives them.
struct Given {
    engine: &'static str,
    a: Vec<f32>,
    o: Option<Vec<f32>>,
}

/// What is wrong with what the engines give, if anything.
fn judge(at: u64, frame: &Frame, link: &str, given: &[Given], number: usize) -> Option<String> {
    let reference = head(frame, number);
    let want = reference.map().weights;
    let (len, dim, d) = (
        frame.layer.seq_len,
        frame.layer.head_dim,
        frame.layer.model_dim(),
    );
    let mut wrong = Vec::new();
    let mut check = |what: String, got: &[f32], want: &[f64]| {
        let first = compare(what.clone(), got, want, Tolerance::ENGINE);
        if !first.is_equal() {
            let tolerance = Tolerance::ENGINE.with_spread(spread(frame));
            if let Err(why) = compare(what, got, want, tolerance).check() {
                wrong.push(why.to_string());
            }
        }
    };
    for Given { engine, a, o } in given {
        check(format!("{engine} A"), a, &want);
        if let Some(o) = o {
            let rows = |o: &[f32]| -> Vec<f32> {
                (0..len)
                    .flat_map(|i| &o[i * d + number * dim..][..dim])
                    .copied()
                    .collect()
            };
            check(
                format!("{engine} O"),
                &rows(o),
                &reference.output().unwrap(),
            );
        }
    }
    (!wrong.is_empty()).then(|| {
        format!(
            "case {at}: L {len}, d_h {dim}, scale {:.3e}, spread {:.3e}, {:?}\n  #{link}\n  {}",
            frame.config.scale,
            spread(frame),
            frame.config.visibility,
            wrong.join("\n  ")
        )
    })
}

#[test]
fn every_legal_parameter_through_both_engines() {
    let mut gpu = support::engine();
    let mut cpu = CpuEngine::default();
    let mut wrong = Vec::new();
    for at in 0..cases() / 2 {
        let (frame, link) = case(at);
        let number = at as usize % frame.layer.heads;
        let with_output = at % 3 == 0;
        let shown = Frame {
            map: Some(whole_map(&frame.layer, number, Quantity::Weights)),
            output: with_output.then(|| output(&frame.layer)),
            ..frame.clone()
        };
        let a = read(&mut gpu, &shown).values;
        let o = with_output.then(|| matrix(&mut gpu, &frame, OutputMatrix::Heads));
        cpu.draw(&shown).unwrap();
        let given = [
            Given {
                engine: "GPU",
                a,
                o,
            },
            Given {
                engine: "CPU",
                a: support::map(&mut cpu).values,
                o: with_output.then(|| support::drawn_matrix(&mut cpu, OutputMatrix::Heads)),
            },
        ];
        wrong.extend(judge(at, &frame, &link, &given, number));
        if wrong.len() >= 20 {
            break;
        }
    }
    assert!(gpu.take_fault().is_none());
    assert!(gpu.lost().is_none());
    println!("{} layers", cases() / 2);
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The first rows of a long text under a slope: keys at the other end have an s of 65,000, and weights
/// that r decides.
#[test]
fn a_slope_over_a_long_text() {
    let mut scene = Scene {
        mechanism: Mechanism::Cjar,
        ..Scene::default()
    };
    (
        scene.cjar.s.amplitude,
        scene.cjar.s.slope,
        scene.cjar.s.decay,
    ) = (1.0, 32.0, 0.0);
    let recipe = Recipe {
        seq_len: 2048,
        head_dim: 16,
        heads: 1,
        ..Recipe::default()
    };
    let mut frame = recipe.frame();
    frame.config.reading = Reading::Bias;
    // Pairs of keys share their s, so that r decides between them.
    let Some(ScoreBias::Curve { table, common }) = scene.biases(Sizes::from(&*frame.layer)).s
    else {
        panic!("a curve");
    };
    let table = (0..table.len()).map(|at| table[at / 2 * 2]).collect();
    frame.biases.s = Some(ScoreBias::Curve { table, common });
    let reference = head(&frame, 0);
    let rows = 8;
    let want: Vec<f64> = (0..rows).flat_map(|i| reference.row(i).weights).collect();
    let shared = want.iter().filter(|&&a| a > 0.05 && a < 0.95).count();
    assert!(shared >= rows, "r decides nothing: {shared}");
    let len = recipe.seq_len as u32;
    let mut map = whole_map(&frame.layer, 0, Quantity::Weights);
    (map.rect.rows, map.texel_rows) = (rows as u32, rows as u32);
    (map.rect.cols, map.texel_cols) = (len, len);
    frame.map = Some(map);
    let gpu = read(&mut support::engine(), &frame).values;
    compare("GPU", &gpu, &want, Tolerance::ENGINE).assert();
    let mut cpu = CpuEngine::default();
    cpu.draw(&frame).unwrap();
    compare(
        "CPU",
        &support::map(&mut cpu).values,
        &want,
        Tolerance::ENGINE,
    )
    .assert();
}
