//! From cells to texels to pixels: what is done for every one of them.

use std::ops::Range;

/// Share of a texel whose rows see no key at all.
pub const NO_KEY: f32 = -1.0;

/// Colours per table.
pub const STEPS: usize = 256;

/// In the place of a colour: masked, and masked in a row without keys.
const MASKED: u32 = 0;
const KEYLESS: u32 = 1;

/// Smallest and largest of the values whose share is above 0.
#[inline(never)]
pub fn range(values: &[f32], shares: &[f32]) -> Option<(f32, f32)> {
    let (mut least, mut most) = (f32::MAX, f32::MIN);
    for (&value, &share) in values.iter().zip(shares) {
        let seen = share > 0.0;
        least = least.min(if seen { value } else { f32::MAX });
        most = most.max(if seen { value } else { f32::MIN });
    }
    (least <= most).then_some((least, most))
}

/// Cells of one row that are put into texels.
pub struct Pooled<'a> {
    /// Values by key.
    pub cells: &'a [f32],
    /// Whether a key is seen; empty when all of the range are.
    pub seen: &'a [bool],
    /// First key of every texel, and the end.
    pub edges: &'a [usize],
    /// The mean and not the largest by magnitude.
    pub mean: bool,
}

/// Adds the keys `range` to the values and counts of their texels.
#[inline(never)]
pub fn pool(row: &Pooled<'_>, range: Range<usize>, values: &mut [f32], counts: &mut [f32]) {
    let edges = row.edges;
    let mut x = edges.partition_point(|&edge| edge <= range.start).max(1) - 1;
    for j in range {
        while edges[x + 1] <= j {
            x += 1;
        }
        if !row.seen.is_empty() && !row.seen[j] {
            continue;
        }
        counts[x] += 1.0;
        let (value, old) = (row.cells[j], values[x]);
        if row.mean {
            values[x] += value;
        } else if value.abs() > old.abs() || value > old && value >= -old {
            // Of two equal ones the positive.
            values[x] = value;
        }
    }
}

/// A colour table between two values.
pub struct Scale<'a> {
    /// Opaque colours from the lowest to the highest value.
    pub table: &'a [u32; STEPS],
    /// Values of the first and the last colour.
    pub ends: (f32, f32),
}

/// The colour of every texel.
#[inline(never)]
pub fn color(scale: &Scale<'_>, values: &[f32], shares: &[f32], colors: &mut [u32]) {
    let (low, high) = scale.ends;
    let reach = high - low;
    for ((color, &value), &share) in colors.iter_mut().zip(values).zip(shares) {
        let t = if high > low {
            ((value - low) / reach).clamp(0.0, 1.0)
        } else {
            0.5
        };
        // At most 255, and a number that is none becomes 0.
        let step = (t * STEPS as f32).min(STEPS as f32 - 1.0) as u8;
        *color = match share {
            share if share > 0.0 => scale.table[usize::from(step)],
            share if share < 0.0 => KEYLESS,
            _ => MASKED,
        };
    }
}

/// What masked pixels of one row of pixels show.
pub struct Marks<'a> {
    /// Ground and hatch.
    pub colors: [u32; 2],
    /// Whether a line that rises, or one that falls, crosses pixel x.
    pub rising: &'a [bool],
    /// The falling one is shown in rows without keys alone.
    pub falling: &'a [bool],
}

/// Every pixel of a row from the colour of its texel; returns whether there was a masked one.
#[inline(never)]
pub fn spread(colors: &[u32], columns: &[usize], marks: &Marks<'_>, pixels: &mut [u32]) -> bool {
    let mut marked = false;
    for (x, (pixel, &column)) in pixels.iter_mut().zip(columns).enumerate() {
        let color = colors[column];
        *pixel = if color > KEYLESS {
            color
        } else {
            marked = true;
            let line = marks.rising[x] || color == KEYLESS && marks.falling[x];
            marks.colors[usize::from(line)]
        };
    }
    marked
}
