//! The entry of the CPU engine's worker (`src/bin/cpu.rs`).

use wasm_bindgen::JsCast;

use crate::workers;
use attnscope_worker::cpu_worker::CpuWorker;

/// Answers requests as long as the page lives.
pub fn serve() {
    std::panic::set_hook(Box::new(console_error_panic_hook::hook));
    let mut cpu = CpuWorker::new(now);
    workers::answer_with(move |request, blobs| cpu.answer(request, blobs));
}

/// The worker's clock in ms.
fn now() -> f64 {
    let clock = js_sys::Reflect::get(&js_sys::global(), &"performance".into());
    clock.map_or(0.0, |clock| {
        clock.unchecked_into::<web_sys::Performance>().now()
    })
}
