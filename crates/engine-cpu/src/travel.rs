//! The one order in which everything of a Frame goes over a [`Wire`], to either side; its layer and
//! its views have files of their own.

use std::sync::Arc;

use attnscope_attention::config::{Config, Empty, Reading};
use attnscope_attention::layer::{Biases, Input, Layer, Output, PositionBias, ScoreBias, Tensor};
use attnscope_attention::visibility::Visibility;
use attnscope_engine::{Frame, OutFactors, ScoreFactors};

use super::engine::Targets;
use super::travel_layer::layer;
use super::travel_views::views;
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
pub fn travel<const READ: bool>(w: &mut Wire<READ>, frame: &mut Frame, targets: &mut Targets) {
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
    views(w, map, strip, output);
    let Targets { sizes } = targets;
    for (width, height) in sizes {
        w.wholes([width, height]);
    }
}

fn numbers<const READ: bool>(w: &mut Wire<READ>, config: &mut Config) {
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

fn auxiliary<const READ: bool>(w: &mut Wire<READ>, s: &mut Option<ScoreBias>) {
    let mut curve = match s {
        Some(ScoreBias::Curve { table: curve, .. }) => Some(Tensor {
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
    if READ {
        *s = curve
            .map(|curve| ScoreBias::Curve {
                table: curve.data,
                // Engines leave it out.
                common: 0.0,
            })
            .or(dense.map(ScoreBias::Dense));
    }
}

fn factors<const READ: bool>(
    w: &mut Wire<READ>,
    score: &mut Option<Arc<ScoreFactors>>,
    out: &mut Option<Arc<OutFactors>>,
) {
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
    if READ {
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
