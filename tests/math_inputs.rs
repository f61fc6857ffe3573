//! The golden cases load, and the shipped inputs are the ones the cases were made from.
#![allow(clippy::unwrap_used)]

use std::fs;

use attnscope::attention::layer::Input;
use attnscope::data::case::Case;
use attnscope::data::safetensors::{ReadError, Tensors};
use attnscope::data::{folder, minilm};
use attnscope::scene::Text;
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
        (Text::Sentence, 24),
        (Text::Paragraph, 120),
        (Text::Page, 512),
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
    let preview = minilm::preview(layer, head, &read(&files.hidden), &read(&files.qk)).unwrap();
    assert_eq!(first.layer.input, preview.layer.input);
    assert_eq!(first.layer.preview_of, Some(8));
    assert_eq!((first.tokens, first.text), (preview.tokens, preview.text));
}

#[test]
fn damaged_files_are_refused() {
    let files = minilm::files(Text::Sentence, 1);
    let (x, qk, vo) = (read(&files.hidden), read(&files.qk), read(&files.vo));
    assert!(minilm::assemble(2, &x, &qk, &vo).is_err(), "x.1 is no x.2");
    assert!(minilm::assemble(1, &x, &vo, &qk).is_err(), "files swapped");
    assert!(minilm::assemble(1, &x, &qk, &vo[..vo.len() - 1]).is_err());
    assert!(minilm::preview(1, 12, &x, &qk).is_err());
    // NaN in the last number of x (float16 0x7e00).
    let mut nan = x.clone();
    let end = nan.len();
    nan[end - 2..].copy_from_slice(&[0x00, 0x7e]);
    assert!(minilm::assemble(1, &nan, &qk, &vo).is_err());
}

#[test]
fn cases_that_name_inputs_get_the_shipped_ones() {
    let case = folder::cases(&folder::own_golden())
        .unwrap()
        .into_iter()
        .find(|case| case.name == "minilm-sentence-full")
        .unwrap();
    let files = minilm::files(Text::Sentence, 1);
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
