//! The needs of a Frame, tested without a device.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::*;
use crate::{ColorTable, Colors, MapView, OutputView, Pool};
use attnscope_attention::config::{Config, Reading};
use attnscope_attention::layer::{Biases, Layer};
use attnscope_scene::{ColorScale, Quantity, Rect};

/// A tensor without its numbers: only its shape matters.
fn shape(of: &[usize]) -> Tensor {
    Tensor {
        shape: of.to_vec(),
        data: Arc::from([]),
    }
}

fn linear(d: usize) -> Linear {
    Linear {
        weight: shape(&[d, d]),
        bias: Some(shape(&[d])),
    }
}

/// One cell of the map, and the outputs.
fn frame(heads: usize, seq_len: usize, head_dim: usize) -> Frame {
    let whole = shape(&[heads, seq_len, head_dim]);
    let colors = Colors {
        table: ColorTable::Cividis,
        range: None,
        scale: ColorScale::Linear,
        ground: [0; 3],
    };
    Frame {
        layer: Arc::new(Layer {
            id: 0,
            heads,
            seq_len,
            head_dim,
            input: Input::Heads {
                q: whole.clone(),
                k: whole.clone(),
                v: whole,
            },
            output: Output::Identity,
            mask: None,
            preview_of: None,
        }),
        config: Config::full(head_dim),
        biases: Biases::default(),
        score_factors: None,
        out_factors: None,
        map: Some(MapView {
            head: 0,
            quantity: Quantity::Weights,
            rect: Rect {
                row: 0,
                col: 0,
                rows: 1,
                cols: 1,
            },
            texel_rows: 1,
            texel_cols: 1,
            pool: Pool::Max,
            colors,
        }),
        strip: None,
        output: Some(OutputView {
            texel_rows: 1,
            texel_cols: 1,
            colors,
        }),
    }
}

fn with(mut frame: Frame, edit: impl FnOnce(&mut Layer)) -> Frame {
    edit(Arc::make_mut(&mut frame.layer));
    frame
}

/// The names of the buffers beyond the limits that every device has.
fn refused(frame: &Frame) -> Vec<Name> {
    let allowed = Allowed::default();
    let sizes = PaddedSizes::new(&frame.layer, allowed).unwrap();
    let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
    let beyond: Vec<_> = needs(frame, &sizes, &stats)
        .into_iter()
        .filter(|need| need.bytes > allowed.buffer || need.bound > allowed.binding)
        .map(|need| need.name)
        .collect();
    let checked = check(frame, &sizes, &stats, allowed);
    assert_eq!(checked.is_err(), !beyond.is_empty());
    if let Err(why) = checked {
        assert!(matches!(why, EngineError::TooLarge { wanted, allowed } if wanted > allowed));
    }
    beyond
}

#[test]
fn each_input_that_is_too_large_is_refused_by_name() {
    let hidden = |q, k, v, d: usize| Input::Hidden {
        x: shape(&[2, d]),
        w_q: q,
        w_k: k,
        w_v: v,
    };
    let wide = 6000; // d² numbers are 144 MB.
    for (input, name) in [
        (hidden(Some(linear(wide)), None, None, wide), Name::WQ),
        (hidden(None, Some(linear(wide)), None, wide), Name::WK),
        (hidden(None, None, Some(linear(wide)), wide), Name::WV),
    ] {
        let frame = with(frame(60, 2, 100), |layer| layer.input = input);
        assert_eq!(refused(&frame), [name]);
    }
    let output = with(frame(60, 2, 100), |layer| {
        layer.output = Output::Full(linear(wide));
    });
    assert_eq!(refused(&output), [Name::WO]);

    // T is L numbers for every component: 58 MB for 24 tokens, 144 MB for 60.
    let factors = |rank: usize, d: usize| Output::Factors {
        w_1: shape(&[rank, d]),
        w_2: shape(&[d, rank]),
        bias: None,
    };
    let many = |len| with(frame(1, len, 4), |layer| layer.output = factors(600_000, 4));
    assert_eq!(refused(&many(24)), []);
    assert_eq!(refused(&many(60)), [Name::T]);
    let large = with(frame(1, 2, 4), |layer| {
        layer.output = factors(9_000_000, 4);
    });
    assert_eq!(refused(&large), [Name::W1, Name::W2]);

    // One head of s is bound at a time.
    let dense = |heads, len| {
        let mut frame = frame(heads, len, 4);
        frame.config.reading = Reading::Bias;
        frame.biases.s = Some(ScoreBias::Dense(shape(&[heads, len, len])));
        frame
    };
    assert_eq!(refused(&dense(1, 5000)), []);
    assert_eq!(refused(&dense(2, 5000)), []);
    assert_eq!(refused(&dense(3, 5000)), [Name::S]);
    assert_eq!(refused(&dense(1, 6000)), [Name::S]);
    let mut unused = dense(1, 6000);
    unused.config.reading = Reading::Softmax;
    assert_eq!(refused(&unused), []);

    // 65 pairs of statistics per row.
    let mut segments = frame(1, 1_000_000, 4);
    segments.config.segment = Some(20_000);
    assert_eq!(refused(&segments), [Name::Stats]);
    segments.config.segment = None;
    assert_eq!(refused(&segments), []);
}

#[test]
fn outputs_that_are_not_on_screen_need_nothing() {
    let wide = with(frame(60, 2, 100), |layer| {
        layer.output = Output::Full(linear(6000));
    });
    let map_only = Frame {
        output: None,
        ..wide.clone()
    };
    assert_eq!(refused(&map_only), []);
    let nothing = Frame {
        map: None,
        ..map_only
    };
    let sizes = PaddedSizes::new(&nothing.layer, Allowed::default()).unwrap();
    let stats = StatSizes::new(sizes.seq_len, sizes.heads, &nothing.config);
    assert_eq!(needs(&nothing, &sizes, &stats), []);
}
