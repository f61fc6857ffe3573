//! P_K, P_V and s of a Scene: unit tensors are kept by what they depend on, so that an amplitude
//! alone makes none, and a dense s is made by the calculator.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::task::spawn_local;

use super::Later;
use crate::attention::layer::{Biases, Layer, PositionBias, ScoreBias, Tensor};
use crate::scene::resolve::{self, Sizes};
use crate::scene::{Bias, BiasShape, Curve, Mechanism, Scene};
use crate::ui::calc::{self, Ask};
use crate::ui::worker::Client;

/// What a unit tensor depends on.
#[derive(Clone, Copy, PartialEq)]
struct UnitKey(BiasShape, bool, u32, Sizes);

/// A dense s is not there yet.
struct OnItsWay;

/// What a dense s depends on.
type DenseKey = (u32, Sizes);

/// What is kept; all who hold it share it.
#[derive(Clone)]
pub struct KeptBiases {
    calculator: Client,
    inner: Later<Inner>,
}

#[derive(Default)]
struct Inner {
    units: [Option<(UnitKey, Tensor)>; 2],
    dense: Option<(DenseKey, Tensor)>,
    /// Whether a dense s was asked for and is not there yet.
    asked: bool,
    score_bias: Option<(Curve, Sizes, Option<ScoreBias>)>,
}

impl KeptBiases {
    /// Nothing yet; what takes long is asked of `calculator`.
    pub fn new(calculator: Client) -> Self {
        Self {
            calculator,
            inner: Rc::new(RefCell::default()),
        }
    }

    /// The biases of `scene`, or `None` while a dense s is on its way.
    pub fn of(&self, scene: &Scene, layer: &Layer) -> Option<Biases> {
        if scene.mechanism != Mechanism::Cjar {
            return Some(Biases::default());
        }
        let (cjar, sizes) = (&scene.cjar, Sizes::from(layer));
        let s = if cjar.reading.uses_score_bias() && cjar.s.amplitude != 0.0 {
            self.score_bias(scene, layer, sizes).ok()?
        } else {
            None
        };
        let mut inner = self.inner.borrow_mut();
        Some(Biases {
            p_k: inner.position_bias(0, &cjar.p_k, sizes),
            p_v: inner.position_bias(1, &cjar.p_v, sizes),
            s,
        })
    }

    fn score_bias(
        &self,
        scene: &Scene,
        layer: &Layer,
        sizes: Sizes,
    ) -> Result<Option<ScoreBias>, OnItsWay> {
        let s = &scene.cjar.s;
        if let Some((kept, of, made)) = &self.inner.borrow().score_bias
            && (kept, *of) == (s, sizes)
        {
            return Ok(made.clone());
        }
        let dense = s.dense && sizes.dense_fits();
        let unit = dense.then(|| self.dense(scene, layer, sizes).ok_or(OnItsWay));
        let unit = unit.transpose()?;
        let made = resolve::score_bias(s, sizes, &|seed, sizes| match &unit {
            Some(unit) => unit.clone(),
            None => resolve::dense_unit(seed, sizes),
        });
        self.inner.borrow_mut().score_bias = Some((s.clone(), sizes, made.clone()));
        Ok(made)
    }

    /// The numbers of a dense s. One question at a time; the newest is asked when the last is
    /// answered.
    fn dense(&self, scene: &Scene, layer: &Layer, sizes: Sizes) -> Option<Tensor> {
        let key = (scene.cjar.s.seed, sizes);
        let mut inner = self.inner.borrow_mut();
        if let Some((kept, unit)) = &inner.dense
            && *kept == key
        {
            return Some(unit.clone());
        }
        if !std::mem::replace(&mut inner.asked, true) {
            let (calculator, kept) = (self.calculator.clone(), self.inner.clone());
            let ask = Ask::Dense {
                id: layer.id,
                scene: scene.to_fragment(),
            };
            spawn_local(async move {
                let (_, blobs) = calculator.ask(ask, Vec::new()).await;
                let shape = [sizes.heads, sizes.seq_len, sizes.seq_len];
                let unit = blobs.first().and_then(|b| calc::tensor(&shape, b).ok());
                // Without a calculator it is made here: later is better than never.
                let unit = unit.unwrap_or_else(|| resolve::dense_unit(key.0, sizes));
                let mut inner = kept.borrow_mut();
                inner.asked = false;
                inner.dense = Some((key, unit));
                drop(inner);
                super::changed();
                super::with(|driver| driver.facts.cell());
            });
        }
        None
    }
}

impl Inner {
    fn position_bias(&mut self, which: usize, bias: &Bias, sizes: Sizes) -> Option<PositionBias> {
        if bias.amplitude == 0.0 {
            return None;
        }
        let key = UnitKey(bias.shape, bias.per_position, bias.seed, sizes);
        let unit = match &self.units[which] {
            Some((kept, unit)) if *kept == key => unit.clone(),
            _ => {
                let unit = resolve::unit(bias, sizes);
                self.units[which] = Some((key, unit.clone()));
                unit
            }
        };
        Some(PositionBias {
            unit,
            amplitude: bias.amplitude,
        })
    }
}
