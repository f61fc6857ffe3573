//! Golden cases (SPEC 7): one file is one case, with inputs, configuration and expectations that
//! were computed in float64 and rounded to f32. Every engine is judged by them.
//!
//! Metadata `config` is JSON: `heads`, `causal`, `left`, `right`, `dilation`, `sinks`, `globals`,
//! `scale`, `reading`, `segment`, `score_rank`, `out_rank` (null = unlimited, default, off) and
//! `a_rows` where only some rows of A are expected. Tensors: `q k v`, or `x` with any of
//! `w_q w_k w_v` and `b_*`; `p_k p_v s mask w_o b_o`; or factors `w_1 w_2`. A field or tensor that
//! is unknown or contradicts another is an error that names it: a guess would judge something else.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::safetensors::{ReadError, Tensors};
use attnscope_attention::check::Misfit;
use attnscope_attention::config::{Config, FullyMasked, Reading};
use attnscope_attention::layer::{
    Biases, Input, Layer, Linear, Output, PositionBias, ScoreBias, Tensor, fresh_id,
};
use attnscope_attention::visibility::Visibility;

/// One golden case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// File stem.
    pub name: String,
    /// The purpose of the case.
    pub note: String,
    /// Inputs, already checked ([`Layer::check`]).
    pub layer: Layer,
    /// Choices.
    pub config: Config,
    /// P_K, P_V, s, each with amplitude 1; already checked.
    pub biases: Biases,
    /// The expected results.
    pub expect: Expect,
}

/// Expectations of a case; what the file does not hold is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// A `[H, L, L]`.
    pub a: Option<Tensor>,
    /// Query indices and those rows of A, `[H, rows, L]`.
    pub a_rows: Option<(Vec<usize>, Tensor)>,
    /// O `[H, L, head_dim]`.
    pub o: Option<Tensor>,
    /// Y `[L, d]`.
    pub y: Option<Tensor>,
}

/// Tensors that a case may hold.
const TENSORS: [&str; 22] = [
    "q",
    "k",
    "v",
    "x",
    "w_q",
    "w_k",
    "w_v",
    "b_q",
    "b_k",
    "b_v",
    "w_o",
    "b_o",
    "w_1",
    "w_2",
    "p_k",
    "p_v",
    "s",
    "mask",
    "expect.a",
    "expect.a_rows",
    "expect.o",
    "expect.y",
];

/// Where the expectations begin.
const EXPECT: &str = "expect.";

/// A tensor, and a list of tensors of which the file must also have one.
const NEEDS: [(&str, &[&str]); 6] = [
    ("b_q", &["w_q"]),
    ("b_k", &["w_k"]),
    ("b_v", &["w_v"]),
    ("w_1", &["w_2"]),
    ("w_2", &["w_1"]),
    ("b_o", &["w_o", "w_2"]),
];

/// Two ways to give the same thing: a file may use only one of them.
const EITHER: [(&[&str], &[&str]); 3] = [
    (&["q", "k", "v"], &["x"]),
    (&["w_q", "w_k", "w_v"], &["q", "k", "v"]),
    (&["w_1", "w_2"], &["w_o"]),
];

/// Fields of `config`; `mechanism` is for readers only: the other fields decide what is computed.
const FIELDS: [&str; 14] = [
    "mechanism",
    "heads",
    "causal",
    "left",
    "right",
    "dilation",
    "sinks",
    "globals",
    "scale",
    "reading",
    "segment",
    "score_rank",
    "out_rank",
    "a_rows",
];

/// `config` as the file has it, [`FIELDS`] only.
#[derive(Deserialize)]
struct Choices {
    heads: usize,
    #[serde(default)]
    causal: bool,
    left: Option<i32>,
    right: Option<i32>,
    dilation: Option<u32>,
    sinks: Option<u32>,
    globals: Option<u32>,
    scale: Option<f64>,
    reading: Option<Reading>,
    segment: Option<u32>,
    score_rank: Option<u32>,
    out_rank: Option<u32>,
    a_rows: Option<Vec<usize>>,
}

impl Case {
    /// Reads a case to judge an engine by; a case without expectations is an error.
    ///
    /// # Errors
    /// As [`Case::parse_inputs`], and when there is no expectation.
    pub fn parse(
        name: &str,
        bytes: &[u8],
        resolve: impl FnMut(&str, Option<&str>) -> Result<Tensors, ReadError>,
    ) -> Result<Self, ReadError> {
        let case = Self::parse_inputs(name, bytes, resolve)?;
        if case.expect == Expect::default() {
            return Err(ReadError::Missing("expect.*".to_owned()));
        }
        Ok(case)
    }

