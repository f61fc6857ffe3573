//! attnscope: attention that can be seen and handled.
//!
//! The page: [`app`] puts the [`components`] together, [`state`] holds what they show,
//! [`scheduler`] brings it to an engine, [`workers`] compute beside it. What needs no page is also
//! compiled natively: [`layout`], and the bodies of the self-check in [`check`]. See
//! ARCHITECTURE.md.
#![deny(unsafe_code)]

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
pub mod build_files;
pub mod check;
#[cfg(target_arch = "wasm32")]
pub mod components;
#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod layout;
#[cfg(target_arch = "wasm32")]
pub mod scheduler;
#[cfg(target_arch = "wasm32")]
pub mod state;
#[cfg(target_arch = "wasm32")]
pub mod workers;
