//! Draws texels: the pipeline of `heatmap.wgsl`.

use std::collections::HashMap;

use attnscope_engine::tiles::Viewport;
use attnscope_engine::{ColorTable, Colors, colors};
use attnscope_scene::ColorScale;

use super::context::Context;
use super::gpu_data::HeatmapParams;
use super::launch::{Arg, Launcher, Submission, Timed};
use super::pipelines::{HEATMAP_BINDS, group_layout};
use super::shaders;
use super::store::Span;

/// One heatmap of a picture.
pub struct Tile<'a> {
    /// Where it is drawn.
    pub viewport: Viewport,
    /// Texels down and across.
    pub texels: (u32, u32),
    /// First texel in `values`.
    pub offset: u32,
    /// The texels.
    pub values: Span<'a>,
    /// Their range.
    pub range: Span<'a>,
}

impl Tile<'_> {
    /// Whether texels are smaller than pixels.
    pub fn is_shrunk(&self) -> bool {
        self.texels.0 as f32 > self.viewport.height || self.texels.1 as f32 > self.viewport.width
    }
}

/// What a pipeline depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    /// Format of the target.
    pub format: wgpu::TextureFormat,
    /// `SHRUNK`: texels may be smaller than pixels.
    pub shrunk: bool,
    /// `SCALE`.
    pub scale: ColorScale,
}

/// Pipelines, and the colour tables.
#[derive(Debug)]
pub struct Heatmap {
    layout: wgpu::BindGroupLayout,
    pipelines: HashMap<Look, wgpu::RenderPipeline>,
    tables: wgpu::Buffer,
    replaced: Option<String>,
}

impl Heatmap {
    /// Uploads the colour tables.
    pub fn new(context: &Context) -> Self {
        let packed = colors::packed();
        let bytes: &[u8] = bytemuck::cast_slice(&packed);
        let tables = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("colour tables"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        context.queue.write_buffer(&tables, 0, bytes);
        Self {
            layout: group_layout(
                &context.device,
                "heatmap",
                HEATMAP_BINDS,
                wgpu::ShaderStages::VERTEX_FRAGMENT,
            ),
            pipelines: HashMap::new(),
            tables,
            replaced: None,
        }
    }

    /// Creates the pipeline for `look` unless it exists.
    pub fn prepare(&mut self, context: &Context, look: Look) {
        if self.pipelines.contains_key(&look) {
            return;
        }
        let device = &context.device;
        let wgsl = self
            .replaced
            .clone()
            .unwrap_or_else(|| shaders::HEATMAP.source());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("heatmap"),
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("heatmap"),
            bind_group_layouts: &[Some(&self.layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("heatmap"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[
                        ("SHRUNK", f64::from(u8::from(look.shrunk))),
                        ("SCALE", f64::from(look.scale as u32)),
                    ],
                    ..wgpu::PipelineCompilationOptions::default()
                },
                targets: &[Some(look.format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        self.pipelines.insert(look, pipeline);
    }

    /// Replaces the right WGSL, or (`None`) restores it: for negative controls.
    #[cfg(feature = "mutants")]
    pub fn replace(&mut self, wgsl: Option<&str>) {
        self.pipelines.clear();
        self.replaced = wgsl.map(str::to_owned);
    }

    /// Clears `view` to the ground colour and draws the tiles.
    pub fn draw(
        &self,
        context: &Context,
        launcher: &Launcher,
        submission: &mut Submission,
        (view, format, timed): (&wgpu::TextureView, wgpu::TextureFormat, Timed),
        colors: &Colors,
        tiles: &[Tile<'_>],
    ) {
        let look = Look {
            format,
            shrunk: tiles.iter().any(Tile::is_shrunk),
            scale: colors.scale,
        };
        let Some(pipeline) = self.pipelines.get(&look) else {
            return;
        };
        let groups: Vec<_> = tiles
            .iter()
            .map(|tile| {
                let params = submission.params(&tile_params(tile, colors));
                let tables = Span {
                    buffer: &self.tables,
                    offset: 0,
                    size: 0,
                };
                let args = [
                    params,
                    Arg::Span(tile.values),
                    Arg::Span(tile.range),
                    Arg::Span(tables),
                ];
                launcher.bind(context, &self.layout, &args)
            })
            .collect();
        let ground = colors.ground.map(|c| f64::from(c) / 255.0);
        let mut pass = submission
            .encoder
            .begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("heatmap"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color {
                            r: ground[0],
                            g: ground[1],
                            b: ground[2],
                            a: 1.0,
                        }),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                timestamp_writes: launcher.render_timestamps(timed),
                ..Default::default()
            });
        pass.set_pipeline(pipeline);
        for (tile, (group, offsets)) in tiles.iter().zip(&groups) {
            let v = tile.viewport;
            pass.set_viewport(v.x, v.y, v.width, v.height, 0.0, 1.0);
            pass.set_bind_group(0, group, offsets);
            pass.draw(0..3, 0..1);
        }
    }
}

impl Drop for Heatmap {
    fn drop(&mut self) {
        self.tables.destroy();
    }
}

fn tile_params(tile: &Tile<'_>, colors: &Colors) -> HeatmapParams {
    let range = colors.range.unwrap_or_default();
    HeatmapParams {
        origin: [tile.viewport.x, tile.viewport.y],
        size: [tile.viewport.width, tile.viewport.height],
        texel_rows: tile.texels.0,
        texel_cols: tile.texels.1,
        offset: tile.offset,
        table: colors.table as u32 * colors::STEPS as u32,
        range: [range.0, range.1],
        range_given: u32::from(colors.range.is_some()),
        symmetric: u32::from(colors.table == ColorTable::Diverging),
    }
}
