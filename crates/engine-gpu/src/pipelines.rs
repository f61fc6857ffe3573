//! Pipelines, each created on first use (up to 250 ms each on a software adapter).

use std::collections::HashMap;
use std::num::NonZeroU64;

use wgpu::BufferBindingType::{Storage, Uniform};

use super::gpu_data as data;
use super::passes::{Bind, Kernel, Variant};

/// Bindings of the heatmap, which is drawn rather than dispatched.
pub const HEATMAP_BINDS: &[Bind] = &[
    Bind::Uniform(size_of::<data::HeatmapParams>()),
    Bind::Read,
    Bind::Read,
    Bind::Read,
];

/// The layout of one group.
pub fn group_layout(
    device: &wgpu::Device,
    label: &str,
    binds: &[Bind],
    visibility: wgpu::ShaderStages,
) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0u32..)
        .zip(binds)
        .map(|(binding, bind)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty: match *bind {
                Bind::Uniform(size) => wgpu::BindingType::Buffer {
                    ty: Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: NonZeroU64::new(size as u64),
                },
                Bind::Read | Bind::Write => wgpu::BindingType::Buffer {
                    ty: Storage {
                        read_only: *bind == Bind::Read,
                    },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
            },
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(label),
        entries: &entries,
    })
}

/// A pipeline and the layouts of its groups.
#[derive(Debug)]
pub struct Compiled {
    /// The pipeline.
    pub pipeline: wgpu::ComputePipeline,
    /// One layout per group.
    pub layouts: Vec<wgpu::BindGroupLayout>,
}

/// The pipelines, each created on first use.
#[derive(Debug, Default)]
pub struct Kernels {
    /// By kernel, variant, and whether it is a wrong one: the right ones stay cached.
    compiled: HashMap<(Kernel, Variant, bool), Compiled>,
    /// Wrong WGSL; empty without the feature `mutants`.
    replaced: HashMap<Kernel, String>,
}

impl Kernels {
    /// Creates the pipeline of `kernel` with `workgroup` threads per workgroup, unless it exists.
    pub fn prepare(
        &mut self,
        device: &wgpu::Device,
        workgroup: u32,
        kernel: Kernel,
        variant: Variant,
    ) {
        let variant = variant.of(kernel);
        let replaced = self.replaced.get(&kernel);
        let key = (kernel, variant, replaced.is_some());
        self.compiled.entry(key).or_insert_with(|| {
            let wgsl = replaced
                .cloned()
                .unwrap_or_else(|| kernel.shader().source());
            let constants = kernel.constants(variant, workgroup);
            compile(device, kernel, &wgsl, &constants)
        });
    }

    /// The pipeline, if [`Self::prepare`] has created it.
    pub fn get(&self, kernel: Kernel, variant: Variant) -> Option<&Compiled> {
        let wrong = self.replaced.contains_key(&kernel);
        self.compiled.get(&(kernel, variant.of(kernel), wrong))
    }

    /// Replaces the WGSL of `kernel`: negative controls use this to show that a wrong kernel is
    /// caught.
    #[cfg(feature = "mutants")]
    pub fn replace(&mut self, kernel: Kernel, wgsl: &str) {
        self.compiled
            .retain(|(known, _, wrong), _| *known != kernel || !wrong);
        self.replaced.insert(kernel, wgsl.to_owned());
    }

    /// Restores the right kernels.
    #[cfg(feature = "mutants")]
    pub fn restore(&mut self) {
        self.compiled.retain(|(_, _, wrong), _| !wrong);
        self.replaced.clear();
    }
}

fn compile(
    device: &wgpu::Device,
    kernel: Kernel,
    wgsl: &str,
    constants: &[(&str, f64)],
) -> Compiled {
    let name = kernel.shader().name;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(name),
        source: wgpu::ShaderSource::Wgsl(wgsl.into()),
    });
    let layouts: Vec<_> = kernel
        .groups()
        .iter()
        .map(|binds| group_layout(device, name, binds, wgpu::ShaderStages::COMPUTE))
        .collect();
    let borrowed: Vec<_> = layouts.iter().map(Some).collect();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(name),
        bind_group_layouts: &borrowed,
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: Some(&layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants,
            ..Default::default()
        },
        cache: None,
    });
    Compiled { pipeline, layouts }
}
