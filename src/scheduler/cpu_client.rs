//! The page's side of the CPU engine: sends Frames to a worker and puts the pictures on 2D
//! canvases. One request is open at a time; a waiting Frame is replaced by a newer one.

use std::cell::RefCell;
use std::rc::Rc;

use futures_channel::oneshot;
use leptos::task::spawn_local;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use crate::workers::{Resend, WorkerClient};
use attnscope_engine::{Capabilities, Engine, EngineError, Frame, FrameReport, Local, MapValues};
use attnscope_engine_cpu::check;
use attnscope_engine_gpu::Slot;
use attnscope_worker::blobs::{BlobReader, to_bytes};
use attnscope_worker::codec::ProtocolError;
use attnscope_worker::cpu_protocol::{CpuRequest, CpuResponse, Drawn, PictureHandle};
use attnscope_worker::frame_message::{FrameSender, Packed, Targets};
use attnscope_worker::{Blob, CHUNK};

/// Failed answers in a row before the engine gives up: one, and one for each further start of the
/// worker.
const PATIENCE: u32 = 4;

/// The engine.
pub struct CpuClient {
    capabilities: Capabilities,
    inner: Shared,
}

type Shared = Rc<RefCell<Inner>>;

// Independent flags, each read by its name.
#[allow(clippy::struct_excessive_bools)]
#[derive(Default)]
struct Inner {
    worker: WorkerClient,
    frames: FrameSender,
    canvases: [Option<HtmlCanvasElement>; 3],
    /// Which slots have a picture.
    drawn: [bool; 3],
    targets: Targets,
    /// The newest Frame and its number.
    newest: u64,
    last: Option<Frame>,
    /// The newest Frame was not sent yet.
    waiting: bool,
    /// The last Frame that was sent to the worker with all its tensors.
    delivered: u64,
    /// Wait for the next Frame to be sent.
    readers: Vec<oneshot::Sender<()>>,
    /// Requests without a response.
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

impl CpuClient {
    /// Starts the worker.
    pub fn new() -> Self {
        let worker = WorkerClient::of_cpu();
        let inner = Rc::new(RefCell::new(Inner {
            worker: worker.clone(),
            ..Inner::default()
        }));
        let weak = Rc::downgrade(&inner);
        worker.on_stop(move || {
            if let Some(shared) = weak.upgrade() {
                worker_stopped(&shared);
            }
        });
        worker.release();
        Self {
            capabilities: Capabilities {
                backend: "CPU".to_owned(),
                adapter: "WebAssembly".to_owned(),
                // It uses the cores that the page needs.
                software: true,
                timestamps: true,
                max_seq_len: u32::MAX,
                needs_polling: false,
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

    /// There is a picture of `slot` on its canvas.
    pub fn has_drawn(&self, slot: Slot) -> bool {
        self.inner.borrow().drawn[slot as usize]
    }

    /// Stops drawing `slot`.
    pub fn detach(&self, slot: Slot) {
        let mut inner = self.inner.borrow_mut();
        inner.canvases[slot as usize] = None;
        inner.targets.sizes[slot as usize] = (0, 0);
    }

    /// Finished and total parts of the large map while it is coarse; and whether the small maps
    /// belong to an older Frame.
    pub fn unfinished(&self) -> (Option<(u32, u32)>, bool) {
        let inner = self.inner.borrow();
        let percent = inner.progress.map(|share| ((share * 100.0) as u32, 100));
        (percent, inner.strip_waits)
    }
}

impl Drop for CpuClient {
    fn drop(&mut self) {
        let mut inner = self.inner.borrow_mut();
        inner.closed = true;
        inner.readers.clear();
        inner.worker.close();
    }
}

/// The worker stopped between two requests: the next one gets the last Frame at once, so that its
/// map can be read.
fn worker_stopped(shared: &Shared) {
    let mut inner = shared.borrow_mut();
    // With a request open, its caller gets an error and sends everything again.
    if inner.open == 0 {
        inner.forget_worker();
        drop(inner);
        send_frame(shared);
    }
}

fn no_map() -> EngineError {
    EngineError::Invalid("no map was drawn yet".to_owned())
}

/// Sends the newest Frame, unless it was sent already.
fn send_frame(shared: &Shared) {
    let mut inner = shared.borrow_mut();
    if !std::mem::take(&mut inner.waiting) {
        return;
    }
    let (number, targets) = (inner.newest, inner.targets);
    let Some(frame) = inner.last.clone() else {
        return;
    };
    let packed = inner.frames.pack(&frame, targets);
    drop(inner);
    send(shared, Some(packed), number);
}

/// A response of the worker and its blobs, or why there is none.
type Answer = Result<(CpuResponse, BlobReader), String>;

/// Asks the worker, and starts another if there is none.
async fn ask(worker: &WorkerClient, request: &CpuRequest, blobs: Vec<Blob>) -> Answer {
    worker.release();
    let blobs = blobs.into_iter().map(Rc::new).collect();
    // This side knows what to send again.
    match worker.ask(request, blobs, Resend::Never).await? {
        (CpuResponse::Failed(why), _) => Err(why),
        answer => Ok(answer),
    }
}

/// Sends Frame `number`, or asks for one more part of it, and handles the response.
fn send(shared: &Shared, packed: Option<Packed>, number: u64) {
    let worker = {
        let mut inner = shared.borrow_mut();
        inner.open += 1;
        inner.worker.clone()
    };
    let shared = shared.clone();
    spawn_local(async move {
        let (request, blobs) = match packed {
            Some(packed) => {
                let blobs = send_large(&shared, &packed).await;
                (CpuRequest::Draw(Box::new(packed.frame)), blobs)
            }
            None => (CpuRequest::Step, Vec::new()),
        };
        if shared.borrow().closed {
            return;
        }
        if matches!(request, CpuRequest::Draw(_)) {
            // The request itself goes first, before any waiting reader runs.
            shared.borrow_mut().deliver(number);
        }
        let answer = ask(&worker, &request, blobs).await;
        {
            let mut inner = shared.borrow_mut();
            if inner.closed {
                return;
            }
            inner.open -= 1;
            match answer {
                Ok((CpuResponse::Drawn(drawn), blobs)) => inner.hear(*drawn, blobs, number),
                Ok(_) => inner.fail(ProtocolError::Malformed.to_string()),
                Err(why) => inner.fail(why),
            }
            if inner.open > 0 {
                return;
            }
        }
        send_frame(&shared);
        crate::scheduler::device_lifecycle::answered();
    });
}

/// The tensors of a Frame as blobs. Large ones are sent before the Frame, chunk by chunk, since
/// copying all of them at once would block the page; then no blobs are left.
async fn send_large(shared: &Shared, packed: &Packed) -> Vec<Blob> {
    let all: usize = packed.tensors.iter().map(|tensor| tensor.len()).sum();
    if all <= CHUNK {
        return packed.blobs();
    }
    let worker = shared.borrow().worker.clone();
    for (number, tensor) in (0..).zip(&packed.tensors) {
        // An empty tensor is one chunk too.
        for at in 0..tensor.len().div_ceil(CHUNK).max(1) {
            // A request to a closed worker would start another.
            if shared.borrow().closed {
                return Vec::new();
            }
            let end = tensor.len().min((at + 1) * CHUNK);
            let chunk = to_bytes(&tensor[at * CHUNK..end]);
            let request = CpuRequest::Chunk {
                tensor: number,
                at: at as u32,
            };
            // A worker that is gone does not answer the Frame either.
            let _ = ask(&worker, &request, vec![chunk]).await;
        }
    }
    Vec::new()
}

impl Inner {
    /// Frame `number` was sent to the worker: requests about it may follow.
    fn deliver(&mut self, number: u64) {
        self.delivered = number;
        for reader in self.readers.drain(..) {
            // A reader that is gone no longer waits.
            let _ = reader.send(());
        }
    }

    /// What to wait for before a request about Frame `number` may be sent; `None` if the Frame was
    /// sent.
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

    fn hear(&mut self, drawn: Drawn, mut blobs: BlobReader, number: u64) {
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
        for ((canvas, there), picture) in places.zip(drawn.pictures) {
            if let (Some(canvas), Some(picture)) = (canvas, picture) {
                if put(canvas, picture, &mut blobs).is_some() {
                    *there = true;
                } else {
                    let why = "the browser gives it no canvas to draw on";
                    self.gone = Some(EngineError::NoCpu(why.to_owned()));
                }
            }
        }
    }

    /// The next worker has nothing that this one was sent.
    fn forget_worker(&mut self) {
        self.frames = FrameSender::default();
        self.delivered = 0;
        self.waiting = self.last.is_some();
    }

    /// The worker is gone or could not use what it got: everything is sent again, to a new worker
    /// if this one is gone and may be restarted.
    fn fail(&mut self, why: String) {
        self.failures += 1;
        self.forget_worker();
        if self.failures >= PATIENCE || self.worker.has_given_up() || !self.waiting {
            self.waiting = false;
            self.readers.clear();
            self.gone = Some(EngineError::NoCpu(why));
            (self.more, self.partial, self.finished) = (false, false, self.newest);
            (self.progress, self.strip_waits) = (None, false);
        }
    }
}

/// Puts a picture on its canvas; `None` when the canvas cannot be drawn to or the pixels are
/// missing. The canvas is resized only now, so that the last picture stays until this one is there.
fn put(canvas: &HtmlCanvasElement, picture: PictureHandle, blobs: &mut BlobReader) -> Option<()> {
    let rgba = blobs.bytes(picture.rgba).ok()?;
    let context = canvas.get_context("2d").ok()??;
    let context = context.dyn_into::<CanvasRenderingContext2d>().ok()?;
    if (canvas.width(), canvas.height()) != (picture.width, picture.height) {
        canvas.set_width(picture.width);
        canvas.set_height(picture.height);
    }
    let image = ImageData::new_with_u8_clamped_array(Clamped(&rgba), picture.width);
    context.put_image_data(&image.ok()?, 0.0, 0.0).ok()
}

impl Engine for CpuClient {
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
            send(&self.inner, None, number);
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
                // The worker answers in order: a request sent before the Frame would be about an
                // older map.
                loop {
                    let waits = shared.borrow_mut().before(newest)?;
                    let Some(delivered) = waits else {
                        break;
                    };
                    // When there will be no Frame, waiting readers are released without an answer.
                    delivered.await.map_err(|_| no_map())?;
                }
                let (worker, frame) = {
                    let inner = shared.borrow();
                    (inner.worker.clone(), inner.delivered)
                };
                let gone = worker.gone();
                if let Ok((CpuResponse::Map(map), mut blobs)) =
                    ask(&worker, &CpuRequest::ReadMap, Vec::new()).await
                    && let Ok(values) = map.read(frame, &mut blobs)
                {
                    return Ok(values);
                }
                // A worker that has stopped meanwhile is replaced, unless it stopped too often.
                if worker.gone() == gone || worker.has_given_up() {
                    return Err(no_map());
                }
            }
        })
    }

    fn lost(&self) -> Option<EngineError> {
        self.inner.borrow().gone.clone()
    }
}
