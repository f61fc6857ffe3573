//! The WGSL engine: from a [`Frame`](attnscope_engine::Frame) to pictures on a GPU.
//!
//! [`engine`] keeps the last Frame and its valid results, [`passes`] says how each pass is
//! computed, [`heatmap`] draws. No buffer is `[L, L]` except inputs of that shape (mask, dense s),
//! and nothing is read back on the way to the screen.

pub mod adapter_info;
pub mod context;
pub mod device_errors;
mod draw;
mod encode_heads;
mod encode_output;
pub mod engine;
pub mod gpu_data;
pub mod heatmap;
pub mod launch;
pub mod params;
pub mod passes;
pub mod pipelines;
pub mod readback;
pub mod shaders;
pub mod store;
pub mod surface;
pub mod upload;

pub use attnscope_engine::Slot;
pub use engine::GpuEngine;
