//! The one order in which everything of a Frame goes over a [`Wire`], to either side.

use std::sync::Arc;

use crate::attention::config::{Config, Empty, Reading};
use crate::attention::layer::{
    Biases, Input, Layer, Linear, Output, PositionBias, ScoreBias, Tensor,
};
use crate::attention::visibility::Visibility;
use crate::engine::{
    ColorTable, Colors, Frame, MapView, OutFactors, OutputView, Pool, ScoreFactors, StripView,
};
use crate::scene::{Quantity, Rect};

use super::engine::Targets;
use super::wire::Wire;

/// A tensor of nothing.
pub fn none() -> Tensor {
    Tensor {
        shape: vec![0],
        data: Arc::from([]),
    }
}

/// A Frame of nothing, to be filled.
pub fn blank() -> Frame {
    Frame {
        layer: Arc::new(Layer {
            id: 0,
            heads: 0,
            seq_len: 0,
            head_dim: 0,
            input: Input::Heads {
                q: none(),
                k: none(),
                v: none(),
            },
            output: Output::Identity,
            mask: None,
            preview_of: None,
        }),
        config: Config::full(1),
        biases: Biases::default(),
        score_factors: None,
        out_factors: None,
        map: None,
        strip: None,
        output: None,
    }
}

/// Walks through everything that a Frame is.
pub fn travel(w: &mut Wire, frame: &mut Frame, targets: &mut Targets) {
    let Frame {
        layer: whole_layer,
        config,
        biases,
        score_factors,
        out_factors,
        map,
        strip,
        output,
    } = frame;
    layer(w, whole_layer);
    numbers(w, config);
    let Biases { p_k, p_v, s } = biases;
    for bias in [p_k, p_v] {
        let new = || PositionBias {
            unit: none(),
            amplitude: 0.0,
        };
        if let Some(bias) = w.option(bias, new) {
            w.real(&mut bias.amplitude);
            w.tensor(&mut bias.unit);
        } else {
            w.place += 1;
        }
    }
    auxiliary(w, s);
    factors(w, score_factors, out_factors);
    if let Some(map) = w.option(map, || MapView {
        head: 0,
        quantity: Quantity::Weights,
        rect: Rect {
            row: 0,
            col: 0,
            rows: 0,
            cols: 0,
        },
        texel_rows: 0,
        texel_cols: 0,
        pool: Pool::Max,
        colors: COLORS,
    }) {
        let Rect {
            row,
            col,
            rows,
            cols,
        } = &mut map.rect;
        let (down, across) = (&mut map.texel_rows, &mut map.texel_cols);
        w.wholes([&mut map.head, row, col, rows, cols, down, across]);
        w.choice(&mut map.quantity, &QUANTITIES);
        w.choice(&mut map.pool, &[Pool::Max, Pool::Mean]);
        colors(w, &mut map.colors);
    }
    if let Some(strip) = w.option(strip, || StripView {
        quantity: Quantity::Weights,
        texels: 0,
        columns: 0,
        gap: 0,
        colors: COLORS,
    }) {
        w.choice(&mut strip.quantity, &QUANTITIES);
        w.wholes([&mut strip.texels, &mut strip.columns, &mut strip.gap]);
        colors(w, &mut strip.colors);
    }
    if let Some(output) = w.option(output, || OutputView {
        texel_rows: 0,
        texel_cols: 0,
        colors: COLORS,
    }) {
        w.wholes([&mut output.texel_rows, &mut output.texel_cols]);
        colors(w, &mut output.colors);
    }
    let Targets { sizes, hatch_step } = targets;
    for (width, height) in sizes {
        w.wholes([width, height]);
    }
    w.real(hatch_step);
}

const QUANTITIES: [Quantity; 2] = [Quantity::Weights, Quantity::Score];
const COLORS: Colors = Colors {
    table: ColorTable::Cividis,
    range: None,
    ground: [0; 3],
    hatch: [0; 3],
};

