#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

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
