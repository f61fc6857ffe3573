//! Words of the self-check page.

use super::{Counted, Text, texts};

texts!("check");
