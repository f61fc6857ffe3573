//! Formats in, formats out, and layers made from a seed. Pure: no GPU, no page.

pub mod synthetic;
