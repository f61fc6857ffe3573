//! attnscope: attention that can be seen and handled.
//!
//! Rings, arrows inward only: `ui → engine → attention`; `data` and `scene` stand beside
//! `attention` and are pure. See ARCHITECTURE.md.
#![deny(unsafe_code)]

#[cfg(target_arch = "wasm32")]
pub mod build_files;
pub mod check;
pub mod layout;
#[cfg(target_arch = "wasm32")]
pub mod ui;
