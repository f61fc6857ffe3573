//! How the device computes each pass of the table in `attnscope-engine`: the function that encodes
//! it, and the kernels that it launches, one row each: shader, bindings, constants.

use attnscope_engine::passes::Pass;
use attnscope_engine::steps::Job;

use super::engine::{GpuEngine, Shown};
use super::gpu_data as data;
use super::launch::{Submission, Timed};
use super::shaders::{Shader, shader};

/// Encodes a job into a submission, after uploading its inputs. Returns whether it is done: a
/// drawing is not while its surface gives no texture.
pub(super) type Encode = fn(&mut GpuEngine, &Shown, &mut Submission, Job, Timed) -> bool;

/// How the device computes `pass`; `None` for tensors, which the passes that read them upload.
pub(super) fn encoder(pass: Pass) -> Option<Encode> {
    Some(match pass {
        Pass::Layer | Pass::ScoreFactors | Pass::ScoreBias => return None,
        Pass::Query | Pass::Key | Pass::Value => GpuEngine::project,
        Pass::KeyBias | Pass::ValueBias => GpuEngine::bias,
        Pass::Stats => GpuEngine::stats,
        Pass::Map => GpuEngine::map,
        Pass::Strip => GpuEngine::small_map,
        Pass::HeadOutput => GpuEngine::attend,
        Pass::Components => GpuEngine::components,
        Pass::LayerOutput => GpuEngine::full,
        Pass::Energy => GpuEngine::energy,
        Pass::PartialSum | Pass::LowRankOutput => GpuEngine::low_rank,
        Pass::FullTexels | Pass::LowTexels => GpuEngine::matrix_texels,
        Pass::DrawMap => GpuEngine::draw_map,
        Pass::DrawStrip => GpuEngine::draw_strip,
        Pass::DrawOutput => GpuEngine::draw_output,
    })
}

/// Whether `pass` has steps on the device.
pub(super) fn computes(pass: Pass) -> bool {
    encoder(pass).is_some()
}

/// The compute kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Y = X Wᵀ + b.
    Linear,
    /// k' and v'.
    Bias,
    /// Row statistics.
    Stats,
    /// One texel per cell.
    Map,
    /// Several cells per texel.
    Pool,
    /// O = A V'.
    Output,
    /// A plain matrix as texels.
    Matrix,
    /// Sums of squares.
    Energy,
}

/// What one binding has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// A uniform struct of this many bytes, with a dynamic offset.
    Uniform(usize),
    /// A buffer that is read.
    Read,
    /// A buffer that is written.
    Write,
}

/// A constant of a pipeline: an `override` of its shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// `READING`.
    Reading,
    /// `S_KIND`.
    ScoreBias,
    /// `SEGMENTS`.
    Segments,
    /// `MASKED`.
    Masked,
    /// `FULLY_MASKED`.
    FullyMasked,
    /// `DILATED`.
    Dilated,
    /// `RAGGED_WIDTH`.
    RaggedWidth,
    /// `SCORES_CACHED`.
    ScoresCached,
    /// `QUANTITY`.
    Quantity,
}

/// One row of the table of kernels.
pub(super) struct KernelRow {
    kernel: Kernel,
    shader: Shader,
    /// Bindings by group.
    groups: &'static [&'static [Bind]],
    /// Constants of its shader.
    constants: &'static [Constant],
    /// Those of them that do not affect it.
    unused: &'static [Constant],
}

/// Group 0 of every kernel that computes scores.
const HEAD: &[Bind] = &[
    Bind::Uniform(size_of::<data::HeadParams>()),
    Bind::Read,
    Bind::Read,
    Bind::Read,
    Bind::Read,
];
/// Group 1 of every kernel that writes texels.
const TEXELS: &[Bind] = &[
    Bind::Read,
    Bind::Uniform(size_of::<data::MapParams>()),
    Bind::Write,
    Bind::Write,
];
/// Constants of every kernel that computes scores.
macro_rules! head_constants {
    ($($more:ident),*) => {
        &[
            Constant::Reading,
            Constant::ScoreBias,
            Constant::Segments,
            Constant::Masked,
            Constant::FullyMasked,
            Constant::Dilated,
            Constant::RaggedWidth,
            $(Constant::$more),*
        ]
    };
}

