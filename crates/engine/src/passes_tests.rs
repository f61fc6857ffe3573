//! What each change makes stale, as a table.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::Pass::{
    Components, DrawMap, DrawOutput, DrawStrip, Energy, FullTexels, HeadOutput, KeyBias,
    LayerOutput, LowRankOutput, LowTexels, Map, PartialSum, ScoreBias as Curve, Stats, Strip,
    ValueBias,
};
use super::{Pass, Plan};
use crate::{
    ColorTable, Colors, Frame, MapView, OutFactors, OutputView, Pool, ScoreFactors, StripView,
};
use attnscope_attention::config::{Config, FullyMasked, Reading};
use attnscope_attention::layer::{
    Biases, Input, Layer, Output as Projection, PositionBias, ScoreBias, Tensor,
};
use attnscope_scene::{ColorScale, Quantity, Rect};

fn tensor(shape: &[usize]) -> Tensor {
    let len = shape.iter().product();
    Tensor::new(shape, vec![0.5; len]).unwrap()
}

fn frame() -> Frame {
    let colors = Colors {
        table: ColorTable::Cividis,
        range: None,
        scale: ColorScale::Linear,
        ground: [0; 3],
    };
    let heads = tensor(&[2, 8, 4]);
    Frame {
        layer: Arc::new(Layer {
            id: 7,
            heads: 2,
            seq_len: 8,
            head_dim: 4,
            input: Input::Heads {
                q: heads.clone(),
                k: heads.clone(),
                v: heads,
            },
            output: Projection::Identity,
            mask: None,
            preview_of: None,
        }),
        config: Config::full(4),
        biases: Biases::default(),
        score_factors: None,
        out_factors: None,
        map: Some(MapView {
            head: 0,
            quantity: Quantity::Weights,
            rect: Rect {
                row: 0,
                col: 0,
                rows: 8,
                cols: 8,
            },
            texel_rows: 8,
            texel_cols: 8,
            pool: Pool::Max,
            colors,
        }),
        strip: Some(StripView {
            quantity: Quantity::Weights,
            texels: 8,
            columns: 2,
            gap: 1,
            colors,
        }),
        output: Some(OutputView {
            texel_rows: 8,
            texel_cols: 8,
            colors,
        }),
    }
}

fn bias(amplitude: f32) -> PositionBias {
    PositionBias {
        unit: tensor(&[2, 8, 4]),
        amplitude,
    }
}

fn factors() -> Arc<ScoreFactors> {
    Arc::new(ScoreFactors {
        id: 1,
        q: tensor(&[2, 8, 4]),
        k: tensor(&[2, 8, 4]),
    })
}

const DRAWN: [Pass; 13] = [
    Map,
    Strip,
    HeadOutput,
    Components,
    LayerOutput,
    Energy,
    PartialSum,
    LowRankOutput,
    FullTexels,
    LowTexels,
    DrawMap,
    DrawStrip,
    DrawOutput,
];

/// `first` and everything from the maps and outputs on.
fn and_drawn(first: &[Pass]) -> Vec<Pass> {
    first.iter().chain(&DRAWN).copied().collect()
}

fn check(what: &str, before: &Frame, after: &Frame, wanted: &[Pass]) {
    let found: Vec<_> = Plan::between(Some(before), after).iter().collect();
    assert_eq!(found, wanted, "{what}");
}

