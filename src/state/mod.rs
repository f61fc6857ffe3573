//! Everything the page knows, in one context. Components derive from it; only the scheduler, the
//! loader and event handlers write to it.
pub mod address;
pub mod debounce;
pub mod derived;
pub mod limits;
pub mod loader;
pub mod long_lived;
pub mod preferences;
pub mod problem;
pub mod window_stats;

use std::sync::Arc;

use leptos::prelude::*;

use crate::layout::strip::StripGrid;
use crate::state::long_lived::LongLived;
use crate::state::problem::Problem;
use attnscope_attention::layer::Layer;
use attnscope_attention::summary::Summary;
use attnscope_engine::recovery::Again;
use attnscope_engine::{Capabilities, EngineError, FrameReport};
use attnscope_scene::resolve::Sizes;
use attnscope_scene::warning::Warning;
use attnscope_scene::{Quantity, Scene, Source};
use attnscope_text::sentence::Spoken;

/// A part of the state; it outlives the views that read it.
pub type State<T> = LongLived<RwSignal<T>>;

/// Makes one.
pub fn state<T: Send + Sync + 'static>(value: T) -> State<T> {
    LongLived::new(RwSignal::new(value))
}

/// The state of one attnscope on a page.
#[derive(Clone, Copy)]
pub struct AppState {
    /// Everything the reader chose. Written through [`AppState::change`] by controls.
    pub scene: State<Scene>,
    /// The layer of `scene.source`.
    pub layer: State<LayerState>,
    /// The engine.
    pub engine: State<EngineState>,
    /// Numbers of the newest finished frame.
    pub report: State<FrameReport>,
    /// Finished and total parts of the large map while it is coarse.
    pub coarse: State<Option<(u32, u32)>>,
    /// The small maps have belonged to an older Frame for a while.
    pub strip_late: State<bool>,
    /// Whether the map's canvas and the strip's canvas have a picture.
    pub drawn: State<(bool, bool)>,
    /// Facts of the chosen head, with the Scene they were computed from; `None` before the first.
    pub summary: State<Option<(Scene, Arc<Summary>)>>,
    /// Worked numbers of the explained cell.
    pub cell: State<Option<CellNumbers>>,
    /// The cell that the sentence is about: explained while none is hovered or locked.
    pub spoken: State<Option<Spoken>>,
    /// Hovered cell (query, key), if the pointer or the cell cursor is on the map.
    pub hover: State<Option<(u32, u32)>>,
    /// Singular values of W_O, in falling order; empty until known.
    pub sigma: State<Arc<[f32]>>,
    /// Sentences about what went wrong, newest last; each can be dismissed.
    pub problems: State<Vec<Problem>>,
    /// What the layer limits, as last reported: each limit is reported once, whatever else changes.
    pub limited: State<Vec<(Warning, String)>>,
    /// Trigger; the value is unused. Set when the hand has come to rest, and when numbers that take
    /// longer have arrived.
    pub rested: State<bool>,
    /// Layout of the strip of heads on its canvas; set by the strip, read by the scheduler.
    pub strip: State<StripGrid>,
    /// Embedded page: only the map and chosen controls.
    pub embedded: bool,
}

impl AppState {
    /// The state of a page that has just been opened with this Scene.
    pub fn new(scene: Scene, embedded: bool) -> Self {
        Self {
            scene: state(scene),
            layer: State::default(),
            engine: State::default(),
            report: State::default(),
            coarse: State::default(),
            strip_late: State::default(),
            drawn: State::default(),
            summary: State::default(),
            cell: State::default(),
            spoken: State::default(),
            hover: State::default(),
            sigma: state(Arc::from([])),
            problems: State::default(),
            limited: State::default(),
            rested: State::default(),
            strip: State::default(),
            embedded,
        }
    }

    /// The state that [`App`](crate::app::App) provided. Panics outside of the page, which is a
    /// bug.
    pub fn get() -> Self {
        expect_context()
    }

    /// Changes the Scene. Controls change it in no other way.
    pub fn change(&self, edit: impl FnOnce(&mut Scene)) {
        let mut edit = Some(edit);
        self.change_scene(&mut |scene| {
            if let Some(edit) = edit.take() {
                edit(scene);
            }
        });
    }

    fn change_scene(&self, edit: &mut dyn FnMut(&mut Scene)) {
        self.scene.update(edit);
    }

