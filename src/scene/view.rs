//! What of the result is looked at. Changes here redraw and recompute little or nothing.

use serde::{Deserialize, Serialize};

/// What of the result is looked at. Changes here redraw and recompute nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// Chosen head.
    pub head: u32,
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
            head: 8,
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

/// How the colour range is found.
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
    /// By the square root of the magnitude: small values come apart, large ones stay apart.
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
    /// Layer output and its low-rank twin.
    Output,
    /// Claimed, counted, measured.
    Cost,
}
