//! Random recipes, and properties held over as many of them as are asked for.
//!
//! `ATTNSCOPE_CASES=50000` judges so many random layers instead of 2,000, and other properties in
//! proportion; `ATTNSCOPE_SEED=7` draws others. Without it every run draws the same.

use std::cell::RefCell;

use attnscope_attention::compare::Comparison;
use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::visibility::Visibility;
use attnscope_engine_gpu::GpuEngine;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::recipe::{Auxiliary, Position, Projection, Recipe, Source};

/// What a property says of one case.
pub type Held = Result<(), TestCaseError>;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number, not '{text}'"))
    })
}

/// Which random numbers are drawn.
pub fn seed() -> u64 {
    number("ATTNSCOPE_SEED", 0)
}

/// Random layers to judge; other properties take a share of them.
pub fn cases() -> u64 {
    number("ATTNSCOPE_CASES", 2000)
}

/// Holds `property` for `cases` values of `strategy`, on one engine. `stream` tells the properties'
/// random numbers apart.
pub fn hold<S: Strategy>(
    strategy: &S,
    cases: u64,
    stream: u64,
    property: impl Fn(&mut GpuEngine, S::Value) -> Held,
) {
    let engine = RefCell::new(super::engine());
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&self::seed().to_le_bytes());
    seed[8..16].copy_from_slice(&stream.to_le_bytes());
    let config = Config {
        cases: u32::try_from(cases).expect("fewer cases"),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let outcome = TestRunner::new_with_rng(config, rng)
        .run(strategy, |value| property(&mut engine.borrow_mut(), value));
    if let Err(why) = outcome {
        panic!("{why}");
    }
    assert_eq!(engine.borrow().take_fault(), None);
}

/// All comparisons as one verdict.
pub fn all_equal(found: impl IntoIterator<Item = Comparison>) -> Held {
    for comparison in found {
        comparison
            .check()
            .map_err(|why| TestCaseError::fail(why.to_string()))?;
    }
    Ok(())
}

/// L and d_h: around the borders of vec4s, blocks and bit words, with wide heads only where L is
/// small; more than 64 keys now and then, for segments that are not stored.
fn sizes() -> impl Strategy<Value = (usize, usize)> {
    let borders = [
        1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70,
    ];
    let wide = [63, 64, 65, 96, 127, 128, 200, 255, 256];
    prop_oneof![
        6 => (prop::sample::select(borders.to_vec()), 1usize..=40),
        6 => (1usize..=70, 1usize..=40),
        2 => (1usize..=20, prop::sample::select(wide.to_vec())),
        1 => (66usize..=131, 1usize..=9),
    ]
}

/// Masks as the conventions make them, and any others; dilated ones where `dilated`.
fn visibility(dilated: bool) -> impl Strategy<Value = Visibility> {
    let window = || prop_oneof![0i32..6, 0i32..80];
    let near = (window(), window(), 0u8..9).prop_map(|(w, other, convention)| match convention {
        0 => (false, None, None),
        1 => (true, None, None),
        2 => (false, Some(w), Some(w)),
        3 => (true, Some(w), Some(0)),
        4 => (true, Some((w - 1).max(0)), Some(0)),
        5 => (false, Some(w / 2), Some(w / 2)),
        6 => (false, Some(w), Some(-1 - other % 3)),
        7 => (false, Some(-1 - other % 3), Some(w)),
        _ => (
            false,
            (w % 5 > 0).then_some(w),
            (other % 5 > 0).then_some(other),
        ),
    });
    let kept = || prop_oneof![3 => Just(0u32), 2 => 1u32..7, 1 => 0u32..90];
    let dilation =
        prop_oneof![3 => 2u32..6, 1 => 2u32..70].prop_map(move |by| if dilated { by } else { 1 });
    let padding = prop_oneof![8 => Just(0u32), 1 => 1u32..9, 1 => 0u32..90];
    let also_causal = prop::bool::weighted(0.1);
    (near, dilation, kept(), kept(), padding, also_causal).prop_map(
        |((causal, left, right), dilation, sinks, globals, padding, also_causal)| Visibility {
            causal: causal || also_causal,
            left,
            right,
            dilation,
            sinks,
            globals,
            padding,
        },
    )
}

