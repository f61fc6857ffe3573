//! Which part of the result is on screen. Changes here redraw and recompute little or nothing.

use serde::{Deserialize, Serialize};

/// The default head: the first picture shows a pattern with it.
pub const FIRST_HEAD: u32 = 8;

/// Which part of the result is on screen. Changes here redraw and recompute nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// Chosen head; `None` is [`FIRST_HEAD`], or the last head where the layer has fewer.
    pub head: Option<u32>,
    /// Weights or raw score.
    pub quantity: Quantity,
    /// Visible rectangle of the map; `None` is all of it.
    pub rect: Option<Rect>,
    /// How the colour range is found.
    pub range: Range,
    /// How colours are spread over the range; `None` leaves it to
    /// [`Scene::color_scale`](super::Scene::color_scale).
    pub color: Option<ColorScale>,
    /// Which side panel is open.
    pub panel: Panel,
    /// Locked cell (query, key).
    pub cell: Option<(u32, u32)>,
}

impl Default for View {
    fn default() -> Self {
        Self {
            head: None,
            quantity: Quantity::Weights,
            rect: None,
            range: Range::Auto,
            color: None,
            panel: Panel::Cell,
            cell: None,
        }
    }
}

/// What the map shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Quantity {
    /// A.
    #[default]
    Weights = 0,
    /// r.
    Score = 1,
}

/// A rectangle of cells: rows are queries, columns are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rect {
    /// First query.
    pub row: u32,
    /// First key.
    pub col: u32,
    /// Number of queries, ≥ 1.
    pub rows: u32,
    /// Number of keys, ≥ 1.
    pub cols: u32,
}

impl Rect {
    /// The whole map of `seq_len` tokens.
    pub fn whole(seq_len: u32) -> Self {
        let len = seq_len.max(1);
        Self {
            row: 0,
            col: 0,
            rows: len,
            cols: len,
        }
    }

    /// The visible part of the map of `seq_len` tokens: the cells of `asked` that the map has; if
    /// it has none of the rows (or columns), the last one. Picture, labels, pointer, table and
    /// read-back all use this rectangle.
    ///
    /// A rectangle that overhangs is cut and not moved: a link to rows 20 to 31 shows rows 20 to 23
    /// of 24, at their own position, and no cell that it did not name.
    pub fn visible(asked: Option<Self>, seq_len: u32) -> Self {
        let whole = Self::whole(seq_len);
        let axis = |start: u32, count: u32| {
            let start = start.min(whole.rows - 1);
            (start, count.clamp(1, whole.rows - start))
        };
        asked.map_or(whole, |asked| {
            let (row, rows) = axis(asked.row, asked.rows);
            let (col, cols) = axis(asked.col, asked.cols);
            Self {
                row,
                col,
                rows,
                cols,
            }
        })
    }
}

/// How the colour range is determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Range {
    /// From the visible map.
    #[default]
    Auto,
    /// 0 to 1 (weights), −1 to 1 (signed weights); scores stay automatic.
    Unit,
}

/// How colours are spread between the ends of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum ColorScale {
    /// Equal differences look equal.
    #[default]
    Linear = 0,
    /// By the square root of the magnitude: separates small values and keeps large ones apart.
    Sqrt = 1,
    /// By the logarithm of the magnitude: equal ratios look equal, down to a floor.
    Log = 2,
}

/// The side panels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panel {
    /// Numbers of the hovered or locked cell.
    #[default]
    Cell,
    /// Full and low-rank layer output.
    Output,
    /// Claimed, counted, measured.
    Cost,
}
