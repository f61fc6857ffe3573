//! The parts of the page, as leptos components over [`AppState`](crate::state::AppState).

pub mod axis;
pub mod board;
pub mod clipboard;
pub mod controls;
pub mod cost;
pub mod focus;
pub mod header;
pub mod inspector;
pub mod legend;
pub mod lesson;
pub mod output;
pub mod pointer;
pub mod problems;
pub mod rich_text;
pub mod sentence;
pub mod share;
pub mod side;
pub mod source;
pub mod status;
pub mod strip;
pub mod table;
pub mod toolbar;
