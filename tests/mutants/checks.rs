//! The checks that wrong kernels must fail: golden cases, layers by recipe, drawn pictures
//! (`pictures.rs`).

use attnscope_attention::compare::Comparison;
use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::layer::{ScoreBias, Tensor};
use attnscope_attention::visibility::Visibility;
use attnscope_data::folder;
use attnscope_engine::{Frame, MapView, Pool};
use attnscope_engine_gpu::GpuEngine;
use attnscope_scene::{Quantity, Rect};

use crate::support::recipe::{Auxiliary, Position, Projection, Recipe, Source};
use crate::support::wanted::Check;
use crate::support::{frame, judge_frame, output, whole_map};

use super::pictures::pictures;

type Run = dyn Fn(&mut GpuEngine) -> Vec<Comparison>;

/// A named judgement.
pub struct Judge {
    pub name: String,
    pub run: Box<Run>,
}

/// Every check: first the golden cases, the long ones last.
pub fn all() -> Vec<Judge> {
    let mut cases = folder::cases(&folder::own_golden()).expect("golden cases");
    cases.sort_by_key(|case| case.layer.seq_len > 200);
    let long = cases.partition_point(|case| case.layer.seq_len <= 200);
    let mut all: Vec<Judge> = cases
        .into_iter()
        .map(|case| {
            let frame = frame(&case);
            Judge {
                name: case.name.clone(),
                run: Box::new(move |engine| judge_frame(engine, &case, &frame)),
            }
        })
        .collect();
    let extra = layers().into_iter().chain(views()).map(|(name, frame)| {
        let check = Check::new(name, frame);
        Judge {
            name: name.to_owned(),
            run: Box::new(move |engine| check.judge(engine)),
        }
    });
    all.splice(long..long, extra.chain(pictures()));
    all
}

/// All of `recipe` on screen: the map of its last head, and the output.
pub fn shown(recipe: &Recipe) -> Frame {
    let frame = recipe.frame();
    Frame {
        map: Some(whole_map(&frame.layer, recipe.heads - 1, Quantity::Weights)),
        output: Some(output(&frame.layer)),
        ..frame
    }
}

/// As [`shown`], with another view of the map and no output.
pub fn viewed(recipe: &Recipe, edit: impl Fn(&mut MapView)) -> Frame {
    let mut frame = shown(recipe);
    frame.output = None;
    if let Some(map) = &mut frame.map {
        edit(map);
    }
    frame
}

pub fn window(left: i32, right: i32) -> Visibility {
    Visibility {
        left: Some(left),
        right: Some(right),
        ..Visibility::default()
    }
}

/// `frame` with an s of its own for every head, by query and key.
fn with_s(mut frame: Frame, s: impl Fn(usize, usize) -> f32) -> Frame {
    let (heads, len) = (frame.layer.heads, frame.layer.seq_len);
    let cells = (0..heads * len * len).map(|at| s(at / len % len, at % len));
    frame.biases.s = Some(ScoreBias::Dense(Tensor {
        shape: vec![heads, len, len],
        data: cells.collect(),
    }));
    frame
}

