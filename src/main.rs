//! The WebAssembly entry: the page on the main thread, the compute worker off it.

fn main() {
    #[cfg(target_arch = "wasm32")]
    attnscope::ui::start();
    #[cfg(not(target_arch = "wasm32"))]
    println!("attnscope is a web page: run `cargo xtask serve`.");
}
