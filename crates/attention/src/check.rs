//! Checks that the tensors of a layer and of its biases have the shapes of SPEC "Sizes and
//! symbols". Code that runs after this check may index freely.

use std::fmt;

use super::layer::{Biases, Input, Layer, Linear, Output, ScoreBias, Tensor};

/// A tensor that does not fit its layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Which tensor, by its name in files: `w_q`, `p_k`, `s` …
    pub name: &'static str,
    /// The shape it has.
    pub shape: Vec<usize>,
    /// The shapes that would fit.
    pub wanted: Vec<Vec<usize>>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} has shape {:?}, not {:?}",
            self.name, self.shape, self.wanted
        )
    }
}

impl std::error::Error for Misfit {}

fn fits(name: &'static str, tensor: &Tensor, wanted: &[&[usize]]) -> Result<(), Misfit> {
    let whole = tensor.shape.iter().product::<usize>() == tensor.data.len();
    if whole && wanted.contains(&&*tensor.shape) {
        return Ok(());
    }
    Err(Misfit {
        name,
        shape: tensor.shape.clone(),
        wanted: wanted.iter().map(|s| s.to_vec()).collect(),
    })
}

fn fits_linear(names: [&'static str; 2], linear: &Linear, d: usize) -> Result<(), Misfit> {
    fits(names[0], &linear.weight, &[&[d, d]])?;
    linear
        .bias
        .as_ref()
        .map_or(Ok(()), |bias| fits(names[1], bias, &[&[d]]))
}

impl Layer {
    /// Checks that all tensors have the sizes that `heads`, `seq_len` and `head_dim` promise. A
    /// preview (`preview_of`) keeps the width d of the real layer in x and in the rows of w_q, w_k.
    ///
    /// # Errors
    /// Returns the first tensor that does not fit; sizes of 0 do not fit either.
    pub fn check(&self) -> Result<(), Misfit> {
        let (h, l, n, d) = (self.heads, self.seq_len, self.head_dim, self.model_dim());
        if h == 0 || l == 0 || n == 0 {
            return Err(Misfit {
                name: "layer",
                shape: vec![h, l, n],
                wanted: Vec::new(),
            });
        }
        match &self.input {
            Input::Heads { q, k, v } => {
                for (name, tensor) in [("q", q), ("k", k), ("v", v)] {
                    fits(name, tensor, &[&[h, l, n]])?;
                }
            }
            Input::Hidden { x, w_q, w_k, w_v } => {
                let width = match (self.preview_of, &*x.shape) {
                    (Some(_), &[_, width]) => width,
                    _ => d,
                };
                fits("x", x, &[&[l, width]])?;
                for (names, linear) in [
                    (["w_q", "b_q"], w_q),
                    (["w_k", "b_k"], w_k),
                    (["w_v", "b_v"], w_v),
                ] {
                    let Some(linear) = linear else { continue };
                    if self.preview_of.is_some() {
                        fits(names[0], &linear.weight, &[&[d, width]])?;
                        if let Some(bias) = &linear.bias {
                            fits(names[1], bias, &[&[d]])?;
                        }
                    } else {
                        fits_linear(names, linear, d)?;
                    }
                }
            }
        }
        match &self.output {
            Output::Identity => {}
            Output::Full(linear) => fits_linear(["w_o", "b_o"], linear, d)?,
            Output::Factors { w_1, w_2, bias } => {
                let r = w_1.shape.first().copied().unwrap_or(0);
                fits("w_1", w_1, &[&[r, d]])?;
                fits("w_2", w_2, &[&[d, r]])?;
                if let Some(bias) = bias {
                    fits("b_o", bias, &[&[d]])?;
                }
            }
        }
        if let Some(mask) = &self.mask
            && Some(mask.len()) != l.checked_mul(l)
        {
            return Err(Misfit {
                name: "mask",
                shape: vec![mask.len()],
                wanted: vec![vec![l, l]],
            });
        }
        Ok(())
    }
}

impl Biases {
    /// Checks that P_K, P_V and s have sizes that fit `layer`.
    ///
    /// # Errors
    /// Returns the first that does not fit.
    pub fn check(&self, layer: &Layer) -> Result<(), Misfit> {
        let (h, l, n) = (layer.heads, layer.seq_len, layer.head_dim);
        for (name, bias) in [("p_k", &self.p_k), ("p_v", &self.p_v)] {
            if let Some(bias) = bias {
                fits(name, &bias.unit, &[&[h, 1, n], &[h, l, n]])?;
            }
        }
        match &self.s {
            Some(ScoreBias::Dense(s)) => fits("s", s, &[&[h, l, l]]),
            Some(ScoreBias::Curve { table, .. }) if table.len() != (2 * l).saturating_sub(1) => {
                Err(Misfit {
                    name: "s",
                    shape: vec![table.len()],
                    wanted: vec![vec![(2 * l).saturating_sub(1)]],
                })
            }
            _ => Ok(()),
        }
    }
}
