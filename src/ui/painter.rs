//! The CPU engine where it runs: in a worker of its own, as a module of its own. It answers each
//! question with what it drew, and does nothing between two questions, so that a newer Frame never
//! waits longer than one piece of work.

use std::task::{Context, Poll, Waker};

use wasm_bindgen::JsCast;

use super::calc::{self, Answer, Ask, Blob};
use super::worker;
use attnscope_engine::{Engine, EngineError, FrameReport, Local, MapValues, Slot};
use attnscope_engine_cpu::CpuEngine;
use attnscope_engine_cpu::wire::Wire;

const SLOTS: [Slot; 3] = [Slot::Map, Slot::Strip, Slot::Output];

/// What the CPU engine answers, which is there at once.
fn ready<T>(mut answer: Local<Result<T, EngineError>>) -> Result<T, String> {
    match answer
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(answer) => answer.map_err(|error| error.to_string()),
        Poll::Pending => Err("the CPU engine does not answer at once".to_owned()),
    }
}

/// The engine, and its end of the wire.
#[derive(Default)]
pub struct Painter {
    wire: Wire<true>,
    engine: CpuEngine,
    /// Large tensors of the Frame that comes next.
    tensors: Vec<Blob>,
    /// Time that the last Frame's large map has taken so far, in ms.
    ms: f64,
}

/// What was drawn, and what is left.
#[derive(Default)]
pub struct Drawn {
    /// Whether anything is left.
    pub more: bool,
    /// Whether a part of the large map is.
    pub partial: bool,
    /// How much of the large map is there, 0 ..= 1, while its picture is coarse.
    pub progress: Option<f64>,
    /// Whether small maps of the Frame are still to come.
    pub strip_waits: bool,
    /// Numbers of the picture.
    pub report: FrameReport,
    /// Pictures by slot, where they were drawn anew.
    pub pictures: [Option<Picture>; 3],
}

/// A picture: size, and RGBA bytes.
pub struct Picture {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Blob,
}

/// In the worker: answers until the page is gone.
pub fn serve() {
    std::panic::set_hook(Box::new(console_error_panic_hook::hook));
    let mut painter = Painter::default();
    worker::answer_with(move |ask, blobs| match painter.answer(&ask, blobs) {
        Ok(blobs) => (Answer::Done, blobs),
        Err(why) => (Answer::Failed(why), Vec::new()),
    });
}

impl Painter {
    /// Answers `Ask::Piece`, `Ask::Draw`, `Ask::Step` and `Ask::Map`.
    ///
    /// # Errors
    /// When the blobs hold no Frame, or one too large.
    pub fn answer(&mut self, ask: &Ask, mut blobs: Vec<Blob>) -> Result<Vec<Blob>, String> {
        let start = now();
        match ask {
            Ask::Piece { id, at } => {
                // A Frame that never came may have left some.
                if *at == 0 {
                    self.tensors.truncate(*id as usize);
                }
                self.tensors.resize_with(*id as usize + 1, Vec::new);
                let tensor = self.tensors.last_mut().ok_or("no tensor")?;
                tensor.append(blobs.first_mut().ok_or("no piece")?);
                return Ok(Vec::new());
            }
            Ask::Draw => {
                blobs.append(&mut self.tensors);
                let unpacked = self.wire.unpack(blobs);
                let (frame, targets) = unpacked.ok_or("no Frame")?;
                for (slot, (width, height)) in SLOTS.into_iter().zip(targets.sizes) {
                    let resized = self.engine.resize(slot, width, height);
                    resized.map_err(|error| error.to_string())?;
                }
                let drawn = self.engine.draw(&frame);
                drawn.map_err(|error| error.to_string())?;
                self.ms = 0.0;
            }
            Ask::Map => return Ok(map_blobs(&ready(self.engine.read_map())?)),
            _ => {}
        }
        let timed = ask == &Ask::Draw || self.engine.is_partial();
        let more = self.engine.idle();
        if timed {
            self.ms += now() - start;
        }
        let partial = self.engine.is_partial();
        Ok(Drawn {
            more,
            partial,
            progress: self.engine.progress(),
            strip_waits: self.engine.strip_waits(),
            report: FrameReport {
                gpu_ms: (!partial).then_some(self.ms),
                ..ready(self.engine.report())?
            },
            pictures: self.engine.take_pictures().map(|picture| {
                let picture = picture?;
                Some(Picture {
                    width: picture.width,
                    height: picture.height,
                    rgba: bytemuck::cast_slice(&picture.pixels).to_vec(),
                })
            }),
        }
        .into_blobs())
    }
}

