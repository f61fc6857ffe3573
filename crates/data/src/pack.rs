//! Cuts the captured MiniLM files into the shipped form (see [`super::minilm`]); the bytes of the
//! numbers are copied unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use safetensors::tensor::TensorInfo;
use serde_json::{Map, Value, json};

use super::minilm::{self, FIRST, HEAD_DIM, LAYERS};
use attnscope_scene::Passage;

/// The error in words, with the name of the file.
pub type PackError = String;

/// Tensors to write: name, type and shape as in the source, bytes.
type Parts<'a> = Vec<(String, TensorInfo, &'a [u8])>;

/// Reads `minilm-*.safetensors` in `source` and writes the shipped files into `target`. Returns
/// the files written with their sizes.
///
/// # Errors
/// When a source file is missing or malformed, or `target` cannot be written.
pub fn pack(source: &Path, target: &Path) -> Result<Vec<(PathBuf, usize)>, PackError> {
    fs::create_dir_all(target).map_err(|e| format!("{}: {e}", target.display()))?;
    let mut written = Vec::new();
    let mut write = |name: String, parts: &Parts, meta: &BTreeMap<String, String>| {
        let path = target.join(name);
        let bytes = serialize(parts, meta)?;
        fs::write(&path, &bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        written.push((path, bytes.len()));
        Ok::<(), PackError>(())
    };
    for text in [Passage::Sentence, Passage::Paragraph, Passage::Page] {
        let stem = minilm::stem(text);
        let (bytes, path) = load(source, &format!("minilm-{stem}.safetensors"))?;
        let file = open(&bytes, &path)?;
        let meta = metadata(&bytes, &path)?;
        for layer in 0..LAYERS {
            let parts = vec![part(&file, &format!("x.{layer}"))?];
            write(format!("{stem}.x{layer}.safetensors"), &parts, &meta)?;
        }
    }
    for layer in 0..LAYERS {
        let (bytes, path) = load(source, &format!("minilm-layer{layer}.safetensors"))?;
        let file = open(&bytes, &path)?;
        let meta = metadata(&bytes, &path)?;
        for (kind, names) in [
            ("qk", ["w_q", "b_q", "w_k", "b_k"]),
            ("vo", ["w_v", "b_v", "w_o", "b_o"]),
        ] {
            let parts = names
                .iter()
                .map(|name| part(&file, name))
                .collect::<Result<Parts, _>>()?;
            write(format!("layer{layer}.{kind}.safetensors"), &parts, &meta)?;
        }
    }
    let (text, layer, head) = FIRST;
    let (x_bytes, x_path) = load(
        source,
        &format!("minilm-{}.safetensors", minilm::stem(text)),
    )?;
    let (w_bytes, w_path) = load(source, &format!("minilm-layer{layer}.safetensors"))?;
    let x_file = open(&x_bytes, &x_path)?;
    let w_file = open(&w_bytes, &w_path)?;
    let mut x = part(&x_file, &format!("x.{layer}"))?;
    "x".clone_into(&mut x.0);
    let mut parts = vec![x];
    for name in ["w_q", "b_q", "w_k", "b_k"] {
        parts.push(head_rows(part(&w_file, name)?, head)?);
    }
    let mut meta = metadata(&x_bytes, &x_path)?;
    meta.insert("layer".to_owned(), layer.to_string());
    meta.insert("head".to_owned(), head.to_string());
    write("first.safetensors".to_owned(), &parts, &meta)?;
    Ok(written)
}

fn load(folder: &Path, name: &str) -> Result<(Vec<u8>, String), PackError> {
    let path = folder.join(name);
    let shown = path.display().to_string();
    let bytes = fs::read(&path).map_err(|e| format!("{shown}: {e}"))?;
    // The guarded reader checks the file first; the code below may trust the layout.
    super::safetensors::Tensors::parse(&bytes).map_err(|e| format!("{shown}: {e}"))?;
    Ok((bytes, shown))
}

fn open<'a>(bytes: &'a [u8], path: &str) -> Result<SafeTensors<'a>, PackError> {
    SafeTensors::deserialize(bytes).map_err(|e| format!("{path}: {e}"))
}

fn metadata(bytes: &[u8], path: &str) -> Result<BTreeMap<String, String>, PackError> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| format!("{path}: {e}"))?;
    Ok(header
        .metadata()
        .iter()
        .flatten()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect())
}

fn part<'a>(
    file: &SafeTensors<'a>,
    name: &str,
) -> Result<(String, TensorInfo, &'a [u8]), PackError> {
    let view = file.tensor(name).map_err(|e| format!("{name}: {e}"))?;
    let info = TensorInfo {
        dtype: view.dtype(),
        shape: view.shape().to_vec(),
        data_offsets: (0, view.data().len()),
    };
    Ok((name.to_owned(), info, view.data()))
}

/// Only the rows of head `head` of a projection `[d, d]` or of its bias `[d]`.
fn head_rows(
    (name, mut info, data): (String, TensorInfo, &[u8]),
    head: usize,
) -> Result<(String, TensorInfo, &[u8]), PackError> {
    let rows = info.shape.first().copied().unwrap_or(0);
    let end = (head + 1) * HEAD_DIM;
    if rows < end {
        return Err(format!("{name}: {rows} rows where {end} are needed"));
    }
    let step = data.len() / rows;
    info.shape[0] = HEAD_DIM;
    Ok((name, info, &data[head * HEAD_DIM * step..end * step]))
}

/// A safetensors file with keys in a fixed order. (The crate's own writer keeps metadata in a hash
/// map, so the same input would give other bytes on every run.)
fn serialize(parts: &Parts, meta: &BTreeMap<String, String>) -> Result<Vec<u8>, PackError> {
    let mut header = Map::new();
    header.insert("__metadata__".to_owned(), json!(meta));
    let mut at = 0;
    for (name, info, data) in parts {
        let placed = TensorInfo {
            data_offsets: (at, at + data.len()),
            dtype: info.dtype,
            shape: info.shape.clone(),
        };
        at += data.len();
        let value = serde_json::to_value(&placed).map_err(|e| format!("{name}: {e}"))?;
        header.insert(name.clone(), value);
    }
    let mut text = Value::Object(header).to_string().into_bytes();
    // The format requires data aligned to 8 bytes; spaces may follow the JSON.
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text);
    for (_, _, data) in parts {
        bytes.extend(*data);
    }
    Ok(bytes)
}
