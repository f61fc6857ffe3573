//! Cases to check: by address or as chosen files.

use std::collections::BTreeMap;

use js_sys::Uint8Array;
use leptos::prelude::window;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, Response, Url};

use crate::build_files;
use attnscope_data::case::Case;
use attnscope_data::minilm;
use attnscope_data::safetensors::{ReadError, Tensors};
use attnscope_scene::Lang;
use attnscope_text::check as texts;

/// A case to check.
pub enum CaseSource {
    /// By address.
    Address(String),
    /// A chosen file.
    File(File),
}

impl CaseSource {
    /// The file's name without folder and extension, made fit to show.
    pub fn name(&self) -> String {
        let path = match self {
            Self::Address(address) => address.clone(),
            Self::File(file) => file.name(),
        };
        let file = path.rsplit('/').next().unwrap_or_default();
        let stem = file.trim_end_matches(".safetensors").chars();
        stem.filter(|&c| !turns(c)).take(MAX_NAME).collect()
    }

    /// Reads the file.
    ///
    /// # Errors
    /// In words, why it could not be read.
    pub async fn bytes(self, lang: Lang) -> Result<Vec<u8>, String> {
        match self {
            // An empty address is that of the page itself.
            Self::Address(address) if address.trim().is_empty() => Err("?case=".to_owned()),
            Self::Address(address) if is_elsewhere(&address) => {
                Err(texts::ELSEWHERE.pick(lang).to_owned())
            }
            Self::Address(address) => fetch(&address).await,
            Self::File(file) => {
                let buffer = JsFuture::from(file.array_buffer()).await;
                buffer.map(|buffer| bytes_of(&buffer)).map_err(words_of)
            }
        }
    }
}

/// Longest file name that is shown, in characters.
const MAX_NAME: usize = 60;

/// The character is invisible but changes how others look: a file name must not turn the text
/// around it.
fn turns(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || c.is_control()
}

/// Parses the case; fetches files that it names from the page's own data.
///
/// # Errors
/// As [`Case::parse`], and when a file that it names cannot be fetched.
pub async fn parse(name: &str, bytes: &[u8]) -> Result<Case, ReadError> {
    let mut files = BTreeMap::<String, Vec<u8>>::new();
    loop {
        let mut missing = Vec::new();
        let case = Case::parse(name, bytes, |input, tensor| {
            let mut all = Tensors::default();
            let paths = minilm::captured(input, tensor)
                .ok_or_else(|| ReadError::Missing(input.to_owned()))?;
            for path in paths {
                match files.get(&path) {
                    Some(bytes) => {
                        // A damaged input does not make the case a damaged one.
                        let named = |why| ReadError::Content(format!("{path}: {why}"));
                        let file = Tensors::parse(bytes).map_err(named)?;
                        all.tensors.extend(file.tensors);
                    }
                    None => missing.push(path),
                }
            }
            Ok(all)
        });
        if missing.is_empty() {
            return case;
        }
        for path in missing {
            let named = |why| ReadError::Content(format!("{path}: {why}"));
            let address = build_files::data(&path).map_err(|why| named(words_of(why)))?;
            let bytes = fetch(&address).await.map_err(named)?;
            files.insert(path, bytes);
        }
    }
}

/// The address is not on this site: the page's policy refuses it without giving a reason.
fn is_elsewhere(address: &str) -> bool {
    let here = window().location().href().unwrap_or_default();
    let host = |address: &str| Url::new_with_base(address, &here).map(|url| url.host());
    matches!((host(address), host(&here)), (Ok(there), Ok(here)) if there != here)
}

/// The bytes at an address of this site.
async fn fetch(address: &str) -> Result<Vec<u8>, String> {
    let answer = JsFuture::from(window().fetch_with_str(address))
        .await
        .map_err(words_of)?;
    let answer: Response = answer.unchecked_into();
    if !answer.ok() {
        return Err(answer.status().to_string());
    }
    let buffer = answer.array_buffer().map_err(words_of)?;
    Ok(bytes_of(&JsFuture::from(buffer).await.map_err(words_of)?))
}

fn bytes_of(buffer: &JsValue) -> Vec<u8> {
    Uint8Array::new(buffer).to_vec()
}

fn words_of(error: JsValue) -> String {
    String::from(js_sys::Object::from(error).to_string())
}
