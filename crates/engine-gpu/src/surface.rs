//! Targets of pictures: a canvas of the page, or a texture (tests, export). Both are drawn alike.

use attnscope_engine::EngineError;

use super::context::Context;

/// Target of one picture.
#[derive(Debug)]
pub enum Target {
    /// A surface and its configuration; not configured while width or height is 0.
    // Only a page has a canvas.
    #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
    Surface {
        /// The surface.
        surface: wgpu::Surface<'static>,
        /// Its configuration.
        config: wgpu::SurfaceConfiguration,
    },
    /// A texture that can be read back.
    Texture(wgpu::Texture),
}

/// The texture of one frame.
pub enum Canvas {
    /// Presented after drawing.
    Surface(wgpu::SurfaceTexture),
    /// Kept.
    Texture(wgpu::Texture),
}

impl Target {
    /// A texture of `width` × `height`.
    ///
    /// # Errors
    /// [`EngineError::EmptyCanvas`] for a size of zero, [`EngineError::TooLarge`] beyond the
    /// device's texture size.
    pub fn texture(context: &Context, width: u32, height: u32) -> Result<Self, EngineError> {
        check_size(context, width, height)?;
        Ok(Self::Texture(context.device.create_texture(
            &wgpu::TextureDescriptor {
                label: Some("picture"),
                size: wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            },
        )))
    }

    /// A canvas of the page. The first [`Target::resize`] configures it.
    ///
    /// # Errors
    /// [`EngineError::NoCanvas`] when the canvas gives no WebGPU context or no format.
    #[cfg(target_arch = "wasm32")]
    pub fn canvas(
        context: &Context,
        canvas: web_sys::HtmlCanvasElement,
    ) -> Result<Self, EngineError> {
        let surface = context
            .instance
            .create_surface(wgpu::SurfaceTarget::Canvas(canvas))
            .map_err(|why| EngineError::NoCanvas(why.to_string()))?;
        let mut config = surface
            .get_default_config(&context.adapter, 1, 1)
            .ok_or_else(|| EngineError::NoCanvas("it offers no format".into()))?;
        // Colours are already sRGB bytes: no conversion.
        config.format = config.format.remove_srgb_suffix();
        // Masked cells are transparent: the page behind them has the hatching.
        config.alpha_mode = wgpu::CompositeAlphaMode::PreMultiplied;
        config.width = 0;
        config.height = 0;
        Ok(Self::Surface { surface, config })
    }

    /// Sets the size of the picture in device pixels. Size zero disables the target.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] beyond the device's texture size, [`EngineError::NoCanvas`] when the
    /// canvas cannot be drawn to.
    pub fn resize(
        &mut self,
        context: &Context,
        width: u32,
        height: u32,
    ) -> Result<(), EngineError> {
        if (width, height) == self.size() {
            return Ok(());
        }
        let checked = check_size(context, width, height);
        match self {
            Self::Surface { surface, config } => {
                (config.width, config.height) = (0, 0);
                match checked {
                    Err(EngineError::EmptyCanvas) => return Ok(()),
                    other => other?,
                }
                (config.width, config.height) = (width, height);
                surface.configure(&context.device, config);
                if !gives_textures(surface) {
                    // Try once more: a surface that was just lost may be back.
                    surface.configure(&context.device, config);
                    if !gives_textures(surface) {
                        (config.width, config.height) = (0, 0);
                        return Err(EngineError::NoCanvas("it gives no texture".into()));
                    }
                }
            }
            Self::Texture(_) => {
                checked?;
                *self = Self::texture(context, width, height)?;
            }
        }
        Ok(())
    }

    /// Width and height in device pixels; zero when it cannot be drawn to.
    pub fn size(&self) -> (u32, u32) {
        match self {
            Self::Surface { config, .. } => (config.width, config.height),
            Self::Texture(texture) => (texture.width(), texture.height()),
        }
    }

    /// The format that pipelines must write.
    pub fn format(&self) -> wgpu::TextureFormat {
        match self {
            Self::Surface { config, .. } => config.format,
            Self::Texture(texture) => texture.format(),
        }
    }

    /// The texture for the next frame; `None` when there is none now (size zero, hidden).
    pub fn acquire(&self, context: &Context) -> Option<Canvas> {
        if self.size().0 == 0 || self.size().1 == 0 {
            return None;
        }
        match self {
            Self::Texture(texture) => Some(Canvas::Texture(texture.clone())),
            Self::Surface { surface, config } => {
                use wgpu::CurrentSurfaceTexture::{Lost, Outdated, Suboptimal, Success};
                match surface.get_current_texture() {
                    Success(texture) | Suboptimal(texture) => Some(Canvas::Surface(texture)),
                    Lost | Outdated => {
                        surface.configure(&context.device, config);
                        None
                    }
                    _ => None,
                }
            }
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Self::Texture(texture) = self {
            texture.destroy();
        }
    }
}

impl Canvas {
    /// What a render pass draws to.
    pub fn view(&self) -> wgpu::TextureView {
        match self {
            Self::Surface(surface) => surface
                .texture
                .create_view(&wgpu::TextureViewDescriptor::default()),
            Self::Texture(texture) => texture.create_view(&wgpu::TextureViewDescriptor::default()),
        }
    }

    /// Presents the frame, after its commands were submitted.
    pub fn present(self, context: &Context) {
        if let Self::Surface(surface) = self {
            context.queue.present(surface);
        }
    }
}

/// Whether the surface gives textures: a refused configuration shows only here.
fn gives_textures(surface: &wgpu::Surface) -> bool {
    use wgpu::CurrentSurfaceTexture::{Lost, Outdated, Validation};
    !matches!(surface.get_current_texture(), Lost | Outdated | Validation)
}

fn check_size(context: &Context, width: u32, height: u32) -> Result<(), EngineError> {
    let allowed = context.device.limits().max_texture_dimension_2d;
    if width == 0 || height == 0 {
        Err(EngineError::EmptyCanvas)
    } else if width.max(height) > allowed {
        Err(EngineError::TooLarge {
            wanted: u64::from(width.max(height)),
            allowed: u64::from(allowed),
        })
    } else {
        Ok(())
    }
}
