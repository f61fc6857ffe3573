//! The languages of the page: one for each file of `lang/`, made by the build.

use serde::{Deserialize, Serialize};

use super::link_words::Word;

include!(concat!(env!("OUT_DIR"), "/lang.rs"));
