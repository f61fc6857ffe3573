//! The WGSL of every kernel: its own file behind the shared files that it imports.
//!
//! WGSL has no imports. A line `//!import shared/NAME` names a file that must stand before; the
//! lists here are those imports in order, and a test compares them with the lines.

/// One shader module: name of its file and the text that the device gets.
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

/// The page carries them shortened by `build/`.
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
        Shader { name: $name, parts: &[$(part!($shared),)* part!($name)] }
    };
}

/// Projections and low-rank factors.
pub const LINEAR: Shader = shader!("linear");
/// k' and v'.
pub const BIAS: Shader = shader!("bias");
/// Row statistics.
pub const STATS: Shader = shader!(
    "stats",
    "shared/params",
    "shared/visibility",
    "shared/numeric",
    "shared/head"
);
/// One texel per cell.
pub const MAP: Shader = shader!(
    "map",
    "shared/params",
    "shared/visibility",
    "shared/numeric",
    "shared/head",
    "shared/weights",
    "shared/cells",
    "shared/texels"
);
/// Several cells per texel.
pub const POOL: Shader = shader!(
    "pool",
    "shared/params",
    "shared/visibility",
    "shared/numeric",
    "shared/head",
    "shared/weights",
    "shared/cells",
    "shared/texels"
);
/// O = A V'.
pub const OUTPUT: Shader = shader!(
    "output",
    "shared/params",
    "shared/visibility",
    "shared/numeric",
    "shared/head",
    "shared/weights"
);
/// A plain matrix as texels.
pub const MATRIX: Shader = shader!("matrix", "shared/numeric", "shared/texels");
/// Sums of squares.
pub const ENERGY: Shader = shader!("energy");
/// Texels as colours.
pub const HEATMAP: Shader = shader!("heatmap", "shared/numeric");

/// Every shader.
pub const ALL: [Shader; 9] = [
    LINEAR, BIAS, STATS, MAP, POOL, OUTPUT, MATRIX, ENERGY, HEATMAP,
];
