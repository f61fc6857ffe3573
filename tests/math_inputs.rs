//! The golden cases load, and the shipped inputs are the ones the cases were made from.
#![allow(clippy::unwrap_used)]

use std::fs;

use attnscope_attention::layer::Input;
use attnscope_data::case::Case;
use attnscope_data::minilm::{Hidden, Weights};
use attnscope_data::safetensors::{ReadError, Tensors};
use attnscope_data::{folder, minilm};
use attnscope_scene::Passage;
use proptest::prelude::*;

fn read(name: &str) -> Vec<u8> {
    fs::read(folder::shipped().join("..").join(name)).unwrap()
}

#[test]
fn golden_folder_has_all_cases() {
    let cases = folder::cases(&folder::own_golden()).unwrap();
    assert_eq!(cases.len(), 115);
    for case in &cases {
        case.layer.check().unwrap();
        assert!(!case.note.is_empty(), "{}", case.name);
    }
}

#[test]
fn every_layer_of_every_text_assembles() {
    for (text, len) in [
        (Passage::Sentence, 24),
        (Passage::Paragraph, 120),
        (Passage::Page, 512),
    ] {
        for layer in 0..minilm::LAYERS {
            let files = minilm::files(text, layer);
            let (x, qk) = (read(&files.hidden), read(&files.qk));
            let named = minilm::assemble(layer, &x, &qk, &read(&files.vo)).unwrap();
            assert_eq!(named.layer.seq_len, len);
            assert_eq!(named.tokens.len(), len);
            assert_eq!(named.tokens[0], "[CLS]");
        }
    }
}

#[test]
fn the_first_picture_is_head_8_of_layer_1() {
    let bytes = read(minilm::FIRST_FILE);
    assert!(bytes.len() < 70_000);
    let first = minilm::first(&bytes).unwrap();
    let (text, layer, head) = minilm::FIRST;
    let files = minilm::files(text, layer);
    let hidden = Hidden::parse(layer, &read(&files.hidden)).unwrap();
    let qk = Weights::parse_qk(layer, &read(&files.qk)).unwrap();
    let preview = minilm::preview(hidden, &qk, head).unwrap();
    assert_eq!(first.layer.input, preview.layer.input);
    assert_eq!(first.layer.preview_of, Some(8));
    assert_eq!((first.tokens, first.text), (preview.tokens, preview.text));
}

#[test]
fn damaged_files_are_refused() {
    let files = minilm::files(Passage::Sentence, 1);
    let (x, qk, vo) = (read(&files.hidden), read(&files.qk), read(&files.vo));
    assert!(minilm::assemble(2, &x, &qk, &vo).is_err(), "x.1 is no x.2");
    assert!(minilm::assemble(1, &x, &vo, &qk).is_err(), "files swapped");
    assert!(minilm::assemble(1, &x, &qk, &vo[..vo.len() - 1]).is_err());
    let (hidden, weights) = (Hidden::parse(1, &x), Weights::parse_qk(1, &qk));
    assert!(minilm::preview(hidden.unwrap(), &weights.unwrap(), 12).is_err());
}

/// `bytes` with the first `from` replaced by `to` of the same length.
fn edited(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|w| w == from.as_bytes());
    let mut edited = bytes.to_vec();
    edited[at.unwrap()..][..to.len()].copy_from_slice(to.as_bytes());
    edited
}

