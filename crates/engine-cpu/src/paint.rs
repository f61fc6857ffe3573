//! Turns texels into colours, like `shaders/heatmap.wgsl`: the nearest texel, or the largest of the
//! texels of a pixel; masked texels are transparent.

use std::ops::Range;

use crate::pixels::{self, Curve, STEPS, Scale};

use attnscope_engine::tiles::Viewport;
use attnscope_engine::{ColorTable, Colors, colors};
use attnscope_scene::ColorScale;

use super::texels::Texels;

/// A picture, row by row, as 0xAABBGGRR: RGBA in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// `width · height` pixels.
    pub pixels: Vec<u32>,
}

/// The texels of a pixel along one axis: the one under its centre, and those whose centres lie in
/// it.
struct Under {
    at: usize,
    own: Range<usize>,
}

/// The colours of a picture.
pub struct Palette {
    table: [u32; STEPS],
    ends: (f32, f32),
    signed: bool,
    curve: Curve,
}

impl Palette {
    /// The requested colours.
    pub fn new(wanted: &Colors) -> Self {
        Self {
            table: colors::table(wanted.table).map(opaque),
            ends: (0.0, 1.0),
            signed: wanted.table == ColorTable::Diverging,
            curve: match wanted.scale {
                ColorScale::Linear => Curve::Linear,
                ColorScale::Sqrt => Curve::Sqrt,
                ColorScale::Log => Curve::Log(colors::LOG_FLOOR),
            },
        }
    }

    /// Takes the range `of` a picture, unless one is given.
    pub fn spread(&mut self, wanted: &Colors, of: Option<(f32, f32)>) {
        self.ends = colors::ends(wanted.table, wanted.range, of);
    }
}

fn opaque([r, g, b]: [u8; 3]) -> u32 {
    u32::from_le_bytes([r, g, b, 255])
}

impl Picture {
    /// Background only.
    pub fn new((width, height): (u32, u32), ground: [u8; 3]) -> Self {
        Self {
            width,
            height,
            pixels: vec![opaque(ground); width as usize * height as usize],
        }
    }

    /// Draws one heatmap into a part of the picture.
    pub fn draw(&mut self, viewport: Viewport, texels: &Texels, palette: &Palette) {
        let cols = texels.cols;
        if texels.values.is_empty() {
            return;
        }
        let columns = under(viewport.width, cols);
        let lines = under(viewport.height, texels.rows);
        let (wide, high) = (columns.len(), lines.len());
        let shrunk = texels.rows > high || cols > wide;
        let nearest: Vec<usize> = columns.iter().map(|column| column.at).collect();
        let scale = Scale {
            table: &palette.table,
            ends: palette.ends,
            signed: palette.signed,
            curve: palette.curve,
        };
        let mut found = vec![0; cols.max(wide)];
        let (left, top) = (viewport.x as usize, viewport.y as usize);
        let own: Vec<usize> = (0..wide).collect();
        let mut before = None;
        for (y, line) in lines.iter().enumerate() {
            let start = (top + y) * self.width as usize + left;
            if before == Some(line.at) {
                // Same texels as the row above.
                let above = start - self.width as usize;
                self.pixels.copy_within(above..above + wide, start);
                continue;
            }
            let row = line.at * cols..(line.at + 1) * cols;
            let which = if shrunk {
                let (values, shares): (Vec<f32>, Vec<f32>) = columns
                    .iter()
                    .map(|column| {
                        let at = largest(texels, row.start + column.at, line, column);
                        (texels.values[at], texels.shares[at])
                    })
                    .unzip();
                pixels::color(&scale, &values, &shares, &mut found);
                &own
            } else {
                let (values, shares) = (&texels.values[row.clone()], &texels.shares[row]);
                pixels::color(&scale, values, shares, &mut found);
                &nearest
            };
            pixels::spread(&found, which, &mut self.pixels[start..start + wide]);
            before = (!shrunk).then_some(line.at);
        }
    }
}

/// Which texels lie under each of `pixels` pixels.
fn under(pixels: f32, count: usize) -> Vec<Under> {
    let per_pixel = count as f32 / pixels;
    let edge = |pixel: f32| ((pixel * per_pixel - 0.5).ceil().max(0.0) as usize).min(count);
    (0..pixels as usize)
        .map(|pixel| {
            let pixel = pixel as f32;
            Under {
                at: (((pixel + 0.5) * per_pixel) as usize).min(count - 1),
                own: edge(pixel)..edge(pixel + 1.0),
            }
        })
        .collect()
}

/// The visible texel of a pixel that is largest by magnitude, or else the one at `at`.
fn largest(texels: &Texels, mut at: usize, line: &Under, column: &Under) -> usize {
    for y in line.own.clone() {
        for x in column.own.clone() {
            let other = y * texels.cols + x;
            if texels.shares[other] > 0.0
                && (texels.shares[at] <= 0.0
                    || texels.values[other].abs() > texels.values[at].abs())
            {
                at = other;
            }
        }
    }
    at
}
