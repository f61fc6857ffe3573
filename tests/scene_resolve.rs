//! A Scene resolved for a layer: conventions, clamps, key counts, biases and curves against their
//! definitions.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use attnscope::layout::zoom;
use attnscope_attention::bias::{self, Numbers};
use attnscope_attention::config::{Config, Reading};
use attnscope_attention::layer::ScoreBias;
use attnscope_attention::visibility::Visibility;
use attnscope_scene::key_count::{KeyCount, torch_mask};
use attnscope_scene::resolve::{Sizes, score_bias, unit};
use attnscope_scene::{
    Bias, BiasShape, ColorScale, Convention, Curve, MAX_SEQ_LEN, Mechanism, Quantity, Rect, Scale,
    Scene, View,
};
use proptest::prelude::*;

const MINILM: Sizes = Sizes {
    heads: 12,
    seq_len: 24,
    head_dim: 32,
};

fn windowed(convention: Convention, size: u32) -> Scene {
    let mut scene = Scene {
        mechanism: Mechanism::Window,
        ..Scene::default()
    };
    scene.window.convention = convention;
    scene.window.size = size;
    scene
}

#[test]
fn conventions_are_those_of_the_specification() {
    for (convention, w, left, right, causal) in [
        (Convention::Distance, 8, 8, 8, false),
        (Convention::CausalDistance, 8, 8, 0, true),
        (Convention::CausalCount, 8, 7, 0, true),
        (Convention::CausalCount, 0, -1, 0, true),
        (Convention::Longformer, 9, 4, 4, false),
    ] {
        let got = windowed(convention, w).visibility();
        assert_eq!(
            (got.left, got.right, got.causal),
            (Some(left), Some(right), causal),
            "{convention:?} {w}"
        );
    }
    let mut explicit = windowed(Convention::Explicit, 8);
    explicit.window.left = None;
    explicit.window.right = Some(-1);
    let got = explicit.visibility();
    assert_eq!((got.left, got.right, got.causal), (None, Some(-1), false));
}

#[test]
fn the_window_acts_only_where_it_should() {
    let mut scene = windowed(Convention::CausalCount, 3);
    scene.window.sinks = 1;
    assert!(scene.window_acts());
    scene.mechanism = Mechanism::Full;
    assert_eq!(scene.visibility(), Visibility::default());
    scene.causal = true;
    assert!(scene.visibility().causal);
    scene.causal = false;
    scene.mechanism = Mechanism::Cjar;
    assert_eq!(scene.visibility(), Visibility::default());
    scene.windowed = true;
    assert_eq!(scene.visibility().left, Some(2));
    assert!(scene.visibility().causal);
}

#[test]
fn what_cjar_adds_stays_in_cjar() {
    let mut scene = Scene {
        mechanism: Mechanism::Cjar,
        ..Scene::default()
    };
    scene.cjar.reading = Reading::Product;
    scene.cjar.segment = Some(5);
    scene.cjar.score_rank = Some(8);
    scene.cjar.out_rank = Some(64);
    scene.cjar.p_k.amplitude = 0.5;
    scene.cjar.s.amplitude = 1.0;
    let config = scene.config(MINILM);
    assert_eq!(config.reading, Reading::Product);
    assert_eq!(config.segment, Some(5));
    assert_eq!((config.score_rank, config.out_rank), (Some(8), Some(64)));
    let biases = scene.biases(MINILM);
    assert_eq!(biases.p_k.as_ref().unwrap().amplitude, 0.5);
    assert_eq!(biases.p_k.unwrap().unit.shape, [12, 24, 32]);
    assert!(biases.p_v.is_none());
    assert!(matches!(biases.s, Some(ScoreBias::Curve { table, .. }) if table.len() == 47));

    scene.cjar.reading = Reading::Softmax;
    assert!(scene.biases(MINILM).s.is_none());

    scene.mechanism = Mechanism::Full;
    assert_eq!(scene.config(MINILM), Config::full(32));
    assert_eq!(
        scene.biases(MINILM),
        attnscope_attention::layer::Biases::default()
    );
}

