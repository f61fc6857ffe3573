//! The CPU engine from the page's side: Frames go out to a worker, pictures come back and are put on
//! 2D canvases. One question is open at a time; a Frame that waits is replaced by a newer one.

use std::cell::RefCell;
use std::rc::Rc;

use futures_channel::oneshot;
use leptos::task::spawn_local;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use crate::ui::calc::{self, Answer, Ask, Blob, PIECE};
use crate::ui::painter::{self, Drawn, Picture};
use crate::ui::worker::Client;
use attnscope_engine::{Capabilities, Engine, EngineError, Frame, FrameReport, Local, MapValues};
use attnscope_engine_cpu::engine::{Targets, check};
use attnscope_engine_cpu::wire::{Packed, Wire};
use attnscope_engine_gpu::Slot;

/// Answers that may fail one after the other before the engine stops asking: one, and one for each
/// further start of the worker.
const PATIENCE: u32 = 4;

/// The engine.
pub struct Remote {
    capabilities: Capabilities,
    inner: Shared,
}

type Shared = Rc<RefCell<Inner>>;

// Independent facts, each asked by its name.
#[allow(clippy::struct_excessive_bools)]
#[derive(Default)]
struct Inner {
    client: Client,
    wire: Wire<false>,
    canvases: [Option<HtmlCanvasElement>; 3],
    /// Which of them have a picture.
    drawn: [bool; 3],
    targets: Targets,
    /// Number of the newest Frame, and the Frame.
    newest: u64,
    last: Option<Frame>,
    /// Whether the newest Frame was not sent yet.
    waiting: bool,
    /// Number of the last Frame that went to the worker with all its tensors.
    delivered: u64,
    /// Those who wait for the next one to go.
    readers: Vec<oneshot::Sender<()>>,
    /// Questions without an answer.
    open: u32,
    more: bool,
    partial: bool,
    progress: Option<f64>,
    strip_waits: bool,
    finished: u64,
    failures: u32,
    report: FrameReport,
    /// Why there will be no picture.
    gone: Option<EngineError>,
    closed: bool,
}

impl Remote {
    /// Starts the worker.
    pub fn new() -> Self {
        let client = Client::of_painter();
        let inner = Rc::new(RefCell::new(Inner {
            client: client.clone(),
            ..Inner::default()
        }));
        let weak = Rc::downgrade(&inner);
        client.on_stop(move || {
            if let Some(shared) = weak.upgrade() {
                worker_stopped(&shared);
            }
        });
        client.release();
        Self {
            capabilities: Capabilities {
                backend: "CPU".to_owned(),
                adapter: "WebAssembly".to_owned(),
                // It works on the cores that the page needs.
                software: true,
                timestamps: true,
                max_seq_len: u32::MAX,
                looked_at: false,
            },
            inner,
        }
    }

    /// Puts the pictures of `slot` on a canvas that has no other context.
    pub fn attach_canvas(&self, slot: Slot, canvas: HtmlCanvasElement) {
        let mut inner = self.inner.borrow_mut();
        inner.canvases[slot as usize] = Some(canvas);
        inner.drawn[slot as usize] = false;
    }

    /// Whether there is a picture of `slot` on its canvas.
    pub fn has_drawn(&self, slot: Slot) -> bool {
        self.inner.borrow().drawn[slot as usize]
    }

    /// Draws `slot` no more.
    pub fn detach(&self, slot: Slot) {
        let mut inner = self.inner.borrow_mut();
        inner.canvases[slot as usize] = None;
        inner.targets.sizes[slot as usize] = (0, 0);
    }

    /// How much of the large map is there, of how much, while it is coarse; and whether small maps
    /// are of an older Frame.
    pub fn unfinished(&self) -> (Option<(u32, u32)>, bool) {
        let inner = self.inner.borrow();
        let percent = inner.progress.map(|share| ((share * 100.0) as u32, 100));
        (percent, inner.strip_waits)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let mut inner = self.inner.borrow_mut();
        inner.closed = true;
        inner.readers.clear();
        inner.client.close();
    }
}

/// A worker that stopped between two questions: the next one gets the last Frame at once, so that
/// questions about its map have an answer.
fn worker_stopped(shared: &Shared) {
    let mut inner = shared.borrow_mut();
    // Whoever waits for an answer hears that there is none, and sends all of it again.
    if inner.open == 0 {
        inner.forget_worker();
        drop(inner);
        send_frame(shared);
    }
}

