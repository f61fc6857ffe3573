//! An engine turns a layer and a [`Frame`] into pictures. `attnscope-engine-gpu` does it in WGSL,
//! `attnscope-engine-cpu` in Rust; both follow one table of [`passes`].

pub mod cache_state;
pub mod centring;
pub mod colors;
pub mod needs;
pub mod passes;
pub mod recovery;
pub mod sizes;
pub mod steps;
pub mod tiles;
pub mod validate;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use attnscope_attention::config::Config;
use attnscope_attention::layer::{Biases, Layer, Output, PositionBias, Tensor};
pub use attnscope_attention::low_rank::{OutFactors, ScoreFactors};
use attnscope_scene::{ColorScale, Quantity, Rect};
use serde::{Deserialize, Serialize};

use self::passes::Pass;

/// What to draw: the newest Frame wins. The difference between two Frames is the Plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The layer; replaced as a whole.
    pub layer: Arc<Layer>,
    /// Choices of SPEC 1–4.
    pub config: Config,
    /// P_K, P_V, s.
    pub biases: Biases,
    /// q̃ and k̃ for the score rank, when `config.score_rank` is set. While they are missing the
    /// last picture stays.
    pub score_factors: Option<Arc<ScoreFactors>>,
    /// W_2 and W_1 with all d columns/rows by decreasing singular value, for the output rank.
    pub out_factors: Option<Arc<OutFactors>>,
    /// The large map, if one is on screen.
    pub map: Option<MapView>,
    /// The strip of all heads, if one is on screen.
    pub strip: Option<StripView>,
    /// The layer output, if it is on screen.
    pub output: Option<OutputView>,
}

/// q, k or v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Queries.
    Q,
    /// Keys.
    K,
    /// Values.
    V,
}

impl Frame {
    /// Whether P_K adds anything.
    pub fn has_key_bias(&self) -> bool {
        acts(self.biases.p_k.as_ref())
    }

    /// Whether P_V adds anything.
    pub fn has_value_bias(&self) -> bool {
        acts(self.biases.p_v.as_ref())
    }

    /// W_1 `[d, d]` and W_2 `[d, d]`: the layer's own or those of the SVD.
    pub fn projection_factors(&self) -> Option<(&Tensor, &Tensor)> {
        match (&self.layer.output, &self.out_factors) {
            (Output::Factors { w_1, w_2, .. }, _) => Some((w_1, w_2)),
            (Output::Full(_), Some(factors)) => Some((&factors.w_1, &factors.w_2)),
            _ => None,
        }
    }

    /// How many components T = O W_1ᵀ has; 0 without factors.
    pub fn components(&self) -> u32 {
        let rows = |(w_1, _): (&Tensor, _)| w_1.shape.first().copied().unwrap_or(0) as u32;
        self.projection_factors().map_or(0, rows)
    }

    /// How many components the low-rank Y has: all of them without a rank.
    pub fn output_rank(&self) -> u32 {
        let all = self.components();
        self.config.out_rank.unwrap_or(all).min(all)
    }
}

fn acts(bias: Option<&PositionBias>) -> bool {
    bias.is_some_and(|bias| bias.amplitude != 0.0)
}

/// How the cells of a texel are combined when it covers more than one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u32)]
pub enum Pool {
    /// The largest by magnitude, with its sign.
    #[default]
    Max = 0,
    /// The mean over the visible cells.
    Mean = 1,
}

/// The large map: a rectangle of one head at screen resolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapView {
    /// Which head of the layer.
    pub head: u32,
    /// Weights or score.
    pub quantity: Quantity,
    /// Which cells.
    pub rect: Rect,
    /// Texels: at most one per cell, at most as many as the screen has pixels.
    pub texel_rows: u32,
    /// Texels across.
    pub texel_cols: u32,
    /// How the cells of one texel are combined.
    pub pool: Pool,
    /// Colours.
    pub colors: Colors,
}

impl MapView {
    /// Whether each of its texels is one cell.
    pub fn has_texel_per_cell(&self) -> bool {
        (self.texel_rows, self.texel_cols) == (self.rect.rows, self.rect.cols)
    }
}

