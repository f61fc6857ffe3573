//! The WGSL of every kernel: the shared files that it imports, then its own file.
//!
//! WGSL has no imports. A line `//!import shared/NAME` names a file that must come before; the
//! lists here are those imports in order, and a test compares them with the lines.

use super::passes::Kernel;

/// One shader module: the name of its file and its text.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// Stem of the file in `shaders/`.
    pub name: &'static str,
    /// Shared files first, then the kernel's own: (stem, text).
    pub parts: &'static [(&'static str, &'static str)],
}

impl Shader {
    /// The text that the device compiles.
    pub fn source(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|(_, text)| *text).collect();
        texts.join("\n")
    }
}

#[cfg(not(target_arch = "wasm32"))]
macro_rules! part {
    ($stem:literal) => {
        (
            $stem,
            include_str!(concat!("../../../shaders/", $stem, ".wgsl")),
        )
    };
}

/// The page has them shortened by `build/`.
#[cfg(target_arch = "wasm32")]
macro_rules! part {
    ($stem:literal) => {
        (
            $stem,
            include_str!(concat!(env!("OUT_DIR"), "/", $stem, ".wgsl")),
        )
    };
}

macro_rules! shader {
    ($name:literal $(, $shared:literal)*) => {
        Shader { name: $name, parts: &[$($crate::shaders::part!($shared),)* $crate::shaders::part!($name)] }
    };
}

pub(crate) use {part, shader};

/// Texels as colours.
pub const HEATMAP: Shader = shader!("heatmap", "shared/numeric");

/// Every shader.
pub fn all() -> Vec<Shader> {
    Kernel::all().map(Kernel::shader).chain([HEATMAP]).collect()
}
