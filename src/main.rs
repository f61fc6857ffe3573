//! The WebAssembly entry of the page.

fn main() {
    #[cfg(target_arch = "wasm32")]
    attnscope::app::start();
    #[cfg(not(target_arch = "wasm32"))]
    println!("attnscope is a web page: run `cargo xtask serve`.");
}