/// Small maps of all heads, side by side on one canvas, each the whole `[L, L]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StripView {
    /// Weights or score.
    pub quantity: Quantity,
    /// Pixels per edge of one small map on its target; the engine chooses how many texels to make.
    pub texels: u32,
    /// Small maps in a row of the canvas; rows = ⌈H / columns⌉.
    pub columns: u32,
    /// Canvas pixels between small maps.
    pub gap: u32,
    /// Colours, each head on its own automatic range.
    pub colors: Colors,
}

/// Y of the low-rank W_O and the full-rank Y, `[L, d]` each, drawn one above the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputView {
    /// Texel rows of each, at most L.
    pub texel_rows: u32,
    /// Texel columns of each, at most d.
    pub texel_cols: u32,
    /// Colours, both on one range.
    pub colors: Colors,
}

/// The three pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Slot {
    /// The large map.
    Map = 0,
    /// Small maps of all heads.
    Strip = 1,
    /// The low-rank output above, the full one below.
    Output = 2,
}

impl Slot {
    /// The pass that draws it.
    pub fn pass(self) -> Pass {
        match self {
            Self::Map => Pass::DrawMap,
            Self::Strip => Pass::DrawStrip,
            Self::Output => Pass::DrawOutput,
        }
    }
}

/// A colour table and its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Colors {
    /// Which table.
    pub table: ColorTable,
    /// `None`: from the picture itself. Sequential tables then start at 0 and end at its largest
    /// value; diverging ones reach its largest magnitude on both sides of 0.
    pub range: Option<(f32, f32)>,
    /// How the table is spread over the range. Diverging tables are spread from their middle.
    pub scale: ColorScale,
    /// The colour between two maps of a picture, as sRGB bytes. Masked cells are transparent.
    pub ground: [u8; 3],
}

/// Colour tables, all from published data; drawn as 256 steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u32)]
pub enum ColorTable {
    /// Sequential, for weights, readable with any colour vision.
    Cividis = 0,
    /// Diverging about 0.
    Diverging = 1,
}

/// What an engine is and can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// "WebGPU", "Vulkan", "CPU".
    pub backend: String,
    /// The platform's name for the adapter.
    pub adapter: String,
    /// Whether the adapter is a software rasteriser.
    pub software: bool,
    /// Whether GPU time can be measured.
    pub timestamps: bool,
    /// Longest L that the device's limits allow.
    pub max_seq_len: u32,
    /// Whether finished work is reported only when the device is polled by [`Engine::finished`]:
    /// then the page polls often.
    pub needs_polling: bool,
}

/// Numbers of the picture, read after it was drawn and never on the way to the screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameReport {
    /// Sequence number of the frame these numbers belong to.
    pub frame: u64,
    /// Smallest and largest visible value of the large map.
    pub map_range: Option<(f32, f32)>,
    /// GPU time of the frame in milliseconds, where there are timestamps.
    pub gpu_ms: Option<f64>,
    /// ‖T_c‖² for each component c of the output projection, T = O W_1ᵀ `[L, d]`: with σ it gives
    /// the relative error of Y at every rank. Empty when the output is not on screen.
    pub component_energy: Vec<f32>,
    /// ‖Y‖² of the full output.
    pub output_energy: f32,
}

/// Values of the drawn map, for tests, export and the inspector's tick.
#[derive(Clone, Debug, PartialEq)]
pub struct MapValues {
    /// Sequence number of the frame that drew them; 0 where frames are not counted.
    pub frame: u64,
    /// Texel rows.
    pub rows: u32,
    /// Texel columns.
    pub cols: u32,
    /// `rows · cols` values, row-major.
    pub values: Vec<f32>,
    /// Share of each texel's cells that are visible, 0 ..= 1.
    pub visible: Vec<f32>,
}

/// A matrix `[L, d]` of the layer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMatrix {
    /// O, heads side by side.
    Heads,
    /// Y.
    Full,
    /// Y of the low-rank projection.
    LowRank,
}

