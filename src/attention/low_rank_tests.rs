//! Factors against matrices formed in full.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn numbers(rows: usize, columns: usize) -> impl Strategy<Value = DMatrix<f64>> {
    proptest::collection::vec(-3.0f64..3.0, rows * columns)
        .prop_map(move |data| DMatrix::from_vec(rows, columns, data))
}

fn row_major_of(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().iter().copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The small core gives what the SVD of the whole q k'ᵀ gives.
    #[test]
    fn score_factors_are_the_best_of_the_whole(
        (q, k) in (1usize..12, 1usize..7)
            .prop_flat_map(|(l, dim)| (numbers(l, dim), numbers(l, dim))),
    ) {
        let factors = factor_score(&row_major_of(&q), &row_major_of(&k), q.ncols()).unwrap();
        let whole = &q * k.transpose();
        let n = q.nrows().min(q.ncols());
        prop_assert_eq!(factors.sigma.len(), n);
        let direct = factor(&whole).unwrap();
        for rank in 0..=n {
            let off = (factors.truncated(rank) - &whole).norm();
            let best = direct.sigma[rank.min(direct.sigma.len())..].iter()
                .map(|s| s * s).sum::<f64>().sqrt();
            prop_assert!((off - best).abs() <= 1e-9 * (1.0 + whole.norm()), "{off} {best}");
        }
    }
}

#[test]
fn rank_deficient_and_zero_scores_have_factors() {
    // Three equal tokens, a zero column; and nothing but zeros.
    let q = [1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 1.0, 0.0, 2.0];
    let factors = factor_score(&q, &q, 3).unwrap();
    let one = factors.truncated(1);
    assert!(one.iter().all(|x| (x - 5.0).abs() < 1e-12), "{one}");
    assert!(factors.sigma[1] < 1e-12);
    let zero = factor_score(&[0.0; 12], &[0.0; 12], 4).unwrap();
    assert!(zero.left.iter().chain(&zero.right).all(|x| *x == 0.0));
}

#[test]
fn what_is_not_finite_is_refused() {
    let nan = [1.0, f64::NAN];
    assert_eq!(factor_score(&nan, &nan, 1), Err(LowRankError::NotFinite));
    let w = Tensor::new(&[1, 1], vec![f32::INFINITY]).unwrap();
    assert_eq!(factor_output(&w), Err(LowRankError::NotFinite));
}

#[test]
fn factors_multiply_back_and_errors_are_those_of_the_matrix() {
    let d = 12;
    let data: Vec<f32> = (0..d * d)
        .map(|n| ((n * n * 7 + n) % 31) as f32 - 15.0)
        .collect();
    let w = Tensor::new(&[d, d], data).unwrap();
    let factors = out_factors(&w).unwrap();
    let m = |t: &Tensor| {
        DMatrix::from_row_iterator(t.shape[0], t.shape[1], t.data.iter().map(|&x| f64::from(x)))
    };
    let (w, w_1, w_2) = (m(&w), m(&factors.w_1), m(&factors.w_2));
    assert!((&w_2 * &w_1 - &w).norm() < 1e-5 * w.norm());
    for rank in [0, 1, 5, d] {
        let cut = w_2.columns(0, rank) * w_1.rows(0, rank);
        let off = (&cut - &w).norm() / w.norm();
        assert!((weight_error(&factors.sigma, rank) - off).abs() < 1e-6);
        assert!((energy_kept(&factors.sigma, rank) - (1.0 - off * off)).abs() < 1e-6);
    }
}
