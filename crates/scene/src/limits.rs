//! Clips a Scene to a layer that has fewer heads, ranks or tokens than it asks for.

use super::resolve::Sizes;
use super::warning::{Reason, Warning};
use super::{Mechanism, Rect, Scene};

impl Scene {
    /// The Scene clipped to a layer of these sizes, and a warning for each clipped value. Both
    /// Scenes show the same; the clipped one says so. Keys of the warnings are those of the link.
    ///
    /// Numbers without effect stay, and so do distances (the window, the dilation), which may be
    /// longer than a text. The default head was not chosen, so clipping it needs no warning.
    #[must_use]
    pub fn limited(&self, sizes: Sizes) -> (Self, Vec<Warning>) {
        let mut limits = Limits {
            asked: self,
            shown: self.clone(),
            warnings: Vec::new(),
        };
        limits.view(sizes);
        limits.mask(sizes.seq_len);
        if self.mechanism == Mechanism::Cjar {
            limits.ranks(sizes);
        }
        (limits.shown, limits.warnings)
    }
}

/// A Scene while it is being clipped.
struct Limits<'a> {
    asked: &'a Scene,
    shown: Scene,
    warnings: Vec<Warning>,
}

impl Limits<'_> {
    fn note(&mut self, key: &str, reason: Reason) {
        let value = self.asked.value(key).unwrap_or_default();
        self.warnings.push(Warning::new(key, &value, reason));
    }

    fn view(&mut self, sizes: Sizes) {
        let asked = &self.asked.view;
        let last = sizes.heads.saturating_sub(1);
        if asked.head.is_some_and(|head| head as usize > last) {
            self.shown.view.head = Some(last as u32);
            let max = last as f64;
            self.note("head", Reason::OutOfRange { min: 0.0, max });
        }
        let visible = self.asked.rect(sizes.seq_len);
        if asked.rect.is_some_and(|rect| rect != visible) {
            let whole = Rect::whole(sizes.seq_len as u32);
            self.shown.view.rect = (visible != whole).then_some(visible);
            let (min, max) = (1.0, sizes.seq_len as f64);
            self.note("rect", Reason::OutOfRange { min, max });
        }
        if asked.cell.is_some() && self.asked.cell(sizes.seq_len).is_none() {
            self.shown.view.cell = None;
            self.note("cell", Reason::NotInLayer);
        }
    }

    /// Numbers of tokens in the mask, at most L.
    fn mask(&mut self, seq_len: usize) {
        let window = self.asked.window_acts();
        self.count("sinks", window, seq_len, |s| &mut s.window.sinks);
        self.count("globals", window, seq_len, |s| &mut s.window.globals);
        self.count("pad", true, seq_len, |s| &mut s.padding);
    }

    fn count(&mut self, key: &str, acts: bool, most: usize, of: fn(&mut Scene) -> &mut u32) {
        let count = of(&mut self.shown);
        if acts && *count as usize > most {
            *count = most as u32;
            let max = most as f64;
            self.note(key, Reason::OutOfRange { min: 0.0, max });
        }
    }

    /// A rank above those of the layer's matrices, or a segment longer than the layer, has no
    /// effect.
    fn ranks(&mut self, sizes: Sizes) {
        let score_rank = sizes.head_dim.min(sizes.seq_len);
        self.size("seg", sizes.seq_len, |s| &mut s.cjar.segment);
        self.size("rho", score_rank, |s| &mut s.cjar.score_rank);
        self.size("r", sizes.model_dim(), |s| &mut s.cjar.out_rank);
    }

    fn size(&mut self, key: &str, most: usize, of: fn(&mut Scene) -> &mut Option<u32>) {
        let size = of(&mut self.shown);
        if size.is_some_and(|size| size as usize > most) {
            *size = None;
            let (min, max) = (1.0, most as f64);
            self.note(key, Reason::OutOfRange { min, max });
        }
    }
}
