//! The CPU engine: from a [`Frame`](attnscope_engine::Frame) to the same pictures as the WGSL engine,
//! in f32 Rust, eight numbers at a time. Its inner loops are [`lanes`], [`tile`] and [`pixels`].
//!
//! [`engine`] keeps the last Frame and the remaining work, [`rows`] computes weights four rows at a
//! time, [`maps`] and [`texels`] combine cells, [`outputs`] continues from the weights, [`paint`]
//! colours texels. It knows no thread and no page, and stores no `[L, L]` matrix.

mod draw;
mod engine;
mod lanes;
mod maps;
mod outputs;
mod paint;
mod passes;
mod pixels;
mod rows;
mod texels;
mod tile;

pub use engine::{CpuEngine, check};
pub use paint::Picture;
