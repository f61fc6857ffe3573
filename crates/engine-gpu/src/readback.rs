//! Reads numbers back from the device: range, time and energies of the picture, the drawn map, and
//! matrices and pictures for tests and export. None of it is on the way to the screen.

use futures_channel::oneshot;

use attnscope_engine::needs::Name;
use attnscope_engine::passes::Pass;
use attnscope_engine::sizes::ALIGN;
use attnscope_engine::{
    EngineError, FrameReport, Local, MapValues, OutputMatrix, ReadResults, Slot,
};

use super::engine::GpuEngine;
use super::surface::Target;

/// Pixels of a picture, RGBA rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// `width · height · 4` bytes.
    pub rgba: Vec<u8>,
}

/// A pending read of the bytes of a buffer.
pub(super) struct Pending {
    staging: wgpu::Buffer,
    done: oneshot::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Pending {
    /// Waits, takes the bytes and frees the staging buffer.
    pub(super) async fn bytes(self) -> Result<Vec<u8>, EngineError> {
        let gone = |what: &str| EngineError::DeviceLost(what.to_owned());
        self.done
            .await
            .map_err(|_| gone("the device never answered"))?
            .map_err(|why| gone(&why.to_string()))?;
        let bytes = self
            .staging
            .get_mapped_range(..)
            .map_err(|why| EngineError::Invalid(why.to_string()))?
            .to_vec();
        self.staging.unmap();
        self.staging.destroy();
        Ok(bytes)
    }
}

pub(super) fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(bytes)
}

impl GpuEngine {
    /// Reads parts of buffers (first byte, bytes), concatenated, with one submit.
    pub(super) fn fetch(&self, parts: &[(&wgpu::Buffer, u64, u64)]) -> Pending {
        let (staging, mut encoder) = self.staging(parts.iter().map(|part| part.2).sum());
        let mut at = 0;
        for &(buffer, offset, size) in parts {
            encoder.copy_buffer_to_buffer(buffer, offset, &staging, at, size);
            at += size;
        }
        self.submit_and_map(staging, encoder)
    }

    fn staging(&self, size: u64) -> (wgpu::Buffer, wgpu::CommandEncoder) {
        let device = &self.context.device;
        let staging = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        (
            staging,
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()),
        )
    }

    fn submit_and_map(&self, staging: wgpu::Buffer, encoder: wgpu::CommandEncoder) -> Pending {
        self.context.queue.submit([encoder.finish()]);
        let (tell, done) = oneshot::channel();
        let question = self.context.pending_work();
        staging.map_async(wgpu::MapMode::Read, .., move |result| {
            drop(question);
            // The receiver is gone when nobody waits any more.
            let _ = tell.send(result);
        });
        Pending { staging, done }
    }

    pub(super) fn read_texels(&self) -> Local<Result<MapValues, EngineError>> {
        if let Some(lost) = self.context.errors.lost() {
            return Box::pin(async { Err(lost) });
        }
        let map = self.shown.as_ref().and_then(|s| s.frame.map.clone());
        let frame = self.frame;
        let pending = self
            .store
            .get(Name::MapTexels)
            .map(|b| self.fetch(&[(b, 0, b.size())]));
        Box::pin(async move {
            let (Some(map), Some(pending)) = (map, pending) else {
                return Err(EngineError::Invalid("no map was drawn yet".into()));
            };
            let values = texels(
                &numbers(&pending.bytes().await?),
                map.texel_rows,
                map.texel_cols,
            );
            Ok(MapValues { frame, ..values })
        })
    }

    /// The last drawn picture of `slot`, if its target is a texture.
    pub fn read_pixels(&self, slot: Slot) -> Local<Result<Pixels, EngineError>> {
        let Some(Target::Texture(texture)) = &self.targets[slot as usize] else {
            return Box::pin(async {
                Err(EngineError::Invalid("the picture is not a texture".into()))
            });
        };
        let (width, height) = (texture.width(), texture.height());
        let row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let (staging, mut encoder) = self.staging(u64::from(row) * u64::from(height));
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &staging,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row),
                    rows_per_image: None,
                },
            },
            texture.size(),
        );
        let pending = self.submit_and_map(staging, encoder);
        Box::pin(async move {
            let bytes = pending.bytes().await?;
            Ok(Pixels {
                width,
                height,
                rgba: bytes
                    .chunks_exact(row as usize)
                    .flat_map(|line| &line[..width as usize * 4])
                    .copied()
                    .collect(),
            })
        })
    }

    /// Drives the device until `future` is ready. In a browser the page's event loop does that.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn block_on<T>(&self, future: Local<T>) -> T {
        self.pump().block_on(future)
    }

    /// A handle that drives the device while a future borrows the engine.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn pump(&self) -> Pump {
        Pump(self.context.device.clone())
    }
}

/// Drives a device from outside its engine.
#[cfg(not(target_arch = "wasm32"))]
pub struct Pump(wgpu::Device);

#[cfg(not(target_arch = "wasm32"))]
impl Pump {
    /// Drives the device until `future` is ready.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        loop {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            // A lost device still calls its callbacks, so the future becomes ready anyway.
            let _ = self.0.poll(wgpu::PollType::wait_indefinitely());
        }
    }
}

fn texels(pairs: &[f32], rows: u32, cols: u32) -> MapValues {
    let count = rows as usize * cols as usize;
    let pairs = || pairs.chunks_exact(2).take(count);
    MapValues {
        frame: 0,
        rows,
        cols,
        values: pairs().map(|p| p[0]).collect(),
        visible: pairs().map(|p| p[1]).collect(),
    }
}

