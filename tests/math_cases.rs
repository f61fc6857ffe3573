//! Ambiguous case files (SPEC 7) are refused, and the message names the tensor or the field;
//! documented ones are accepted.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use attnscope_attention::layer::Tensor;
use attnscope_data::case::Case;
use attnscope_data::safetensors::{ReadError, Tensors};
use serde_json::{Map, Value, json};

/// A draft of a case: tensors by name with their shapes and numbers, and `config`.
#[derive(Clone)]
struct Draft {
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    config: Value,
    inputs: Option<Value>,
}

impl Draft {
    /// One head of three tokens, two numbers wide, with tensors `names`.
    fn new(names: &[&str]) -> Self {
        let mut draft = Self {
            tensors: BTreeMap::new(),
            config: json!({ "heads": 1 }),
            inputs: None,
        };
        for name in names {
            draft = draft.with(name, shape(name));
        }
        draft
    }

    fn with(mut self, name: &str, shape: &[usize]) -> Self {
        let count = shape.iter().product();
        self.tensors
            .insert(name.to_owned(), (shape.to_vec(), vec![0.5; count]));
        self
    }

    fn number(mut self, name: &str, number: f32) -> Self {
        self.tensors.get_mut(name).unwrap().1[0] = number;
        self
    }

    fn field(mut self, name: &str, value: Value) -> Self {
        self.config[name] = value;
        self
    }

    fn inputs(mut self, inputs: Value) -> Self {
        self.inputs = Some(inputs);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut header = Map::new();
        let mut metadata = json!({ "config": self.config.to_string(), "note": "a case" });
        if let Some(inputs) = &self.inputs {
            metadata["inputs"] = inputs.to_string().into();
        }
        header.insert("__metadata__".to_owned(), metadata);
        let mut data = Vec::new();
        for (name, (shape, numbers)) in &self.tensors {
            let from = data.len();
            data.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            let place =
                json!({ "dtype": "F32", "shape": shape, "data_offsets": [from, data.len()] });
            header.insert(name.clone(), place);
        }
        let header = Value::Object(header).to_string();
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn parse(&self) -> Result<Case, ReadError> {
        Case::parse("draft", &self.bytes(), inputs)
    }
}

fn shape(name: &str) -> &'static [usize] {
    match name {
        "q" | "k" | "v" | "p_k" | "p_v" | "expect.o" => &[1, 3, 2],
        "x" | "expect.y" => &[3, 2],
        "w_q" | "w_k" | "w_v" | "w_o" => &[2, 2],
        "b_q" | "b_k" | "b_v" | "b_o" => &[2],
        "w_1" => &[1, 2],
        "w_2" => &[2, 1],
        "s" | "expect.a" => &[1, 3, 3],
        "mask" => &[3, 3],
        _ => &[1],
    }
}

/// Files that a case may name: hidden states, a layer, and one with a tensor that no input has.
fn inputs(path: &str, tensor: Option<&str>) -> Result<Tensors, ReadError> {
    let names: &[&str] = match path {
        "data/hidden" => &["x.0", "x.1"],
        "data/layer" => &["w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o"],
        "data/odd" => &["w_q", "w_z"],
        "data/told" => &["x", "expect.y"],
        _ => return Err(ReadError::Missing(path.to_owned())),
    };
    let mut all = Tensors::default();
    for &name in names {
        if tensor.is_none_or(|tensor| tensor == name) {
            let shape = if name.starts_with("x.") {
                &[3, 2]
            } else {
                shape(name)
            };
            let count = shape.iter().product();
            let numbers: Vec<f32> = vec![0.25; count];
            all.tensors
                .insert(name.to_owned(), Tensor::new(shape, numbers).unwrap());
        }
    }
    Ok(all)
}

const HEADS: [&str; 4] = ["q", "k", "v", "expect.o"];
const HIDDEN: [&str; 2] = ["x", "expect.y"];