    /// Reads a case, with or without expectations. Where metadata `inputs` names other files, calls
    /// `resolve` for each with its path (`data/minilm-page.safetensors`) and tensor (`Some("x.1")`,
    /// which then becomes `x`; `None` = all tensors of that file).
    ///
    /// # Errors
    /// When a file is malformed, a tensor is missing, or shapes do not match.
    pub fn parse_inputs(
        name: &str,
        bytes: &[u8],
        mut resolve: impl FnMut(&str, Option<&str>) -> Result<Tensors, ReadError>,
    ) -> Result<Self, ReadError> {
        let mut file = Tensors::parse(bytes)?;
        known(&file)?;
        if let Ok(inputs) = file.meta("inputs") {
            for input in json::<Vec<String>>("inputs", inputs)? {
                join(&mut file, &input, &mut resolve)?;
            }
        }
        let choices = choices(file.meta("config")?)?;
        consistent(&file)?;
        let layer = layer(&file, choices.heads)?;
        let biases = biases(&file);
        layer.check().map_err(misfit)?;
        biases.check(&layer).map_err(misfit)?;
        let expect = expect(&file, &layer, &choices)?;
        Ok(Self {
            name: name.to_owned(),
            note: file.meta("note").unwrap_or_default().to_owned(),
            config: config(&choices, layer.head_dim)?,
            layer,
            biases,
            expect,
        })
    }
}

fn misfit(
    Misfit {
        name,
        shape,
        wanted,
    }: Misfit,
) -> ReadError {
    let wanted: Vec<_> = wanted.iter().map(|shape| format!("{shape:?}")).collect();
    ReadError::Shape {
        name: name.to_owned(),
        shape,
        wanted: wanted.join(" / "),
    }
}

/// Checks that a case may hold every tensor of `file`.
fn known(file: &Tensors) -> Result<(), ReadError> {
    let mut names = file.tensors.keys();
    match names.find(|name| !TENSORS.contains(&name.as_str())) {
        Some(name) => Err(ReadError::Unknown(name.clone())),
        None => Ok(()),
    }
}

/// Parses the choices of `config`. An unknown one is an error: the case would be judged without it.
fn choices(text: &str) -> Result<Choices, ReadError> {
    let fields: Map<String, Value> = json("config", text)?;
    match fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        Some(name) => Err(ReadError::UnknownField(name.clone())),
        None => json("config", text),
    }
}

