//! The entry of the compute worker (`src/bin/compute.rs`).

use crate::workers;
use attnscope_worker::compute_worker::ComputeWorker;

/// Answers requests as long as the page lives.
pub fn serve() {
    std::panic::set_hook(Box::new(console_error_panic_hook::hook));
    let mut compute = ComputeWorker::default();
    workers::answer_with(move |request, blobs| compute.answer(request, &blobs));
}
