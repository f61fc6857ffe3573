//! Words of the controls.

use super::{Counted, Text, texts};
use attnscope_attention::config::Reading;
use attnscope_scene::{BiasShape, Convention, Mechanism};

texts!("controls");

/// Name and one line about a mechanism.
pub const fn mechanism(of: Mechanism) -> (Text, Text) {
    match of {
        Mechanism::Full => (FULL, FULL_HINT),
        Mechanism::Window => (WINDOW, WINDOW_HINT),
        Mechanism::Cjar => (CJAR, CJAR_HINT),
    }
}

/// Name of a window convention and who uses it (SPEC 2).
pub const fn convention(of: Convention) -> (Text, Text) {
    match of {
        Convention::Distance => (DISTANCE, DISTANCE_WHO),
        Convention::CausalDistance => (CAUSAL_DISTANCE, CAUSAL_DISTANCE_WHO),
        Convention::CausalCount => (CAUSAL_COUNT, CAUSAL_COUNT_WHO),
        Convention::Longformer => (LONGFORMER, LONGFORMER_WHO),
        Convention::Explicit => (EXPLICIT, EXPLICIT_WHO),
    }
}

/// Formula of a reading and one line about it (SPEC 3).
pub const fn reading(of: Reading) -> (Text, Text) {
    match of {
        Reading::Softmax => (READ_SOFTMAX, READ_SOFTMAX_HINT),
        Reading::Bias => (READ_BIAS, READ_BIAS_HINT),
        Reading::Product => (READ_PRODUCT, READ_PRODUCT_HINT),
    }
}

/// Name of a bias shape.
pub const fn bias_shape(of: BiasShape) -> Text {
    match of {
        BiasShape::Normal => SHAPE_NORMAL,
        BiasShape::Xavier => SHAPE_XAVIER,
        BiasShape::Sinusoidal => SHAPE_SINUSOIDAL,
        BiasShape::OneHot => SHAPE_ONE_HOT,
    }
}
