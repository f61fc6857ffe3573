//! Wrong kernels must be caught: the real WGSL with one deliberate error each, judged like the
//! right one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope::data::folder;
use attnscope::engine::gpu::kernel::Kernel;

/// Cases that between them use window, scale, segments, biases and ranks.
const CASES: [&str; 7] = [
    "window-distance-2",
    "window-causal_distance-5",
    "scale-dmodel",
    "cjar-in-window-bias",
    "cjar-position-product-seg5",
    "mask-padding",
    "full-h2-l7-d3",
];

/// (kernels, right text, wrong text).
const ERRORS: [(&[Kernel], &str, &str); 8] = [
    (
        &[Kernel::Stats, Kernel::Map],
        "i - p.left",
        "i - p.left - 1",
    ),
    (
        &[Kernel::Stats, Kernel::Map],
        "min(i + p.right, last)",
        "min(i + p.right + 1, last)",
    ),
    (
        &[Kernel::Stats, Kernel::Map],
        "return head.scale * acc;",
        "return acc;",
    ),
    (&[Kernel::Stats], "stats[row + g].y *= share;", ""),
    (&[Kernel::Map], "a = e * r;", "a = e;"),
    (&[Kernel::Stats], "return r + biases(i, j0);", "return r;"),
    (&[Kernel::Map], "acc += transpose(k) * q;", "acc += k * q;"),
    (
        &[Kernel::Stats],
        "let kept = state.y * exp(state.x - top);",
        "let kept = state.y;",
    ),
];

#[test]
fn every_wrong_kernel_is_caught() {
    let cases: Vec<_> = folder::cases(&folder::golden())
        .unwrap()
        .into_iter()
        .filter(|c| CASES.contains(&&*c.name))
        .collect();
    assert_eq!(cases.len(), CASES.len());
    for (kernels, right, wrong) in ERRORS {
        let mut engine = support::engine();
        for &kernel in kernels {
            let source = kernel.shader().source();
            assert!(source.contains(right), "{right} is gone from {kernel:?}");
            engine.replace_kernel(kernel, &source.replace(right, wrong));
        }
        let caught = cases.iter().any(|case| {
            support::judge(&mut engine, case)
                .into_iter()
                .any(|verdict| verdict.check().is_err())
        });
        assert!(caught, "{right:?} became {wrong:?} and nobody noticed");
    }
    // And the right kernels pass, so it is the errors that were caught.
    let mut engine = support::engine();
    for case in &cases {
        for verdict in support::judge(&mut engine, case) {
            verdict.assert();
        }
    }
}
