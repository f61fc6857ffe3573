//! The shipped layers of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0; the notice lies beside
//! the files). One small file per text and layer and two per layer, so that a reader fetches only
//! what is on screen; float16 as captured.

use std::sync::Arc;

use super::safetensors::{ReadError, Tensors};
use attnscope_attention::layer::{Input, Layer, Linear, Output, Tensor, fresh_id};
use attnscope_scene::Passage;

/// Layers of the model.
pub const LAYERS: u8 = 6;
/// Heads of each layer.
pub const HEADS: usize = 12;
/// d.
pub const MODEL_DIM: usize = 384;
/// d_h.
pub const HEAD_DIM: usize = MODEL_DIM / HEADS;
/// Passage, layer and head of the first picture.
pub const FIRST: (Passage, u8, usize) = (Passage::Sentence, 1, 8);
/// The one file of the first picture (about 68 kB), relative to the folder of the page's data.
pub const FIRST_FILE: &str = "minilm/first.safetensors";

/// The files that one layer of one text needs, relative to the folder of the page's data. Each is
/// parsed separately, so that an error names its own file. `hidden` and `qk` are enough for
/// [`preview`]; with `vo`, [`whole`] makes the whole layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Hidden states, tokens and text.
    pub hidden: String,
    /// Projections of queries and keys; the same for every text.
    pub qk: String,
    /// Projections of values and output; the same for every text.
    pub vo: String,
}

/// The files of `layer` (0 ..= 5) for `text`.
pub fn files(text: Passage, layer: u8) -> Files {
    let stem = stem(text);
    Files {
        hidden: format!("minilm/{stem}.x{layer}.safetensors"),
        qk: format!("minilm/layer{layer}.qk.safetensors"),
        vo: format!("minilm/layer{layer}.vo.safetensors"),
    }
}

/// Name of a text in file names.
pub fn stem(text: Passage) -> &'static str {
    match text {
        Passage::Sentence => "sentence",
        Passage::Paragraph => "paragraph",
        Passage::Page => "page",
    }
}

/// The shipped files with the tensors that a golden case names as `input`
/// (`data/minilm-page.safetensors`), or only with `tensor` if it is given.
pub fn captured(input: &str, tensor: Option<&str>) -> Option<Vec<String>> {
    let stem = input
        .strip_prefix("data/minilm-")?
        .strip_suffix(".safetensors")?;
    Some(match tensor {
        Some(tensor) => vec![format!(
            "minilm/{stem}.{}.safetensors",
            tensor.replace('.', "")
        )],
        None => ["qk", "vo"]
            .map(|part| format!("minilm/{stem}.{part}.safetensors"))
            .into(),
    })
}

/// A layer, its tokens and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Tensors, checked.
    pub layer: Layer,
    /// One label per token, L of them.
    pub tokens: Arc<[String]>,
    /// The text itself.
    pub text: String,
}

/// Head 8 of layer 1 on *sentence* from the one file of the first picture: a preview with one head
/// and no values.
///
/// # Errors
/// When the file does not have the expected content.
pub fn first(bytes: &[u8]) -> Result<Named, ReadError> {
    let file = Tensors::parse(bytes)?;
    let x = Hidden::read(&file, "x")?;
    let part = |w: &str, b: &str| linear(&file, w, b, HEAD_DIM);
    Ok(one_head(
        x,
        part("w_q", "b_q")?,
        part("w_k", "b_k")?,
        FIRST.2,
    ))
}

/// Hidden states of a text: the content of the file [`Files::hidden`].
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    x: Tensor,
    tokens: Arc<[String]>,
    text: String,
}

impl Hidden {
    /// Reads the file of layer number `layer`.
    ///
    /// # Errors
    /// When the file does not have the expected content.
    pub fn parse(layer: u8, bytes: &[u8]) -> Result<Self, ReadError> {
        Self::read(&Tensors::parse(bytes)?, &format!("x.{layer}"))
    }

    fn read(file: &Tensors, name: &str) -> Result<Self, ReadError> {
        let x = hidden(file, name)?;
        let tokens: Vec<String> = serde_json::from_str(file.meta("tokens")?)
            .map_err(|e| ReadError::Content(format!("metadata tokens: {e}")))?;
        if tokens.len() != x.shape[0] {
            return Err(ReadError::Content(format!(
                "{} tokens for {} rows",
                tokens.len(),
                x.shape[0]
            )));
        }
        Ok(Self {
            x,
            tokens: tokens.iter().map(|token| super::label(token)).collect(),
            text: file.meta("text")?.to_owned(),
        })
    }

    fn named(self, heads: usize, input: [Option<Linear>; 3], output: Output) -> Named {
        let [w_q, w_k, w_v] = input;
        Named {
            layer: Layer {
                id: fresh_id(),
                heads,
                seq_len: self.x.shape[0],
                head_dim: HEAD_DIM,
                input: Input::Hidden {
                    x: self.x,
                    w_q,
                    w_k,
                    w_v,
                },
                output,
                mask: None,
                preview_of: None,
            },
            tokens: self.tokens,
            text: self.text,
        }
    }
}

