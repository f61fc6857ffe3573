//! The inner loops of the CPU engine: plain slices in and out. A crate of their own, because the
//! page is compiled for size and these few functions for speed.
#![deny(unsafe_code)]

pub mod lanes;
pub mod pixels;
pub mod tile;
