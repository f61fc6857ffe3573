//! The files of this build. `www/boot.js` knows their names, which carry a hash of their content.

use js_sys::{Function, Reflect};
use wasm_bindgen::JsValue;

/// The address of a file or folder that the build calls `name` (`cpu.js`, `data`).
///
/// # Errors
/// When `www/boot.js` did not start the page.
pub fn address(name: &str) -> Result<String, JsValue> {
    let find = Reflect::get(&js_sys::global(), &"attnscopeFile".into())?;
    let found = Function::from(find).call1(&JsValue::NULL, &name.into())?;
    found.as_string().ok_or_else(|| "no address".into())
}

/// The address of `file` (`minilm/first.safetensors`) in the shipped data.
///
/// # Errors
/// As [`address`].
pub fn data(file: &str) -> Result<String, JsValue> {
    Ok(format!("{}/{file}", address("data")?))
}
