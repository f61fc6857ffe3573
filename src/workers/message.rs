//! Messages between the page and its workers, and the worker's own side.

use std::borrow::Borrow;

use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, MessagePort};

use attnscope_worker::Blob;

/// Global that holds the port of a module which runs on the page's own thread.
pub(super) const PORT: &str = "attnscopePort";

/// Answers the page's requests to this module: bytes of a request and its blobs in, bytes of the
/// response and its blobs out.
pub fn answer_with(mut answer: impl FnMut(&[u8], Vec<Blob>) -> (Vec<u8>, Vec<Blob>) + 'static) {
    let global = js_sys::global();
    let port: MessagePort = if global.is_instance_of::<DedicatedWorkerGlobalScope>() {
        // A worker's global scope posts and hears messages as a port does.
        global.unchecked_into()
    } else {
        let port = Reflect::get(&global, &PORT.into()).and_then(JsCast::dyn_into);
        let Ok(port) = port else {
            return;
        };
        port
    };
    let out = port.clone();
    let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let Some((number, request, blobs)) = read(&event) else {
            return;
        };
        let (response, blobs) = answer(&request, blobs);
        // When posting fails, the page is gone.
        let _ = post(&out, number, &response, &blobs);
    });
    port.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    // The closure lives as long as the worker.
    heard.forget();
    let _ = port.post_message(&"ready".into());
}

/// Posts the number of a request, the bytes of the request or its response, and its blobs, which
/// are transferred.
pub(super) fn post(
    port: &MessagePort,
    number: u32,
    message: &[u8],
    blobs: &[impl Borrow<Blob>],
) -> Result<(), JsValue> {
    let arrays: Array = blobs
        .iter()
        .map(|blob| Uint8Array::from(blob.borrow().as_slice()))
        .collect();
    // These are copies already, so they can be transferred.
    let buffers: Array = arrays
        .iter()
        .map(|array| array.unchecked_into::<Uint8Array>().buffer())
        .collect();
    let object = Object::new();
    Reflect::set(&object, &"number".into(), &number.into())?;
    Reflect::set(&object, &"message".into(), &Uint8Array::from(message))?;
    Reflect::set(&object, &"blobs".into(), &arrays)?;
    port.post_message_with_transferable(&object, &buffers)
}

/// Number, bytes and blobs of a message; `None` for any other message.
pub(super) fn read(event: &MessageEvent) -> Option<(u32, Vec<u8>, Vec<Blob>)> {
    let data = event.data();
    let field = |name: &str| Reflect::get(&data, &name.into()).ok();
    let number = field("number")?.as_f64()? as u32;
    let message = field("message")?.dyn_into::<Uint8Array>().ok()?.to_vec();
    let blobs = field("blobs")?.dyn_into::<Array>().ok()?;
    let blobs = blobs
        .iter()
        .map(|array| Uint8Array::new(&array).to_vec())
        .collect();
    Some((number, message, blobs))
}
