//! Best low-rank approximations (Eckart–Young) of q k'ᵀ per head (SPEC 1, score rank) and of W_O
//! (SPEC 4, output rank), and the accuracy they lose.

use std::fmt;
use std::sync::Arc;

use nalgebra::DMatrix;

use super::layer::{Biases, Layer, Tensor, fresh_id};
use super::project::{add_bias, position_bias, project};

/// q̃, k̃ `[H, L, n]`, columns by decreasing singular value, each carrying √σ: the first ρ columns
/// are the best rank-ρ approximation of q k'ᵀ (SPEC 1). Computed off the main thread.
#[derive(Debug, PartialEq)]
pub struct ScoreFactors {
    /// Cache key.
    pub id: u64,
    /// `[H, L, n]`, n = min(L, d_h).
    pub q: Tensor,
    /// `[H, L + 1, n]`: k̃ without the part that its rows have in common, then that part as the
    /// last row (SPEC 7: it moves no softmax weight, and without it scores keep their digits).
    pub k: Tensor,
}

/// W_O = W_2 W_1 by decreasing singular value, each factor carrying √σ (SPEC 4).
#[derive(Debug, PartialEq)]
pub struct OutFactors {
    /// Cache key.
    pub id: u64,
    /// `[d, d]`: row c is component c.
    pub w_1: Tensor,
    /// `[d, d]`: column c is component c.
    pub w_2: Tensor,
    /// d singular values σ, decreasing.
    pub sigma: Arc<[f32]>,
}

/// Why a matrix could not be factored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowRankError {
    /// It holds a number that is not finite.
    NotFinite,
    /// The iteration did not converge, or the product of the factors is not the matrix.
    NotConverged,
}

impl fmt::Display for LowRankError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "a matrix with numbers that are not finite has no factors",
            Self::NotConverged => "the singular value decomposition did not converge",
        })
    }
}

impl std::error::Error for LowRankError {}

/// A matrix as a product, in f64: `left · right`, component c = column c of `left` times row c of
/// `right`, by decreasing σ, each side carrying √σ.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// `[rows, n]`.
    pub left: DMatrix<f64>,
    /// `[n, columns]`.
    pub right: DMatrix<f64>,
    /// n singular values, decreasing.
    pub sigma: Vec<f64>,
}

impl Factors {
    /// The best approximation of rank `rank`.
    pub fn truncated(&self, rank: usize) -> DMatrix<f64> {
        let rank = rank.min(self.sigma.len());
        self.left.columns(0, rank) * self.right.rows(0, rank)
    }

    /// Whether the product of these factors is `matrix` and σ decreases.
    fn multiplies_back_to(&self, matrix: &DMatrix<f64>) -> bool {
        let off = (&self.left * &self.right - matrix).norm();
        self.sigma.is_sorted_by(|a, b| a >= b) && off <= 1e-11 * matrix.norm()
    }

    /// The factors of the transpose.
    fn transposed(self) -> Self {
        Self {
            left: self.right.transpose(),
            right: self.left.transpose(),
            sigma: self.sigma,
        }
    }
}

/// Factors `matrix`.
///
/// # Errors
/// When it is not finite, or the decomposition fails its own check.
pub fn factor(matrix: &DMatrix<f64>) -> Result<Factors, LowRankError> {
    if !matrix.iter().all(|x| x.is_finite()) {
        return Err(LowRankError::NotFinite);
    }
    // nalgebra's iteration may end in a wrong decomposition: for 1 in 10 rank-deficient matrices at
    // full precision, and for 1 in 200,000 small regular ones, whose two largest σ are almost
    // equal, at any precision. So its result is multiplied back, and where that fails one-sided
    // Jacobi, slow and reliable, factors the matrix.
    checked_svd(matrix)
        .or_else(|| {
            let jacobi = if matrix.nrows() < matrix.ncols() {
                jacobi(matrix.transpose())?.transposed()
            } else {
                jacobi(matrix.clone())?
            };
            jacobi.multiplies_back_to(matrix).then_some(jacobi)
        })
        .ok_or(LowRankError::NotConverged)
}

