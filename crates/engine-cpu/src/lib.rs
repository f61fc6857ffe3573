//! The CPU engine: from a [`Frame`](attnscope_engine::Frame) to the same pictures as the WGSL engine,
//! in f32 Rust, eight numbers at a time. Its inner loops are [`lanes`], [`tile`] and [`pixels`].
//!
//! [`engine`] keeps the last Frame and what is left to do, [`rows`] makes weights four rows at a
//! time, [`maps`] and [`texels`] put cells together, [`outputs`] goes on from the weights, [`paint`]
//! colours texels. It knows no thread and no page, and stores no `[L, L]` matrix either.

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