#[test]
fn what_is_documented_is_taken() {
    let heads = Draft::new(&HEADS);
    let hidden = Draft::new(&HIDDEN);
    let mut all = Draft::new(&[
        "x", "w_q", "b_q", "w_k", "w_v", "b_v", "w_o", "b_o", "p_k", "p_v", "s", "mask",
        "expect.a", "expect.o", "expect.y",
    ]);
    all.tensors.get_mut("mask").unwrap().1 = vec![1.0; 9];
    for (name, value) in [
        ("mechanism", json!("cjar")),
        ("causal", json!(false)),
        ("left", json!(2)),
        ("right", json!(null)),
        ("dilation", json!(1)),
        ("sinks", json!(1)),
        ("globals", json!(0)),
        ("scale", json!(null)),
        ("reading", json!("bias")),
        ("segment", json!(2)),
        ("score_rank", json!(1)),
        ("out_rank", json!(1)),
        ("a_rows", json!(null)),
    ] {
        all = all.field(name, value);
    }
    let rows = heads
        .clone()
        .with("expect.a_rows", &[1, 2, 3])
        .field("a_rows", json!([0, 2]));
    for (what, draft) in [
        ("q, k, v", heads.clone()),
        ("x alone", hidden.clone()),
        ("everything", all),
        (
            "factors",
            hidden
                .clone()
                .with("w_1", &[1, 2])
                .with("w_2", &[2, 1])
                .with("b_o", &[2]),
        ),
        ("a shared bias", heads.with("p_k", &[1, 1, 2])),
        ("rows of A", rows),
        (
            "inputs",
            Draft::new(&["expect.y"]).inputs(json!(["data/hidden#x.1", "data/layer"])),
        ),
    ] {
        assert!(draft.parse().is_ok(), "{what}: {:?}", draft.parse().err());
    }
}

/// `draft` is refused with a message that holds all of `named`.
fn assert_refused(draft: &Draft, named: &[&str]) {
    let tensors: Vec<_> = draft.tensors.keys().collect();
    let said = match draft.parse() {
        Ok(_) => panic!("taken: {tensors:?} {} {:?}", draft.config, draft.inputs),
        Err(why) => why.to_string(),
    };
    for name in named {
        assert!(
            said.contains(name),
            "{tensors:?}: '{said}' does not name {name}"
        );
    }
}

#[test]
fn what_would_be_taken_as_something_else_is_refused_by_name() {
    let heads = || Draft::new(&HEADS);
    let hidden = || Draft::new(&HIDDEN);
    let and = |draft: Draft, name: &str| draft.with(name, shape(name));
    let two = |draft: Draft, a: &str, b: &str| and(and(draft, a), b);
    let without = |name: &str| {
        let mut draft = heads();
        draft.tensors.remove(name);
        draft
    };
    for (draft, named) in [
        // One factor alone, and factors beside what they replace.
        (and(hidden(), "w_1"), &["w_1", "w_2"][..]),
        (and(hidden(), "w_2"), &["w_2", "w_1"]),
        (two(and(hidden(), "w_o"), "w_1", "w_2"), &["w_1", "w_o"]),
        (two(hidden(), "w_o", "w_1"), &["w_1", "w_o"]),
        // A bias without its weights.
        (and(hidden(), "b_q"), &["b_q", "w_q"]),
        (two(hidden(), "w_q", "b_k"), &["b_k", "w_k"]),
        (two(hidden(), "w_k", "b_v"), &["b_v", "w_v"]),
        (and(hidden(), "b_o"), &["b_o", "w_o"]),
        (and(heads(), "b_o"), &["b_o", "w_o"]),
        // Two inputs.
        (and(heads(), "x"), &["q", "x"]),
        (and(hidden(), "k"), &["k", "x"]),
        (and(hidden(), "v"), &["v", "x"]),
        (and(heads(), "w_q"), &["w_q", "q"]),
        (and(heads(), "w_v"), &["w_v", "q"]),
        (two(heads(), "w_k", "b_k"), &["w_k", "q"]),
        (and(heads(), "b_q"), &["b_q", "w_q"]),
        // A part of an input.
        (without("q"), &["q"]),
        (without("k"), &["k"]),
        (without("v"), &["v"]),
        (Draft::new(&["expect.y", "w_q"]), &["x"]),
        (Draft::new(&["expect.y"]), &["q"]),
        // Unknown names.
        (heads().with("w_z", &[1]), &["w_z"]),
        (heads().with("expect.z", &[1]), &["expect.z"]),
        (
            heads().with("expect.grad.q", &[1, 3, 2]),
            &["expect.grad.q"],
        ),
        (heads().field("window", json!(3)), &["window"]),
        (heads().field("Left", json!(3)), &["Left"]),
        (heads().field("expect", json!("a")), &["expect"]),
        // Impossible values.
        (heads().field("dilation", json!(0)), &["dilation"]),
        (heads().field("segment", json!(0)), &["segment"]),
        (heads().field("scale", json!(1e39)), &["scale"]),
        (heads().field("a_rows", json!([3])), &["a_rows"]),
        (heads().field("a_rows", json!([1])), &["expect.a_rows"]),
        (
            heads().with("expect.a_rows", &[1, 1, 3]),
            &["expect.a_rows", "a_rows"],
        ),
        (hidden().with("w_q", &[2, 3]), &["w_q", "[2, 3]"]),
        (
            heads().with("p_k", &[1, 2, 2]),
            &["p_k", "[1, 1, 2]", "[1, 3, 2]"],
        ),
        (heads().with("mask", &[9]), &["mask", "[9]"]),
        (and(heads(), "mask"), &["mask"]),
        (and(heads(), "mask").number("mask", -1e9), &["mask"]),
        (heads().number("k", f32::NAN), &["k", "finite"]),
        (
            and(heads(), "s").number("s", f32::NEG_INFINITY),
            &["s", "finite"],
        ),
    ] {
        assert_refused(&draft, named);
    }
}