/// The SVD, if it converges and the product is `matrix`.
fn checked_svd(matrix: &DMatrix<f64>) -> Option<Factors> {
    const STEPS: usize = 100_000;
    let svd = matrix.clone().try_svd(true, true, 1e-13, STEPS)?;
    let (mut left, mut right) = (svd.u?, svd.v_t?);
    let sigma: Vec<f64> = svd.singular_values.iter().map(|s| s.max(0.0)).collect();
    for (c, s) in sigma.iter().enumerate() {
        let root = s.sqrt();
        left.column_mut(c).scale_mut(root);
        right.row_mut(c).scale_mut(root);
    }
    let factors = Factors { left, right, sigma };
    factors.multiplies_back_to(matrix).then_some(factors)
}

/// One-sided Jacobi for a matrix with at least as many rows as columns: rotates pairs of columns
/// until all are orthogonal (Golub and Van Loan, Matrix Computations, 8.6.3). `None` when 60 sweeps
/// are not enough; ten are usual.
fn jacobi(mut columns: DMatrix<f64>) -> Option<Factors> {
    let n = columns.ncols();
    let mut v = DMatrix::<f64>::identity(n, n);
    let mut turned = true;
    for _ in 0..60 {
        if !turned {
            break;
        }
        turned = false;
        for a in 0..n {
            for b in a + 1..n {
                let (x, y) = (columns.column(a), columns.column(b));
                let (xx, yy, xy) = (x.norm_squared(), y.norm_squared(), x.dot(&y));
                if xy.abs() <= 1e-14 * (xx * yy).sqrt() {
                    continue;
                }
                turned = true;
                let zeta = (yy - xx) / (2.0 * xy);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = tangent.hypot(1.0).recip();
                for matrix in [&mut columns, &mut v] {
                    turn(matrix, (a, b), cosine, cosine * tangent);
                }
            }
        }
    }
    if turned {
        return None;
    }
    let norms: Vec<f64> = columns.column_iter().map(|column| column.norm()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    let side = |matrix: &DMatrix<f64>, scale: fn(f64) -> f64| {
        let mut sorted = matrix.select_columns(&order);
        for (mut column, &from) in sorted.column_iter_mut().zip(&order) {
            column.scale_mut(scale(norms[from]));
        }
        sorted
    };
    Some(Factors {
        left: side(&columns, |s| if s > 0.0 { s.sqrt().recip() } else { 0.0 }),
        right: side(&v, f64::sqrt).transpose(),
        sigma: order.iter().map(|&from| norms[from]).collect(),
    })
}

/// Rotates columns a and b of `matrix` by an angle given as cosine and sine.
fn turn(matrix: &mut DMatrix<f64>, (a, b): (usize, usize), cosine: f64, sine: f64) {
    let x = matrix.column(a) * cosine - matrix.column(b) * sine;
    let y = matrix.column(a) * sine + matrix.column(b) * cosine;
    matrix.set_column(a, &x);
    matrix.set_column(b, &y);
}

/// Factors the output projection `w_o` `[d, d]`, in f64.
///
/// # Errors
/// As [`factor`].
pub fn factor_output(w_o: &Tensor) -> Result<Factors, LowRankError> {
    let rows = w_o.shape.first().copied().unwrap_or(0);
    let columns = w_o.data.len().checked_div(rows).unwrap_or(0);
    factor(&DMatrix::from_row_iterator(
        rows,
        columns,
        w_o.data.iter().map(|&x| f64::from(x)),
    ))
}

/// Factors the output projection `w_o` `[d, d]`, in the form that engines need.
///
/// # Errors
/// As [`factor`].
pub fn out_factors(w_o: &Tensor) -> Result<OutFactors, LowRankError> {
    let factors = factor_output(w_o)?;
    let n = factors.sigma.len();
    Ok(OutFactors {
        id: fresh_id(),
        w_1: Tensor {
            shape: vec![n, factors.right.ncols()],
            data: row_major(&factors.right),
        },
        w_2: Tensor {
            shape: vec![factors.left.nrows(), n],
            data: row_major(&factors.left),
        },
        sigma: factors.sigma.iter().map(|&s| s as f32).collect(),
    })
}

/// Factors q k'ᵀ of one head without forming it: thin QR of both, SVD of the small core R_q R_kᵀ.
/// `q` and `k` are row-major `[L, dim]`; `left` is q̃ `[L, n]`, `right` is k̃ᵀ `[n, L]`, n = min(L,
/// dim).
///
/// # Errors
/// As [`factor`].
pub fn factor_score(q: &[f64], k: &[f64], dim: usize) -> Result<Factors, LowRankError> {
    let rows = q.len() / dim.max(1);
    let qr = |numbers: &[f64]| DMatrix::from_row_slice(rows, dim, numbers).qr();
    if !q.iter().chain(k).all(|x| x.is_finite()) {
        return Err(LowRankError::NotFinite);
    }
    let (q, k) = (qr(q), qr(k));
    let core = factor(&(q.r() * k.r().transpose()))?;
    Ok(Factors {
        left: q.q() * core.left,
        right: core.right * k.q().transpose(),
        sigma: core.sigma,
    })
}

/// q̃ and k̃ of every head of `layer` with the P_K of `biases`.
///
/// # Errors
/// As [`factor`].
pub fn score_factors(layer: &Layer, biases: &Biases) -> Result<ScoreFactors, LowRankError> {
    let (h, l, dim) = (layer.heads, layer.seq_len, layer.head_dim);
    let n = l.min(dim);
    let mut sides = [Vec::with_capacity(h * l * n), Vec::with_capacity(h * l * n)];
    for head in 0..h {
        let projected = project(layer, head);
        let p_k = position_bias(biases.p_k.as_ref(), head);
        let k = add_bias(projected.k, p_k.as_deref());
        let factors = factor_score(&projected.q, &k, dim)?;
        sides[0].extend(factors.left.transpose().iter().map(|&x| x as f32));
        // k̃ᵀ column-major [n, L] is k̃ row-major [L, n].
        let common: Vec<f32> = factors
            .right
            .column_mean()
            .iter()
            .map(|&x| x as f32)
            .collect();
        for key in factors.right.column_iter() {
            sides[1].extend(
                key.iter()
                    .zip(&common)
                    .map(|(&x, &c)| (x - f64::from(c)) as f32),
            );
        }
        sides[1].extend(common);
    }
    let [q, k] = sides;
    let tensor = |rows, data: Vec<f32>| Tensor {
        shape: vec![h, rows, n],
        data: data.into(),
    };
    Ok(ScoreFactors {
        id: fresh_id(),
        q: tensor(l, q),
        k: tensor(l + 1, k),
    })
}

fn row_major(matrix: &DMatrix<f64>) -> Arc<[f32]> {
    matrix.transpose().iter().map(|&x| x as f32).collect()
}

/// Share of Σσ² that the first `rank` components keep; 1 for a matrix of zeros.
pub fn energy_kept(sigma: &[f32], rank: usize) -> f64 {
    let energy = |part: &[f32]| part.iter().map(|&s| f64::from(s).powi(2)).sum::<f64>();
    let whole = energy(sigma);
    if whole > 0.0 {
        energy(&sigma[..rank.min(sigma.len())]) / whole
    } else {
        1.0
    }
}

/// ‖W − W_r‖ / ‖W‖ (Frobenius) at rank `rank`.
pub fn weight_error(sigma: &[f32], rank: usize) -> f64 {
    let tail = |from: usize| {
        sigma[from.min(sigma.len())..]
            .iter()
            .map(|&s| f64::from(s).powi(2))
            .sum::<f64>()
    };
    let whole = tail(0);
    if whole > 0.0 {
        (tail(rank) / whole).sqrt()
    } else {
        0.0
    }
}

/// ‖Y − Y_r‖ / ‖Y‖ (Frobenius) at rank `rank`, without computing Y_r: with T = O W_1ᵀ, whose column
/// c has `energies[c]` = ‖T_c‖², the components are orthogonal on the side of W_2, so ‖Y − Y_r‖² =
/// Σ_{c ≥ r} σ_c ‖T_c‖². `output_energy` is ‖Y‖². Returns 0 when Y is zero.
pub fn output_error(sigma: &[f32], energies: &[f32], output_energy: f64, rank: usize) -> f64 {
    let lost: f64 = sigma
        .iter()
        .zip(energies)
        .skip(rank)
        .map(|(&s, &e)| f64::from(s) * f64::from(e))
        .sum();
    if output_energy > 0.0 {
        (lost / output_energy).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
#[path = "low_rank_tests.rs"]
mod tests;
