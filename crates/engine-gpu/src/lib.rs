//! The WGSL engine: from a [`Frame`](attnscope_engine::Frame) to pictures on a GPU.
//!
//! [`engine`] keeps the last Frame and its valid results, [`passes`] says how each pass is
//! computed, [`heatmap`] draws. No buffer is `[L, L]` except inputs of that shape (mask, dense s),
//! and nothing is read back on the way to the screen.

mod adapter_info;
mod context;
mod device_errors;
mod draw;
mod encode_heads;
mod encode_output;
mod engine;
pub mod gpu_data;
mod heatmap;
mod launch;
mod params;
pub mod passes;
pub mod pipelines;
pub mod readback;
pub mod shaders;
mod store;
mod surface;
mod upload;

pub use attnscope_engine::Slot;
pub use engine::GpuEngine;
