//! A Frame as bytes and back: the engine runs where the page is not. Tensors travel once; a layer
//! with its number.

use std::sync::Arc;

use attnscope_attention::layer::{Layer, Linear, Tensor};
use attnscope_engine::Frame;

use super::engine::Targets;
use super::travel::{blank, none, travel};

/// One end of the way: the one that reads, or the one that writes, so that neither module holds the
/// other's half. Both keep what has gone over it and walk through a Frame alike: [`travel`] is the
/// only description of the order.
#[derive(Default)]
pub struct Wire<const READ: bool> {
    /// Tensors by their place in the Frame.
    pub(super) kept: Vec<Option<Tensor>>,
    pub(super) place: usize,
    pub(super) layer: Option<Arc<Layer>>,
    numbers: Vec<f64>,
    next: usize,
    /// Tensors that go over, and those that came, last first.
    sent: Vec<Arc<[f32]>>,
    came: Vec<Vec<u8>>,
    /// Whether something was counted on that never came.
    pub(super) broken: bool,
}

/// A Frame and its targets, ready to go: its numbers, and the tensors that have not gone before.
#[derive(Debug, PartialEq)]
pub struct Packed {
    /// Everything that is no tensor.
    pub numbers: Vec<u8>,
    /// Tensors, not copied yet: some are larger than what may be copied at once.
    pub tensors: Vec<Arc<[f32]>>,
}

impl Packed {
    /// All of it as blobs of bytes, the numbers first.
    pub fn into_blobs(self) -> Vec<Vec<u8>> {
        let mut blobs = vec![self.numbers];
        for tensor in &self.tensors {
            blobs.push(bytemuck::cast_slice(tensor).to_vec());
        }
        blobs
    }
}

impl Wire<false> {
    /// The Frame and its targets, to be sent.
    pub fn pack(&mut self, frame: &Frame, targets: Targets) -> Packed {
        self.place = 0;
        self.numbers.clear();
        self.sent.clear();
        let (mut frame, mut targets) = (frame.clone(), targets);
        travel(self, &mut frame, &mut targets);
        Packed {
            numbers: bytemuck::cast_slice(&self.numbers).to_vec(),
            tensors: std::mem::take(&mut self.sent),
        }
    }
}

impl Wire<true> {
    /// The Frame of such blobs; `None` when they are none, or do not follow on those before.
    pub fn unpack(&mut self, mut blobs: Vec<Vec<u8>>) -> Option<(Frame, Targets)> {
        (self.place, self.next) = (0, 0);
        blobs.reverse();
        self.numbers = bytemuck::pod_collect_to_vec(&blobs.pop()?);
        self.came = blobs;
        let (mut frame, mut targets) = (blank(), Targets::default());
        travel(self, &mut frame, &mut targets);
        // Every number was taken, and none was wanted that is not there.
        let whole = self.next == self.numbers.len() && self.came.is_empty() && !self.broken;
        if !whole {
            *self = Self::default();
        }
        whole.then_some((frame, targets))
    }
}

impl<const READ: bool> Wire<READ> {
    pub(super) fn number(&mut self, n: &mut f64) {
        if READ {
            *n = self.numbers.get(self.next).copied().unwrap_or(0.0);
            self.next += 1;
        } else {
            self.numbers.push(*n);
        }
    }

    pub(super) fn size(&mut self, n: &mut usize) {
        let mut number = *n as f64;
        self.number(&mut number);
        *n = number as usize;
    }

    pub(super) fn whole(&mut self, n: &mut u32) {
        let mut number = f64::from(*n);
        self.number(&mut number);
        *n = number as u32;
    }

    pub(super) fn wholes<const N: usize>(&mut self, all: [&mut u32; N]) {
        for n in all {
            self.whole(n);
        }
    }

    pub(super) fn real(&mut self, x: &mut f32) {
        let mut number = f64::from(*x);
        self.number(&mut number);
        *x = number as f32;
    }

    pub(super) fn flag(&mut self, is: bool) -> bool {
        let mut number = f64::from(u8::from(is));
        self.number(&mut number);
        number > 0.0
    }

    /// Whether there is one; where it is read and there is, a new one that is filled next.
    pub(super) fn option<'a, T>(
        &mut self,
        at: &'a mut Option<T>,
        new: impl FnOnce() -> T,
    ) -> Option<&'a mut T> {
        let there = self.flag(at.is_some());
        if READ {
            *at = there.then(new);
        }
        at.as_mut()
    }

    pub(super) fn reach(&mut self, at: &mut Option<i32>) {
        let there = self.flag(at.is_some());
        let mut number = f64::from(at.unwrap_or(0));
        self.number(&mut number);
        *at = there.then_some(number as i32);
    }

    /// One of `all`, as its place among them.
    pub(super) fn choice<T: Copy + PartialEq>(&mut self, at: &mut T, all: &[T]) {
        let mut number = all.iter().position(|one| one == at).unwrap_or(0);
        self.size(&mut number);
        if let Some(one) = all.get(number) {
            *at = *one;
        }
    }

    /// A tensor, by itself only when it is not the one that went here the last time.
    pub(super) fn tensor(&mut self, tensor: &mut Tensor) {
        let place = self.place;
        self.place += 1;
        if self.kept.len() <= place {
            self.kept.resize(place + 1, None);
        }
        let kept = self.kept[place].as_ref();
        let same = kept.is_some_and(|kept| Arc::ptr_eq(&kept.data, &tensor.data));
        if self.flag(same) {
            if READ {
                self.broken |= self.kept[place].is_none();
                *tensor = self.kept[place].clone().unwrap_or_else(none);
            }
            return;
        }
        let mut axes = tensor.shape.len();
        self.size(&mut axes);
        tensor.shape.resize(axes.min(8), 0);
        let mut shape = std::mem::take(&mut tensor.shape);
        for n in &mut shape {
            self.size(n);
        }
        if READ {
            let data: Option<Vec<f32>> = self.came.pop().map(|b| bytemuck::pod_collect_to_vec(&b));
            let there = data.and_then(|data| Tensor::new(&shape, data).ok());
            self.broken |= there.is_none();
            *tensor = there.unwrap_or_else(none);
        } else {
            tensor.shape = shape;
            self.sent.push(tensor.data.clone());
        }
        self.kept[place] = Some(tensor.clone());
    }

    pub(super) fn maybe(&mut self, at: &mut Option<Tensor>) {
        // Places are counted alike whether there is a tensor or not.
        if let Some(tensor) = self.option(at, none) {
            self.tensor(tensor);
        } else {
            self.place += 1;
        }
    }

    pub(super) fn linear(&mut self, at: &mut Option<Linear>) {
        let new = || Linear {
            weight: none(),
            bias: None,
        };
        if let Some(linear) = self.option(at, new) {
            self.tensor(&mut linear.weight);
            self.maybe(&mut linear.bias);
        } else {
            self.place += 2;
        }
    }
}
