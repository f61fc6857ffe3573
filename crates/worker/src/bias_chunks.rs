//! The numbers of a bias, computed once and handed out one chunk at a time.

use attnscope_attention::layer::Tensor;
use attnscope_scene::Cjar;
use attnscope_scene::bias_tensor::{Unit, UnitKey};
use attnscope_scene::resolve::Sizes;

use super::blobs::{Blob, CHUNK, to_bytes};
use super::codec::ProtocolError;

/// Numbers of which some chunks are not handed out yet.
#[derive(Default)]
pub struct BiasChunks(Option<(Unit, UnitKey, Tensor)>);

impl BiasChunks {
    /// Chunk `at` of the numbers of `which`, which are kept until the last chunk is handed out.
    ///
    /// # Errors
    /// When there is no such chunk, or the numbers would be too many.
    pub fn chunk(
        &mut self,
        which: Unit,
        cjar: &Cjar,
        sizes: Sizes,
        at: usize,
    ) -> Result<Blob, ProtocolError> {
        let missing = ProtocolError::MissingTensor;
        let kept = self.0.take();
        let shape = which.shape(cjar, sizes).ok_or(missing.clone())?;
        if at.saturating_mul(CHUNK) >= shape.iter().product() {
            return Err(missing);
        }
        let key = which.key(cjar, sizes);
        let kept = kept.filter(|kept| (kept.0, kept.1) == (which, key));
        let kept = kept.unwrap_or_else(|| (which, key, which.make(cjar, sizes)));
        let mut rest = kept.2.data.chunks(CHUNK).skip(at);
        let chunk = to_bytes(rest.next().ok_or(missing)?);
        if rest.next().is_some() {
            self.0 = Some(kept);
        }
        Ok(chunk)
    }
}
