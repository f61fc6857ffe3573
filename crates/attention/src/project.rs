//! q, k, v of one head in f64, from any kind of layer input (SPEC "Sizes and symbols").

use nalgebra::DMatrix;

use super::layer::{Input, Layer, Linear, PositionBias, Tensor};

/// q, k, v of one head, row-major `[L, head_dim]`, without position biases.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// Queries.
    pub q: Vec<f64>,
    /// Keys.
    pub k: Vec<f64>,
    /// Values; `None` in a preview.
    pub v: Option<Vec<f64>>,
}

/// q, k, v of head `head`; a missing projection takes the head's columns of x as they are.
///
/// # Panics
/// When `head` is not a head of the layer or the layer fails [`Layer::check`]: a bug of the caller.
pub fn project(layer: &Layer, head: usize) -> Projected {
    match &layer.input {
        Input::Heads { q, k, v } => {
            let one = |tensor: &Tensor| doubles(tensor.outer(head));
            Projected {
                q: one(q),
                k: one(k),
                v: Some(one(v)),
            }
        }
        Input::Hidden { x, w_q, w_k, w_v } => {
            let n = layer.head_dim;
            let width = x.data.len() / layer.seq_len;
            // Row-major [L, width] is column-major [width, L]: x transposed, for nalgebra.
            let x_t = DMatrix::from_iterator(
                width,
                layer.seq_len,
                x.data.iter().map(|&value| f64::from(value)),
            );
            let one = |linear: &Option<Linear>| match linear {
                Some(linear) => apply(linear, head * n..(head + 1) * n, &x_t),
                // In column-major xᵀ, the head's columns of x are rows.
                None => x_t.rows(head * n, n).iter().copied().collect(),
            };
            Projected {
                q: one(w_q),
                k: one(w_k),
                v: layer.preview_of.is_none().then(|| one(w_v)),
            }
        }
    }
}

/// Rows `rows` of `W x + b` for every token: row-major `[L, rows]`. `x_t` is `[in, L]`.
pub(super) fn apply(linear: &Linear, rows: std::ops::Range<usize>, x_t: &DMatrix<f64>) -> Vec<f64> {
    let width = x_t.nrows();
    let weights = &linear.weight.data[rows.start * width..rows.end * width];
    let w = DMatrix::from_row_iterator(rows.len(), width, weights.iter().map(|&x| f64::from(x)));
    let mut y = w * x_t;
    if let Some(bias) = &linear.bias {
        let bias = &bias.data[rows];
        for mut column in y.column_iter_mut() {
            for (value, &b) in column.iter_mut().zip(bias) {
                *value += f64::from(b);
            }
        }
    }
    // Column-major [rows, L] is row-major [L, rows].
    y.data.into()
}

/// `amplitude · unit` of one head, `[1 or L, head_dim]`; `None` when there is nothing to add.
pub fn position_bias(bias: Option<&PositionBias>, head: usize) -> Option<Vec<f64>> {
    let bias = bias.filter(|bias| bias.amplitude != 0.0)?;
    let amplitude = f64::from(bias.amplitude);
    let unit = bias.unit.outer(head);
    Some(unit.iter().map(|&x| amplitude * f64::from(x)).collect())
}

/// `rows + bias`, where `bias` is one row for all rows or one for each.
pub fn add_bias(mut rows: Vec<f64>, bias: Option<&[f64]>) -> Vec<f64> {
    if let Some(bias) = bias {
        for (value, b) in rows.iter_mut().zip(bias.iter().cycle()) {
            *value += b;
        }
    }
    rows
}

/// f32 numbers as f64.
pub(super) fn doubles(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|&x| f64::from(x)).collect()
}