static KERNELS: [KernelRow; 8] = [
    KernelRow {
        kernel: Kernel::Linear,
        shader: shader!("linear"),
        groups: &[&[
            Bind::Uniform(size_of::<data::LinearParams>()),
            Bind::Read,
            Bind::Read,
            Bind::Read,
            Bind::Write,
        ]],
        constants: &[],
        unused: &[],
    },
    KernelRow {
        kernel: Kernel::Bias,
        shader: shader!("bias"),
        groups: &[&[
            Bind::Uniform(size_of::<data::BiasParams>()),
            Bind::Read,
            Bind::Read,
            Bind::Write,
        ]],
        constants: &[],
        unused: &[],
    },
    KernelRow {
        kernel: Kernel::Stats,
        shader: shader!(
            "stats",
            "shared/params",
            "shared/visibility",
            "shared/numeric",
            "shared/head"
        ),
        groups: &[HEAD, &[Bind::Write, Bind::Write]],
        constants: head_constants!(ScoresCached),
        unused: &[Constant::FullyMasked],
    },
    KernelRow {
        kernel: Kernel::Map,
        shader: shader!(
            "map",
            "shared/params",
            "shared/visibility",
            "shared/numeric",
            "shared/head",
            "shared/weights",
            "shared/cells",
            "shared/texels"
        ),
        groups: &[HEAD, TEXELS],
        constants: head_constants!(ScoresCached, Quantity),
        unused: &[],
    },
    KernelRow {
        kernel: Kernel::Pool,
        shader: shader!(
            "pool",
            "shared/params",
            "shared/visibility",
            "shared/numeric",
            "shared/head",
            "shared/weights",
            "shared/cells",
            "shared/texels"
        ),
        groups: &[HEAD, TEXELS],
        constants: head_constants!(Quantity),
        unused: &[],
    },
    KernelRow {
        kernel: Kernel::Output,
        shader: shader!(
            "output",
            "shared/params",
            "shared/visibility",
            "shared/numeric",
            "shared/head",
            "shared/weights"
        ),
        groups: &[
            HEAD,
            &[
                Bind::Read,
                Bind::Uniform(size_of::<data::OutputParams>()),
                Bind::Read,
                Bind::Write,
            ],
        ],
        constants: head_constants!(),
        unused: &[],
    },
    KernelRow {
        kernel: Kernel::Matrix,
        shader: shader!("matrix", "shared/numeric", "shared/texels"),
        groups: &[&[Bind::Uniform(size_of::<data::MatrixParams>())], TEXELS],
        constants: &[],
        unused: &[],
    },
    KernelRow {
        kernel: Kernel::Energy,
        shader: shader!("energy"),
        groups: &[&[
            Bind::Uniform(size_of::<data::EnergyParams>()),
            Bind::Read,
            Bind::Write,
        ]],
        constants: &[],
        unused: &[],
    },
];

impl Kernel {
    /// Every kernel.
    pub fn all() -> impl Iterator<Item = Self> {
        KERNELS.iter().map(|row| row.kernel)
    }

    fn row(self) -> &'static KernelRow {
        &KERNELS[self as usize]
    }

    /// Its shader.
    pub fn shader(self) -> Shader {
        self.row().shader
    }

    /// Its bindings by group.
    pub fn groups(self) -> &'static [&'static [Bind]] {
        self.row().groups
    }

    /// The constants of its pipeline by their names in WGSL.
    pub fn constants(self, variant: Variant, workgroup: u32) -> Vec<(&'static str, f64)> {
        let variant = variant.of(self);
        let own = self.row().constants.iter().map(|&c| variant.value(c));
        let own = own.map(|(name, value)| (name, f64::from(value)));
        std::iter::once(("WORKGROUP", f64::from(workgroup)))
            .chain(own)
            .collect()
    }
}

/// The constants of a pipeline: choices that every thread shares and that change rarely. Software
/// adapters execute both sides of every branch, so these are not parameters.
#[allow(clippy::struct_excessive_bools)] // One constant a choice: they are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// [`attnscope_attention::config::Reading`].
    pub reading: u32,
    /// `S_*` of [`super::gpu_data`].
    pub s_kind: u32,
    /// `SEGMENTS_*` of [`super::gpu_data`].
    pub segments: u32,
    /// There is a boolean mask.
    pub masked: bool,
    /// [`attnscope_attention::config::FullyMasked`].
    pub fully_masked: u32,
    /// The dilation is above 1.
    pub dilated: bool,
    /// The score rank ends inside a vec4.
    pub ragged_width: bool,
    /// The statistics write the scores into the texels of the map.
    pub scores_cached: bool,
    /// [`attnscope_scene::Quantity`]; only for kernels that write texels.
    pub quantity: u32,
}

impl Variant {
    /// Name and value of one constant.
    fn value(self, constant: Constant) -> (&'static str, u32) {
        match constant {
            Constant::Reading => ("READING", self.reading),
            Constant::ScoreBias => ("S_KIND", self.s_kind),
            Constant::Segments => ("SEGMENTS", self.segments),
            Constant::Masked => ("MASKED", self.masked.into()),
            Constant::FullyMasked => ("FULLY_MASKED", self.fully_masked),
            Constant::Dilated => ("DILATED", self.dilated.into()),
            Constant::RaggedWidth => ("RAGGED_WIDTH", self.ragged_width.into()),
            Constant::ScoresCached => ("SCORES_CACHED", self.scores_cached.into()),
            Constant::Quantity => ("QUANTITY", self.quantity),
        }
    }

    /// This variant with everything that does not affect `kernel` at its default.
    pub(super) fn of(self, kernel: Kernel) -> Self {
        let row = kernel.row();
        let used = |constant: Constant| {
            row.constants.contains(&constant) && !row.unused.contains(&constant)
        };
        let number = |constant, value| if used(constant) { value } else { 0 };
        Self {
            reading: number(Constant::Reading, self.reading),
            s_kind: number(Constant::ScoreBias, self.s_kind),
            segments: number(Constant::Segments, self.segments),
            masked: used(Constant::Masked) && self.masked,
            fully_masked: number(Constant::FullyMasked, self.fully_masked),
            dilated: used(Constant::Dilated) && self.dilated,
            ragged_width: used(Constant::RaggedWidth) && self.ragged_width,
            scores_cached: used(Constant::ScoresCached) && self.scores_cached,
            quantity: number(Constant::Quantity, self.quantity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_stands_in_its_place() {
        for (at, row) in KERNELS.iter().enumerate() {
            assert_eq!(row.kernel as usize, at, "{:?}", row.kernel);
        }
    }
}
