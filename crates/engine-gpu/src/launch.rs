//! One submit: an encoder, the uniform structs of its launches, and the timestamps around it.

use bytemuck::Pod;

use attnscope_engine::sizes::grid;

use super::context::Context;
use super::passes::{Kernel, Variant};
use super::pipelines::Kernels;
use super::store::Span;

/// Bytes from one uniform struct to the next (`minUniformBufferOffsetAlignment`).
const SLOT: usize = 256;

/// Uniform structs of one submit.
const SLOTS: usize = 512;

/// Which ends of a pass are timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// The frame starts with this pass.
    pub begin: bool,
    /// The frame ends with this pass.
    pub end: bool,
}

/// A resource to bind.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A uniform struct of [`Submission::params`]: its place and its size.
    Params(u32, u64),
    /// A buffer.
    Span(Span<'a>),
}

/// What all submits share.
#[derive(Debug)]
pub struct Launcher {
    /// Uniform structs, rewritten for every submit.
    pub params: wgpu::Buffer,
    /// Two timestamps, where the device has them.
    pub queries: Option<wgpu::QuerySet>,
    /// The timestamps of the last frame as numbers.
    pub resolved: wgpu::Buffer,
}

impl Launcher {
    /// Buffers for `context`.
    pub fn new(context: &Context) -> Self {
        let device = &context.device;
        let params = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("params"),
            size: (SLOT * SLOTS) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let resolved = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("timestamps"),
            size: 16,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let queries = context.capabilities.timestamps.then(|| {
            device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("frame"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        });
        Self {
            params,
            queries,
            resolved,
        }
    }

    /// Starts a submit.
    pub fn submission(context: &Context) -> Submission {
        Submission {
            encoder: context
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None }),
            staged: Vec::new(),
        }
    }

    /// Submits to the device.
    pub fn finish(&self, context: &Context, submission: Submission) {
        if !submission.staged.is_empty() {
            context
                .queue
                .write_buffer(&self.params, 0, &submission.staged);
        }
        context.submit(submission.encoder.finish());
    }

    fn resolve(
        &self,
        args: &[Arg<'_>],
        layout: &wgpu::BindGroupLayout,
        device: &wgpu::Device,
    ) -> (wgpu::BindGroup, Vec<u32>) {
        let mut offsets = Vec::new();
        let entries: Vec<_> = (0u32..)
            .zip(args)
            .map(|(binding, arg)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(match *arg {
                    Arg::Params(at, size) => {
                        offsets.push(at);
                        wgpu::BufferBinding {
                            buffer: &self.params,
                            offset: 0,
                            size: wgpu::BufferSize::new(size),
                        }
                    }
                    Arg::Span(span) => wgpu::BufferBinding {
                        buffer: span.buffer,
                        offset: span.offset,
                        size: wgpu::BufferSize::new(span.size),
                    },
                }),
            })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout,
            entries: &entries,
        });
        (group, offsets)
    }

    /// Encodes one kernel over `threads` threads.
    pub fn dispatch(
        &self,
        context: &Context,
        kernels: &Kernels,
        submission: &mut Submission,
        (kernel, variant, threads, timed): (Kernel, Variant, u64, Timed),
        groups: &[&[Arg<'_>]],
    ) {
        let workgroup = context.workgroup();
        let Some(compiled) = kernels.get(kernel, variant) else {
            return;
        };
        let bound: Vec<_> = groups
            .iter()
            .zip(&compiled.layouts)
            .map(|(args, layout)| self.resolve(args, layout, &context.device))
            .collect();
        let mut pass = submission
            .encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(kernel.shader().name),
                timestamp_writes: self.compute_timestamps(timed),
            });
        pass.set_pipeline(&compiled.pipeline);
        for (index, (group, offsets)) in (0u32..).zip(&bound) {
            pass.set_bind_group(index, group, offsets);
        }
        let (x, y) = grid(threads, workgroup, context.allowed.workgroups);
        pass.dispatch_workgroups(x, y, 1);
    }

    /// A bind group for drawing.
    pub fn bind(
        &self,
        context: &Context,
        layout: &wgpu::BindGroupLayout,
        args: &[Arg<'_>],
    ) -> (wgpu::BindGroup, Vec<u32>) {
        self.resolve(args, layout, &context.device)
    }

    fn compute_timestamps(&self, timed: Timed) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let query_set = self.queries.as_ref().filter(|_| timed.begin || timed.end)?;
        Some(wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: timed.begin.then_some(0),
            end_of_pass_write_index: timed.end.then_some(1),
        })
    }

    /// The timestamps of a render pass.
    pub fn render_timestamps(&self, timed: Timed) -> Option<wgpu::RenderPassTimestampWrites<'_>> {
        let query_set = self.queries.as_ref().filter(|_| timed.begin || timed.end)?;
        Some(wgpu::RenderPassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: timed.begin.then_some(0),
            end_of_pass_write_index: timed.end.then_some(1),
        })
    }

    /// Resolves the timestamps to numbers, once both are written.
    pub fn resolve_timestamps(&self, submission: &mut Submission) {
        if let Some(queries) = &self.queries {
            submission
                .encoder
                .resolve_query_set(queries, 0..2, &self.resolved, 0);
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        self.params.destroy();
        self.resolved.destroy();
    }
}

/// One submit under construction.
#[derive(Debug)]
pub struct Submission {
    /// The commands so far.
    pub encoder: wgpu::CommandEncoder,
    staged: Vec<u8>,
}

impl Submission {
    /// Adds a uniform struct.
    pub fn params<T: Pod>(&mut self, value: &T) -> Arg<'static> {
        let at = self.staged.len();
        self.staged.extend_from_slice(bytemuck::bytes_of(value));
        self.staged.resize(at + SLOT, 0);
        Arg::Params(at as u32, size_of::<T>() as u64)
    }
}
