//! Brings many numbers over from the compute worker, chunk by chunk: no thread copies for longer
//! than a few milliseconds.

use std::sync::Arc;

use crate::workers::compute_client::ComputeClient;
use attnscope_worker::CHUNK;
use attnscope_worker::compute_protocol::{ComputeRequest, ComputeResponse};

/// `count` numbers, in the chunks that `request` names from 0 on. `None` when a chunk is missing or
/// malformed, or when `goes_on` returns false.
pub async fn chunks(
    compute: &ComputeClient,
    count: usize,
    request: impl Fn(usize) -> ComputeRequest,
    goes_on: impl Fn() -> bool,
) -> Option<Arc<[f32]>> {
    let mut data: Arc<[f32]> = std::iter::repeat_n(0.0, count).collect();
    // Nobody else has it yet.
    let all = Arc::get_mut(&mut data)?;
    for (at, chunk) in all.chunks_mut(CHUNK).enumerate() {
        let answer = compute.ask(&request(at), Vec::new()).await;
        if !goes_on() {
            return None;
        }
        let Ok((ComputeResponse::Chunk, mut blobs)) = answer else {
            return None;
        };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(chunk);
        let blob = blobs.bytes(0).ok()?;
        if blob.len() != bytes.len() {
            return None;
        }
        bytes.copy_from_slice(&blob);
    }
    Some(data)
}
