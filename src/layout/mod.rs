//! Geometry that needs no browser: which labels fit, which cell is under the pointer, how zooming
//! changes the visible rectangle, where a slider's thumb stands, how many pixels a picture gets,
//! which rows are fully masked.

pub mod axis;
pub mod extent;
pub mod fully_masked;
pub mod legend;
pub mod slider;
pub mod strip;
pub mod zoom;