/// Each file is read by itself, so whatever is wrong with one is said of this one.
#[test]
fn a_file_that_is_damaged_alone_is_the_one_that_is_refused() {
    fn first(bytes: &[u8]) -> Result<(), ReadError> {
        minilm::first(bytes).map(drop)
    }
    fn hidden(bytes: &[u8]) -> Result<(), ReadError> {
        Hidden::parse(1, bytes).map(drop)
    }
    fn qk(bytes: &[u8]) -> Result<(), ReadError> {
        Weights::parse_qk(1, bytes).map(drop)
    }
    fn vo(bytes: &[u8]) -> Result<(), ReadError> {
        Weights::parse_vo(1, bytes).map(drop)
    }
    type Parse = fn(&[u8]) -> Result<(), ReadError>;
    let files = minilm::files(Passage::Sentence, 1);
    // The file, its reader, and a shape that has as many numbers but is the wrong one.
    let kinds: [(&str, Parse, &str, &str); 4] = [
        (minilm::FIRST_FILE, first, "[24,384]", "[384,24]"),
        (&files.hidden, hidden, "[24,384]", "[384,24]"),
        (&files.qk, qk, "[384,384]", "[768,192]"),
        (&files.vo, vo, "[384,384]", "[768,192]"),
    ];
    for (name, parse, shape, wrong) in kinds {
        let good = read(name);
        parse(&good).unwrap();
        let mut nan = good.clone();
        let end = nan.len();
        // float16 0x7e00.
        nan[end - 2..].copy_from_slice(&[0x00, 0x7e]);
        let mut long = good.clone();
        long.push(0);
        let page = b"<!DOCTYPE html><title>Sign in</title>".to_vec();
        for (what, bad) in [
            ("nothing", Vec::new()),
            ("a page to sign in", page),
            ("cut short", good[..end - 1].to_vec()),
            ("too long", long),
            ("not a number", nan),
            ("another shape", edited(&good, shape, wrong)),
            ("no JSON", edited(&good, "__metadata__", "__metadata_\"")),
        ] {
            assert!(parse(&bad).is_err(), "{name}: {what}");
        }
        for (other, _, _, _) in kinds {
            assert_eq!(
                parse(&read(other)).is_ok(),
                name == other,
                "{name}: {other}"
            );
        }
    }
    let next = minilm::files(Passage::Sentence, 2);
    assert!(
        hidden(&read(&next.hidden)).is_err(),
        "hidden states of another layer"
    );
    assert!(
        qk(&read(&next.qk)).is_err(),
        "queries and keys of another layer"
    );
    assert!(
        vo(&read(&next.vo)).is_err(),
        "values and output of another layer"
    );
}

#[test]
fn cases_that_name_inputs_get_the_shipped_ones() {
    let case = folder::cases(&folder::own_golden())
        .unwrap()
        .into_iter()
        .find(|case| case.name == "minilm-sentence-full")
        .unwrap();
    let files = minilm::files(Passage::Sentence, 1);
    let (x, qk, vo) = (read(&files.hidden), read(&files.qk), read(&files.vo));
    let named = minilm::assemble(1, &x, &qk, &vo).unwrap();
    assert!(matches!(case.layer.input, Input::Hidden { .. }));
    assert_eq!(case.layer.input, named.layer.input);
    assert_eq!(case.layer.output, named.layer.output);
}

fn no_inputs(name: &str, _: Option<&str>) -> Result<Tensors, ReadError> {
    Err(ReadError::Missing(name.to_owned()))
}

/// `config` of a case is looked at, not believed.
#[test]
fn a_case_that_contradicts_itself_is_refused() {
    let good = fs::read(folder::own_golden().join("causal-l2.safetensors")).unwrap();
    assert!(Case::parse("good", &good, no_inputs).is_ok());
    for (from, to) in [
        (r#"\"heads\": 2"#, r#"\"heads\": 3"#),
        (r#"\"dilation\": 1"#, r#"\"dilation\": 0"#),
        (r#"\"heads\": 2"#, r#"\"heads\":-2"#),
        (r#"\"scale\": null"#, r#"\"scale\": 9e99"#),
        ("expect.a", "expect.b"),
        ("causal", "casual"),
    ] {
        let at = good.windows(from.len()).position(|w| w == from.as_bytes());
        let mut bad = good.clone();
        bad[at.unwrap()..][..to.len()].copy_from_slice(to.as_bytes());
        let parsed = Case::parse("bad", &bad, no_inputs);
        assert!(parsed.is_err(), "{to}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged cases give a case or an error, never a panic.
    #[test]
    fn damaged_cases_give_a_value(
        edits in proptest::collection::vec((8usize..700, any::<u8>()), 0..4),
        digits in proptest::collection::vec((8usize..700, b'0'..=b'9'), 0..4),
    ) {
        let mut bytes = include_bytes!("golden/causal-l2.safetensors").to_vec();
        for (at, value) in edits.into_iter().chain(digits) {
            bytes[at] = value;
        }
        if let Ok(case) = Case::parse("damaged", &bytes, no_inputs) {
            prop_assert!(case.layer.check().is_ok());
        }
    }
}
