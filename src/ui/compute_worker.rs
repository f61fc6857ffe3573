//! The entry of the compute worker.

use super::worker;
use attnscope_worker::compute_worker::ComputeWorker;

/// Answers until the page is gone. Returns false when this is not a worker.
pub fn serve() -> bool {
    let mut compute = ComputeWorker::default();
    worker::answer_with(move |request, blobs| compute.answer(request, &blobs))
}
