//! The device: how it is asked for, what it can do, and how its troubles become [`EngineError`]s.
//! The one place that judges capabilities.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::sizes::{Allowed, max_seq_len};
use crate::engine::{Capabilities, EngineError};

/// How to ask for a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Insist on the platform's software adapter.
    pub force_fallback: bool,
}

/// What went wrong on the device, as its callbacks tell.
#[derive(Debug, Default)]
pub struct Troubles {
    lost: Mutex<Option<EngineError>>,
    on_loss: Mutex<Option<fn()>>,
    fault: Mutex<Option<EngineError>>,
}

impl Troubles {
    /// Why the device was lost, once it is.
    pub fn lost(&self) -> Option<EngineError> {
        self.lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The first error of our making since the last call.
    pub fn take_fault(&self) -> Option<EngineError> {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Notes that the device is lost; the first reason stays.
    pub fn lose(&self, why: String) {
        self.lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(EngineError::DeviceLost(why));
        let tell = *self.on_loss.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = tell {
            tell();
        }
    }

    /// Calls `tell` when the device is lost.
    pub fn on_loss(&self, tell: fn()) {
        *self.on_loss.lock().unwrap_or_else(PoisonError::into_inner) = Some(tell);
    }

    fn fault(&self, what: String) {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(EngineError::Invalid(what));
    }
}

/// A device and what is known about it.
#[derive(Debug)]
pub struct Context {
    /// Makes surfaces.
    pub instance: wgpu::Instance,
    /// Knows the formats of surfaces.
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Limits that layers are held to.
    pub allowed: Allowed,
    /// What it is.
    pub capabilities: Capabilities,
    /// What went wrong.
    pub troubles: Arc<Troubles>,
    in_flight: Arc<AtomicU32>,
    finished: Arc<AtomicU64>,
}

impl Context {
    /// Asks for an adapter and a device.
    ///
    /// # Errors
    /// [`EngineError::NoWebGpu`], [`EngineError::NoAdapter`] or [`EngineError::NoDevice`].
    pub async fn new(options: Options) -> Result<Self, EngineError> {
        if !webgpu_exists() {
            return Err(EngineError::NoWebGpu);
        }
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN | wgpu::Backends::BROWSER_WEBGPU,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = instance
            .request_adapter(&wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::HighPerformance,
                force_fallback_adapter: options.force_fallback,
                ..Default::default()
            })
            .await
            .map_err(|_| EngineError::NoAdapter)?;
        let info = adapter.get_info();
        let timestamps = adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let limits = modest_limits(&adapter.limits());
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
            .map_err(|why| EngineError::NoDevice(first_line(&why.to_string())))?;

        let words = adapter_words().await;
        let troubles = Arc::new(Troubles::default());
        let told = Arc::clone(&troubles);
        device.set_device_lost_callback(move |reason, message| {
            told.lose(if message.is_empty() {
                format!("{reason:?}")
            } else {
                message
            });
        });
        let told = Arc::clone(&troubles);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            told.fault(error.to_string());
        }));

        let allowed = Allowed {
            buffer: limits.max_buffer_size,
            binding: limits.max_storage_buffer_binding_size,
            workgroups: u64::from(limits.max_compute_workgroups_per_dimension),
        };
        let capabilities = Capabilities {
            backend: if cfg!(target_arch = "wasm32") {
                "WebGPU".into()
            } else {
                format!("{:?}", info.backend)
            },
            software: is_software(&info, &words),
            adapter: adapter_name(&info, words),
            timestamps,
            max_seq_len: max_seq_len(768, 12, allowed),
        };
        Ok(Self {
            instance,
            adapter,
            device,
            queue,
            allowed,
            capabilities,
            troubles,
            in_flight: Arc::default(),
            finished: Arc::default(),
        })
    }

    /// Threads per workgroup: software adapters spread whole workgroups over few cores and have
    /// narrow vectors, so small ones keep every core busy.
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

    /// Submits and counts until the device has finished.
    pub fn submit(&self, commands: wgpu::CommandBuffer) {
        self.queue.submit([commands]);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let count = Arc::clone(&self.in_flight);
        self.queue.on_submitted_work_done(move || {
            count.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Notes `frame` as finished once everything submitted so far is.
    pub fn announce(&self, frame: u64) {
        let finished = Arc::clone(&self.finished);
        self.queue.on_submitted_work_done(move || {
            finished.fetch_max(frame, Ordering::Relaxed);
        });
    }

    /// The newest frame that was announced and is finished; makes the device look.
    pub fn finished(&self) -> u64 {
        #[cfg(not(target_arch = "wasm32"))]
        let _ = self.device.poll(wgpu::PollType::Poll);
        // Firefox looks at every submit and otherwise ten times a second: too seldom for a drag.
        #[cfg(target_arch = "wasm32")]
        if self.in_flight.load(Ordering::Relaxed) > 0 {
            self.queue.submit([]);
        }
        self.finished.load(Ordering::Relaxed)
    }

    /// Submits that the device has not finished.
    pub fn in_flight(&self) -> u32 {
        #[cfg(not(target_arch = "wasm32"))]
        let _ = self.device.poll(wgpu::PollType::Poll);
        self.in_flight.load(Ordering::Relaxed)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Dropping a device frees nothing in a browser.
        self.device.destroy();
    }
}

/// The limits that every WebGPU device has, or the adapter's own where it has less.
fn modest_limits(adapter: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits::default().or_worse_values_from(adapter)
}

/// Names by which software rasterisers are known; browsers hide the device type.
fn is_software(info: &wgpu::AdapterInfo, words: &str) -> bool {
    let name = format!("{words} {} {} {}", info.name, info.driver, info.driver_info).to_lowercase();
    info.device_type == wgpu::DeviceType::Cpu
        || [
            "swiftshader",
            "llvmpipe",
            "lavapipe",
            "basic render",
            "warp",
        ]
        .iter()
        .any(|known| name.contains(known))
}

/// The first line of a browser's error, without the debugging form that wraps it and the stack.
fn first_line(error: &str) -> String {
    let words = error.split("JsValue(").last().unwrap_or(error);
    let line = words.lines().next().unwrap_or_default();
    line.trim_end_matches([')', ' '])
        .chars()
        .take(200)
        .collect()
}

fn adapter_name(info: &wgpu::AdapterInfo, words: String) -> String {
    [words, info.name.clone()]
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| "unnamed adapter".into())
}

/// What the browser calls its adapter: vendor, architecture and description, where it tells them.
/// wgpu 30 passes on the description alone, which most browsers leave empty. `www/boot.js` has
/// asked for an adapter of its own (each can be used for one device only).
#[cfg(target_arch = "wasm32")]
async fn adapter_words() -> String {
    use wasm_bindgen::{JsCast, JsValue};

    let get = |of: &JsValue, name: &str| js_sys::Reflect::get(of, &name.into());
    let words = async {
        let asked = get(&js_sys::global(), "attnscopeAdapter")?;
        let adapter = wasm_bindgen_futures::JsFuture::from(asked.dyn_into::<js_sys::Promise>()?);
        let info = get(&adapter.await?, "info")?;
        let mut words: Vec<String> = Vec::new();
        for name in ["vendor", "architecture", "description"] {
            let word = get(&info, name)?.as_string().unwrap_or_default();
            if !word.is_empty() && !words.iter().any(|w| w.eq_ignore_ascii_case(&word)) {
                words.push(word);
            }
        }
        Ok::<_, JsValue>(words.join(" "))
    };
    // An adapter without a name is still an adapter.
    words.await.unwrap_or_default()
}

#[cfg(not(target_arch = "wasm32"))]
fn adapter_words() -> impl Future<Output = String> {
    std::future::ready(String::new())
}

#[cfg(target_arch = "wasm32")]
fn webgpu_exists() -> bool {
    let get = |of: &wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(of, &name.into()).ok();
    get(&js_sys::global(), "navigator")
        .and_then(|navigator| get(&navigator, "gpu"))
        .is_some_and(|gpu| !gpu.is_undefined() && !gpu.is_null())
}

#[cfg(not(target_arch = "wasm32"))]
fn webgpu_exists() -> bool {
    true
}