#[test]
fn what_takes_nothing_away_is_absent() {
    let mut scene = Scene {
        mechanism: Mechanism::Cjar,
        ..Scene::default()
    };
    for (segment, score, out, want) in [
        (24, 24, 384, (None, None, None)),
        (23, 23, 383, (Some(23), Some(23), Some(383))),
        (99, 99, 999, (None, None, None)),
    ] {
        scene.cjar.segment = Some(segment);
        scene.cjar.score_rank = Some(score);
        scene.cjar.out_rank = Some(out);
        let got = scene.config(MINILM);
        assert_eq!((got.segment, got.score_rank, got.out_rank), want);
    }
}

#[test]
fn scales_are_those_of_the_specification() {
    let mut scene = Scene::default();
    assert_eq!(scene.config(MINILM).scale, 1.0 / 32f64.sqrt());
    scene.scale = Scale::ModelDim;
    assert_eq!(scene.config(MINILM).scale, 1.0 / 384f64.sqrt());
    scene.scale = Scale::Free(0.25);
    assert_eq!(scene.config(MINILM).scale, 0.25);
}

#[test]
fn head_rectangle_and_cell_are_those_of_the_layer() {
    let mut scene = Scene::default();
    assert_eq!((scene.head(12), scene.head(4), scene.head(1)), (8, 3, 0));
    let rect = |row, col, rows, cols| Rect {
        row,
        col,
        rows,
        cols,
    };
    assert_eq!(scene.rect(24), rect(0, 0, 24, 24));
    for (given, len, want) in [
        (rect(4, 5, 6, 7), 24, rect(4, 5, 6, 7)),
        (rect(20, 30, 6, 7), 24, rect(20, 23, 4, 1)),
        (rect(9, 9, 9, 9), 1, rect(0, 0, 1, 1)),
    ] {
        scene.view.rect = Some(given);
        assert_eq!(scene.rect(len), want);
    }
    scene.view.cell = Some((12, 6));
    assert_eq!(scene.cell(24), Some((12, 6)));
    assert_eq!(scene.cell(12), None);
}

#[test]
fn colours_of_long_texts_are_logarithmic_unless_numbers_can_be_negative_or_one_is_chosen() {
    let mut scene = Scene::default();
    let scales = |scene: &Scene| [24, 64, 65, 120, 512, 65_536].map(|len| scene.color_scale(len));
    let [linear, log] = [ColorScale::Linear, ColorScale::Log];
    assert_eq!(scales(&scene), [linear, linear, log, log, log, log]);
    // Colours keep their meaning while the window moves.
    assert_eq!(windowed(Convention::Distance, 0).color_scale(512), log);
    scene.view.quantity = Quantity::Score;
    assert_eq!(scales(&scene), [linear; 6]);
    scene.view.quantity = Quantity::Weights;
    scene.cjar.reading = Reading::Product;
    assert_eq!(scene.color_scale(512), log, "CJAR is not chosen");
    scene.mechanism = Mechanism::Cjar;
    assert_eq!(scales(&scene), [linear; 6]);
    for chosen in [linear, ColorScale::Sqrt, log] {
        scene.view.color = Some(chosen);
        assert_eq!(scales(&scene), [chosen; 6]);
    }
}

