//! Geometry of the page that needs no page: which labels fit, which cell is under the pointer,
//! what zooming does to the visible rectangle, where a slider's thumb stands.

pub mod axis;
pub mod slider;
pub mod strip;
pub mod zoom;
