//! The device: how it is requested, and what it can do. The only module that judges capabilities.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use attnscope_engine::sizes::{Allowed, max_seq_len};
use attnscope_engine::{Capabilities, EngineError};

use super::adapter_info;
use super::device_errors::DeviceErrors;

/// Tokens of the longest shipped text: a device that cannot hold it is less useful than the CPU.
const SHIPPED: u32 = 512;

/// Work requested from the device, and its callbacks so far.
#[derive(Debug, Default)]
struct Progress {
    /// Submits that are not finished.
    in_flight: AtomicU32,
    /// Requests of every kind without a callback.
    open: AtomicU32,
    /// Callbacks so far.
    heard: AtomicU32,
    /// Newest announced frame that is finished.
    finished: AtomicU64,
}

/// A pending request to the device; its callback drops this value.
#[derive(Debug)]
pub struct PendingWork(Arc<Progress>);

impl Drop for PendingWork {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.heard.fetch_add(1, Ordering::Relaxed);
    }
}

/// A device and its properties.
#[derive(Debug)]
pub struct Context {
    /// Creates surfaces.
    #[cfg(target_arch = "wasm32")]
    pub instance: wgpu::Instance,
    /// Has the formats of surfaces.
    #[cfg(target_arch = "wasm32")]
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Limits that layers must respect.
    pub allowed: Allowed,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Its errors.
    pub errors: Arc<DeviceErrors>,
    progress: Arc<Progress>,
}

impl Context {
    /// Requests an adapter and a device.
    ///
    /// # Errors
    /// [`EngineError::NoWebGpu`], [`EngineError::NoAdapter`] or [`EngineError::NoDevice`].
    pub async fn new() -> Result<Self, EngineError> {
        if !adapter_info::has_webgpu() {
            return Err(EngineError::NoWebGpu);
        }
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN | wgpu::Backends::BROWSER_WEBGPU,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = instance
            .request_adapter(&wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::HighPerformance,
                ..Default::default()
            })
            .await
            .map_err(|_| EngineError::NoAdapter)?;
        // Before any request to the adapter.
        let words = adapter_info::adapter_words()
            .await
            .ok_or(EngineError::NoAdapter)?;
        let info = adapter.get_info();
        let timestamps = adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let limits = modest_limits(&adapter.limits());
        let allowed = Allowed {
            buffer: limits.max_buffer_size,
            binding: limits.max_storage_buffer_binding_size,
            workgroups: u64::from(limits.max_compute_workgroups_per_dimension),
        };
        let max_seq_len = max_seq_len(768, 12, allowed);
        if max_seq_len < SHIPPED {
            return Err(EngineError::NoDevice("its limits are too small".to_owned()));
        }
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("attnscope"),
                required_features: if timestamps {
                    wgpu::Features::TIMESTAMP_QUERY
                } else {
                    wgpu::Features::empty()
                },
                required_limits: limits.clone(),
                ..Default::default()
            })
            .await
            .map_err(|why| EngineError::NoDevice(adapter_info::first_line(&why.to_string())))?;

        let errors = Arc::new(DeviceErrors::default());
        let told = Arc::clone(&errors);
        device.set_device_lost_callback(move |reason, message| {
            told.lose(if message.is_empty() {
                format!("{reason:?}")
            } else {
                message
            });
        });
        let told = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            told.report(&error);
        }));

        let capabilities = Capabilities {
            backend: if cfg!(target_arch = "wasm32") {
                "WebGPU".into()
            } else {
                format!("{:?}", info.backend)
            },
            software: adapter_info::is_software(&info, &words),
            adapter: adapter_info::adapter_name(&info, words),
            timestamps,
            max_seq_len,
            needs_polling: adapter_info::tells_late(),
        };
        Ok(Self {
            #[cfg(target_arch = "wasm32")]
            instance,
            #[cfg(target_arch = "wasm32")]
            adapter,
            device,
            queue,
            allowed,
            capabilities,
            errors,
            progress: Arc::default(),
        })
    }

    /// Threads per workgroup: software adapters distribute whole workgroups over few cores and have
    /// narrow vectors, so small workgroups keep every core busy.
    pub fn workgroup(&self) -> u32 {
        if self.capabilities.software { 8 } else { 64 }
    }

    /// Multiply-adds of one submit, so that none takes much longer than 50 ms.
    pub fn budget(&self) -> u64 {
        if self.capabilities.software {
            80_000_000
        } else {
            2_000_000_000
        }
    }

    /// Counts a request to the device as pending until its callback drops the result.
    pub fn pending_work(&self) -> PendingWork {
        self.progress.open.fetch_add(1, Ordering::Relaxed);
        PendingWork(Arc::clone(&self.progress))
    }

    /// Callbacks so far; `None` while none is pending.
    pub fn completed_count(&self) -> Option<u32> {
        let waits = self.progress.open.load(Ordering::Relaxed) > 0;
        waits.then(|| self.progress.heard.load(Ordering::Relaxed))
    }

    /// Submits and counts until the device has finished.
    pub fn submit(&self, commands: wgpu::CommandBuffer) {
        self.queue.submit([commands]);
        self.progress.in_flight.fetch_add(1, Ordering::Relaxed);
        let question = self.pending_work();
        self.queue.on_submitted_work_done(move || {
            question.0.in_flight.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Marks `frame` as finished once everything submitted so far is.
    pub fn announce(&self, frame: u64) {
        let question = self.pending_work();
        self.queue.on_submitted_work_done(move || {
            question.0.finished.fetch_max(frame, Ordering::Relaxed);
        });
    }

    /// The newest announced frame that is finished; also polls the device.
    pub fn finished(&self) -> u64 {
        #[cfg(not(target_arch = "wasm32"))]
        let _ = self.device.poll(wgpu::PollType::Poll);
        // An empty submit makes the browser check for finished work.
        #[cfg(target_arch = "wasm32")]
        if self.capabilities.needs_polling && self.progress.in_flight.load(Ordering::Relaxed) > 0 {
            self.queue.submit([]);
        }
        self.progress.finished.load(Ordering::Relaxed)
    }

    /// Submits that the device has not finished.
    pub fn in_flight(&self) -> u32 {
        #[cfg(not(target_arch = "wasm32"))]
        let _ = self.device.poll(wgpu::PollType::Poll);
        self.progress.in_flight.load(Ordering::Relaxed)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // In a browser, dropping a device frees nothing.
        self.device.destroy();
    }
}

/// The limits that every WebGPU device has, or the adapter's own where they are lower.
fn modest_limits(adapter: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits::default().or_worse_values_from(adapter)
}
