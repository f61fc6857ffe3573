//! The output projection in f64: `Y = concat(O) W_Oᵀ + b_O` (SPEC 4), full, by factors from the
//! file, or at a rank; and the whole layer by the reference.

use nalgebra::DMatrix;

use super::config::Config;
use super::layer::{Biases, Layer, Linear, Output, Tensor};
use super::low_rank::{Factors, factor_output};
use super::project::doubles;
use super::reference::{Head, ReferenceError};

/// O of all heads, `[H, L, head_dim]`.
///
/// # Errors
/// As [`Head::new`] and [`Head::output`].
pub fn head_outputs(
    layer: &Layer,
    config: &Config,
    biases: &Biases,
) -> Result<Vec<f64>, ReferenceError> {
    let mut all = Vec::with_capacity(layer.seq_len * layer.model_dim());
    for head in 0..layer.heads {
        all.extend(Head::new(layer, config, biases, head)?.output()?);
    }
    Ok(all)
}

/// Y `[L, d]` from O `[H, L, head_dim]`. With an output rank and a full W_O, `factors` are those of
/// [`factor_output`] if the caller already has them; factors from the file are used as given.
///
/// # Errors
/// When the factors of W_O cannot be computed.
pub fn layer_output(
    layer: &Layer,
    config: &Config,
    o: &[f64],
    factors: Option<&Factors>,
) -> Result<Vec<f64>, ReferenceError> {
    let o_t = concatenated(layer, o);
    let (mut y_t, bias) = match &layer.output {
        Output::Identity => (o_t, None),
        Output::Factors { w_1, w_2, bias } => (matrix(w_2) * (matrix(w_1) * o_t), bias.as_ref()),
        Output::Full(Linear { weight, bias }) => {
            let weight = match config.out_rank {
                None => matrix(weight),
                Some(rank) => match factors {
                    Some(factors) => factors.truncated(rank as usize),
                    None => factor_output(weight)?.truncated(rank as usize),
                },
            };
            (weight * o_t, bias.as_ref())
        }
    };
    if let Some(bias) = bias {
        let bias = doubles(&bias.data);
        for mut column in y_t.column_iter_mut() {
            for (value, b) in column.iter_mut().zip(&bias) {
                *value += b;
            }
        }
    }
    // Column-major [d, L] is row-major [L, d].
    Ok(y_t.data.into())
}

/// ‖T_c‖² for every component c of `factors`, T = concat(O) W_1ᵀ: together with σ it gives the
/// relative error of Y at every rank ([`super::low_rank::output_error`]).
pub fn component_energies(layer: &Layer, o: &[f64], factors: &Factors) -> Vec<f64> {
    let t = &factors.right * concatenated(layer, o);
    t.row_iter().map(|row| row.norm_squared()).collect()
}

/// concat(O)ᵀ `[d, L]` from O `[H, L, head_dim]`.
fn concatenated(layer: &Layer, o: &[f64]) -> DMatrix<f64> {
    let (l, n) = (layer.seq_len, layer.head_dim);
    DMatrix::from_fn(layer.model_dim(), l, |c, i| {
        o[((c / n) * l + i) * n + c % n]
    })
}

/// A `[rows, columns]` tensor as a matrix.
fn matrix(tensor: &Tensor) -> DMatrix<f64> {
    let (rows, columns) = (tensor.shape[0], tensor.shape[1]);
    DMatrix::from_row_iterator(rows, columns, tensor.data.iter().map(|&x| f64::from(x)))
}
