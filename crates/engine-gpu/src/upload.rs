//! Converts tensors to buffers: pads rows to whole vec4s, aligns heads, packs masks.

use attnscope_attention::layer::{Input, Layer, Linear, Tensor};
use attnscope_engine::Part;
use attnscope_engine::centring::common_row;
use attnscope_engine::sizes::{PaddedSizes, vec4s};

use super::store::Store;
use attnscope_engine::needs::Name;

/// Rows of `row` numbers, each padded with zeros to whole vec4s.
pub fn padded_rows(data: &[f32], row: usize) -> Vec<f32> {
    if row.is_multiple_of(4) {
        return data.to_vec();
    }
    let wide = vec4s(row) * 4;
    let mut out = vec![0.0; data.len() / row.max(1) * wide];
    for (from, to) in data.chunks_exact(row).zip(out.chunks_exact_mut(wide)) {
        to[..row].copy_from_slice(from);
    }
    out
}

/// Head `head` of X `[L, d]` when its projection is skipped: columns `head·d_h ..` of every row.
pub fn split_head(x: &Tensor, head: usize, head_dim: usize) -> Vec<f32> {
    let d = x.shape.get(1).copied().unwrap_or(0).max(1);
    x.data
        .chunks_exact(d)
        .flat_map(|row| &row[head * head_dim..(head + 1) * head_dim])
        .copied()
        .collect()
}

/// One bit per cell, rows of ⌈L / 32⌉ words.
pub fn packed_mask(mask: &[u8], seq_len: usize) -> Vec<u32> {
    let words = seq_len.div_ceil(32);
    let mut out = vec![0u32; words * seq_len];
    for (row, bits) in mask.chunks_exact(seq_len).zip(out.chunks_exact_mut(words)) {
        for (j, _) in row.iter().enumerate().filter(|&(_, &m)| m != 0) {
            bits[j / 32] |= 1 << (j % 32);
        }
    }
    out
}

/// Where head tensors come from: the projection of the part, or the numbers of the head.
pub enum Source<'a> {
    /// Project X with this map.
    Projected(&'a Linear),
    /// These numbers `[L, d_h]`.
    Given(Vec<f32>),
}

/// Where `part` of `head` comes from.
pub fn source(layer: &Layer, part: Part, head: usize) -> Source<'_> {
    match &layer.input {
        Input::Heads { q, k, v } => {
            let tensor = match part {
                Part::Q => q,
                Part::K => k,
                Part::V => v,
            };
            Source::Given(tensor.outer(head).to_vec())
        }
        Input::Hidden { x, w_q, w_k, w_v } => {
            let linear = match part {
                Part::Q => w_q,
                Part::K => w_k,
                Part::V => w_v,
            };
            match linear {
                Some(linear) => Source::Projected(linear),
                None => Source::Given(split_head(x, head, layer.head_dim)),
            }
        }
    }
}

/// Writes buffers of the store.
pub struct Uploader<'a> {
    /// The device.
    pub device: &'a wgpu::Device,
    /// Its queue.
    pub queue: &'a wgpu::Queue,
    /// The buffers.
    pub store: &'a mut Store,
}

