//! The page's self-check on the native adapter: every fact of SPEC 5 holds, and a wrong kernel is
//! reported.
#![allow(clippy::unwrap_used)]

mod support;

use attnscope::check::facts::{Bench, Fact};
use attnscope_engine_gpu::passes::Kernel;

#[test]
fn every_fact_holds() {
    let mut engine = support::engine();
    let pump = engine.pump();
    let mut bench = Bench::new(&mut engine);
    for fact in Fact::ALL {
        let found = pump.block_on(bench.measure(fact)).unwrap();
        println!("{fact:?}: {found:?}");
        assert!(found.holds, "{fact:?}: {found:?}");
    }
}

#[test]
fn a_wrong_kernel_is_told() {
    let table = [
        (
            Kernel::Stats,
            "min(i + p.right, last)",
            "min(i + p.right - 1, last)",
            Fact::WindowOverAll,
        ),
        (
            Kernel::Stats,
            "stats[row + g].y *= share;",
            "",
            Fact::SegmentSums,
        ),
    ];
    for (kernel, right, wrong, fact) in table {
        let mut engine = support::engine();
        let pump = engine.pump();
        let source = kernel.shader().source();
        assert!(source.contains(right), "{right} is gone from {kernel:?}");
        engine.replace_kernel(kernel, &source.replace(right, wrong));
        let found = pump
            .block_on(Bench::new(&mut engine).measure(fact))
            .unwrap();
        assert!(!found.holds, "{fact:?} holds with {wrong:?}: {found:?}");
    }
}
