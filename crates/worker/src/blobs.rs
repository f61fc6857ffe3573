//! Tensors beside a message: the sender adds their bytes to a list of blobs, the message has their
//! places in it, and the receiver takes them out again.

use std::sync::Arc;

use attnscope_attention::layer::Tensor;
use serde::{Deserialize, Serialize};

use super::codec::ProtocolError;

/// The bytes of one tensor, in the byte order of WebAssembly (little-endian).
pub type Blob = Vec<u8>;

/// How many f32 numbers to copy at once: 4 MB take a few milliseconds, 100 MB would block the page.
pub const CHUNK: usize = 1 << 20;

/// A tensor in a message: its shape, and the blob that has its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorHandle {
    /// Extent of each axis, outermost first.
    pub shape: Vec<usize>,
    /// Index into the blobs of the message.
    pub blob: u32,
}

/// The blobs of a message under construction.
#[derive(Debug, Default)]
pub struct BlobWriter(Vec<Blob>);

impl BlobWriter {
    /// Adds the f32 numbers of a tensor to the blobs.
    pub fn tensor(&mut self, tensor: &Tensor) -> TensorHandle {
        TensorHandle {
            shape: tensor.shape.clone(),
            blob: self.floats(&tensor.data),
        }
    }

    /// Adds f32 numbers to the blobs. Returns their place.
    pub fn floats(&mut self, numbers: &[f32]) -> u32 {
        self.bytes(to_bytes(numbers))
    }

    /// Adds f64 numbers to the blobs. Returns their place.
    pub fn doubles(&mut self, numbers: &[f64]) -> u32 {
        self.bytes(bytemuck::cast_slice(numbers).to_vec())
    }

    /// Adds bytes to the blobs. Returns their place.
    pub fn bytes(&mut self, blob: Blob) -> u32 {
        self.0.push(blob);
        self.0.len() as u32 - 1
    }

    /// The finished blobs.
    pub fn into_blobs(self) -> Vec<Blob> {
        self.0
    }
}

/// The blobs that came with a message; each is taken once.
#[derive(Debug, Default, PartialEq)]
pub struct BlobReader(Vec<Option<Blob>>);

impl BlobReader {
    /// Reads the blobs of a message.
    pub fn new(blobs: Vec<Blob>) -> Self {
        Self(blobs.into_iter().map(Some).collect())
    }

    /// The bytes at `place`.
    ///
    /// # Errors
    /// [`ProtocolError::MissingTensor`] when there are none, or they were already taken.
    pub fn bytes(&mut self, place: u32) -> Result<Blob, ProtocolError> {
        let blob = self.0.get_mut(place as usize).and_then(Option::take);
        blob.ok_or(ProtocolError::MissingTensor)
    }

    /// The f32 numbers at `place`.
    ///
    /// # Errors
    /// As [`BlobReader::bytes`], and when the number of bytes is not a multiple of four.
    pub fn floats(&mut self, place: u32) -> Result<Vec<f32>, ProtocolError> {
        numbers(&self.bytes(place)?)
    }

    /// The f64 numbers at `place`.
    ///
    /// # Errors
    /// As [`BlobReader::bytes`], and when the number of bytes is not a multiple of eight.
    pub fn doubles(&mut self, place: u32) -> Result<Vec<f64>, ProtocolError> {
        numbers(&self.bytes(place)?)
    }

    /// The tensor of `handle`.
    ///
    /// # Errors
    /// As [`BlobReader::floats`], and when their number does not match the shape.
    pub fn tensor(&mut self, handle: &TensorHandle) -> Result<Tensor, ProtocolError> {
        let data: Arc<[f32]> = self.floats(handle.blob)?.into();
        Tensor::new(&handle.shape, data).map_err(|_| ProtocolError::MissingTensor)
    }

    /// Whether every blob was taken.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// The bytes of f32 numbers.
pub fn to_bytes(numbers: &[f32]) -> Blob {
    bytemuck::cast_slice(numbers).to_vec()
}

fn numbers<T: bytemuck::Pod>(bytes: &[u8]) -> Result<Vec<T>, ProtocolError> {
    if bytes.len().is_multiple_of(size_of::<T>()) {
        Ok(bytemuck::pod_collect_to_vec(bytes))
    } else {
        Err(ProtocolError::MissingTensor)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn tensors_come_out_as_they_went_in_and_only_once() {
        let tensor = Tensor::new(&[2, 3], vec![1.0, -2.0, 3.5, 0.0, 1e-9, f32::MAX]).unwrap();
        let mut writer = BlobWriter::default();
        let (handle, place) = (writer.tensor(&tensor), writer.doubles(&[0.1, -0.2]));
        let mut reader = BlobReader::new(writer.into_blobs());
        assert_eq!(reader.tensor(&handle), Ok(tensor));
        assert!(!reader.is_empty());
        assert_eq!(reader.doubles(place), Ok(vec![0.1, -0.2]));
        assert!(reader.is_empty());
        assert_eq!(reader.tensor(&handle), Err(ProtocolError::MissingTensor));
    }

    #[test]
    fn a_shape_that_the_numbers_do_not_fill_is_refused() {
        let read = |shape: &[usize], bytes: usize| {
            let handle = TensorHandle {
                shape: shape.to_vec(),
                blob: 0,
            };
            BlobReader::new(vec![vec![0; bytes]]).tensor(&handle)
        };
        assert!(read(&[3], 12).is_ok());
        for (shape, bytes) in [(&[3][..], 8), (&[3], 13), (&[usize::MAX, 2], 12), (&[], 0)] {
            assert_eq!(read(shape, bytes), Err(ProtocolError::MissingTensor));
        }
    }
}
