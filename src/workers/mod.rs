//! The workers: the page's side of them, and the entries of their modules.

pub mod chunks;
pub mod compute_client;
pub mod compute_worker;
pub mod cpu_worker;
mod message;
mod worker_client;

pub use self::message::answer_with;
pub use self::worker_client::{Resend, WorkerClient};
