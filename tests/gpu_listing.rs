//! Rows without keys that get the mean, and padding, through the WGSL engine against the f64
//! reference: maps, pooled maps, head outputs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::float_cmp)]

mod support;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::output::head_outputs;
use attnscope_attention::reference::Head;
use attnscope_data::case::Case;
use attnscope_data::folder;
use attnscope_engine::OutputMatrix;
use attnscope_engine::{Frame, Pool};
use attnscope_engine_gpu::GpuEngine;
use attnscope_scene::Quantity;
use support::{frame, maps, matrix, read, whole_map};

/// `name` with so much padding, the past strictly, and the mean in rows without keys.
fn blind(name: &str, padding: u32, strict: bool) -> Case {
    let cases = folder::cases(&folder::own_golden()).unwrap();
    let mut case = cases.into_iter().find(|case| case.name == name).unwrap();
    case.config.visibility.padding = padding;
    if strict {
        case.config.visibility.right = Some(-1);
    }
    case.config.empty = FullyMasked::Mean;
    case
}

/// A and O of `case` as the reference has them, and how many of its rows see no key.
fn want(case: &Case) -> (Vec<f64>, Vec<f64>, usize) {
    let l = case.layer.seq_len;
    let mut a = Vec::new();
    let mut rows = 0;
    for at in 0..case.layer.heads {
        let head = Head::new(&case.layer, &case.config, &case.biases, at).unwrap();
        for i in 0..l {
            let row = head.row(i);
            rows += usize::from(row.seen == 0);
            a.extend(row.dense_weights(l));
        }
    }
    let o = head_outputs(&case.layer, &case.config, &case.biases).unwrap();
    (a, o, rows)
}

fn judge(engine: &mut GpuEngine, case: &Case) -> usize {
    let (a, o, rows) = want(case);
    let base = frame(case);
    let single = |numbers: &[f64]| numbers.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let got = maps(engine, &base, Quantity::Weights);
    let name = &case.name;
    compare(format!("{name} A"), &got, &single(&a), Tolerance::ENGINE).assert();
    let flat = matrix(engine, &base, OutputMatrix::Heads);
    let (l, dim, d) = (
        case.layer.seq_len,
        case.layer.head_dim,
        case.layer.model_dim(),
    );
    let got: Vec<f32> = (0..case.layer.heads)
        .flat_map(|h| (0..l).map(move |i| i * d + h * dim))
        .flat_map(|at| &flat[at..at + dim])
        .copied()
        .collect();
    compare(format!("{name} O"), &got, &single(&o), Tolerance::ENGINE).assert();
    rows
}

#[test]
fn rows_without_keys_get_the_mean() {
    let mut engine = support::engine();
    for (name, padding, strict) in [
        ("window-strict-past", 0, false),
        ("window-sinks", 24, false),
        ("window-distance-2", 9, false),
        ("mask-arbitrary", 3, true),
        ("cjar-position-product-seg5", 0, true),
        ("cjar-position-bias-seg1", 4, true),
        ("cjar-shared-softmax-seg18", 2, true),
        ("window-dilated", 12, true),
        ("full-h2-l17-d5", 17, false),
        ("edge-onehot-v-l65", 1, true),
    ] {
        let case = blind(name, padding, strict);
        assert!(
            judge(&mut engine, &case) > 0,
            "{name}: every row sees a key"
        );
    }
    assert_eq!(engine.take_fault(), None);
}

#[test]
fn padding_is_never_a_key() {
    let mut engine = support::engine();
    for (name, padding) in [
        ("window-globals", 5),
        ("window-causal_count-5", 3),
        ("mask-padding", 2),
        ("cjar-in-window-product", 4),
        ("full-h3-l33-d16", 1),
        ("full-h2-l7-d3", 99),
    ] {
        let mut case = blind(name, padding, false);
        case.config.empty = FullyMasked::Zero;
        judge(&mut engine, &case);
    }
    assert_eq!(engine.take_fault(), None);
}

#[test]
fn the_mean_is_drawn_as_a_weight_and_not_as_a_score() {
    let mut engine = support::engine();
    let case = blind("window-strict-past", 0, false);
    let (l, base) = (case.layer.seq_len, frame(&case));
    let mut show = |quantity, texels: Option<u32>, empty| {
        let mut map = whole_map(&case.layer, 0, quantity);
        if let Some(texels) = texels {
            (map.texel_rows, map.texel_cols, map.pool) = (texels, texels, Pool::Mean);
        }
        let mut base = base.clone();
        base.config.empty = empty;
        let map = Some(map);
        read(&mut engine, &Frame { map, ..base })
    };
    let mean = show(Quantity::Weights, None, FullyMasked::Mean);
    assert!(mean.visible[..l].iter().all(|&share| share == 1.0));
    // Score and the other choice: no key, and the other rows as they were.
    for other in [
        show(Quantity::Score, None, FullyMasked::Mean),
        show(Quantity::Weights, None, FullyMasked::Zero),
    ] {
        assert!(other.values[..l].iter().all(|&value| value == 0.0));
        assert!(other.visible[..l].iter().all(|&share| share <= 0.0));
        assert_eq!(other.visible[l..], mean.visible[l..]);
    }
    // A pooled map of one texel a row band holds what its cells hold.
    let pooled = show(Quantity::Weights, Some(3), FullyMasked::Mean);
    let band = l / 3;
    let cells: Vec<f32> = (0..band)
        .flat_map(|i| (0..band).map(move |j| i * l + j))
        .filter(|&at| mean.visible[at] > 0.0)
        .map(|at| mean.values[at])
        .collect();
    let want = cells.iter().sum::<f32>() / cells.len() as f32;
    assert!((pooled.values[0] - want).abs() < 1e-6);
    let share = cells.len() as f32 / (band * band) as f32;
    assert!((pooled.visible[0] - share).abs() < 1e-6);
    assert_eq!(case.config.reading, Reading::Softmax);
}