#[test]
fn files_that_a_case_names_bring_inputs_and_each_once() {
    let from = |list: Value| Draft::new(&["expect.y"]).inputs(list);
    let and = |draft: Draft, name: &str| draft.with(name, shape(name));
    for (draft, named) in [
        (from(json!(["data/hidden", "data/layer"])), &["x.0"][..]),
        (from(json!(["data/hidden#x.7"])), &["x.7"]),
        (
            from(json!(["data/hidden#x.0", "data/hidden#x.1"])),
            &["x", "twice"],
        ),
        (
            from(json!(["data/hidden#x.0", "data/layer", "data/layer"])),
            &["b_k", "twice"],
        ),
        (and(from(json!(["data/hidden#x.0"])), "x"), &["x", "twice"]),
        (
            and(from(json!(["data/hidden#x.0", "data/layer"])), "w_q"),
            &["w_q", "twice"],
        ),
        (
            and(
                and(from(json!(["data/hidden#x.0", "data/layer"])), "w_1"),
                "w_2",
            ),
            &["w_1", "w_o"],
        ),
        (
            and(from(json!(["data/hidden#x.0", "data/layer"])), "q"),
            &["q", "x"],
        ),
        (from(json!(["data/hidden#x.0", "data/odd"])), &["w_z"]),
        (from(json!(["data/told"])), &["expect.y"]),
        (from(json!(["data/nothing"])), &["data/nothing"]),
        (from(json!("data/hidden#x.0")), &["inputs"]),
    ] {
        assert_refused(&draft, named);
    }
}

#[test]
fn a_field_that_comes_twice_is_refused() {
    let bytes = Draft::new(&HEADS).bytes();
    let (from, to) = (
        r#"{\"heads\":1}"#,
        r#"{\"heads\":1,\"sinks\":0,\"sinks\":2}"#,
    );
    let text = String::from_utf8_lossy(&bytes[8..]).into_owned();
    let end = text.find("]}}").unwrap() + 3;
    let header = text[..end].replace(from, to);
    assert_ne!(header, text[..end]);
    let mut twice = (header.len() as u64).to_le_bytes().to_vec();
    twice.extend(header.as_bytes());
    twice.extend(&bytes[8 + end..]);
    let said = Case::parse("twice", &twice, inputs)
        .unwrap_err()
        .to_string();
    assert!(said.contains("sinks"), "{said}");
}
