//! attnscope: attention that can be seen and handled.
//!
//! Rings, arrows inward only: `ui → engine → attention`; `data` and `scene` stand beside
//! `attention` and are pure. See ARCHITECTURE.md.
#![deny(unsafe_code)]

pub mod attention;
#[cfg(target_arch = "wasm32")]
pub mod build_files;
pub mod check;
pub mod data;
pub mod engine;
pub mod layout;
pub mod scene;
#[cfg(target_arch = "wasm32")]
pub mod ui;
// The page shows every text; native builds have no page.
#[cfg_attr(target_arch = "wasm32", deny(dead_code))]
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
pub mod words;
