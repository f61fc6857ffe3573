//! The WebAssembly entry of the self-check page.

fn main() {
    #[cfg(target_arch = "wasm32")]
    attnscope::check::page::start();
    #[cfg(not(target_arch = "wasm32"))]
    println!("the self-check is a web page: run `cargo xtask serve` and open check.html");
}