impl Uploader<'_> {
    /// A matrix with padded rows.
    pub fn matrix(&mut self, name: Name, data: &[f32], row: usize) {
        let padded = padded_rows(data, row);
        self.numbers(name, &padded);
    }

    /// Numbers, unchanged.
    pub fn numbers<T: bytemuck::NoUninit>(&mut self, name: Name, data: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        self.store.ensure(self.device, name, bytes.len() as u64);
        self.write(name, 0, bytes);
        self.store.set_uploaded(name, true);
    }

    /// One head `[rows, d_h]` at its place in a buffer of all heads.
    pub fn head(&mut self, name: Name, data: &[f32], row: usize, head: usize, head_bytes: u64) {
        let padded = padded_rows(data, row);
        self.write(
            name,
            head as u64 * head_bytes,
            bytemuck::cast_slice(&padded),
        );
    }

    /// A weight `[out, in]` transposed, as `linear.wgsl` reads it.
    pub fn weight(&mut self, name: Name, weight: &Tensor) {
        let row = weight.shape.get(1).copied().unwrap_or(1).max(1);
        let transposed: Vec<f32> = (0..row)
            .flat_map(|column| weight.data.iter().skip(column).step_by(row))
            .copied()
            .collect();
        self.numbers(name, &transposed);
    }

    /// The common part of the keys of one head, in the row after the last key.
    pub fn common_row(&mut self, name: Name, row: &[f32], head: u32, sizes: &PaddedSizes) {
        let padded = padded_rows(row, sizes.head_dim);
        let behind = (sizes.seq_len * sizes.head_stride * 16) as u64;
        let at = u64::from(head) * sizes.head_bytes + behind;
        self.write(name, at, bytemuck::cast_slice(&padded));
    }

    /// A linear map: weight and bias.
    pub fn linear(&mut self, weight: Name, bias: Name, linear: &Linear) {
        self.weight(weight, &linear.weight);
        if let Some(b) = &linear.bias {
            self.numbers(bias, &b.data);
        }
    }

    /// One head of `[H, rows, n]` at its multiple of `head_bytes`: uploading all heads at once
    /// would block the page where there are many rows. After it comes the row that is subtracted
    /// from all rows: their common part where they are added to keys (`of_keys`), else zeros.
    pub fn unit_head(
        &mut self,
        name: Name,
        tensor: &Tensor,
        head: u32,
        head_bytes: u64,
        of_keys: bool,
    ) {
        let (heads, row) = (tensor.shape[0] as u64, tensor.shape[2]);
        self.store.ensure(self.device, name, head_bytes * heads);
        let at = head as usize;
        let mut numbers = tensor.outer(at).to_vec();
        numbers.extend(if of_keys {
            common_row(&numbers, row)
        } else {
            vec![0.0; row]
        });
        self.head(name, &numbers, row, at, head_bytes);
        self.store.set_head_uploaded(name, head);
    }

    /// Every head of `[H, rows, n]` at multiples of `head_bytes`.
    pub fn heads(&mut self, name: Name, tensor: &Tensor, head_bytes: u64) {
        let heads = tensor.shape[0];
        let row = tensor.shape[2];
        self.store
            .ensure(self.device, name, head_bytes * heads as u64);
        for head in 0..heads {
            self.head(name, tensor.outer(head), row, head, head_bytes);
        }
        self.store.set_uploaded(name, true);
    }

    /// s `[H, L, L]` unchanged, every head at a multiple of `head_bytes`.
    pub fn dense(&mut self, name: Name, tensor: &Tensor, head_bytes: u64) {
        let heads = tensor.shape[0];
        self.store
            .ensure(self.device, name, head_bytes * heads as u64);
        for head in 0..heads {
            let bytes = bytemuck::cast_slice(tensor.outer(head));
            self.write(name, head as u64 * head_bytes, bytes);
        }
        self.store.set_uploaded(name, true);
    }

    /// Writes bytes at `offset`.
    fn write(&mut self, name: Name, offset: u64, bytes: &[u8]) {
        if let Some(buffer) = self.store.get(name)
            && !bytes.is_empty()
        {
            self.queue.write_buffer(buffer, offset, bytes);
        }
    }

    /// Allocates q, k or v of all heads.
    pub fn head_space(&mut self, name: Name, sizes: &PaddedSizes) {
        self.store
            .ensure(self.device, name, sizes.head_bytes * sizes.heads as u64);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_padded_with_zeros() {
        assert_eq!(
            padded_rows(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3),
            [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]
        );
        assert_eq!(padded_rows(&[1.0; 8], 4), [1.0; 8]);
    }

    #[test]
    fn heads_are_columns_of_x() {
        let x = Tensor::new(&[2, 4], vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        assert_eq!(split_head(&x, 1, 2), [2.0, 3.0, 6.0, 7.0]);
    }

    #[test]
    fn masks_take_one_bit_a_cell() {
        let mut mask = vec![0u8; 33 * 33];
        mask[0] = 1;
        mask[33 + 32] = 7;
        let packed = packed_mask(&mask, 33);
        assert_eq!(packed.len(), 66);
        assert_eq!((packed[0], packed[1], packed[2], packed[3]), (1, 0, 0, 1));
    }
}
