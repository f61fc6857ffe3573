//! Runs the CPU engine in a worker and a module of its own. It answers each request with what it
//! drew and does nothing between two requests, so that a newer Frame never waits for more than one
//! part of the work (10 to 30 ms).

use std::task::{Context, Poll, Waker};

use attnscope_engine::{Engine, EngineError, FrameReport, Local, Slot};
use attnscope_engine_cpu::CpuEngine;

use super::blobs::{Blob, BlobWriter};
use super::codec::{decode, encode};
use super::cpu_protocol::{CpuRequest, CpuResponse, Drawn, MapMessage, PictureHandle};
use super::frame_message::{FrameMessage, FrameReceiver};

const SLOTS: [Slot; 3] = [Slot::Map, Slot::Strip, Slot::Output];

/// The engine, the tensors it received, and a clock.
pub struct CpuWorker {
    frames: FrameReceiver,
    engine: CpuEngine,
    /// Large tensors of the next Frame.
    chunks: Vec<Blob>,
    /// Time spent on the last Frame's large map so far, in ms.
    ms: f64,
    now: fn() -> f64,
}

impl CpuWorker {
    /// A worker without a Frame; `now` is a clock in ms.
    pub fn new(now: fn() -> f64) -> Self {
        Self {
            frames: FrameReceiver::default(),
            engine: CpuEngine::default(),
            chunks: Vec::new(),
            ms: 0.0,
            now,
        }
    }

    /// Answers the bytes of a [`CpuRequest`] with those of a [`CpuResponse`].
    pub fn answer(&mut self, request: &[u8], blobs: Vec<Blob>) -> (Vec<u8>, Vec<Blob>) {
        let mut out = BlobWriter::default();
        let response = decode(request)
            .map_err(|why| why.to_string())
            .and_then(|request| self.respond(request, blobs, &mut out))
            .unwrap_or_else(CpuResponse::Failed);
        (encode(&response), out.into_blobs())
    }

    fn respond(
        &mut self,
        request: CpuRequest,
        blobs: Vec<Blob>,
        out: &mut BlobWriter,
    ) -> Result<CpuResponse, String> {
        let start = (self.now)();
        match request {
            CpuRequest::Chunk { tensor, at } => {
                self.take_chunk(tensor, at, blobs)?;
                Ok(CpuResponse::Chunk)
            }
            CpuRequest::Draw(frame) => {
                self.take_frame(*frame, blobs)?;
                self.ms = 0.0;
                self.step(start, true, out)
            }
            CpuRequest::Step => self.step(start, self.engine.is_partial(), out),
            CpuRequest::ReadMap => {
                let map = ready(self.engine.read_map())?;
                Ok(CpuResponse::Map(MapMessage::new(&map, out)))
            }
        }
    }

    fn take_chunk(&mut self, tensor: u32, at: u32, blobs: Vec<Blob>) -> Result<(), String> {
        let tensor = tensor as usize;
        if at == 0 {
            // A Frame that never came may have left some chunks.
            self.chunks.truncate(tensor);
            if self.chunks.len() == tensor {
                self.chunks.push(Vec::new());
            }
        }
        // Tensors come one after the other: an index out of turn allocates nothing.
        if self.chunks.len() != tensor + 1 {
            return Err("a chunk came out of turn".into());
        }
        let whole = self.chunks.last_mut().ok_or("no tensor")?;
        whole.append(&mut blobs.into_iter().next().ok_or("no chunk")?);
        Ok(())
    }

    fn take_frame(&mut self, frame: FrameMessage, mut blobs: Vec<Blob>) -> Result<(), String> {
        blobs.append(&mut self.chunks);
        let (frame, targets) = self
            .frames
            .unpack(frame, blobs)
            .map_err(|why| why.to_string())?;
        let text = |why: EngineError| why.to_string();
        for (slot, (width, height)) in SLOTS.into_iter().zip(targets.sizes) {
            self.engine.resize(slot, width, height).map_err(text)?;
        }
        self.engine.draw(&frame).map_err(text)?;
        Ok(())
    }

    /// Does one part of the work, started at `start`; `timed` when it belongs to the large map.
    fn step(
        &mut self,
        start: f64,
        timed: bool,
        out: &mut BlobWriter,
    ) -> Result<CpuResponse, String> {
        let more = self.engine.idle();
        if timed {
            self.ms += (self.now)() - start;
        }
        let partial = self.engine.is_partial();
        Ok(CpuResponse::Drawn(Box::new(Drawn {
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
                Some(PictureHandle {
                    width: picture.width,
                    height: picture.height,
                    rgba: out.bytes(bytemuck::cast_slice(&picture.pixels).to_vec()),
                })
            }),
        })))
    }
}

/// The result of a future of the CPU engine, which is ready at once.
fn ready<T>(mut answer: Local<Result<T, EngineError>>) -> Result<T, String> {
    match answer
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(answer) => answer.map_err(|error| error.to_string()),
        Poll::Pending => Err("the CPU engine does not answer at once".to_owned()),
    }
}