/// What the golden cases do not have.
#[allow(clippy::too_many_lines)] // A table of recipes reads better whole.
fn layers() -> Vec<(&'static str, Frame)> {
    let plain = Recipe::default;
    let each = |amplitude| {
        Some(Position {
            each: true,
            amplitude,
        })
    };
    // The token itself is seen as a sink only.
    let causal = Visibility {
        causal: true,
        sinks: 1,
        globals: 6,
        ..window(3, -1)
    };
    let projected = Recipe {
        heads: 3,
        head_dim: 5,
        source: Source::Hidden {
            weights: [true; 3],
            bias: true,
        },
        output: Projection::Ranked {
            rank: 6,
            bias: true,
        },
        ..plain()
    };
    let large_s = || Recipe {
        reading: Reading::Bias,
        s: Some(Auxiliary::Dense(1.0)),
        ..plain()
    };
    vec![
        (
            "common-s",
            shown(&Recipe {
                s_common: 1.0e6,
                ..large_s()
            }),
        ),
        (
            // Keys that no row sees have a large s.
            "hidden-large-s",
            with_s(
                shown(&Recipe {
                    visibility: Visibility {
                        causal: true,
                        ..Visibility::default()
                    },
                    ..large_s()
                }),
                |i, j| if j > i { 1.0e7 } else { 0.0 },
            ),
        ),
        (
            "segments-of-large-s",
            with_s(
                shown(&Recipe {
                    segment: Some(5),
                    ..large_s()
                }),
                |_, j| [0.0, 1.0e7, 0.0][j / 5 % 3],
            ),
        ),
        (
            "short-segments-of-large-s",
            with_s(
                shown(&Recipe {
                    seq_len: 134,
                    head_dim: 4,
                    visibility: window(9, 5),
                    segment: Some(2),
                    ..large_s()
                }),
                |_, j| [0.0, 1.0e7, 0.0][j / 2 % 3],
            ),
        ),
        (
            "curve",
            shown(&Recipe {
                reading: Reading::Bias,
                s: Some(Auxiliary::Curve(1.0)),
                ..plain()
            }),
        ),
        (
            "amplitudes",
            shown(&Recipe {
                p_k: each(0.5),
                p_v: each(-1.5),
                ..plain()
            }),
        ),
        (
            // 67 segments are more than are stored.
            "short-segments",
            shown(&Recipe {
                seq_len: 134,
                head_dim: 4,
                visibility: window(9, 5),
                segment: Some(2),
                ..plain()
            }),
        ),
        (
            "causal-globals",
            shown(&Recipe {
                visibility: causal,
                ..plain()
            }),
        ),
        (
            "masked-70",
            shown(&Recipe {
                seq_len: 70,
                hidden: Some(0.5),
                ..plain()
            }),
        ),
        (
            // d is whole vec4s and d_h is not: O has no padding to hide an overrun.
            "heads-of-five",
            shown(&Recipe {
                heads: 4,
                head_dim: 5,
                ..plain()
            }),
        ),
        ("projected", shown(&projected)),
        (
            // The first six rows see nothing.
            "empty-mean",
            shown(&Recipe {
                visibility: window(8, -6),
                empty: FullyMasked::Mean,
                ..plain()
            }),
        ),
        (
            "padded",
            shown(&Recipe {
                visibility: Visibility {
                    padding: 4,
                    globals: 1,
                    ..window(3, 2)
                },
                ..plain()
            }),
        ),
        (
            "given-70",
            shown(&Recipe {
                seq_len: 70,
                output: Projection::Given {
                    rank: 5,
                    bias: true,
                },
                ..plain()
            }),
        ),
    ]
}

/// Scores, rectangles and pooled maps.
fn views() -> Vec<(&'static str, Frame)> {
    let signed = || Recipe {
        seq_len: 21,
        reading: Reading::Product,
        s: Some(Auxiliary::Curve(1.0)),
        ..Recipe::default()
    };
    let masked = || Recipe {
        seq_len: 22,
        visibility: Visibility {
            dilation: 2,
            ..window(7, -1)
        },
        hidden: Some(0.3),
        ..Recipe::default()
    };
    let kept = || Recipe {
        seq_len: 33,
        visibility: Visibility {
            sinks: 7,
            globals: 2,
            ..window(2, 0)
        },
        ..Recipe::default()
    };
    let blind = || Recipe {
        seq_len: 22,
        visibility: window(-12, 15),
        empty: FullyMasked::Mean,
        ..Recipe::default()
    };
    vec![
        (
            "score",
            viewed(&masked(), |map| map.quantity = Quantity::Score),
        ),
        (
            "score-common-keys",
            viewed(
                &Recipe {
                    k_common: 100.0,
                    ..Recipe::default()
                },
                |map| map.quantity = Quantity::Score,
            ),
        ),
        (
            "rectangle",
            viewed(&signed(), |map| {
                map.rect = Rect {
                    row: 5,
                    col: 3,
                    rows: 12,
                    cols: 7,
                };
                (map.texel_rows, map.texel_cols) = (12, 7);
            }),
        ),
        (
            "pooled-signed",
            viewed(&signed(), |map| (map.texel_rows, map.texel_cols) = (7, 5)),
        ),
        (
            "pooled-mean",
            viewed(&masked(), |map| {
                (map.texel_rows, map.texel_cols) = (8, 5);
                map.pool = Pool::Mean;
            }),
        ),
        // Texels of five rows and more keys, in which prefix, gap and window begin and end.
        (
            "pooled-window",
            viewed(&kept(), |map| (map.texel_rows, map.texel_cols) = (6, 3)),
        ),
        (
            "pooled-empty-mean",
            viewed(&blind(), |map| {
                (map.texel_rows, map.texel_cols) = (7, 4);
                map.pool = Pool::Mean;
            }),
        ),
    ]
}
