//! The mathematics of SPEC 1–6: sizes, visibility, readings, low rank, cost, f64 reference.
//! Knows no GPU and no page.

pub mod bias;
pub mod check;
pub mod compare;
pub mod config;
pub mod cost;
pub mod layer;
pub mod low_rank;
pub mod output;
pub mod project;
pub mod reference;
pub mod summary;
pub mod visibility;