fn position() -> impl Strategy<Value = Option<Position>> {
    let some = (
        any::<bool>(),
        prop_oneof![Just(1.0f32), Just(0.0), -2.0f32..2.0],
    )
        .prop_map(|(each, amplitude)| Position { each, amplitude });
    prop::option::weighted(0.4, some)
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        2 => Just(Source::Heads),
        1 => (any::<[bool; 3]>(), any::<bool>())
            .prop_map(|(weights, bias)| Source::Hidden { weights, bias }),
    ]
}

fn projection() -> impl Strategy<Value = Projection> {
    prop_oneof![
        Just(Projection::None),
        any::<bool>().prop_map(|bias| Projection::Full { bias }),
        (1u32..20, any::<bool>()).prop_map(|(rank, bias)| Projection::Ranked { rank, bias }),
        (1u32..20, any::<bool>()).prop_map(|(rank, bias)| Projection::Given { rank, bias }),
    ]
}

/// What a pipeline is made for. Making one costs as much as ten cases, so that a short run draws
/// from some kinds only, and a long one from all.
#[derive(Clone, Copy, Debug)]
// Each is a constant of its own in the shaders.
#[allow(clippy::struct_excessive_bools)]
struct Kind {
    reading: Reading,
    /// 0: no s, 1: a curve, 2: dense.
    s: usize,
    segmented: bool,
    masked: bool,
    dilated: bool,
    ranked: bool,
    mean: bool,
}

/// 3 readings, 3 kinds of s, 5 yes or no.
const KINDS: usize = 288;

impl Kind {
    /// Kinds in an order in which the first few are already mixed.
    fn number(at: usize) -> Self {
        let mut rest = at * 43 % KINDS;
        let mut choose = |of: usize| {
            let choice = rest % of;
            rest /= of;
            choice
        };
        Self {
            reading: [Reading::Softmax, Reading::Bias, Reading::Product][choose(3)],
            s: choose(3),
            segmented: choose(2) == 1,
            masked: choose(2) == 1,
            dilated: choose(2) == 1,
            ranked: choose(2) == 1,
            mean: choose(2) == 1,
        }
    }
}

/// Anything that SPEC 1–4 allows, small enough to be judged in a few milliseconds.
pub fn recipes() -> impl Strategy<Value = Recipe> {
    let kinds = (cases() as usize / 60).clamp(24, KINDS);
    (0..kinds).prop_flat_map(|at| recipes_of(Kind::number(at)))
}

fn recipes_of(kind: Kind) -> impl Strategy<Value = Recipe> {
    let scale = prop_oneof![4 => Just(1.0), 1 => Just(0.5), 1 => -1.5f64..2.0, 1 => Just(0.0)];
    let numbers = (any::<u32>(), 0.2f32..2.0, scale);
    let hidden = prop_oneof![4 => 0.1f64..0.9, 1 => 0.95f64..1.01];
    let segment = prop_oneof![1u32..8, 1u32..80];
    let weights = (visibility(kind.dilated), hidden, segment, 0.1f32..3.0);
    let rank = prop_oneof![1u32..12, 1u32..50];
    let layer = (position(), position(), rank, source(), projection());
    (numbers, 1usize..=4, sizes(), weights, layer).prop_map(
        move |((seed, strength, scale), heads, (seq_len, head_dim), weights, layer)| {
            let (visibility, hidden, segment, spread) = weights;
            let (p_k, p_v, rank, source, output) = layer;
            // One wide head is as good as four, and d² weights are not drawn for nothing.
            let heads = if head_dim > 40 { heads.min(2) } else { heads };
            let source = if heads * head_dim > 130 {
                Source::Heads
            } else {
                source
            };
            // The SVD of a wide W_O takes longer than everything else.
            let output = match output {
                Projection::Ranked { bias, .. } if heads * head_dim > 64 => {
                    Projection::Given { rank: 9, bias }
                }
                Projection::Full { .. } if heads * head_dim > 260 => Projection::None,
                other => other,
            };
            Recipe {
                seed,
                heads,
                seq_len,
                head_dim,
                strength,
                scale,
                visibility,
                hidden: kind.masked.then_some(hidden),
                reading: kind.reading,
                empty: if kind.mean {
                    FullyMasked::Mean
                } else {
                    FullyMasked::Zero
                },
                segment: kind.segmented.then_some(segment),
                s: match kind.s {
                    0 => None,
                    1 => Some(Auxiliary::Curve(spread)),
                    _ => Some(Auxiliary::Dense(spread)),
                },
                s_common: 0.0,
                k_common: 0.0,
                p_k,
                p_v,
                score_rank: (kind.ranked && head_dim <= 64).then_some(rank),
                source,
                output,
            }
        },
    )
}
