//! The WebAssembly entry of the compute worker.

fn main() {
    #[cfg(target_arch = "wasm32")]
    attnscope::workers::compute_worker::serve();
    #[cfg(not(target_arch = "wasm32"))]
    println!("the compute worker is a part of the web page: run `cargo xtask serve`.");
}
