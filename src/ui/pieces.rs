//! Brings many numbers over from the worker, a piece at a time: no thread copies for longer than a
//! few milliseconds.

use std::sync::Arc;

use super::calc::{Ask, PIECE};
use super::worker::Client;

/// `count` numbers of which `ask` names the pieces, from 0 on. `None` when one does not come, or is
/// not what was asked for, or when `goes_on` says no.
pub async fn pieces(
    client: &Client,
    count: usize,
    ask: impl Fn(usize) -> Ask,
    goes_on: impl Fn() -> bool,
) -> Option<Arc<[f32]>> {
    let mut data: Arc<[f32]> = std::iter::repeat_n(0.0, count).collect();
    // Nobody else has it yet.
    let all = Arc::get_mut(&mut data)?;
    for (at, piece) in all.chunks_mut(PIECE).enumerate() {
        let (_, blobs) = client.ask(ask(at), Vec::new()).await;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(piece);
        let blob = blobs.first().filter(|blob| blob.len() == bytes.len())?;
        if !goes_on() {
            return None;
        }
        bytes.copy_from_slice(blob);
    }
    Some(data)
}