    /// Sizes of the layer of the present source, once it has loaded completely.
    pub fn sizes(&self) -> Option<Sizes> {
        let loaded = self.layer.read();
        let LayerState::Ready(loaded) = &*loaded else {
            return None;
        };
        let whole = loaded.layer.preview_of.is_none();
        let present = self.scene.with(|scene| scene.source == loaded.source);
        (whole && present).then(|| Sizes::from(&*loaded.layer))
    }

    /// The Scene as shown, for links: limited to what its layer has. The Scene as asked for stays
    /// in [`AppState::scene`], so that another layer can show it.
    pub fn shown(&self) -> Scene {
        match self.sizes() {
            Some(sizes) => self.scene.with(|scene| scene.limited(sizes).0),
            None => self.scene.get(),
        }
    }

    /// Removes the problems that `over` selects and adds `now`.
    pub fn tell(&self, over: fn(&Problem) -> bool, now: Vec<Problem>) {
        self.problems.update(|all| {
            all.retain(|problem| !over(problem));
            all.extend(now);
        });
    }
}

/// The layer of the present source.
#[derive(Clone, Debug, Default)]
pub enum LayerState {
    /// Nothing was requested yet.
    #[default]
    Idle,
    /// Loading. The last layer stays on screen.
    Loading {
        /// Bytes so far.
        done: u64,
        /// Total bytes, if the server says so.
        total: Option<u64>,
        /// What stays on screen meanwhile.
        previous: Option<LoadedLayer>,
    },
    /// Loaded.
    Ready(LoadedLayer),
    /// Failed to load; a [`Problem`] says why. The last layer stays on screen.
    Failed {
        /// What stays on screen.
        previous: Option<LoadedLayer>,
    },
}

impl LayerState {
    /// The layer on screen, in any state.
    pub fn shown(&self) -> Option<&LoadedLayer> {
        match self {
            Self::Idle => None,
            Self::Loading { previous, .. } | Self::Failed { previous } => previous.as_ref(),
            Self::Ready(layer) => Some(layer),
        }
    }
}

/// A layer with its tokens.
#[derive(Clone, Debug)]
pub struct LoadedLayer {
    /// Tensors.
    pub layer: Arc<Layer>,
    /// One label per token.
    pub tokens: Arc<[String]>,
    /// Its source.
    pub source: Source,
}

/// Which engine draws. After the first answer there always is one.
#[derive(Clone, Debug, Default)]
pub enum EngineState {
    /// Asking for an adapter and a device.
    #[default]
    Probing,
    /// The graphics device draws.
    Gpu(Capabilities),
    /// The device is lost, and the CPU's first picture is on its way.
    Lost(EngineError, Again),
    /// The CPU draws while the device is requested again.
    Recovering(EngineError),
    /// The CPU draws: why, and who requests the device again.
    Cpu(EngineError, Again),
}

impl EngineState {
    /// Name of the state, for host pages and style sheets.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Probing => "probing",
            Self::Gpu(_) => "gpu",
            Self::Lost(..) => "lost",
            Self::Recovering(_) => "recovering",
            Self::Cpu(..) => "cpu",
        }
    }

    /// Why the graphics device does not draw.
    pub fn trouble(&self) -> Option<&EngineError> {
        match self {
            Self::Probing | Self::Gpu(_) => None,
            Self::Lost(why, _) | Self::Recovering(why) | Self::Cpu(why, _) => Some(why),
        }
    }

    /// Who requests the graphics device again.
    pub fn again(&self) -> Again {
        match self {
            Self::Lost(_, again) | Self::Cpu(_, again) => *again,
            _ => Again::Nobody,
        }
    }
}

/// One cell in f64 on the CPU, from the same q, k, P, s as the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct CellNumbers {
    /// Query.
    pub row: usize,
    /// Key.
    pub col: usize,
    /// The query may see the key.
    pub visible: bool,
    /// scale · q·k (without P_K).
    pub qk: f64,
    /// scale · q·P_K.
    pub qp: f64,
    /// s.
    pub s: f64,
    /// Raw score r = qk + qp (or its low-rank value).
    pub score: f64,
    /// Weight A.
    pub weight: f64,
    /// Sum of the row's weights.
    pub row_sum: f64,
    /// Number of keys that the query sees.
    pub visible_keys: usize,
    /// Whether the picture shows the weight or the score.
    pub quantity: Quantity,
    /// The value that the engine drew in this cell, once read back.
    pub drawn: Option<f32>,
}