impl Drawn {
    fn into_blobs(self) -> Vec<Blob> {
        let range = self.report.map_range.map(|(low, high)| [low, high]);
        let [low, high] = range.unwrap_or([f32::NAN; 2]).map(f64::from);
        let mut numbers = vec![
            f64::from(u8::from(self.more)),
            f64::from(u8::from(self.partial)),
            self.report.gpu_ms.unwrap_or(f64::NAN),
            low,
            high,
            f64::from(self.report.output_energy),
            self.progress.unwrap_or(f64::NAN),
            f64::from(u8::from(self.strip_waits)),
        ];
        let mut pictures = Vec::new();
        for picture in self.pictures {
            let (size, rgba) = picture.map_or_else(Default::default, |picture| {
                ([picture.width, picture.height], picture.rgba)
            });
            numbers.extend(size.map(f64::from));
            pictures.push(rgba);
        }
        let mut blobs = vec![
            bytemuck::cast_slice(&numbers).to_vec(),
            calc::bytes(&self.report.component_energy),
        ];
        blobs.append(&mut pictures);
        blobs
    }

    /// What the blobs of an answer say; `None` when they are none of an answer.
    pub fn from_blobs(blobs: &mut [Blob]) -> Option<Self> {
        let [numbers, energies, pictures @ ..] = blobs else {
            return None;
        };
        let numbers = calc::doubles(numbers);
        let (&[more, partial, ms, low, high, energy, progress, strip], sizes) =
            numbers.split_first_chunk()?;
        let mut drawn = Self {
            more: more > 0.0,
            partial: partial > 0.0,
            progress: (progress >= 0.0).then_some(progress),
            strip_waits: strip > 0.0,
            report: FrameReport {
                frame: 0,
                map_range: (low <= high).then_some((low as f32, high as f32)),
                gpu_ms: (ms >= 0.0).then_some(ms),
                component_energy: calc::floats(energies),
                output_energy: energy as f32,
            },
            pictures: Default::default(),
        };
        let sized = sizes.chunks_exact(2).zip(pictures);
        for (slot, (size, blob)) in drawn.pictures.iter_mut().zip(sized) {
            *slot = (!blob.is_empty()).then(|| Picture {
                width: size[0] as u32,
                height: size[1] as u32,
                rgba: std::mem::take(blob),
            });
        }
        Some(drawn)
    }
}

fn map_blobs(map: &MapValues) -> Vec<Blob> {
    vec![
        calc::bytes(&[map.rows as f32, map.cols as f32]),
        calc::bytes(&map.values),
        calc::bytes(&map.visible),
    ]
}

/// The map of the blobs that answer `Ask::Map`.
pub fn map_of(blobs: &[Blob]) -> Option<MapValues> {
    let [size, values, visible] = blobs else {
        return None;
    };
    let [rows, cols] = calc::floats(size)[..] else {
        return None;
    };
    Some(MapValues {
        frame: 0,
        rows: rows as u32,
        cols: cols as u32,
        values: calc::floats(values),
        visible: calc::floats(visible),
    })
}

/// Milliseconds of the page's or the worker's clock.
fn now() -> f64 {
    let clock = js_sys::Reflect::get(&js_sys::global(), &"performance".into());
    clock.map_or(0.0, |clock| {
        clock.unchecked_into::<web_sys::Performance>().now()
    })
}
