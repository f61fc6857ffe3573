//! P_K, P_V and s of a Scene. Unit tensors are cached by what they depend on, so that a new
//! amplitude alone makes none; the compute worker makes those that would block the page.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::task::spawn_local;

use crate::scheduler::Later;
use crate::workers::chunks::chunks;
use crate::workers::compute_client::ComputeClient;
use attnscope_attention::layer::{Biases, Layer, PositionBias, ScoreBias, Tensor};
use attnscope_scene::bias_tensor::{Unit, UnitKey};
use attnscope_scene::resolve::{self, Sizes};
use attnscope_scene::{Cjar, Curve, Mechanism, Scene};
use attnscope_worker::compute_protocol::ComputeRequest;
use attnscope_worker::{CHUNK, Latest};

/// Up to this many numbers are made on the spot: a few milliseconds at most, without a delayed
/// picture.
const AT_ONCE: usize = 1 << 18;

/// The numbers are not there yet.
struct OnItsWay;

/// The cache; clones share it.
#[derive(Clone)]
pub struct KeptBiases {
    compute: ComputeClient,
    inner: Later<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The newest numbers of each [`Unit`].
    units: [Option<(UnitKey, Tensor)>; Unit::ALL.len()],
    /// The request to the worker for the newest Scene; older ones are dropped.
    coming: Latest<(Unit, UnitKey), Tensor>,
    score_bias: Option<(Curve, Sizes, Option<ScoreBias>)>,
}

impl KeptBiases {
    /// An empty cache; `compute` makes what takes long.
    pub fn new(compute: ComputeClient) -> Self {
        Self {
            compute,
            inner: Rc::new(RefCell::default()),
        }
    }

    /// A request is pending.
    pub fn waits(&self) -> bool {
        self.inner.borrow().coming.waits()
    }

    /// The biases of `scene`, or `None` while numbers of one are on their way.
    pub fn of(&self, scene: &Scene, layer: &Layer) -> Option<Biases> {
        if scene.mechanism != Mechanism::Cjar {
            self.inner.borrow_mut().coming.want_nothing();
            return Some(Biases::default());
        }
        let (cjar, sizes) = (&scene.cjar, Sizes::from(layer));
        let s = if cjar.reading.uses_score_bias() && cjar.s.amplitude != 0.0 {
            self.score_bias(scene, layer, sizes).ok()?
        } else {
            None
        };
        let position = |which: Unit, amplitude: f32| {
            if amplitude == 0.0 {
                return Ok(None);
            }
            let unit = self.unit(which, scene, layer).ok_or(OnItsWay)?;
            Ok::<_, OnItsWay>(Some(PositionBias { unit, amplitude }))
        };
        let biases = Biases {
            p_k: position(Unit::PK, cjar.p_k.amplitude).ok()?,
            p_v: position(Unit::PV, cjar.p_v.amplitude).ok()?,
            s,
        };
        // All are there: a pending request is for an earlier Scene.
        self.inner.borrow_mut().coming.want_nothing();
        Some(biases)
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
        let unit = dense.then(|| self.unit(Unit::S, scene, layer).ok_or(OnItsWay));
        let made = resolve::score_bias(s, sizes, unit.transpose()?);
        self.inner.borrow_mut().score_bias = Some((s.clone(), sizes, made.clone()));
        Ok(made)
    }

    /// The numbers of `which` at amplitude 1: cached, made here, or requested. One request at a
    /// time; the newest is sent when the last is answered.
    fn unit(&self, which: Unit, scene: &Scene, layer: &Layer) -> Option<Tensor> {
        let (cjar, sizes) = (&scene.cjar, Sizes::from(layer));
        let key = which.key(cjar, sizes);
        let mut inner = self.inner.borrow_mut();
        if let Some((kept, unit)) = &inner.units[which as usize]
            && *kept == key
        {
            return Some(unit.clone());
        }
        if let Some(unit) = inner.coming.get(&(which, key)) {
            return Some(unit.clone());
        }
        let count = which.shape(cjar, sizes)?.iter().product::<usize>();
        if count <= AT_ONCE {
            let unit = which.make(cjar, sizes);
            inner.units[which as usize] = Some((key, unit.clone()));
            return Some(unit);
        }
        if inner.coming.want(&(which, key)) {
            let kept = self.clone();
            let (cjar, link) = (cjar.clone(), scene.to_fragment());
            spawn_local(async move {
                let unit = kept.made((which, key), &cjar, sizes, link).await;
                let mut inner = kept.inner.borrow_mut();
                if inner.coming.answer(&(which, key), unit.clone()) && unit.is_some() {
                    inner.units[which as usize] = unit.map(|unit| (key, unit));
                }
                // Dropped and wanted again in the meantime: request them again.
                inner.coming.retry();
                drop(inner);
                crate::scheduler::changed();
                crate::scheduler::with(|scheduler| scheduler.numbers.cell());
            });
        }
        None
    }

    /// The numbers of `which` from the compute worker; `None` when no Scene waits for them any
    /// more.
    async fn made(
        &self,
        (which, key): (Unit, UnitKey),
        cjar: &Cjar,
        sizes: Sizes,
        link: String,
    ) -> Option<Tensor> {
        let request = |at| ComputeRequest::BiasChunk {
            sizes,
            at,
            of: which,
            scene: link.clone(),
        };
        let goes_on = || self.inner.borrow().coming.is_wanted(&(which, key));
        let shape = which.shape(cjar, sizes)?;
        let data = chunks(&self.compute, shape.iter().product(), request, goes_on).await;
        if !goes_on() {
            // A chunk out of range: the worker forgets the rest.
            let end = request(usize::MAX / CHUNK);
            let _ = self.compute.ask(&end, Vec::new()).await;
            return None;
        }
        let unit = data.and_then(|data| Tensor::new(&shape, data).ok());
        // Without a worker they are made here: late is better than never.
        Some(unit.unwrap_or_else(|| which.make(cjar, sizes)))
    }
}
