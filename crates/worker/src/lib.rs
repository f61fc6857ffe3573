//! The page's two workers: what each of them computes, and the typed messages that the page
//! exchanges with it.
//!
//! | worker | requests and responses | what answers them |
//! |---|---|---|
//! | compute (SVD, facts, f64 numbers) | [`compute_protocol`] | [`compute_worker`] |
//! | cpu (the CPU engine) | [`cpu_protocol`] | [`cpu_worker`] |
//!
//! A message is a serde enum in postcard bytes ([`codec`]). Tensors travel beside it as blobs of
//! bytes that the browser transfers without a copy ([`blobs`]), and the message names them by
//! index. A Frame's tensors travel once ([`frame_message`]). Posting messages, and restarting a
//! stopped worker, is up to the page. This crate uses no thread and no browser API.

pub mod bias_chunks;
pub mod blobs;
pub mod codec;
pub mod compute_protocol;
pub mod compute_worker;
pub mod cpu_protocol;
pub mod cpu_worker;
pub mod frame_message;
pub mod latest;

pub use blobs::{Blob, CHUNK};
pub use latest::Latest;