/// Legal starts and sizes of one axis of a rectangle, often near a short text.
fn side() -> impl Strategy<Value = (u32, u32)> {
    let start = prop_oneof![3 => 0..48u32, 1 => 0..MAX_SEQ_LEN];
    start.prop_flat_map(|start| {
        let most = MAX_SEQ_LEN - start;
        let size = prop_oneof![3 => 1..=most.min(48), 1 => 1..=most];
        (Just(start), size)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Cell by cell: the requested cells that exist; on an axis without any, the last.
    #[test]
    fn the_visible_rectangle_is_what_the_map_has_of_the_asked_one(
        (row, rows) in side(),
        (col, cols) in side(),
        len in prop_oneof![3 => 1..=48u32, 1 => 1..=MAX_SEQ_LEN],
    ) {
        let asked = Rect { row, col, rows, cols };
        let (scene, warnings) = Scene {
            view: View { rect: Some(asked), ..View::default() },
            ..Scene::default()
        }
        .sanitize();
        prop_assert!(warnings.is_empty() && scene.view.rect == Some(asked), "not a legal rectangle");
        let there = |start: u32, size: u32| {
            let all: Vec<u32> = (start..start + size).filter(|&at| at < len).collect();
            if all.is_empty() { vec![len - 1] } else { all }
        };
        let visible = scene.rect(len as usize);
        let got = |start: u32, size: u32| (start..start + size).collect::<Vec<_>>();
        prop_assert_eq!(got(visible.row, visible.rows), there(row, rows));
        prop_assert_eq!(got(visible.col, visible.cols), there(col, cols));
        prop_assert_eq!(Rect::visible(Some(visible), len), visible);
        // Zooming and panning start from it and stay inside.
        let whole = Rect::whole(len);
        for next in [
            zoom::scaled(visible, 2.0, (0.3, 0.7), len),
            zoom::panned(visible, (5, -7), len),
            zoom::showing(visible, (0, len - 1), len),
        ] {
            let next = next.unwrap_or(whole);
            prop_assert_eq!(Rect::visible(Some(next), len), next);
        }
    }
}

fn visibility() -> impl Strategy<Value = Visibility> {
    let reach = || proptest::option::of(-5..9i32);
    (
        any::<bool>(),
        (reach(), reach()),
        1..5u32,
        0..5u32,
        0..5u32,
        0..14u32,
    )
        .prop_map(
            |(causal, (left, right), dilation, sinks, globals, padding)| Visibility {
                causal,
                left,
                right,
                dilation,
                sinks,
                globals,
                padding,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn counted_keys_are_the_visible_ones(visibility in visibility(), len in 1..20usize) {
        let rows: Vec<u32> = (0..len)
            .map(|i| (0..len).filter(|&j| visibility.visible(i, j, len, None)).count() as u32)
            .collect();
        let count = KeyCount::new(&visibility, len);
        prop_assert_eq!(count.min, *rows.iter().min().unwrap());
        prop_assert_eq!(count.max, *rows.iter().max().unwrap());
        prop_assert_eq!(count.total, rows.iter().map(|&n| u64::from(n)).sum::<u64>());
    }
}

/// The operands of `operator` in a Python expression, outside of parentheses.
fn split<'a>(text: &'a str, operator: &str) -> Vec<&'a str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(operator) => {
                parts.push(&text[start..at]);
                start = at + operator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Evaluates a mask line at (i, j) as Python does: `&` binds closer than `|`.
fn evaluate(text: &str, i: i64, j: i64, len: i64) -> bool {
    let any = split(text, " | ");
    if any.len() > 1 {
        return any.iter().any(|part| evaluate(part, i, j, len));
    }
    let all = split(text, " & ");
    if all.len() > 1 {
        return all.iter().all(|part| evaluate(part, i, j, len));
    }
    let inner = text.strip_prefix('(').unwrap().strip_suffix(')').unwrap();
    if inner.contains(" & ") || inner.contains(" | ") {
        return evaluate(inner, i, j, len);
    }
    let value = |text: &str| match text {
        "i" => i,
        "j" => j,
        "j - i" => j - i,
        _ => match text.strip_prefix("(j - i) % ") {
            Some(step) => (j - i).rem_euclid(step.parse().unwrap()),
            None => match text.strip_prefix("L - ") {
                Some(padding) => len - padding.parse::<i64>().unwrap(),
                None => text.parse().unwrap(),
            },
        },
    };
    let compared = [" <= ", " >= ", " == ", " < "]
        .into_iter()
        .find_map(|operator| inner.split_once(operator).map(|sides| (operator, sides)));
    let (operator, (left, right)) = compared.unwrap();
    let (left, right) = (value(left), value(right));
    match operator {
        " <= " => left <= right,
        " >= " => left >= right,
        " == " => left == right,
        _ => left < right,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn the_torch_line_makes_the_same_mask(visibility in visibility(), len in 1..12i64) {
        let line = torch_mask(&visibility);
        for (i, j) in (0..len).flat_map(|i| (0..len).map(move |j| (i, j))) {
            let made = line.as_ref().is_none_or(|line| evaluate(line, i, j, len));
            let sees = visibility.visible(i as usize, j as usize, len as usize, None);
            prop_assert_eq!(made, sees, "({}, {}) of {:?}", i, j, line);
        }
    }
}

#[test]
fn the_torch_line_names_every_part_of_the_mask() {
    assert_eq!(torch_mask(&Visibility::default()), None);
    let causal = Visibility {
        causal: true,
        ..Visibility::default()
    };
    assert_eq!(torch_mask(&causal).unwrap(), "(j <= i)");
    let mut scene = windowed(Convention::CausalCount, 4);
    assert_eq!(
        torch_mask(&scene.visibility()).unwrap(),
        "(j - i >= -3) & (j - i <= 0) & (j <= i)"
    );
    scene.window.convention = Convention::Distance;
    scene.window.dilation = 2;
    scene.window.sinks = 1;
    scene.window.globals = 3;
    assert_eq!(
        torch_mask(&scene.visibility()).unwrap(),
        "((j - i >= -4) & (j - i <= 4) & ((j - i) % 2 == 0)) | (j < 3) | (i < 3)"
    );
    scene.causal = true;
    scene.window.dilation = 1;
    assert_eq!(
        torch_mask(&scene.visibility()).unwrap(),
        "(((j - i >= -4) & (j - i <= 4)) | (j < 3) | (i < 3)) & (j <= i)"
    );
}

#[test]
fn the_curve_is_its_formula() {
    let s = Curve {
        amplitude: 2.0,
        slope: 0.25,
        decay: 0.5,
        wave: 3.0,
        period: 8.0,
        bump: 4.0,
        at: -3.0,
        width: 2.0,
        ..Curve::default()
    };
    // The common part, taken out of all entries, is added back.
    let curve = |seq_len| {
        let sizes = Sizes { seq_len, ..MINILM };
        let Some(ScoreBias::Curve { table, common }) = score_bias(&s, sizes, None) else {
            panic!("a curve");
        };
        assert!(table.iter().all(|&s| s <= 0.0) && table.contains(&0.0));
        table
            .iter()
            .map(|&s| f64::from(s) + common)
            .collect::<Vec<f64>>()
    };
    let table = curve(6);
    assert_eq!(table.len(), 11);
    // Offset −3: the bump is at its top, the cosine at 3/8 of its period.
    let wave = 3.0 * (-std::f64::consts::FRAC_1_SQRT_2);
    let want = 2.0 * (0.25 * -3.0 - 0.5 * 3.0 + wave + 4.0);
    assert!((table[2] - want).abs() < 1e-6);
    let want = 2.0 * (3.0 + 4.0 * (-9.0f64 / 8.0).exp());
    assert!((table[5] - want).abs() < 1e-6);
    assert_eq!(curve(1).len(), 1);
}

#[test]
fn unit_tensors_are_what_they_are_called() {
    let bias = |shape, per_position, seed| Bias {
        amplitude: 1.0,
        shape,
        per_position,
        seed,
    };
    let sizes = Sizes {
        heads: 4,
        seq_len: 512,
        head_dim: 32,
    };
    for shape in [
        BiasShape::Normal,
        BiasShape::Xavier,
        BiasShape::Sinusoidal,
        BiasShape::OneHot,
    ] {
        assert_eq!(unit(&bias(shape, false, 1), sizes).shape, [4, 1, 32]);
        assert_eq!(unit(&bias(shape, true, 1), sizes).shape, [4, 512, 32]);
    }

    let normal = unit(&bias(BiasShape::Normal, true, 7), sizes).data;
    let n = normal.len() as f64;
    let mean = normal.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let square = normal.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / n;
    let fourth = normal.iter().map(|&x| f64::from(x).powi(4)).sum::<f64>() / n;
    // Five standard errors of 65,536 numbers.
    assert!(mean.abs() < 0.02, "{mean}");
    assert!((square - 1.0).abs() < 0.03, "{square}");
    assert!((fourth - 3.0).abs() < 0.2, "{fourth}");

    let sines = unit(&bias(BiasShape::Sinusoidal, true, 7), sizes).data;
    assert_eq!(sines[..4], [0.0, 1.0, 0.0, 1.0]);
    assert!((f64::from(sines[32 * 3 + 1]) - 3f64.cos()).abs() < 1e-7);
    assert_eq!(sines[..512 * 32], sines[512 * 32..2 * 512 * 32]);

    let hot = unit(&bias(BiasShape::OneHot, true, 33), sizes).data;
    for (row, numbers) in hot.chunks(32).enumerate() {
        let at = (33 + row % 512) % 32;
        assert!(
            numbers
                .iter()
                .enumerate()
                .all(|(dim, &x)| (x == 1.0) == (dim == at))
        );
        assert_eq!(numbers.iter().sum::<f32>(), 1.0);
    }
}

/// Mean, standard deviation, and fourth moment in units of the deviation.
fn moments(numbers: &[f32]) -> (f64, f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let of = |power: i32| {
        let parts = numbers.iter().map(|&x| (f64::from(x) - mean).powi(power));
        parts.sum::<f64>() / n
    };
    (mean, of(2).sqrt(), of(4) / of(2).powi(2))
}

/// The CJAR text: `nn.init.xavier_normal_(…, gain=0.02)` of `[1, H, n, d_h]`; PyTorch takes its
/// fans as H·n·d_h and 1·n·d_h.
#[test]
fn xavier_is_the_normal_one_with_the_fans_of_pytorch() {
    for (heads, seq_len, head_dim) in [(12, 24, 32), (12, 512, 32), (4, 65, 40), (1, 200, 8)] {
        for per_position in [false, true] {
            let n = if per_position { seq_len } else { 1 };
            let (fan_in, fan_out) = (heads * n * head_dim, n * head_dim);
            let want = 0.02 * (2.0 / (fan_in + fan_out) as f64).sqrt();
            let told = bias::xavier_deviation(heads, n, head_dim);
            assert!((told / want - 1.0).abs() < 1e-12, "{told} {want}");
            let sizes = Sizes {
                heads,
                seq_len,
                head_dim,
            };
            let drawn = |seed| {
                let bias = Bias {
                    amplitude: 1.0,
                    shape: BiasShape::Xavier,
                    per_position,
                    seed,
                };
                unit(&bias, sizes).data
            };
            // Pools seeds until there are enough numbers to judge.
            let mut numbers: Vec<f32> = Vec::new();
            let mut seed = 0;
            while numbers.len() < 100_000 {
                numbers.extend(drawn(seed).iter());
                seed += 1;
            }
            let count = numbers.len() as f64;
            let (mean, deviation, fourth) = moments(&numbers);
            // Five standard errors each. A uniform one has a fourth moment of 1.8.
            assert!(mean.abs() < 5.0 * want / count.sqrt(), "{mean}");
            let off = (deviation / want - 1.0).abs();
            assert!(off < 5.0 / (2.0 * count).sqrt(), "{deviation} {want}");
            assert!(
                (fourth - 3.0).abs() < 5.0 * (24.0 / count).sqrt(),
                "{fourth}"
            );
            let within = |sigmas: f64| {
                let near = |x: &&f32| f64::from(**x).abs() < sigmas * want;
                numbers.iter().filter(near).count() as f64 / count
            };
            for (sigmas, share) in [(1.0, 0.682_689), (2.0, 0.954_500), (3.0, 0.997_300)] {
                let (got, error) = (within(sigmas), (share * (1.0 - share) / count).sqrt());
                assert!((got - share).abs() < 5.0 * error, "{sigmas}: {got}");
            }
        }
    }
    // At first invisible on any map.
    let shared = bias::xavier_deviation(12, 1, 32);
    assert!((shared - 0.001_387).abs() < 1e-6, "{shared}");
}

#[test]
fn random_rows_do_not_depend_on_the_length() {
    let (short, long) = (bias::normal(2, 5, 4, 3), bias::normal(2, 9, 4, 3));
    for head in 0..2 {
        assert_eq!(short.outer(head), &long.outer(head)[..20]);
    }
    assert_ne!(short.outer(0), short.outer(1));
    assert_ne!(short.data, bias::normal(2, 5, 4, 4).data);
}

#[test]
fn numbers_are_the_same_on_every_platform() {
    let mut numbers = Numbers::new(1, 0);
    let got: Vec<u64> = (0..4).map(|_| numbers.normal().to_bits()).collect();
    assert_eq!(got, PINNED, "{got:#x?}");
}

/// Bits of the first four normal numbers of seed 1, stream 0.
const PINNED: [u64; 4] = [
    0x3fec_6bbf_c803_b8ea,
    0x3fdf_6d7f_fee7_15f9,
    0x3fd0_848b_792a_05ff,
    0x3ff5_28b6_08a2_9b0d,
];
