//! Compares factors with matrices formed in full.
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

    /// The small core gives the same as the SVD of the whole q k'ᵀ.
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
    // Three equal tokens with a zero column; then only zeros.
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

/// Two almost equal σ: the product of nalgebra's factors is accurate to only 2e-9, at any
/// precision.
#[test]
fn almost_equal_singular_values_have_factors() {
    let a = 1.683_194_626_655_784_5;
    #[rustfmt::skip]
    let q = [
        a, -0.209_838_752_669_324_6, 2.825_478_097_134_928,
        -0.677_387_028_114_461_4, -0.330_314_180_235_168_56, -1.863_919_324_932_230_3,
        -0.994_029_485_736_629_7, -0.330_262_475_927_232_57, 1.799_530_433_413_045,
        -1.933_300_642_438_181, 2.881_559_678_004_397, -2.977_754_829_941_911,
        -2.631_772_765_622_153, -2.854_227_763_096_490_7, -0.851_060_867_144_577_4,
        -0.809_369_186_281_225_3, -0.170_384_282_435_099_62, -1.947_320_408_553_531_8,
        -1.696_783_882_231_759, -0.239_292_924_825_868_06, -0.035_057_293_125_455_58,
        -0.884_831_519_702_819_6, -2.648_712_107_360_894_6, 1.997_895_304_210_919_3,
        0.413_977_272_963_895_1, 2.304_902_396_633_749, -0.056_888_353_570_873_74,
    ];
    #[rustfmt::skip]
    let k = [
        2.264_499_720_385_096_3, -1.012_608_601_290_841_3, 1.655_266_245_828_944_2,
        1.922_142_819_897_747, 0.891_123_970_199_676_9, -2.110_965_861_121_964_5,
        2.928_695_553_094_657_5, 1.294_589_733_508_848_5, 2.205_089_312_627_977,
        -1.152_536_124_314_624_6, 2.642_601_855_406_987, 2.488_793_144_548_151_5,
        2.820_339_438_027_928_3, 0.337_503_636_248_851_7, -2.394_716_902_163_735_6,
        -1.307_769_549_002_227_2, 0.004_420_054_111_774_707, -0.881_610_993_859_111_7,
        1.135_819_515_605_717_8, -0.928_009_022_821_454_4, -1.070_346_040_500_411_5,
        -1.050_880_331_599_438_6, -2.070_265_639_886_528_7, 1.017_381_878_806_272_5,
        -0.201_968_433_011_903_6, -2.927_997_915_931_680_2, 0.091_214_161_700_021_28,
    ];
    let factors = factor_score(&q, &k, 3).unwrap();
    let whole = DMatrix::from_row_slice(9, 3, &q) * DMatrix::from_row_slice(9, 3, &k).transpose();
    assert!((factors.truncated(3) - &whole).norm() < 1e-11 * whole.norm());
}

/// The fallback gives the same as nalgebra where nalgebra works.
#[test]
fn rotations_and_the_library_agree() {
    for (rows, columns) in [(1, 1), (3, 3), (9, 4), (4, 9), (40, 40)] {
        let m = DMatrix::from_fn(rows, columns, |r, c| {
            ((r * 31 + c * c * 17) as f64 * 0.7).sin()
        });
        let tall = if rows < columns { m.transpose() } else { m };
        let slow = jacobi(tall.clone()).unwrap();
        let fast = checked_svd(&tall).unwrap();
        assert!(slow.multiplies_back_to(&tall));
        for (a, b) in slow.sigma.iter().zip(&fast.sigma) {
            assert!((a - b).abs() <= 1e-11 * (1.0 + fast.sigma[0]), "{a} {b}");
        }
    }
}