/// Two projections of a layer: the content of a file of weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights([Linear; 2]);

impl Weights {
    /// Queries and keys of layer number `layer`, from the file [`Files::qk`].
    ///
    /// # Errors
    /// When the file does not have the expected content.
    pub fn parse_qk(layer: u8, bytes: &[u8]) -> Result<Self, ReadError> {
        Self::parse(layer, bytes, [("w_q", "b_q"), ("w_k", "b_k")])
    }

    /// Values and output of layer number `layer`, from the file [`Files::vo`].
    ///
    /// # Errors
    /// When the file does not have the expected content.
    pub fn parse_vo(layer: u8, bytes: &[u8]) -> Result<Self, ReadError> {
        Self::parse(layer, bytes, [("w_v", "b_v"), ("w_o", "b_o")])
    }

    fn parse(layer: u8, bytes: &[u8], names: [(&str, &str); 2]) -> Result<Self, ReadError> {
        let file = Tensors::parse(bytes)?;
        // The files of all layers have the same shapes: only this tells them apart.
        let is = file.meta("layer")?;
        if is != layer.to_string() {
            return Err(ReadError::Content(format!(
                "metadata layer is {is}, not {layer}"
            )));
        }
        let [first, second] = names.map(|(w, b)| linear(&file, w, b, MODEL_DIM));
        Ok(Self([first?, second?]))
    }
}

/// One head of a layer before its values have arrived: a preview like that of [`first`].
///
/// # Errors
/// When the layer has no head `head`.
pub fn preview(hidden: Hidden, qk: &Weights, head: usize) -> Result<Named, ReadError> {
    if head >= HEADS {
        return Err(ReadError::Content(format!("there is no head {head}")));
    }
    let [w_q, w_k] = qk.0.each_ref().map(|whole| rows_of_head(whole, head));
    Ok(one_head(hidden, w_q, w_k, head))
}

/// The whole layer. Each part was checked against the same sizes, so that none can contradict
/// another.
pub fn whole(hidden: Hidden, qk: Weights, vo: Weights) -> Named {
    let ([w_q, w_k], [w_v, w_o]) = (qk.0, vo.0);
    hidden.named(HEADS, [Some(w_q), Some(w_k), Some(w_v)], Output::Full(w_o))
}

/// The whole layer from the bytes of its three [`Files`].
///
/// # Errors
/// When a file does not have the expected content.
pub fn assemble(layer: u8, hidden: &[u8], qk: &[u8], vo: &[u8]) -> Result<Named, ReadError> {
    Ok(whole(
        Hidden::parse(layer, hidden)?,
        Weights::parse_qk(layer, qk)?,
        Weights::parse_vo(layer, vo)?,
    ))
}

fn one_head(hidden: Hidden, w_q: Linear, w_k: Linear, head: usize) -> Named {
    let mut named = hidden.named(1, [Some(w_q), Some(w_k), None], Output::Identity);
    named.layer.preview_of = Some(head);
    named
}

/// Hidden states `[L, 384]`, L ≥ 1.
fn hidden(file: &Tensors, name: &str) -> Result<Tensor, ReadError> {
    let x = file.need(name)?;
    match *x.shape {
        [l, MODEL_DIM] if l > 0 => finite(name, x.clone()),
        _ => Err(ReadError::Shape {
            name: name.to_owned(),
            shape: x.shape.clone(),
            wanted: format!("[L, {MODEL_DIM}]"),
        }),
    }
}

fn linear(file: &Tensors, weight: &str, bias: &str, rows: usize) -> Result<Linear, ReadError> {
    Ok(Linear {
        weight: finite(weight, file.need_shaped(weight, &[rows, MODEL_DIM])?)?,
        bias: Some(finite(bias, file.need_shaped(bias, &[rows])?)?),
    })
}

/// Shaders work on finite numbers only, so a damaged file must not bring in others.
fn finite(name: &str, tensor: Tensor) -> Result<Tensor, ReadError> {
    if tensor.data.iter().all(|x| x.is_finite()) {
        Ok(tensor)
    } else {
        Err(ReadError::NotFinite(name.to_owned()))
    }
}

/// The rows of a `[384, 384]` projection that belong to head `head`.
fn rows_of_head(whole: &Linear, head: usize) -> Linear {
    let rows = |tensor: &Tensor, width: usize, shape: Vec<usize>| Tensor {
        shape,
        data: tensor.data[head * HEAD_DIM * width..(head + 1) * HEAD_DIM * width].into(),
    };
    Linear {
        weight: rows(&whole.weight, MODEL_DIM, vec![HEAD_DIM, MODEL_DIM]),
        bias: whole.bias.as_ref().map(|b| rows(b, 1, vec![HEAD_DIM])),
    }
}
