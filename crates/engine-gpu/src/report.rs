//! The numbers beside the picture: range, time and energies, read after it was drawn.

use attnscope_engine::jobs::{components, factors};
use attnscope_engine::{EngineError, FrameReport, Local};

use super::engine::GpuEngine;
use super::readback::numbers;
use attnscope_engine::needs::Name;

/// The inverse of `ordered` in `shared/numeric.wgsl`.
fn unordered(u: u32) -> f32 {
    f32::from_bits(if u & 0x8000_0000 == 0 {
        !u
    } else {
        u & 0x7fff_ffff
    })
}

/// Smallest and largest of a range buffer; nothing when no value was seen.
fn range_of(words: &[u32]) -> Option<(f32, f32)> {
    match words {
        [most, least, ..] if *most != 0 => Some((unordered(!*least), unordered(*most))),
        _ => None,
    }
}

impl GpuEngine {
    pub(super) fn read_report(&self) -> Local<Result<FrameReport, EngineError>> {
        if let Some(lost) = self.context.troubles.lost() {
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
        let map_there = shown.is_some_and(|s| s.done.map && s.frame.map.is_some());
        let split = shown.map_or(0, |s| {
            if factors(&s.frame).is_some() {
                components(&s.frame) as usize
            } else {
                0
            }
        });
        let energies = shown
            .filter(|s| s.done.energy && s.frame.output.is_some())
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
