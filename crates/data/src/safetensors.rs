//! Reads untrusted safetensors files. The crate's own limits are wide (a 100 MB header, last
//! duplicate wins, sums that can overflow), so this module checks size, keys and extent before the
//! crate's layout check runs and before anything is allocated.

use std::collections::BTreeMap;
use std::fmt;

use half::{bf16, f16};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use attnscope_attention::layer::Tensor;

/// Longest header that this reader accepts, in bytes.
pub const MAX_HEADER: usize = 1 << 20;

/// Why bytes are not a readable file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Fewer bytes than the file declares: truncated, or not such a file at all.
    Short {
        /// Bytes that are needed (as far as known).
        needed: u64,
        /// Bytes that exist.
        there: u64,
    },
    /// The header says it is longer than [`MAX_HEADER`].
    HeaderTooLong(u64),
    /// The header is not the expected JSON (or has duplicate keys).
    Header(String),
    /// Gaps, overlaps, or a size that is not shape × type.
    Layout(String),
    /// Bytes follow the last tensor.
    Surplus(u64),
    /// A number type that this reader does not support.
    Type {
        /// Which tensor.
        name: String,
        /// Its number type.
        dtype: String,
    },
    /// The file lacks a required tensor.
    Missing(String),
    /// A tensor does not have the required shape.
    Shape {
        /// Which tensor.
        name: String,
        /// The shape it has.
        shape: Vec<usize>,
        /// The required shape, in words.
        wanted: String,
    },
    /// A number that is not finite.
    NotFinite(String),
    /// A tensor with an unknown name.
    Unknown(String),
    /// A tensor that comes from two places.
    Twice(String),
    /// A tensor that requires another one.
    Alone {
        /// Which tensor.
        name: String,
        /// What is missing.
        needs: String,
    },
    /// Two tensors that exclude each other.
    Both {
        /// Which tensor.
        name: String,
        /// The other one.
        other: String,
    },
    /// An unknown field of the configuration.
    UnknownField(String),
    /// A field of the configuration with an impossible value.
    Field(String),
    /// Another problem with the content, in words.
    Content(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { needed, there } => {
                write!(f, "cut short: {there} bytes where {needed} are needed")
            }
            Self::HeaderTooLong(n) => write!(f, "a header of {n} bytes is beyond {MAX_HEADER}"),
            Self::Header(why) => write!(f, "the header cannot be read: {why}"),
            Self::Layout(why) => write!(f, "the layout is wrong: {why}"),
            Self::Surplus(n) => write!(f, "{n} bytes follow the last tensor"),
            Self::Type { name, dtype } => write!(f, "tensor {name} is of type {dtype}"),
            Self::Missing(name) => write!(f, "tensor {name} is missing"),
            Self::Shape {
                name,
                shape,
                wanted,
            } => write!(f, "tensor {name} has shape {shape:?}, not {wanted}"),
            Self::NotFinite(name) => write!(f, "tensor {name} holds a number that is not finite"),
            Self::Unknown(name) => write!(f, "'{name}' is no tensor of a case"),
            Self::Twice(name) => write!(f, "tensor {name} is given twice"),
            Self::Alone { name, needs } => write!(f, "tensor {name} is there without {needs}"),
            Self::Both { name, other } => write!(f, "tensor {name} cannot be beside {other}"),
            Self::UnknownField(name) => write!(f, "'{name}' is no field of config"),
            Self::Field(name) => write!(f, "field {name} of config has an impossible value"),
            Self::Content(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ReadError {}

/// The tensors of a file as f32 (from F16, BF16, F32, F64, U8, BOOL) and its metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// By name.
    pub tensors: BTreeMap<String, Tensor>,
    /// `__metadata__`.
    pub metadata: BTreeMap<String, String>,
}

impl Tensors {
    /// Reads a whole file. Never panics; allocates at most four bytes for each byte of `bytes`
    /// plus the header.
    ///
    /// # Errors
    /// Whenever the bytes are not exactly one well-formed file of the supported types.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        let there = bytes.len() as u64;
        let short = |needed| ReadError::Short { needed, there };
        let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
            return Err(short(8));
        };
        let length = u64::from_le_bytes(*length);
        if length > MAX_HEADER as u64 {
            return Err(ReadError::HeaderTooLong(length));
        }
        let Some((header, data)) = rest.split_at_checked(length as usize) else {
            return Err(short(8 + length));
        };
        let header = std::str::from_utf8(header).map_err(|e| ReadError::Header(e.to_string()))?;
        let Header { metadata, infos } =
            serde_json::from_str(header).map_err(|e| ReadError::Header(e.to_string()))?;

        let mut infos: Vec<(String, TensorInfo)> = infos.into_iter().collect();
        infos.sort_by_key(|(_, info)| info.data_offsets);
        // Checks, with checked arithmetic, that tensors follow each other without gap and overlap
        // and that each is as large as its shape × type.
        let layout = Metadata::new(None, infos.clone())
            .map_err(|e| ReadError::Layout(e.to_string()))?
            .data_len();
        if layout > data.len() {
            return Err(short((8 + length).saturating_add(layout as u64)));
        }
        if layout < data.len() {
            return Err(ReadError::Surplus((data.len() - layout) as u64));
        }
        let mut tensors = BTreeMap::new();
        for (name, info) in infos {
            let (from, to) = info.data_offsets;
            let numbers = decode(info.dtype, &data[from..to]).ok_or_else(|| ReadError::Type {
                name: name.clone(),
                dtype: info.dtype.to_string(),
            })?;
            let tensor = Tensor::new(&info.shape, numbers)
                .map_err(|e| ReadError::Layout(format!("{name}: {} numbers", e.len)))?;
            tensors.insert(name, tensor);
        }
        Ok(Self { tensors, metadata })
    }

    /// The tensor `name`, if the file has it.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// The tensor `name`.
    ///
    /// # Errors
    /// When it is missing.
    pub fn need(&self, name: &str) -> Result<&Tensor, ReadError> {
        self.get(name)
            .ok_or_else(|| ReadError::Missing(name.to_owned()))
    }

    /// The tensor `name`, if the file has it, with exactly `shape`.
    ///
    /// # Errors
    /// When it has another shape.
    pub fn get_shaped(&self, name: &str, shape: &[usize]) -> Result<Option<Tensor>, ReadError> {
        match self.get(name) {
            Some(tensor) if tensor.shape != shape => Err(ReadError::Shape {
                name: name.to_owned(),
                shape: tensor.shape.clone(),
                wanted: format!("{shape:?}"),
            }),
            other => Ok(other.cloned()),
        }
    }

    /// The tensor `name` with exactly `shape`.
    ///
    /// # Errors
    /// When it is missing or has another shape.
    pub fn need_shaped(&self, name: &str, shape: &[usize]) -> Result<Tensor, ReadError> {
        self.get_shaped(name, shape)?
            .ok_or_else(|| ReadError::Missing(name.to_owned()))
    }

    /// The metadata entry `key`.
    ///
    /// # Errors
    /// When it is missing.
    pub fn meta(&self, key: &str) -> Result<&str, ReadError> {
        self.metadata
            .get(key)
            .map(String::as_str)
            .ok_or_else(|| ReadError::Missing(format!("metadata {key}")))
    }
}