fn layer(w: &mut Wire, whole: &mut Arc<Layer>) {
    let same = w.layer.as_ref().is_some_and(|kept| kept.id == whole.id);
    if w.flag(same) {
        if w.reading {
            w.broken |= w.layer.is_none();
            *whole = w.layer.clone().unwrap_or_else(|| whole.clone());
        }
        // A layer's tensors have the first places.
        w.place = LAYER_PLACES;
        return;
    }
    let mut layer = Layer::clone(whole);
    let Layer {
        id,
        heads,
        seq_len,
        head_dim,
        input,
        output,
        mask,
        preview_of,
    } = &mut layer;
    let mut number = *id as f64;
    w.number(&mut number);
    *id = number as u64;
    for n in [heads, &mut *seq_len, head_dim] {
        w.size(n);
    }
    if let Some(head) = w.option(preview_of, || 0) {
        w.size(head);
    }
    let hidden = w.flag(matches!(input, Input::Hidden { .. }));
    if w.reading && hidden {
        *input = Input::Hidden {
            x: none(),
            w_q: None,
            w_k: None,
            w_v: None,
        };
    }
    match input {
        Input::Heads { q, k, v } => {
            for tensor in [q, k, v] {
                w.tensor(tensor);
            }
        }
        Input::Hidden { x, w_q, w_k, w_v } => {
            w.tensor(x);
            for map in [w_q, w_k, w_v] {
                w.linear(map);
            }
        }
    }
    let mut kind = match output {
        Output::Identity => 0,
        Output::Full(_) => 1,
        Output::Factors { .. } => 2,
    };
    w.whole(&mut kind);
    let (mut w_1, mut w_2, mut bias) = match output {
        Output::Identity => (None, None, None),
        Output::Full(Linear { weight, bias }) => (Some(weight.clone()), None, bias.clone()),
        Output::Factors { w_1, w_2, bias } => (Some(w_1.clone()), Some(w_2.clone()), bias.clone()),
    };
    for tensor in [&mut w_1, &mut w_2, &mut bias] {
        w.maybe(tensor);
    }
    if w.reading {
        *output = match (kind, w_1, w_2) {
            (1, Some(weight), _) => Output::Full(Linear { weight, bias }),
            (2, Some(w_1), Some(w_2)) => Output::Factors { w_1, w_2, bias },
            _ => Output::Identity,
        };
    }
    let mut cells = mask.as_ref().map(|mask| Tensor {
        shape: vec![*seq_len, *seq_len],
        data: mask.iter().map(|&seen| f32::from(seen)).collect(),
    });
    w.maybe(&mut cells);
    if w.reading {
        *mask = cells.map(|cells| cells.data.iter().map(|&seen| seen as u8).collect());
        *whole = Arc::new(layer);
    }
    // The layer itself keeps its tensors.
    w.kept.clear();
    w.layer = Some(whole.clone());
    w.place = LAYER_PLACES;
}

/// More places than a layer has tensors.
const LAYER_PLACES: usize = 16;

fn numbers(w: &mut Wire, config: &mut Config) {
    let Config {
        visibility,
        scale,
        reading,
        empty,
        segment,
        score_rank,
        out_rank,
    } = config;
    let Visibility {
        causal,
        left,
        right,
        dilation,
        sinks,
        globals,
        padding,
    } = visibility;
    *causal = w.flag(*causal);
    w.reach(left);
    w.reach(right);
    w.wholes([dilation, sinks, globals, padding]);
    w.number(scale);
    w.choice(
        reading,
        &[Reading::Softmax, Reading::Bias, Reading::Product],
    );
    w.choice(empty, &[Empty::Zero, Empty::Mean]);
    for rank in [segment, score_rank, out_rank] {
        if let Some(rank) = w.option(rank, || 0) {
            w.whole(rank);
        }
    }
}

fn auxiliary(w: &mut Wire, s: &mut Option<ScoreBias>) {
    let mut curve = match s {
        Some(ScoreBias::Curve(curve)) => Some(Tensor {
            shape: vec![curve.len()],
            data: curve.clone(),
        }),
        _ => None,
    };
    let mut dense = match s {
        Some(ScoreBias::Dense(dense)) => Some(dense.clone()),
        _ => None,
    };
    w.maybe(&mut curve);
    w.maybe(&mut dense);
    if w.reading {
        *s = curve
            .map(|curve| ScoreBias::Curve(curve.data))
            .or(dense.map(ScoreBias::Dense));
    }
}

fn factors(w: &mut Wire, score: &mut Option<Arc<ScoreFactors>>, out: &mut Option<Arc<OutFactors>>) {
    let mut numbers = [
        score.as_ref().map_or(0, |f| f.id) as f64,
        out.as_ref().map_or(0, |f| f.id) as f64,
    ];
    for n in &mut numbers {
        w.number(n);
    }
    let [score_id, out_id] = numbers.map(|n| n as u64);
    let sigma = |f: &Arc<OutFactors>| Tensor {
        shape: vec![f.sigma.len()],
        data: f.sigma.clone(),
    };
    let mut all = [
        score.as_ref().map(|f| f.q.clone()),
        score.as_ref().map(|f| f.k.clone()),
        out.as_ref().map(|f| f.w_1.clone()),
        out.as_ref().map(|f| f.w_2.clone()),
        out.as_ref().map(sigma),
    ];
    for tensor in &mut all {
        w.maybe(tensor);
    }
    if w.reading {
        let [q, k, w_1, w_2, sigma] = all;
        *score = q
            .zip(k)
            .map(|(q, k)| Arc::new(ScoreFactors { id: score_id, q, k }));
        *out = w_1.zip(w_2).zip(sigma).map(|((w_1, w_2), sigma)| {
            Arc::new(OutFactors {
                id: out_id,
                w_1,
                w_2,
                sigma: sigma.data,
            })
        });
    }
}

fn colors(w: &mut Wire, colors: &mut Colors) {
    let Colors {
        table,
        range,
        ground,
        hatch,
    } = colors;
    let tables = [
        ColorTable::Cividis,
        ColorTable::Viridis,
        ColorTable::Diverging,
    ];
    w.choice(table, &tables);
    if let Some((low, high)) = w.option(range, || (0.0, 0.0)) {
        w.real(low);
        w.real(high);
    }
    for byte in ground.iter_mut().chain(hatch) {
        let mut n = u32::from(*byte);
        w.whole(&mut n);
        *byte = n as u8;
    }
}
