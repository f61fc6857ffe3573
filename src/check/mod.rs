//! The self-check: golden cases and the facts of SPEC 5 on the real engine, with a verdict per
//! number. Native tests and the page `check.html` run the same code.

#[cfg(target_arch = "wasm32")]
mod case_source;
pub mod facts;
pub mod finding;
pub mod judge;
#[cfg(target_arch = "wasm32")]
pub mod page;
#[cfg(target_arch = "wasm32")]
mod reason;
