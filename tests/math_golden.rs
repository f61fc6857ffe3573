//! Every golden case through the f64 reference. Expectations are f64 rounded to f32, so the
//! tolerance is that of the rounding, far below the engines' tolerance.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::layer::Output;
use attnscope_attention::low_rank::{Factors, factor_output};
use attnscope_attention::output::layer_output;
use attnscope_attention::reference::Head;
use attnscope_data::case::Case;
use attnscope_data::folder;

/// Judges one case; returns how many tensors were compared.
fn judge(case: &Case, factors: &mut HashMap<Vec<u32>, Factors>) -> usize {
    let (l, layer) = (case.layer.seq_len, &case.layer);
    let named = |what: &str| format!("{} {what}", case.name);
    let mut compared = 0;
    let heads: Vec<Head> = (0..layer.heads)
        .map(|head| Head::new(layer, &case.config, &case.biases, head).unwrap())
        .collect();
    if let Some(want) = &case.expect.a {
        let got: Vec<f64> = heads.iter().flat_map(|head| head.map().weights).collect();
        compare(named("A"), &got, &want.data, Tolerance::REFERENCE).assert();
        // A masked cell is exactly 0 in the expectation too.
        for (head, cells) in heads.iter().zip(want.data.chunks_exact(l * l)) {
            for (visible, &cell) in head.map().visible.iter().zip(cells) {
                assert!(*visible || cell == 0.0, "{}", case.name);
            }
        }
        compared += 1;
    }
    if let Some((rows, want)) = &case.expect.a_rows {
        let got: Vec<f64> = heads
            .iter()
            .flat_map(|head| rows.iter().flat_map(|&i| head.row(i).dense_weights(l)))
            .collect();
        compare(named("rows of A"), &got, &want.data, Tolerance::REFERENCE).assert();
        compared += 1;
    }
    let o: Vec<f64> = heads
        .iter()
        .flat_map(|head| head.output().unwrap())
        .collect();
    if let Some(want) = &case.expect.o {
        compare(named("O"), &o, &want.data, Tolerance::REFERENCE).assert();
        compared += 1;
    }
    if let Some(want) = &case.expect.y {
        // Three cases share one W_O of MiniLM: its SVD is the slowest step here.
        let known = match &layer.output {
            Output::Full(linear) if case.config.out_rank.is_some() => {
                let key = linear.weight.data.iter().map(|x| x.to_bits()).collect();
                Some(
                    &*factors
                        .entry(key)
                        .or_insert_with(|| factor_output(&linear.weight).unwrap()),
                )
            }
            _ => None,
        };
        let y = layer_output(layer, &case.config, &o, known).unwrap();
        compare(named("Y"), &y, &want.data, Tolerance::REFERENCE).assert();
        compared += 1;
    }
    compared
}

#[test]
fn golden_cases_through_the_reference() {
    let cases = folder::cases(&folder::golden()).unwrap();
    let mut factors = HashMap::new();
    let mut compared = 0;
    for case in &cases {
        let tensors = judge(case, &mut factors);
        assert!(tensors > 0, "{} compares nothing", case.name);
        compared += tensors;
    }
    println!("{} cases, {compared} tensors", cases.len());
}

/// The judge can fail: it notices one weight moved by 1e-4.
#[test]
fn golden_judge_can_fail() {
    let mut cases = folder::cases(&folder::own_golden()).unwrap();
    let case = cases
        .iter_mut()
        .find(|case| case.expect.a.is_some())
        .unwrap();
    let a = case.expect.a.as_mut().unwrap();
    let mut data = a.data.to_vec();
    let last = data.len() - 1;
    data[last] += 1e-4;
    a.data = data.into();
    let case = case.clone();
    let failed = std::panic::catch_unwind(move || judge(&case, &mut HashMap::new()));
    assert!(failed.is_err());
}
