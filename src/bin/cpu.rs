//! The WebAssembly entry of the CPU engine's worker.

fn main() {
    #[cfg(target_arch = "wasm32")]
    attnscope::workers::cpu_worker::serve();
    #[cfg(not(target_arch = "wasm32"))]
    println!("the CPU engine is a part of the web page: run `cargo xtask serve`.");
}
