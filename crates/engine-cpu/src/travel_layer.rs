//! How a layer goes over a [`Wire`]: once, and then as its number.

use std::sync::Arc;

use attnscope_attention::layer::{Input, Layer, Linear, Output, Tensor};

use super::travel::none;
use super::wire::Wire;

/// All of a layer, unless it went over already.
pub fn layer<const READ: bool>(w: &mut Wire<READ>, whole: &mut Arc<Layer>) {
    let same = w.layer.as_ref().is_some_and(|kept| kept.id == whole.id);
    if w.flag(same) {
        if READ {
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
    if READ && hidden {
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
    if READ {
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
    if READ {
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
