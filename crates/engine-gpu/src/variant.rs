//! Which constants a pipeline is made with.

use super::kernel::Kernel;

/// What is constant in a pipeline: choices that every thread shares and that change rarely.
/// Software adapters run both sides of every branch, so these are not parameters.
#[allow(clippy::struct_excessive_bools)] // One constant a choice: they are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// `READING`: [`attnscope_attention::config::Reading`].
    pub reading: u32,
    /// `S_KIND`: `S_*` of [`super::gpu_data`].
    pub s_kind: u32,
    /// `SEGMENTS`: `SEGMENTS_*` of [`super::gpu_data`].
    pub segments: u32,
    /// `MASKED`: there is a boolean mask.
    pub masked: bool,
    /// `EMPTY`: [`attnscope_attention::config::Empty`].
    pub empty: u32,
    /// `DILATED`: the dilation is above 1.
    pub dilated: bool,
    /// `PARTIAL`: the score rank ends inside a vec4.
    pub partial: bool,
    /// `KEPT`: the statistics leave the scores in the texels of the map.
    pub kept: bool,
    /// `QUANTITY`: [`attnscope_scene::Quantity`]; only where texels are made.
    pub quantity: u32,
}

impl Variant {
    /// The constants of `kernel`'s pipeline by their names in WGSL.
    pub fn constants(self, kernel: Kernel, workgroup: u32) -> Vec<(&'static str, f64)> {
        let mut all = vec![("WORKGROUP", f64::from(workgroup))];
        if matches!(
            kernel,
            Kernel::Stats | Kernel::Map | Kernel::Pool | Kernel::Output
        ) {
            all.extend([
                ("READING", f64::from(self.reading)),
                ("S_KIND", f64::from(self.s_kind)),
                ("SEGMENTS", f64::from(self.segments)),
                ("MASKED", f64::from(u8::from(self.masked))),
                ("EMPTY", f64::from(self.empty)),
                ("DILATED", f64::from(u8::from(self.dilated))),
                ("PARTIAL", f64::from(u8::from(self.partial))),
            ]);
        }
        if matches!(kernel, Kernel::Stats | Kernel::Map) {
            all.push(("KEPT", f64::from(u8::from(self.kept))));
        }
        if matches!(kernel, Kernel::Map | Kernel::Pool) {
            all.push(("QUANTITY", f64::from(self.quantity)));
        }
        all
    }

    /// This variant with everything that `kernel` does not depend on at its default.
    pub(super) fn of(self, kernel: Kernel) -> Self {
        match kernel {
            Kernel::Map => self,
            Kernel::Pool => Self {
                kept: false,
                ..self
            },
            Kernel::Stats => Self {
                quantity: 0,
                empty: 0,
                ..self
            },
            Kernel::Output => Self {
                quantity: 0,
                kept: false,
                ..self
            },
            Kernel::Linear | Kernel::Bias | Kernel::Matrix | Kernel::Energy => Self::default(),
        }
    }
}