#[test]
#[allow(clippy::too_many_lines)] // One line a change: a table reads better whole.
fn each_change_makes_stale_what_depends_on_it_and_nothing_else() {
    type Edit = fn(&mut Frame);
    let table: [(&str, Edit, Vec<Pass>); 21] = [
        ("nothing", |_| {}, vec![]),
        (
            "window",
            |f| f.config.visibility.left = Some(2),
            and_drawn(&[Stats]),
        ),
        (
            "padding",
            |f| f.config.visibility.padding = 2,
            and_drawn(&[Stats]),
        ),
        (
            "rows without keys",
            |f| f.config.empty = FullyMasked::Mean,
            and_drawn(&[]),
        ),
        ("scale", |f| f.config.scale = 0.1, and_drawn(&[Stats])),
        (
            "segment",
            |f| f.config.segment = Some(3),
            and_drawn(&[Stats]),
        ),
        (
            "segment as long as L",
            |f| f.config.segment = Some(8),
            vec![],
        ),
        (
            "P_K",
            |f| f.biases.p_k = Some(bias(1.0)),
            and_drawn(&[KeyBias, Stats]),
        ),
        (
            "P_K of amplitude 0",
            |f| f.biases.p_k = Some(bias(0.0)),
            vec![],
        ),
        (
            "P_V",
            |f| f.biases.p_v = Some(bias(1.0)),
            vec![
                ValueBias,
                HeadOutput,
                Components,
                LayerOutput,
                Energy,
                PartialSum,
                LowRankOutput,
                FullTexels,
                LowTexels,
                DrawOutput,
            ],
        ),
        (
            "s that the reading does not use",
            |f| {
                f.biases.s = Some(ScoreBias::Curve {
                    table: vec![0.0; 15].into(),
                    common: 0.0,
                });
            },
            vec![Curve],
        ),
        (
            "output rank",
            |f| f.config.out_rank = Some(2),
            vec![LowRankOutput, LowTexels, DrawOutput],
        ),
        (
            "output factors",
            |f| {
                f.out_factors = Some(Arc::new(OutFactors {
                    id: 3,
                    w_1: tensor(&[8, 8]),
                    w_2: tensor(&[8, 8]),
                    sigma: vec![1.0; 8].into(),
                }));
            },
            vec![
                Components,
                Energy,
                PartialSum,
                LowRankOutput,
                LowTexels,
                DrawOutput,
            ],
        ),
        (
            "score rank",
            |f| {
                f.config.score_rank = Some(2);
                f.score_factors = Some(factors());
            },
            and_drawn(&[Pass::ScoreFactors, Stats]),
        ),
        (
            "head",
            |f| f.map.as_mut().unwrap().head = 1,
            vec![Map, DrawMap],
        ),
        (
            "zoom",
            |f| f.map.as_mut().unwrap().rect.rows = 4,
            vec![Map, DrawMap],
        ),
        (
            "colours",
            |f| f.map.as_mut().unwrap().colors.table = ColorTable::Diverging,
            vec![DrawMap],
        ),
        (
            "colour scale",
            |f| f.map.as_mut().unwrap().colors.scale = ColorScale::Log,
            vec![DrawMap],
        ),
        ("map closed", |f| f.map = None, vec![]),
        (
            "strip spread",
            |f| f.strip.as_mut().unwrap().columns = 1,
            vec![DrawStrip],
        ),
        (
            "strip texels",
            |f| f.strip.as_mut().unwrap().texels = 4,
            vec![Strip, DrawStrip],
        ),
    ];
    let before = frame();
    for (what, edit, wanted) in table {
        let mut after = before.clone();
        edit(&mut after);
        check(what, &before, &after, &wanted);
    }
}

#[test]
fn s_and_scale_act_where_their_reading_uses_them() {
    let curve = |height: f32| {
        Some(ScoreBias::Curve {
            table: vec![height; 15].into(),
            common: 0.0,
        })
    };
    let mut before = frame();
    before.config.reading = Reading::Bias;
    before.biases.s = curve(1.0);
    let mut after = before.clone();
    after.biases.s = curve(2.0);
    check("s under bias", &before, &after, &and_drawn(&[Curve, Stats]));
    after.biases.s = curve(1.0);
    check("an equal s", &before, &after, &[]);
    before.config.reading = Reading::Product;
    let mut after = before.clone();
    after.config.scale = 0.1;
    check(
        "scale under product touches what scores share, which statistics hold",
        &before,
        &after,
        &and_drawn(&[Stats]),
    );
}

#[test]
fn under_a_score_rank_new_keys_wait_for_their_factors() {
    let mut before = frame();
    before.config.score_rank = Some(2);
    before.score_factors = Some(factors());
    let mut after = before.clone();
    after.biases.p_k = Some(bias(1.0));
    check("P_K under a rank", &before, &after, &[KeyBias]);
}

#[test]
fn another_layer_and_a_first_frame_make_everything_stale() {
    let after = frame();
    assert!(Pass::all().all(|p| Plan::between(None, &after).contains(p)));
    let mut layer = (*after.layer).clone();
    layer.id = 8;
    let other = Frame {
        layer: Arc::new(layer),
        ..after.clone()
    };
    assert!(Pass::all().all(|p| Plan::between(Some(&after), &other).contains(p)));
    assert!(Plan::between(Some(&after), &after).is_empty());
}

#[test]
fn a_pass_stands_in_its_place_and_reads_only_passes_above_it() {
    for (at, row) in super::TABLE.iter().enumerate() {
        assert_eq!(row.pass as usize, at, "{:?}", row.pass);
        for (read, _) in row.reads {
            assert!((*read as usize) < at, "{:?} reads {read:?}", row.pass);
        }
    }
}
