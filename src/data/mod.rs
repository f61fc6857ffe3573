//! Formats in and out. Pure: bytes in, values or typed errors out; only [`folder`], which is
//! native, touches files.

pub mod case;
#[cfg(not(target_arch = "wasm32"))]
pub mod folder;
pub mod safetensors;