fn no_map() -> EngineError {
    EngineError::Invalid("no map was drawn yet".to_owned())
}

/// Sends the newest Frame, if it was not sent yet.
fn send_frame(shared: &Shared) {
    let mut inner = shared.borrow_mut();
    if !std::mem::take(&mut inner.waiting) {
        return;
    }
    let (number, targets) = (inner.newest, inner.targets);
    let Some(frame) = inner.last.clone() else {
        return;
    };
    let packed = inner.wire.pack(&frame, targets);
    drop(inner);
    ask(shared, Ask::Draw, Some(packed), number);
}

/// Asks and hears the answer, which belongs to Frame `number`.
fn ask(shared: &Shared, ask: Ask, packed: Option<Packed>, number: u64) {
    let client = {
        let mut inner = shared.borrow_mut();
        inner.open += 1;
        inner.client.clone()
    };
    let shared = shared.clone();
    spawn_local(async move {
        let blobs = match packed {
            Some(packed) => send_large(&shared, packed).await,
            None => Vec::new(),
        };
        if shared.borrow().closed {
            return;
        }
        let blobs = blobs.into_iter().map(Rc::new).collect();
        if ask == Ask::Draw {
            // The question itself goes before anybody who waits runs.
            shared.borrow_mut().deliver(number);
        }
        let (answer, mut blobs) = client.ask(ask, blobs).await;
        {
            let mut inner = shared.borrow_mut();
            if inner.closed {
                return;
            }
            inner.open -= 1;
            match (answer, Drawn::from_blobs(&mut blobs)) {
                (Answer::Done, Some(drawn)) => inner.hear(drawn, number),
                (Answer::Failed(why), _) => inner.fail(why),
                _ => inner.fail(String::new()),
            }
            if inner.open > 0 {
                return;
            }
        }
        send_frame(&shared);
        super::engines::answered();
    });
}

/// Where the tensors are large they go before their Frame, a piece at a time: copying all of them
/// at once would stop the page. Returns the blobs that are left.
async fn send_large(shared: &Shared, mut packed: Packed) -> Vec<Blob> {
    let client = shared.borrow().client.clone();
    let all: usize = packed.tensors.iter().map(|tensor| tensor.len()).sum();
    if all > PIECE {
        for (id, tensor) in (0..).zip(std::mem::take(&mut packed.tensors)) {
            // An empty one is a piece too.
            for at in 0..tensor.len().div_ceil(PIECE).max(1) {
                // A question to a worker that was closed would start another.
                if shared.borrow().closed {
                    return Vec::new();
                }
                let end = tensor.len().min((at + 1) * PIECE);
                let piece = calc::bytes(&tensor[at * PIECE..end]);
                // A worker that is gone does not answer the Frame either.
                let _ = client
                    .ask(Ask::Piece { id, at }, vec![Rc::new(piece)])
                    .await;
            }
        }
    }
    packed.into_blobs()
}

impl Inner {
    /// Frame `number` goes to the worker: questions about it may follow.
    fn deliver(&mut self, number: u64) {
        self.delivered = number;
        for reader in self.readers.drain(..) {
            // A reader that is gone no longer waits.
            let _ = reader.send(());
        }
    }

    /// What to wait for before a question about Frame `number` may follow it; `None` when it has gone.
    fn before(&mut self, number: u64) -> Result<Option<oneshot::Receiver<()>>, EngineError> {
        if let Some(why) = &self.gone {
            return Err(why.clone());
        }
        if self.closed || number == 0 {
            return Err(no_map());
        }
        Ok((self.delivered < number).then(|| {
            let (reader, delivered) = oneshot::channel();
            self.readers.push(reader);
            delivered
        }))
    }

    fn hear(&mut self, drawn: Drawn, number: u64) {
        self.failures = 0;
        (self.more, self.partial) = (drawn.more, drawn.partial);
        (self.progress, self.strip_waits) = (drawn.progress, drawn.strip_waits);
        if !drawn.partial {
            self.finished = number;
        }
        self.report = FrameReport {
            frame: number,
            ..drawn.report
        };
        let places = self.canvases.iter().zip(&mut self.drawn);
        for ((canvas, there), picture) in places.zip(&drawn.pictures) {
            if let (Some(canvas), Some(picture)) = (canvas, picture) {
                if put(canvas, picture).is_some() {
                    *there = true;
                } else {
                    let why = "the browser gives it no canvas to draw on";
                    self.gone = Some(EngineError::NoCpu(why.to_owned()));
                }
            }
        }
    }

