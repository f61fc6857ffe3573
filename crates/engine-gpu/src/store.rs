//! Buffers by name. A replaced or dropped buffer is destroyed at once: in a browser nothing else
//! frees its memory.

use std::collections::{HashMap, HashSet};

use attnscope_engine::needs::Name;
use attnscope_engine::sizes::stored;

/// The buffers.
#[derive(Debug, Default)]
pub struct Store {
    buffers: HashMap<Name, wgpu::Buffer>,
    uploaded: HashSet<Name>,
    /// The same for buffers that are filled head by head.
    heads: HashSet<(Name, u32)>,
    /// Bytes of the largest bound range of each, for a test of the predicted needs.
    #[cfg(not(target_arch = "wasm32"))]
    bound: std::cell::RefCell<HashMap<Name, u64>>,
}

/// A range of a buffer to bind.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The buffer.
    pub buffer: &'a wgpu::Buffer,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 means up to the end.
    pub size: u64,
}

impl Store {
    /// The buffer of that name, if it exists.
    pub fn get(&self, name: Name) -> Option<&wgpu::Buffer> {
        self.buffers.get(&name)
    }

    /// Whether the buffer has its current numbers.
    pub fn is_uploaded(&self, name: Name) -> bool {
        self.uploaded.contains(&name)
    }

    /// Records whether the buffer has its current numbers.
    pub fn set_uploaded(&mut self, name: Name, uploaded: bool) {
        if uploaded {
            self.uploaded.insert(name);
        } else {
            self.forget(name);
        }
    }

    /// Whether the part of one head in the buffer has its current numbers.
    pub fn is_head_uploaded(&self, name: Name, head: u32) -> bool {
        self.heads.contains(&(name, head))
    }

    /// Records that it has.
    pub fn set_head_uploaded(&mut self, name: Name, head: u32) {
        self.heads.insert((name, head));
    }

    fn forget(&mut self, name: Name) {
        self.uploaded.remove(&name);
        self.heads.retain(|(known, _)| *known != name);
    }

    /// `size` bytes of the buffer from `offset`; `None` when it does not exist.
    pub fn span(&self, name: Name, offset: u64, size: u64) -> Option<Span<'_>> {
        let buffer = self.get(name)?;
        #[cfg(not(target_arch = "wasm32"))]
        {
            let bytes = if size == 0 {
                buffer.size() - offset
            } else {
                size
            };
            let mut bound = self.bound.borrow_mut();
            let largest = bound.entry(name).or_default();
            *largest = bytes.max(*largest);
        }
        Some(Span {
            buffer,
            offset,
            size,
        })
    }

    /// Every existing buffer: its bytes, and those of its largest bound range.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn used(&self) -> Vec<(Name, u64, u64)> {
        let bound = self.bound.borrow();
        let largest = |name| bound.get(&name).copied().unwrap_or_default();
        let all = self.buffers.iter();
        all.map(|(&name, buffer)| (name, buffer.size(), largest(name)))
            .collect()
    }

    /// Makes sure that the buffer exists with exactly `bytes` bytes (zeros when new).
    pub fn ensure(&mut self, device: &wgpu::Device, name: Name, bytes: u64) {
        let bytes = stored(bytes);
        if self.get(name).is_some_and(|b| b.size() == bytes) {
            return;
        }
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(&format!("{name:?}")),
            size: bytes,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        self.forget(name);
        if let Some(old) = self.buffers.insert(name, buffer) {
            old.destroy();
        }
    }

    /// Drops all buffers.
    pub fn clear(&mut self) {
        self.uploaded.clear();
        self.heads.clear();
        #[cfg(not(target_arch = "wasm32"))]
        self.bound.borrow_mut().clear();
        for (_, buffer) in self.buffers.drain() {
            buffer.destroy();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.clear();
    }
}
