//! The page's side of the compute worker.

use std::rc::Rc;

use crate::workers::{Resend, WorkerClient};
use attnscope_worker::Blob;
use attnscope_worker::blobs::BlobReader;
use attnscope_worker::compute_protocol::{ComputeRequest, ComputeResponse};

/// A response and its blobs, or why there is none.
pub type Answer = Result<(ComputeResponse, BlobReader), String>;

/// Asks the compute worker; clones ask the same one.
#[derive(Clone)]
pub struct ComputeClient {
    worker: WorkerClient,
}

impl ComputeClient {
    /// A worker that is not started yet; `told` hears why it is not started any more.
    pub fn new(told: impl Fn(String) + 'static) -> Self {
        Self {
            worker: WorkerClient::of_compute(told),
        }
    }

    /// Asks; the answer comes whenever it is there.
    ///
    /// # Errors
    /// In words, when it could not be done or the worker is gone.
    pub async fn ask(&self, request: &ComputeRequest, blobs: Vec<Rc<Blob>>) -> Answer {
        self.release();
        self.ask_later(request, blobs).await
    }

    /// The same, but before the first picture is there the request waits: starting the worker takes
    /// time that the picture needs.
    ///
    /// # Errors
    /// As [`ComputeClient::ask`].
    pub async fn ask_later(&self, request: &ComputeRequest, blobs: Vec<Rc<Blob>>) -> Answer {
        // The worker that comes after this one needs the layers and whatever has no answer yet.
        let resend = match request {
            ComputeRequest::Layer { .. } => Resend::State,
            _ => Resend::IfOpen,
        };
        match self.worker.ask(request, blobs, resend).await? {
            (ComputeResponse::Failed(why), _) => Err(why),
            answer => Ok(answer),
        }
    }

    /// Starts the worker, if that has not happened yet.
    pub fn release(&self) {
        self.worker.release();
    }

    /// Starts the worker again that has stopped too often.
    pub fn restart(&self) {
        self.worker.restart();
    }
}
