//! What the platform reports about its adapter; not trusted.

#[cfg(target_arch = "wasm32")]
use wasm_bindgen::{JsCast, JsValue};

/// Names of software rasterisers; browsers hide the device type.
pub fn is_software(info: &wgpu::AdapterInfo, words: &str) -> bool {
    let name = format!("{words} {} {} {}", info.name, info.driver, info.driver_info).to_lowercase();
    info.device_type == wgpu::DeviceType::Cpu
        || [
            "swiftshader",
            "llvmpipe",
            "lavapipe",
            "basic render",
            "warp",
        ]
        .iter()
        .any(|known| name.contains(known))
}

/// The first line of a browser's error, without its debug wrapper and the stack.
pub fn first_line(error: &str) -> String {
    let words = error.split("JsValue(").last().unwrap_or(error);
    let line = words.lines().next().unwrap_or_default();
    line.trim_end_matches([')', ' '])
        .chars()
        .take(200)
        .collect()
}

/// The name of the adapter on the page.
pub fn adapter_name(info: &wgpu::AdapterInfo, words: String) -> String {
    [words, info.name.clone()]
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| "unnamed adapter".into())
}

/// The browser's description of its adapter: vendor, architecture and description, where reported;
/// `None` when the browser's object is not an adapter. wgpu 30 passes on only the description,
/// which most browsers leave empty, and trusts every object. `www/boot.js` requests an adapter of
/// its own (each serves one device only).
#[cfg(target_arch = "wasm32")]
pub async fn adapter_words() -> Option<String> {
    let asked = get(&js_sys::global(), "attnscopeAdapter");
    let asked = asked.dyn_into::<js_sys::Promise>().ok();
    let adapter = match asked {
        Some(asked) => wasm_bindgen_futures::JsFuture::from(asked).await.ok(),
        None => None,
    };
    let adapter = adapter.unwrap_or_default();
    if adapter.is_object() && !get(&adapter, "requestDevice").is_function() {
        return None;
    }
    let info = get(&adapter, "info");
    let mut words: Vec<String> = Vec::new();
    for name in ["vendor", "architecture", "description"] {
        let word = get(&info, name).as_string().unwrap_or_default();
        if !word.is_empty() && !words.iter().any(|w| w.eq_ignore_ascii_case(&word)) {
            words.push(word);
        }
    }
    // An adapter without a name is still an adapter.
    Some(words.join(" "))
}

/// A property; `None` where it is missing.
#[cfg(target_arch = "wasm32")]
fn get(of: &JsValue, name: &str) -> JsValue {
    js_sys::Reflect::get(of, &name.into()).unwrap_or_default()
}

/// Whether the page can request an adapter.
#[cfg(target_arch = "wasm32")]
pub fn has_webgpu() -> bool {
    let gpu = get(&get(&js_sys::global(), "navigator"), "gpu");
    get(&gpu, "requestAdapter").is_function()
}

/// Whether the browser checks for finished work only at a submit and ten times a second, too rarely
/// for a drag: Firefox does. In browsers that report by themselves, an empty submit has a cost.
pub fn tells_late() -> bool {
    #[cfg(target_arch = "wasm32")]
    return js_sys::Reflect::has(&js_sys::global(), &"mozInnerScreenX".into()).unwrap_or(false);
    #[cfg(not(target_arch = "wasm32"))]
    false
}

/// A native adapter reports its own name.
#[cfg(not(target_arch = "wasm32"))]
pub fn adapter_words() -> impl Future<Output = Option<String>> {
    std::future::ready(Some(String::new()))
}

/// Native code polls the device itself.
#[cfg(not(target_arch = "wasm32"))]
pub fn has_webgpu() -> bool {
    true
}
