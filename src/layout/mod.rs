//! Geometry of the page that needs no page: which labels fit, which cell is under the pointer,
//! what zooming does to the visible rectangle, where a slider's thumb stands, how many pixels a
//! picture gets, which rows have no key.

pub mod axis;
pub mod extent;
pub mod fully_masked;
pub mod legend;
pub mod slider;
pub mod strip;
pub mod zoom;
