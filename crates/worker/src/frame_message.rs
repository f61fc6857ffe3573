//! A Frame as a message. The layer is sent once, and then only its number; every other tensor has a
//! slot and is sent only if that slot changed. Both ends keep what was sent, so a receiver that
//! lost its state needs a new sender.

use std::sync::Arc;

use attnscope_attention::config::Config;
use attnscope_attention::layer::{
    Biases, Input, Layer, Linear, Output, PositionBias, ScoreBias, Tensor,
};
use attnscope_engine::{Frame, MapView, OutFactors, OutputView, ScoreFactors, StripView};
use serde::{Deserialize, Serialize};

use super::blobs::{Blob, BlobReader, TensorHandle, to_bytes};
use super::codec::ProtocolError;

/// Sizes in pixels of the three pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// Width and height by [`Slot`](attnscope_engine::Slot); zero means not drawn.
    pub sizes: [(u32, u32); 3],
}

/// A Frame and the sizes of its pictures, without the numbers of its tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameMessage {
    layer: LayerMessage,
    config: Config,
    p_k: Option<PositionBiasMessage>,
    p_v: Option<PositionBiasMessage>,
    s: Option<ScoreBiasMessage>,
    score_factors: Option<ScoreFactorsSlots>,
    out_factors: Option<OutFactorsSlots>,
    map: Option<MapView>,
    strip: Option<StripView>,
    output: Option<OutputView>,
    /// Width and height of the three pictures in pixels.
    targets: [(u32, u32); 3],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum LayerMessage {
    /// The layer of the previous Frame.
    Kept(u64),
    New(Box<WholeLayerMessage>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WholeLayerMessage {
    id: u64,
    heads: usize,
    seq_len: usize,
    head_dim: usize,
    input: InputMessage,
    output: OutputMessage,
    /// Only layers from files have a mask, and those are short: L² bytes do not matter.
    mask: Option<Vec<u8>>,
    preview_of: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum InputMessage {
    Hidden {
        x: TensorHandle,
        w_q: Option<LinearMessage>,
        w_k: Option<LinearMessage>,
        w_v: Option<LinearMessage>,
    },
    Heads {
        q: TensorHandle,
        k: TensorHandle,
        v: TensorHandle,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LinearMessage {
    weight: TensorHandle,
    bias: Option<TensorHandle>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum OutputMessage {
    Identity,
    Full(LinearMessage),
    Factors {
        w_1: TensorHandle,
        w_2: TensorHandle,
        bias: Option<TensorHandle>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PositionBiasMessage {
    unit: SlotHandle,
    amplitude: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum ScoreBiasMessage {
    Curve { table: SlotHandle, common: f64 },
    Dense(SlotHandle),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ScoreFactorsSlots {
    id: u64,
    q: SlotHandle,
    k: SlotHandle,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OutFactorsSlots {
    id: u64,
    w_1: SlotHandle,
    w_2: SlotHandle,
    sigma: SlotHandle,
}

/// The tensor of a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum SlotHandle {
    /// The tensor that is already in the slot.
    Kept,
    /// A new one.
    New(TensorHandle),
}

/// Slots of the tensors that change while a layer stays.
#[derive(Clone, Copy)]
enum Slot {
    PK,
    PV,
    Curve,
    Dense,
    ScoreQ,
    ScoreK,
    OutW1,
    OutW2,
    Sigma,
}

const SLOTS: usize = Slot::Sigma as usize + 1;

/// A Frame that is ready to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    /// Everything except the tensors.
    pub frame: FrameMessage,
    /// The tensors that were not sent before, in the order of their slots. They are not copied yet:
    /// some are larger than one copy may be.
    pub tensors: Vec<Arc<[f32]>>,
}

impl Packed {
    /// The tensors as blobs.
    pub fn blobs(&self) -> Vec<Blob> {
        self.tensors.iter().map(|data| to_bytes(data)).collect()
    }
}

/// The page's end.
#[derive(Default)]
pub struct FrameSender {
    /// The layer that the other end has. Its tensors stay alive here, so that no other tensor can
    /// get their address.
    layer: Option<Arc<Layer>>,
    slots: [Option<Tensor>; SLOTS],
}

impl FrameSender {
    /// The message of `frame`, drawn at the sizes of `targets`.
    pub fn pack(&mut self, frame: &Frame, targets: Targets) -> Packed {
        let mut tensors = Tensors(Vec::new());
        let layer = self.layer(&frame.layer, &mut tensors);
        let mut slot = |slot: Slot, tensor: &Tensor| {
            let kept = &mut self.slots[slot as usize];
            let same =
                |kept: &Tensor| Arc::ptr_eq(&kept.data, &tensor.data) && kept.shape == tensor.shape;
            if kept.as_ref().is_some_and(same) {
                return SlotHandle::Kept;
            }
            *kept = Some(tensor.clone());
            SlotHandle::New(tensors.put(tensor))
        };
        let mut position = |at, bias: Option<&PositionBias>| {
            bias.map(|PositionBias { unit, amplitude }| PositionBiasMessage {
                unit: slot(at, unit),
                amplitude: *amplitude,
            })
        };
        let Biases { p_k, p_v, s } = &frame.biases;
        let p_k = position(Slot::PK, p_k.as_ref());
        let p_v = position(Slot::PV, p_v.as_ref());
        let s = s.as_ref().map(|s| match s {
            ScoreBias::Curve { table, common } => ScoreBiasMessage::Curve {
                table: slot(Slot::Curve, &row(table)),
                common: *common,
            },
            ScoreBias::Dense(s) => ScoreBiasMessage::Dense(slot(Slot::Dense, s)),
        });
        let score_factors = frame.score_factors.as_deref().map(|f| ScoreFactorsSlots {
            id: f.id,
            q: slot(Slot::ScoreQ, &f.q),
            k: slot(Slot::ScoreK, &f.k),
        });
        let out_factors = frame.out_factors.as_deref().map(|f| OutFactorsSlots {
            id: f.id,
            w_1: slot(Slot::OutW1, &f.w_1),
            w_2: slot(Slot::OutW2, &f.w_2),
            sigma: slot(Slot::Sigma, &row(&f.sigma)),
        });
        let message = FrameMessage {
            layer,
            config: frame.config.clone(),
            p_k,
            p_v,
            s,
            score_factors,
            out_factors,
            map: frame.map.clone(),
            strip: frame.strip.clone(),
            output: frame.output.clone(),
            targets: targets.sizes,
        };
        Packed {
            frame: message,
            tensors: tensors.0,
        }
    }

    fn layer(&mut self, layer: &Arc<Layer>, tensors: &mut Tensors) -> LayerMessage {
        if self.layer.as_ref().is_some_and(|kept| kept.id == layer.id) {
            return LayerMessage::Kept(layer.id);
        }
        *self = Self {
            layer: Some(layer.clone()),
            ..Self::default()
        };
        let input = match &layer.input {
            Input::Hidden { x, w_q, w_k, w_v } => InputMessage::Hidden {
                x: tensors.put(x),
                w_q: w_q.as_ref().map(|linear| tensors.linear(linear)),
                w_k: w_k.as_ref().map(|linear| tensors.linear(linear)),
                w_v: w_v.as_ref().map(|linear| tensors.linear(linear)),
            },
            Input::Heads { q, k, v } => InputMessage::Heads {
                q: tensors.put(q),
                k: tensors.put(k),
                v: tensors.put(v),
            },
        };
        let output = match &layer.output {
            Output::Identity => OutputMessage::Identity,
            Output::Full(linear) => OutputMessage::Full(tensors.linear(linear)),
            Output::Factors { w_1, w_2, bias } => OutputMessage::Factors {
                w_1: tensors.put(w_1),
                w_2: tensors.put(w_2),
                bias: bias.as_ref().map(|bias| tensors.put(bias)),
            },
        };
        LayerMessage::New(Box::new(WholeLayerMessage {
            id: layer.id,
            heads: layer.heads,
            seq_len: layer.seq_len,
            head_dim: layer.head_dim,
            input,
            output,
            mask: layer.mask.as_deref().map(<[u8]>::to_vec),
            preview_of: layer.preview_of,
        }))
    }
}

/// Tensors that are sent with a message, by their slots.
struct Tensors(Vec<Arc<[f32]>>);

impl Tensors {
    fn put(&mut self, tensor: &Tensor) -> TensorHandle {
        self.0.push(tensor.data.clone());
        TensorHandle {
            shape: tensor.shape.clone(),
            blob: self.0.len() as u32 - 1,
        }
    }

    fn linear(&mut self, linear: &Linear) -> LinearMessage {
        LinearMessage {
            weight: self.put(&linear.weight),
            bias: linear.bias.as_ref().map(|bias| self.put(bias)),
        }
    }
}

/// A list of numbers as a tensor of one axis.
fn row(data: &Arc<[f32]>) -> Tensor {
    Tensor {
        shape: vec![data.len()],
        data: data.clone(),
    }
}

/// The worker's end.
#[derive(Default)]
pub struct FrameReceiver {
    layer: Option<Arc<Layer>>,
    slots: [Option<Tensor>; SLOTS],
}

impl FrameReceiver {
    /// The Frame of `message` and the sizes of its pictures. Tensors that were not sent again are
    /// those of the previous Frame.
    ///
    /// # Errors
    /// When tensors are missing, left over, or do not have the shape of their layer; this end then
    /// forgets everything.
    pub fn unpack(
        &mut self,
        message: FrameMessage,
        blobs: Vec<Blob>,
    ) -> Result<(Frame, Targets), ProtocolError> {
        let unpacked = self.read(message, &mut BlobReader::new(blobs));
        if unpacked.is_err() {
            *self = Self::default();
        }
        unpacked
    }

    fn read(
        &mut self,
        message: FrameMessage,
        blobs: &mut BlobReader,
    ) -> Result<(Frame, Targets), ProtocolError> {
        let layer = self.layer(message.layer, blobs)?;
        let mut slot = |slot: Slot, handle: SlotHandle| {
            let kept = &mut self.slots[slot as usize];
            if let SlotHandle::New(handle) = handle {
                *kept = Some(blobs.tensor(&handle)?);
            }
            kept.clone().ok_or(ProtocolError::MissingFrame)
        };
        let mut position = |at, bias: Option<PositionBiasMessage>| {
            bias.map(|bias| {
                Ok(PositionBias {
                    unit: slot(at, bias.unit)?,
                    amplitude: bias.amplitude,
                })
            })
            .transpose()
        };
        let (p_k, p_v) = (
            position(Slot::PK, message.p_k)?,
            position(Slot::PV, message.p_v)?,
        );
        let s = match message.s {
            None => None,
            Some(ScoreBiasMessage::Curve { table, common }) => Some(ScoreBias::Curve {
                table: slot(Slot::Curve, table)?.data,
                common,
            }),
            Some(ScoreBiasMessage::Dense(s)) => Some(ScoreBias::Dense(slot(Slot::Dense, s)?)),
        };
        let score_factors = match message.score_factors {
            None => None,
            Some(ScoreFactorsSlots { id, q, k }) => Some(Arc::new(ScoreFactors {
                id,
                q: slot(Slot::ScoreQ, q)?,
                k: slot(Slot::ScoreK, k)?,
            })),
        };
        let out_factors = match message.out_factors {
            None => None,
            Some(OutFactorsSlots {
                id,
                w_1,
                w_2,
                sigma,
            }) => Some(Arc::new(OutFactors {
                id,
                w_1: slot(Slot::OutW1, w_1)?,
                w_2: slot(Slot::OutW2, w_2)?,
                sigma: slot(Slot::Sigma, sigma)?.data,
            })),
        };
        let biases = Biases { p_k, p_v, s };
        biases.check(&layer).map_err(misfit)?;
        if !blobs.is_empty() {
            return Err(ProtocolError::MissingTensor);
        }
        let frame = Frame {
            layer,
            config: message.config,
            biases,
            score_factors,
            out_factors,
            map: message.map,
            strip: message.strip,
            output: message.output,
        };
        let sizes = message.targets;
        Ok((frame, Targets { sizes }))
    }

    fn layer(
        &mut self,
        message: LayerMessage,
        blobs: &mut BlobReader,
    ) -> Result<Arc<Layer>, ProtocolError> {
        let message = match message {
            LayerMessage::Kept(id) => {
                let kept = self.layer.clone().filter(|layer| layer.id == id);
                return kept.ok_or(ProtocolError::MissingFrame);
            }
            LayerMessage::New(message) => *message,
        };
        *self = Self::default();
        let input = match message.input {
            InputMessage::Hidden { x, w_q, w_k, w_v } => Input::Hidden {
                x: blobs.tensor(&x)?,
                w_q: w_q.map(|map| linear(map, blobs)).transpose()?,
                w_k: w_k.map(|map| linear(map, blobs)).transpose()?,
                w_v: w_v.map(|map| linear(map, blobs)).transpose()?,
            },
            InputMessage::Heads { q, k, v } => Input::Heads {
                q: blobs.tensor(&q)?,
                k: blobs.tensor(&k)?,
                v: blobs.tensor(&v)?,
            },
        };
        let output = match message.output {
            OutputMessage::Identity => Output::Identity,
            OutputMessage::Full(map) => Output::Full(linear(map, blobs)?),
            OutputMessage::Factors { w_1, w_2, bias } => Output::Factors {
                w_1: blobs.tensor(&w_1)?,
                w_2: blobs.tensor(&w_2)?,
                bias: bias.map(|bias| blobs.tensor(&bias)).transpose()?,
            },
        };
        let layer = Layer {
            id: message.id,
            heads: message.heads,
            seq_len: message.seq_len,
            head_dim: message.head_dim,
            input,
            output,
            mask: message.mask.map(Into::into),
            preview_of: message.preview_of,
        };
        // The products in the check must not overflow.
        let width = layer.heads.checked_mul(layer.head_dim);
        if width.and(layer.seq_len.checked_mul(2)).is_none() {
            return Err(ProtocolError::Malformed);
        }
        layer.check().map_err(misfit)?;
        Ok(self.layer.insert(Arc::new(layer)).clone())
    }
}

fn linear(message: LinearMessage, blobs: &mut BlobReader) -> Result<Linear, ProtocolError> {
    Ok(Linear {
        weight: blobs.tensor(&message.weight)?,
        bias: message.bias.map(|bias| blobs.tensor(&bias)).transpose()?,
    })
}

#[allow(clippy::needless_pass_by_value)] // the shape that map_err wants
fn misfit(why: impl std::fmt::Display) -> ProtocolError {
    ProtocolError::Misfit(why.to_string())
}