/// Little-endian bytes of one of the supported types as f32; `None` for the others.
fn decode(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        let (chunks, _) = bytes.as_chunks::<N>();
        chunks.iter().map(|&chunk| number(chunk)).collect()
    }
    Some(match dtype {
        Dtype::F16 => each(bytes, |b| f16::from_le_bytes(b).to_f32()),
        Dtype::BF16 => each(bytes, |b| bf16::from_le_bytes(b).to_f32()),
        Dtype::F32 => each(bytes, f32::from_le_bytes),
        Dtype::F64 => each(bytes, |b| f64::from_le_bytes(b) as f32),
        Dtype::U8 | Dtype::BOOL => bytes.iter().map(|&b| f32::from(b)).collect(),
        _ => return None,
    })
}

/// The JSON header; unlike serde's own maps it refuses duplicate keys.
struct Header {
    metadata: BTreeMap<String, String>,
    infos: BTreeMap<String, TensorInfo>,
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut metadata: Option<Words> = None;
                let mut infos = BTreeMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    let twice = if key == "__metadata__" {
                        metadata.replace(map.next_value()?).is_some()
                    } else {
                        infos.insert(key.clone(), map.next_value()?).is_some()
                    };
                    if twice {
                        return Err(A::Error::custom(format_args!("{key} comes twice")));
                    }
                }
                Ok(Header {
                    metadata: metadata.map(|words| words.0).unwrap_or_default(),
                    infos,
                })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Metadata without duplicate keys.
struct Words(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Words;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Words, A::Error> {
                let mut words = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, String>()? {
                    if words.insert(key.clone(), value).is_some() {
                        return Err(A::Error::custom(format_args!("{key} comes twice")));
                    }
                }
                Ok(Words(words))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
#[path = "safetensors_tests.rs"]
mod tests;
