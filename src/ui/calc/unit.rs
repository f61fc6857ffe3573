//! The numbers of a bias, made once and given away in pieces.

use super::{Blob, PIECE, bytes};
use attnscope_attention::layer::Tensor;
use attnscope_scene::Cjar;
use attnscope_scene::resolve::Sizes;
use attnscope_scene::unit::{Unit, UnitKey};

/// What is made and not yet given away whole.
#[derive(Default)]
pub struct MadeUnit(Option<(Unit, UnitKey, Tensor)>);

impl MadeUnit {
    /// Piece `at` of the numbers of `which`, which are kept until the last piece is given.
    ///
    /// # Errors
    /// When there is no such piece, or the numbers would be too many.
    pub fn piece(
        &mut self,
        which: Unit,
        cjar: &Cjar,
        sizes: Sizes,
        at: usize,
    ) -> Result<Blob, String> {
        let missing = || "numbers are missing".to_owned();
        let kept = self.0.take();
        let shape = which.shape(cjar, sizes).ok_or_else(missing)?;
        if at.saturating_mul(PIECE) >= shape.iter().product() {
            return Err(missing());
        }
        let key = which.key(cjar, sizes);
        let kept = kept.filter(|kept| (kept.0, kept.1) == (which, key));
        let kept = kept.unwrap_or_else(|| (which, key, which.make(cjar, sizes)));
        let mut rest = kept.2.data.chunks(PIECE).skip(at);
        let piece = bytes(rest.next().ok_or_else(missing)?);
        if rest.next().is_some() {
            self.0 = Some(kept);
        }
        Ok(piece)
    }
}