/// Checks that the tensors go together, and that what is computed from them is finite.
fn consistent(file: &Tensors) -> Result<(), ReadError> {
    let first = |names: &[&'static str]| names.iter().copied().find(|n| file.get(n).is_some());
    for (names, others) in EITHER {
        if let (Some(name), Some(other)) = (first(names), first(others)) {
            return Err(ReadError::Both {
                name: name.to_owned(),
                other: other.to_owned(),
            });
        }
    }
    for (name, needs) in NEEDS {
        if file.get(name).is_some() && first(needs).is_none() {
            return Err(ReadError::Alone {
                name: name.to_owned(),
                needs: needs.join(" / "),
            });
        }
    }
    if let (Some(_), None) = (first(&["w_q", "w_k", "w_v"]), first(&["x"])) {
        return Err(ReadError::Missing("x".to_owned()));
    }
    let inputs = file
        .tensors
        .iter()
        .filter(|(name, _)| !name.starts_with(EXPECT));
    for (name, tensor) in inputs {
        if !tensor.data.iter().all(|x| x.is_finite()) {
            return Err(ReadError::NotFinite(name.clone()));
        }
    }
    Ok(())
}

fn json<'t, T: Deserialize<'t>>(what: &str, text: &'t str) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|e| ReadError::Content(format!("metadata {what}: {e}")))
}

/// Adds the tensors that `input` (`path` or `path#tensor`) names to `file`.
fn join(
    file: &mut Tensors,
    input: &str,
    resolve: &mut impl FnMut(&str, Option<&str>) -> Result<Tensors, ReadError>,
) -> Result<(), ReadError> {
    let (path, tensor) = match input.split_once('#') {
        Some((path, tensor)) => (path, Some(tensor)),
        None => (input, None),
    };
    let mut found = resolve(path, tensor)?;
    if let Some(tensor) = tensor {
        let x = found.need(tensor)?.clone();
        found.tensors = BTreeMap::from([("x".to_owned(), x)]);
    }
    known(&found)?;
    for (name, tensor) in found.tensors {
        if name.starts_with(EXPECT) {
            return Err(ReadError::Unknown(name));
        }
        if file.tensors.insert(name.clone(), tensor).is_some() {
            return Err(ReadError::Twice(name));
        }
    }
    Ok(())
}

fn linear(file: &Tensors, weight: &str, bias: &str) -> Option<Linear> {
    file.get(weight).map(|w| Linear {
        weight: w.clone(),
        bias: file.get(bias).cloned(),
    })
}

fn layer(file: &Tensors, heads: usize) -> Result<Layer, ReadError> {
    let shape_error = |name: &str, shape: &[usize], wanted: &str| ReadError::Shape {
        name: name.to_owned(),
        shape: shape.to_vec(),
        wanted: wanted.to_owned(),
    };
    let (input, seq_len, head_dim) = if let Some(x) = file.get("x") {
        let &[seq_len, d] = &*x.shape else {
            return Err(shape_error("x", &x.shape, "[L, d]"));
        };
        if heads == 0 || d % heads != 0 {
            return Err(shape_error("x", &x.shape, "[L, heads · head_dim]"));
        }
        let input = Input::Hidden {
            x: x.clone(),
            w_q: linear(file, "w_q", "b_q"),
            w_k: linear(file, "w_k", "b_k"),
            w_v: linear(file, "w_v", "b_v"),
        };
        (input, seq_len, d / heads)
    } else {
        let q = file.need("q")?;
        let &[_, seq_len, head_dim] = &*q.shape else {
            return Err(shape_error("q", &q.shape, "[H, L, head_dim]"));
        };
        if q.shape[0] != heads {
            return Err(shape_error("q", &q.shape, "[heads of config, L, head_dim]"));
        }
        let input = Input::Heads {
            q: q.clone(),
            k: file.need("k")?.clone(),
            v: file.need("v")?.clone(),
        };
        (input, seq_len, head_dim)
    };
    let output = match (file.get("w_1"), file.get("w_2")) {
        (Some(w_1), Some(w_2)) => Output::Factors {
            w_1: w_1.clone(),
            w_2: w_2.clone(),
            bias: file.get("b_o").cloned(),
        },
        _ => linear(file, "w_o", "b_o").map_or(Output::Identity, Output::Full),
    };
    let mask = file.get_shaped("mask", &[seq_len, seq_len])?;
    // An additive mask (added to the scores) is not supported.
    if mask
        .iter()
        .any(|m| m.data.iter().any(|&x| x < 0.0 || x.fract() != 0.0))
    {
        return Err(ReadError::Content(
            "mask holds other numbers than 0 and 1".to_owned(),
        ));
    }
    let mask = mask.map(|m| m.data.iter().map(|&x| u8::from(x != 0.0)).collect());
    Ok(Layer {
        id: fresh_id(),
        heads,
        seq_len,
        head_dim,
        input,
        output,
        mask,
        preview_of: None,
    })
}

fn biases(file: &Tensors) -> Biases {
    let position = |name| {
        file.get(name).map(|unit| PositionBias {
            unit: unit.clone(),
            amplitude: 1.0,
        })
    };
    Biases {
        p_k: position("p_k"),
        p_v: position("p_v"),
        s: file.get("s").cloned().map(ScoreBias::Dense),
    }
}

fn config(choices: &Choices, head_dim: usize) -> Result<Config, ReadError> {
    let scale = choices
        .scale
        .unwrap_or_else(|| 1.0 / (head_dim as f64).sqrt());
    for (name, possible) in [
        // Engines take the scale as f32.
        ("scale", (scale as f32).is_finite()),
        ("dilation", choices.dilation != Some(0)),
        ("segment", choices.segment != Some(0)),
    ] {
        if !possible {
            return Err(ReadError::Field(name.to_owned()));
        }
    }
    Ok(Config {
        visibility: Visibility {
            causal: choices.causal,
            left: choices.left,
            right: choices.right,
            dilation: choices.dilation.unwrap_or(1),
            sinks: choices.sinks.unwrap_or(0),
            globals: choices.globals.unwrap_or(0),
            padding: 0,
        },
        scale,
        reading: choices.reading.unwrap_or_default(),
        empty: FullyMasked::default(),
        segment: choices.segment,
        score_rank: choices.score_rank,
        out_rank: choices.out_rank,
    })
}

fn expect(file: &Tensors, layer: &Layer, choices: &Choices) -> Result<Expect, ReadError> {
    let (h, l, n) = (layer.heads, layer.seq_len, layer.head_dim);
    let rows = match &choices.a_rows {
        Some(rows) if rows.iter().any(|&i| i >= l) => {
            return Err(ReadError::Field("a_rows".to_owned()));
        }
        Some(rows) => {
            let a = file.need_shaped("expect.a_rows", &[h, rows.len(), l])?;
            Some((rows.clone(), a))
        }
        None if file.get("expect.a_rows").is_some() => {
            return Err(ReadError::Alone {
                name: "expect.a_rows".to_owned(),
                needs: "config a_rows".to_owned(),
            });
        }
        None => None,
    };
    Ok(Expect {
        a: file.get_shaped("expect.a", &[h, l, l])?,
        a_rows: rows,
        o: file.get_shaped("expect.o", &[h, l, n])?,
        y: file.get_shaped("expect.y", &[l, layer.model_dim()])?,
    })
}