/// Why an engine could not do what was asked. The page shows each as a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineError {
    /// The browser has no WebGPU (or this is not a secure context).
    NoWebGpu,
    /// The browser has WebGPU but gave no adapter.
    NoAdapter,
    /// The browser has not answered yet whether there is an adapter and a device.
    NoAnswer,
    /// The CPU engine did not start, or stopped.
    NoCpu(String),
    /// The adapter refused a device.
    NoDevice(String),
    /// The device was lost.
    DeviceLost(String),
    /// The device no longer answers.
    Stalled,
    /// The layer needs more than the device allows.
    TooLarge {
        /// The required size, in elements of the offending buffer.
        wanted: u64,
        /// What the device allows.
        allowed: u64,
    },
    /// The device cannot draw to a canvas of the page.
    NoCanvas(String),
    /// A canvas of size zero cannot be drawn to; this is not a fault.
    EmptyCanvas,
    /// The device reported an error that is a bug of ours.
    Invalid(String),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWebGpu => write!(f, "WebGPU is not available"),
            Self::NoAdapter => write!(f, "no WebGPU adapter was given"),
            Self::NoAnswer => write!(f, "the browser does not answer whether there is an adapter"),
            Self::NoCpu(why) => write!(f, "the CPU engine is gone: {why}"),
            Self::NoDevice(why) => write!(f, "the adapter refused a device: {why}"),
            Self::DeviceLost(why) => write!(f, "the device was lost: {why}"),
            Self::Stalled => write!(f, "the device no longer answers"),
            Self::TooLarge { wanted, allowed } => {
                write!(
                    f,
                    "{wanted} elements are needed where the device allows {allowed}"
                )
            }
            Self::NoCanvas(why) => write!(f, "a canvas cannot be drawn to: {why}"),
            Self::EmptyCanvas => write!(f, "the canvas has no size"),
            Self::Invalid(what) => write!(f, "the device reported: {what}"),
        }
    }
}

impl std::error::Error for EngineError {}

/// A future that stays on its thread.
pub type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// What every engine does. All calls return at once; the futures do the waiting.
pub trait Engine {
    /// What this engine is.
    fn capabilities(&self) -> &Capabilities;

    /// Sets the size of the picture of `slot` in device pixels; zero disables it. The next
    /// [`Engine::draw`] or [`Engine::idle`] draws the picture.
    ///
    /// # Errors
    /// When the device has no texture of that size, or cannot draw to the canvas.
    fn resize(&mut self, slot: Slot, width: u32, height: u32) -> Result<(), EngineError>;

    /// Computes what is stale between the last Frame and this one and draws it. Returns the
    /// sequence number of the frame. Nothing is read back.
    ///
    /// # Errors
    /// When the device is gone or the layer is beyond its limits; the last picture stays.
    fn draw(&mut self, frame: &Frame) -> Result<u64, EngineError>;

    /// Does one more part of the work that `draw` left (the rest of a long map, the strip, the
    /// output) and returns whether more is left. Call it when there is nothing newer to draw; the
    /// next `draw` replaces the remaining work.
    fn idle(&mut self) -> bool;

    /// Whether [`Engine::draw`] left a part of the large map to [`Engine::idle`].
    fn is_partial(&self) -> bool;

    /// Sequence number of the newest frame whose large map the device has finished; 0 before the
    /// first.
    fn finished(&self) -> u64;

    /// How many submits the device has not finished yet.
    fn in_flight(&self) -> u32;

    /// Numbers of the newest finished frame; resolves after the device has finished it.
    fn report(&mut self) -> Local<Result<FrameReport, EngineError>>;

    /// The values of the large map as last drawn.
    fn read_map(&mut self) -> Local<Result<MapValues, EngineError>>;

    /// Why the device can no longer be used, if it cannot.
    fn lost(&self) -> Option<EngineError>;

    /// How many callbacks have come so far; `None` while none is pending.
    fn completed_count(&self) -> Option<u32> {
        None
    }
}

/// An engine whose results can be read one by one: tests and the self-check judge them.
pub trait ReadResults: Engine {
    /// The values of the small map of `head`, after all remaining work.
    fn read_strip(&mut self, head: u32) -> Local<Result<MapValues, EngineError>>;

    /// A matrix `[L, d]` of the layer's output, after all remaining work. Needs a Frame with
    /// `output`.
    fn read_matrix(&mut self, which: OutputMatrix) -> Local<Result<Vec<f32>, EngineError>>;
}
