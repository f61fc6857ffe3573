//! The page's side of the compute worker.

use std::rc::Rc;

use crate::workers::{Resend, WorkerClient};
use attnscope_worker::Blob;
use attnscope_worker::blobs::BlobReader;
use attnscope_worker::compute_protocol::{ComputeRequest, ComputeResponse};

/// A response and its blobs, or why there is none.
pub type Answer = Result<(ComputeResponse, BlobReader), String>;

/// Sends requests to the compute worker; clones share the worker.
#[derive(Clone)]
pub struct ComputeClient {
    worker: WorkerClient,
}

impl ComputeClient {
    /// A worker that is not started yet; `told` gets the reason when it is given up.
    pub fn new(told: impl Fn(String) + 'static) -> Self {
        Self {
            worker: WorkerClient::of_compute(told),
        }
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// In words, when the worker could not do it or is gone.
    pub async fn ask(&self, request: &ComputeRequest, blobs: Vec<Rc<Blob>>) -> Answer {
        self.release();
        self.ask_later(request, blobs).await
    }

    /// Like [`ComputeClient::ask`], but holds the request back until the first picture is there:
    /// starting the worker takes time that the picture needs.
    ///
    /// # Errors
    /// As [`ComputeClient::ask`].
    pub async fn ask_later(&self, request: &ComputeRequest, blobs: Vec<Rc<Blob>>) -> Answer {
        // A restarted worker needs the layers and all unanswered requests.
        let resend = match request {
            ComputeRequest::Layer { .. } => Resend::State,
            _ => Resend::IfOpen,
        };
        match self.worker.ask(request, blobs, resend).await? {
            (ComputeResponse::Failed(why), _) => Err(why),
            answer => Ok(answer),
        }
    }

    /// Starts the worker, unless it was started already.
    pub fn release(&self) {
        self.worker.release();
    }

    /// Starts a worker again that was given up.
    pub fn restart(&self) {
        self.worker.restart();
    }
}
