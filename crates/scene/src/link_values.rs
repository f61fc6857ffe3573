//! Converts values of a link to text and back: numbers, and compound parameters.

use super::link_words::Word;
use super::sanitize::{Number, range};
use super::warning::Reason;
use super::{
    Control, Passage, Pattern, Rect, Scale, Scene, Source, default_layer, default_seed,
    default_seq_len,
};

/// Reads a whole number of any length; beyond the legal range of `key` the nearer end is stored.
pub(super) fn whole<T: Number>(key: &str, text: &str, into: &mut T) -> Result<(), Reason> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Reason::NotANumber);
    }
    // Any text of digits is an f64, possibly infinite; legal whole numbers are exact.
    let number = parsed(text).ok_or(Reason::NotANumber)?;
    store(key, number, into)
}

/// Reads a real number; beyond the legal range of `key` the nearer end is stored.
pub(super) fn real(key: &str, text: &str, into: &mut f32) -> Result<(), Reason> {
    let number = decimal(text).ok_or(Reason::NotANumber)?;
    store(key, f64::from(number as f32 + 0.0), into)
}

/// Reads a real number; beyond f32 the largest one is stored.
pub(super) fn finite(text: &str, into: &mut f32) -> Result<(), Reason> {
    let number = decimal(text).ok_or(Reason::NotANumber)?;
    *into = (number as f32).clamp(f32::MIN, f32::MAX) + 0.0;
    Ok(())
}

/// A decimal number of any size, possibly infinite: digits with sign, point and exponent, which
/// every parser reads alike.
fn decimal(text: &str) -> Option<f64> {
    let own = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    (digits && text.bytes().all(own))
        .then(|| parsed(text))
        .flatten()
}

#[cfg(not(target_arch = "wasm32"))]
fn parsed(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// The browser parses decimals as exactly as Rust, without Rust's table of 10 kB.
#[cfg(target_arch = "wasm32")]
fn parsed(text: &str) -> Option<f64> {
    let number = js_sys::Number::from(wasm_bindgen::JsValue::from_str(text)).value_of();
    (!number.is_nan()).then_some(number)
}

fn store<T: Number>(key: &str, number: f64, into: &mut T) -> Result<(), Reason> {
    let (min, max) = range(key);
    *into = T::from_f64(number.clamp(min, max) + 0.0);
    if (min..=max).contains(&number) {
        Ok(())
    } else {
        Err(Reason::OutOfRange { min, max })
    }
}

/// The shortest text that parses to this number.
pub(super) fn real_text(value: f32) -> String {
    let size = value.abs();
    if size != 0.0 && size < 1e-4 {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// The parts of `text` between dots; there must be exactly `N`.
fn parts<const N: usize>(text: &str) -> Result<[&str; N], Reason> {
    let mut parts = [""; N];
    let mut rest = text.split('.');
    for part in &mut parts {
        *part = rest.next().ok_or(Reason::Malformed)?;
    }
    rest.next().map_or(Ok(parts), |_| Err(Reason::Malformed))
}

pub(super) fn source_text(scene: &Scene) -> String {
    match scene.source {
        Source::MiniLm { text, layer } => format!("{}.{layer}", text.word()),
        Source::Synthetic {
            pattern,
            seq_len,
            seed,
        } => format!("{}.{seq_len}.{seed}", pattern.word()),
    }
}

/// Parts that are missing or not numbers keep their defaults: layer 1, 64 tokens, seed 1.
pub(super) fn read_source(scene: &mut Scene, text: &str) -> Result<(), Reason> {
    let (name, numbers) = text.split_once('.').unwrap_or((text, ""));
    let mut numbers = numbers.split('.').filter(|part| !part.is_empty());
    let mut result = Ok(());
    let mut next = |key: &str, default: u32| {
        let mut number = default;
        if let Some(part) = numbers.next() {
            result = result.and(whole(key, part, &mut number));
        }
        number
    };
    if let Some(text) = Passage::from_word(name) {
        // The range of layers fits in a byte.
        let layer = next("src.layer", u32::from(default_layer())) as u8;
        scene.source = Source::MiniLm { text, layer };
    } else if let Some(pattern) = Pattern::from_word(name) {
        scene.source = Source::Synthetic {
            pattern,
            seq_len: next("src.len", default_seq_len()),
            seed: next("src.seed", default_seed()),
        };
    } else {
        return Err(Reason::UnknownWord);
    }
    match numbers.next() {
        Some(_) => result.and(Err(Reason::Malformed)),
        None => result,
    }
}

pub(super) fn scale_text(scene: &Scene) -> String {
    match scene.scale {
        Scale::HeadDim => "head".to_owned(),
        Scale::ModelDim => "model".to_owned(),
        Scale::Free(value) => real_text(value),
    }
}

pub(super) fn read_scale(scene: &mut Scene, text: &str) -> Result<(), Reason> {
    scene.scale = match text {
        "head" => Scale::HeadDim,
        "model" => Scale::ModelDim,
        _ => {
            let mut value = 1.0;
            let result = real("scale", text, &mut value);
            if result != Err(Reason::NotANumber) {
                scene.scale = Scale::Free(value);
            }
            return result;
        }
    };
    Ok(())
}

pub(super) fn rect_text(scene: &Scene) -> String {
    scene.view.rect.map_or("all".to_owned(), |r| {
        format!("{}.{}.{}.{}", r.row, r.col, r.rows, r.cols)
    })
}

pub(super) fn read_rect(scene: &mut Scene, text: &str) -> Result<(), Reason> {
    if text == "all" {
        scene.view.rect = None;
        return Ok(());
    }
    let [row, col, rows, cols] = parts(text)?;
    let mut numbers = [0u32; 4];
    let mut result = Ok(());
    for (number, (key, part)) in numbers.iter_mut().zip([
        ("rect.at", row),
        ("rect.at", col),
        ("rect.size", rows),
        ("rect.size", cols),
    ]) {
        match whole(key, part, number) {
            Err(Reason::NotANumber) => return Err(Reason::Malformed),
            other => result = result.and(other),
        }
    }
    let [row, col, rows, cols] = numbers;
    scene.view.rect = Some(Rect {
        row,
        col,
        rows,
        cols,
    });
    result
}

pub(super) fn cell_text(scene: &Scene) -> String {
    scene
        .view
        .cell
        .map_or("none".to_owned(), |(row, col)| format!("{row}.{col}"))
}

pub(super) fn read_cell(scene: &mut Scene, text: &str) -> Result<(), Reason> {
    if text == "none" {
        scene.view.cell = None;
        return Ok(());
    }
    let [row, col] = parts(text)?;
    let mut cell = (0, 0);
    let result = match (
        whole("cell.at", row, &mut cell.0),
        whole("cell.at", col, &mut cell.1),
    ) {
        (Err(Reason::NotANumber), _) | (_, Err(Reason::NotANumber)) => {
            return Err(Reason::Malformed);
        }
        (row, col) => row.and(col),
    };
    scene.view.cell = Some(cell);
    result
}

pub(super) fn show_text(scene: &Scene) -> String {
    let words: Vec<_> = scene.show.iter().map(|&control| control.word()).collect();
    words.join(",")
}

/// Unknown names are skipped; the others apply.
pub(super) fn read_show(scene: &mut Scene, text: &str) -> Result<(), Reason> {
    let mut result = Ok(());
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match Control::from_word(word) {
            Some(control) => scene.show.push(control),
            None => result = Err(Reason::UnknownWord),
        }
    }
    result
}
