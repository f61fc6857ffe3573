//! Biases whose numbers come from a seed: the list of them, their shapes, and the numbers at
//! amplitude 1, computed at once or in chunks on another thread.

use super::resolve::{self, Sizes};
use super::{Bias, BiasShape, Cjar};
use attnscope_attention::layer::Tensor;
use serde::{Deserialize, Serialize};

/// A bias whose numbers come from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// P_K, `[H, 1 or L, d_h]`.
    PK,
    /// P_V, `[H, 1 or L, d_h]`.
    PV,
    /// A dense s, `[H, L, L]`.
    S,
}

/// Everything that the numbers of a [`Unit`] depend on; the amplitude does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKey {
    /// Shape, one row per position, seed, sizes.
    Position(BiasShape, bool, u32, Sizes),
    /// Seed, sizes.
    Dense(u32, Sizes),
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 3] = [Self::PK, Self::PV, Self::S];

    fn position(self, cjar: &Cjar) -> Option<&Bias> {
        match self {
            Self::PK => Some(&cjar.p_k),
            Self::PV => Some(&cjar.p_v),
            Self::S => None,
        }
    }

    /// What its numbers depend on.
    pub fn key(self, cjar: &Cjar, sizes: Sizes) -> UnitKey {
        match self.position(cjar) {
            Some(bias) => UnitKey::Position(bias.shape, bias.per_position, bias.seed, sizes),
            None => UnitKey::Dense(cjar.s.seed, sizes),
        }
    }

    /// Its shape; `None` for a dense s that is too large to compute.
    pub fn shape(self, cjar: &Cjar, sizes: Sizes) -> Option<[usize; 3]> {
        match self.position(cjar) {
            Some(bias) => {
                let rows = if bias.per_position { sizes.seq_len } else { 1 };
                Some([sizes.heads, rows, sizes.head_dim])
            }
            None => (sizes.dense_fits()).then_some([sizes.heads, sizes.seq_len, sizes.seq_len]),
        }
    }

    /// Its numbers.
    pub fn make(self, cjar: &Cjar, sizes: Sizes) -> Tensor {
        match self.position(cjar) {
            Some(bias) => resolve::unit(bias, sizes),
            None => resolve::dense_unit(cjar.s.seed, sizes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_those_of_what_is_made() {
        let sizes = Sizes {
            heads: 2,
            seq_len: 5,
            head_dim: 3,
        };
        for per_position in [false, true] {
            let mut cjar = Cjar::default();
            cjar.p_k.per_position = per_position;
            cjar.p_v.per_position = per_position;
            for unit in Unit::ALL {
                let shape = unit.shape(&cjar, sizes).map(Vec::from);
                assert_eq!(shape, Some(unit.make(&cjar, sizes).shape));
            }
        }
    }

    #[test]
    fn an_amplitude_does_not_change_the_numbers_and_everything_else_does() {
        let sizes = Sizes {
            heads: 1,
            seq_len: 5,
            head_dim: 3,
        };
        let cjar = Cjar::default();
        let mut louder = cjar.clone();
        (louder.p_k.amplitude, louder.s.amplitude) = (3.0, 3.0);
        let mut other = cjar.clone();
        (other.p_k.seed, other.p_v.seed, other.s.seed) = (7, 7, 7);
        for unit in Unit::ALL {
            let key = unit.key(&cjar, sizes);
            assert_eq!(unit.key(&louder, sizes), key);
            assert_eq!(unit.make(&louder, sizes), unit.make(&cjar, sizes));
            assert_ne!(unit.key(&other, sizes), key);
            let longer = Sizes {
                seq_len: 6,
                ..sizes
            };
            assert_ne!(unit.key(&cjar, longer), key);
        }
    }

    #[test]
    fn a_dense_s_that_is_too_large_has_no_shape() {
        let sizes = Sizes {
            heads: 8,
            seq_len: 65_536,
            head_dim: 32,
        };
        assert_eq!(Unit::S.shape(&Cjar::default(), sizes), None);
    }
}
