//! The WGSL engine: from a [`Frame`](attnscope_engine::Frame) to pictures on a GPU.
//!
//! [`engine`] keeps the last Frame and what is there of it, [`jobs`](attnscope_engine::jobs) says what is left to do,
//! [`encode`] turns each job into launches, [`heatmap`] draws. No buffer is `[L, L]` but inputs that
//! are (mask, dense s), and nothing is read back on the way to the screen.

pub mod browser;
pub mod context;
pub mod encode;
pub mod encode_draw;
pub mod encode_inputs;
pub mod encode_map;
pub mod encode_output;
pub mod engine;
pub mod gpu_data;
pub mod heatmap;
pub mod kernel;
pub mod launch;
pub mod params;
pub mod readback;
mod report;
pub mod shaders;
pub mod store;
pub mod submit;
mod sums;
pub mod surface;
pub mod targets;
pub mod troubles;
pub mod upload;
pub mod variant;

pub use attnscope_engine::Slot;
pub use context::Options;
pub use engine::GpuEngine;
