//! What travels between the page and its workers, and a worker's own side.

use std::borrow::Borrow;
use std::rc::Rc;

use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::Reply;
use crate::ui::calc::{Answer, Ask, Blob, Calculator};

/// In the calculator's worker: answers until the page is gone. Returns false when this is none.
pub fn serve() -> bool {
    let mut calculator = Calculator::default();
    answer_with(move |ask, blobs| {
        let blobs: Vec<_> = blobs.into_iter().map(Rc::new).collect();
        calculator.answer(&ask, &blobs)
    })
}

/// Answers what the page asks of this worker; returns false when this is none.
pub fn answer_with(mut answer: impl FnMut(Ask, Vec<Blob>) -> Reply + 'static) -> bool {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else {
        return false;
    };
    let out = scope.clone();
    let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let Some((number, message, blobs)) = read(&event) else {
            return;
        };
        let (answer, blobs) = Ask::from_text(&message).map_or_else(
            || (Answer::Failed("not understood".to_owned()), Vec::new()),
            |ask| answer(ask, blobs),
        );
        // A page that cannot be answered is gone.
        let _ = post(
            |m, t| out.post_message_with_transfer(m, t),
            number,
            &answer.to_text(),
            &blobs,
        );
    });
    scope.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    // The worker lives as long as its closure.
    heard.forget();
    let _ = scope.post_message(&"ready".into());
    true
}

/// Sends number, text and blobs; the blobs are handed over.
pub(super) fn post(
    send: impl FnOnce(&JsValue, &JsValue) -> Result<(), JsValue>,
    number: u32,
    message: &str,
    blobs: &[impl Borrow<Blob>],
) -> Result<(), JsValue> {
    let arrays: Array = blobs
        .iter()
        .map(|blob| Uint8Array::from(blob.borrow().as_slice()))
        .collect();
    // They are copies of ours already: the other side gets them and not copies of them.
    let buffers: Array = arrays
        .iter()
        .map(|array| array.unchecked_into::<Uint8Array>().buffer())
        .collect();
    let object = Object::new();
    Reflect::set(&object, &"number".into(), &number.into())?;
    Reflect::set(&object, &"text".into(), &message.into())?;
    Reflect::set(&object, &"blobs".into(), &arrays)?;
    send(&object, &buffers)
}

/// Number, text and blobs of a message; `None` when it is none.
pub(super) fn read(event: &MessageEvent) -> Option<(u32, String, Vec<Blob>)> {
    let data = event.data();
    let field = |name: &str| Reflect::get(&data, &name.into()).ok();
    let number = field("number")?.as_f64()? as u32;
    let text = field("text")?.as_string()?;
    let blobs = field("blobs")?.dyn_into::<Array>().ok()?;
    let blobs = blobs
        .iter()
        .map(|array| Uint8Array::new(&array).to_vec())
        .collect();
    Some((number, text, blobs))
}
