//! Formats in and out, and layers made from a seed. Pure: bytes in, values or typed errors out;
//! only [`folder`] and [`pack`], which are native, touch files.

pub mod case;
#[cfg(not(target_arch = "wasm32"))]
pub mod folder;
pub mod minilm;
#[cfg(not(target_arch = "wasm32"))]
pub mod pack;
pub mod safetensors;
pub mod synthetic;