    /// The next worker knows nothing of what this one was sent.
    fn forget_worker(&mut self) {
        self.wire = Wire::default();
        self.delivered = 0;
        self.waiting = self.last.is_some();
    }

    /// The worker is gone, or could not make anything of what it got: everything is sent again, to a
    /// new one where it is gone and may be started again.
    fn fail(&mut self, why: String) {
        self.failures += 1;
        self.forget_worker();
        if self.failures >= PATIENCE || self.client.has_given_up() || !self.waiting {
            self.waiting = false;
            self.readers.clear();
            self.gone = Some(EngineError::NoCpu(why));
            (self.more, self.partial, self.finished) = (false, false, self.newest);
            (self.progress, self.strip_waits) = (None, false);
        }
    }
}

/// A picture on its canvas; `None` when that cannot be drawn to. The size of the canvas follows that
/// of the picture, so that the last one stays until the next is there.
fn put(canvas: &HtmlCanvasElement, picture: &Picture) -> Option<()> {
    let context = canvas.get_context("2d").ok()??;
    let context = context.dyn_into::<CanvasRenderingContext2d>().ok()?;
    if (canvas.width(), canvas.height()) != (picture.width, picture.height) {
        canvas.set_width(picture.width);
        canvas.set_height(picture.height);
    }
    let image = ImageData::new_with_u8_clamped_array(Clamped(&picture.rgba), picture.width);
    context.put_image_data(&image.ok()?, 0.0, 0.0).ok()
}

impl Engine for Remote {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn resize(&mut self, slot: Slot, width: u32, height: u32) -> Result<(), EngineError> {
        self.inner.borrow_mut().targets.sizes[slot as usize] = (width, height);
        Ok(())
    }

    fn draw(&mut self, frame: &Frame) -> Result<u64, EngineError> {
        let mut inner = self.inner.borrow_mut();
        if frame.config.score_rank.is_some() && frame.score_factors.is_none() {
            return Ok(inner.newest); // The last picture stays until the factors are there.
        }
        check(frame)?;
        inner.newest += 1;
        inner.last = Some(frame.clone());
        inner.waiting = true;
        (inner.more, inner.partial) = (true, true);
        let (number, free) = (inner.newest, inner.open == 0);
        drop(inner);
        if free {
            send_frame(&self.inner);
        }
        Ok(number)
    }

    fn idle(&mut self) -> bool {
        let inner = self.inner.borrow();
        let (more, free, number) = (inner.more, inner.open == 0, inner.newest);
        drop(inner);
        if more && free {
            ask(&self.inner, Ask::Step, None, number);
        }
        more
    }

    fn is_partial(&self) -> bool {
        self.inner.borrow().partial
    }

    fn finished(&self) -> u64 {
        self.inner.borrow().finished
    }

    fn in_flight(&self) -> u32 {
        let inner = self.inner.borrow();
        inner.open + u32::from(inner.waiting)
    }

    fn report(&mut self) -> Local<Result<FrameReport, EngineError>> {
        let report = self.inner.borrow().report.clone();
        Box::pin(async { Ok(report) })
    }

    fn read_map(&mut self) -> Local<Result<MapValues, EngineError>> {
        let (shared, newest) = (self.inner.clone(), self.inner.borrow().newest);
        Box::pin(async move {
            loop {
                // The worker answers in order: a question before the Frame would be about an older map.
                loop {
                    let waits = shared.borrow_mut().before(newest)?;
                    let Some(delivered) = waits else {
                        break;
                    };
                    // When there will be no Frame, whoever waits is let go without an answer.
                    delivered.await.map_err(|_| no_map())?;
                }
                let (client, frame) = {
                    let inner = shared.borrow();
                    (inner.client.clone(), inner.delivered)
                };
                let gone = client.gone();
                let (_, blobs) = client.ask(Ask::Map, Vec::new()).await;
                if let Some(values) = painter::map_of(&blobs) {
                    return Ok(MapValues { frame, ..values });
                }
                // A worker that stopped meanwhile has another after it, unless there were too many.
                if client.gone() == gone || client.has_given_up() {
                    return Err(no_map());
                }
            }
        })
    }

    fn lost(&self) -> Option<EngineError> {
        self.inner.borrow().gone.clone()
    }
}