/// The inverse of `ordered` in `shared/numeric.wgsl`.
fn unordered(u: u32) -> f32 {
    f32::from_bits(if u & 0x8000_0000 == 0 {
        !u
    } else {
        u & 0x7fff_ffff
    })
}

/// Smallest and largest value of a range buffer; `None` when it has no value.
fn range_of(words: &[u32]) -> Option<(f32, f32)> {
    match words {
        [most, least, ..] if *most != 0 => Some((unordered(!*least), unordered(*most))),
        _ => None,
    }
}

impl GpuEngine {
    pub(super) fn read_report(&self) -> Local<Result<FrameReport, EngineError>> {
        if let Some(lost) = self.context.errors.lost() {
            return Box::pin(async { Err(lost) });
        }
        let frame = self.frame;
        let range = self.store.get(Name::Ranges).map(|b| (b, 0, 8));
        let times = (self.timed_frame && self.launcher.queries.is_some()).then_some((
            &self.launcher.resolved,
            0,
            16,
        ));
        let period = f64::from(self.context.queue.get_timestamp_period());
        let shown = self.shown.as_ref();
        let map_there =
            shown.is_some_and(|s| s.cache.is_valid(Pass::Map, 0) && s.frame.map.is_some());
        let split = shown.map_or(0, |s| s.frame.components() as usize);
        let energies = shown
            .filter(|s| s.cache.is_valid(Pass::Energy, 0) && s.frame.output.is_some())
            .and_then(|_| self.store.get(Name::Energies))
            .map(|b| (b, 0, b.size()));
        let parts: Vec<_> = [range, times, energies].into_iter().flatten().collect();
        let sizes = [range, times, energies].map(|part| part.map(|(.., size)| size as usize));
        let pending = (!parts.is_empty()).then(|| self.fetch(&parts));
        let dim = shown.map_or(0, |s| s.frame.layer.model_dim());
        Box::pin(async move {
            let mut report = FrameReport {
                frame,
                ..FrameReport::default()
            };
            let bytes = match pending {
                Some(pending) => pending.bytes().await?,
                None => Vec::new(),
            };
            let mut rest = &bytes[..];
            let [range, times, energies] = sizes.map(|size| {
                let (part, others) = rest.split_at_checked(size?)?;
                rest = others;
                Some(part)
            });
            if let Some(range) = range {
                let words: Vec<u32> = bytemuck::pod_collect_to_vec(range);
                report.map_range = range_of(&words).filter(|_| map_there);
            }
            if let Some(times) = times {
                let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(times);
                report.gpu_ms = match ticks[..] {
                    [begin, end] if end >= begin => Some((end - begin) as f64 * period / 1e6),
                    _ => None,
                };
            }
            if let Some(energies) = energies {
                let all = numbers(energies);
                let (components, output) = all.split_at(split.min(all.len()));
                report.component_energy = components.to_vec();
                let sum: f64 = output.iter().take(dim).map(|&e| f64::from(e)).sum();
                report.output_energy = sum as f32;
            }
            Ok(report)
        })
    }
}

impl ReadResults for GpuEngine {
    fn read_strip(&mut self, head: u32) -> Local<Result<MapValues, EngineError>> {
        self.finish();
        let strip = self.shown.as_ref().and_then(|s| s.frame.strip.clone());
        let pending = strip.as_ref().and_then(|strip| {
            let bytes = u64::from(strip.texels).pow(2) * 8;
            let offset = u64::from(head) * bytes.next_multiple_of(ALIGN);
            let buffer = self.store.get(Name::StripTexels)?;
            Some(self.fetch(&[(buffer, offset, bytes)]))
        });
        Box::pin(async move {
            let (Some(strip), Some(pending)) = (strip, pending) else {
                return Err(EngineError::Invalid("no strip was drawn yet".into()));
            };
            Ok(texels(
                &numbers(&pending.bytes().await?),
                strip.texels,
                strip.texels,
            ))
        })
    }

    fn read_matrix(&mut self, which: OutputMatrix) -> Local<Result<Vec<f32>, EngineError>> {
        self.finish();
        let name = match which {
            OutputMatrix::Heads => Name::O,
            OutputMatrix::Full => Name::Y,
            OutputMatrix::LowRank => Name::YLow,
        };
        let dim = self
            .shown
            .as_ref()
            .map_or(1, |s| s.frame.layer.model_dim())
            .max(1);
        let rows = self.shown.as_ref().map_or(0, |s| s.frame.layer.seq_len);
        let bytes = (rows * dim.next_multiple_of(4) * 4) as u64;
        let pending = self.store.get(name).map(|b| self.fetch(&[(b, 0, bytes)]));
        Box::pin(async move {
            let Some(pending) = pending else {
                return Err(EngineError::Invalid("the output was not computed".into()));
            };
            let padded = numbers(&pending.bytes().await?);
            Ok(padded
                .chunks_exact(dim.next_multiple_of(4))
                .flat_map(|row| &row[..dim])
                .copied()
                .collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_survive_their_order() {
        let ordered = |x: f32| {
            let bits = x.to_bits();
            if bits & 0x8000_0000 == 0 {
                bits | 0x8000_0000
            } else {
                !bits
            }
        };
        for (least, most) in [(-2.5f32, 3.0f32), (0.0, 0.0), (-4.0, -1.0), (1e-30, 1e30)] {
            let words = [ordered(most), !ordered(least)];
            assert_eq!(range_of(&words), Some((least, most)));
        }
        assert_eq!(range_of(&[0, 0]), None);
    }
}
