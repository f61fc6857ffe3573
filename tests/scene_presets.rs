//! The starter scenes show what their comments say: the numbers below were computed from the same
//! data by a program of another language and are held here against the f64 reference.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use attnscope_attention::layer::{Layer, Output};
use attnscope_attention::low_rank::{energy_kept, out_factors};
use attnscope_attention::reference::{Head, Map};
use attnscope_data::minilm::{assemble, files};
use attnscope_scene::link_words::Word;
use attnscope_scene::presets::Fact;
use attnscope_scene::resolve::Sizes;
use attnscope_scene::{LessonId, Scene, Source};

/// What has to be equal after rounding to two digits.
const ROUNDED: f64 = 0.006;

fn layer(scene: &Scene) -> (Layer, Vec<String>) {
    let Source::MiniLm { text, layer } = scene.source else {
        panic!("the starter scenes are real heads");
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/data");
    let names = files(text, layer);
    let [x, qk, vo] =
        [names.hidden, names.qk, names.vo].map(|name| std::fs::read(folder.join(name)).unwrap());
    let named = assemble(layer, &x, &qk, &vo).unwrap();
    (named.layer, named.tokens.to_vec())
}

fn map(scene: &Scene) -> Map {
    let (layer, _) = layer(scene);
    let sizes = Sizes::from(&layer);
    let (config, biases) = (scene.config(sizes), scene.biases(sizes));
    Head::new(&layer, &config, &biases, scene.head(sizes.heads))
        .unwrap()
        .map()
}

/// Share of full attention's weight that each row of the Scene loses to its mask.
fn lost(scene: &Scene) -> Vec<f64> {
    let mut full = scene.clone();
    full.mechanism = attnscope_scene::Mechanism::Full;
    let (weights, visible) = (map(&full).weights, map(scene).visible);
    let l = 24;
    (0..l)
        .map(|i| {
            (0..l)
                .filter(|j| !visible[i * l + j])
                .map(|j| weights[i * l + j])
                .sum()
        })
        .collect()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

#[track_caller]
fn assert_near(got: f64, want: f64) {
    assert!((got - want).abs() < ROUNDED, "{got}, not {want}");
}

#[test]
fn scenes_and_moves_are_legal_links_of_their_lesson() {
    for lesson in LessonId::ALL {
        let scene = lesson.scene();
        let moved = lesson.suggested(scene.clone());
        assert_ne!(scene, moved, "{} moves nothing", lesson.word());
        for scene in [scene, moved] {
            assert_eq!(scene.lesson, Some(lesson));
            assert_eq!(scene.lang, None);
            let parsed = Scene::from_fragment(&scene.to_fragment());
            assert_eq!(parsed.warnings, []);
            assert_eq!(parsed.scene, scene);
        }
        assert!(!lesson.facts().is_empty());
    }
    let listed = LessonId::ALL.len() + LessonId::LISTINGS.len();
    assert_eq!(listed, LessonId::WORDS.len());
}

#[test]
fn full_looks_one_word_to_the_right_and_then_finds_the_bridge() {
    let scene = LessonId::Full.scene();
    let a = map(&scene).weights;
    let next: Vec<f64> = (0..23).map(|i| a[i * 24 + i + 1]).collect();
    let first: Vec<f64> = (0..24).map(|i| a[i * 24]).collect();
    assert_near(mean(&next), 0.62);
    assert_near(mean(&first), 0.33);

    let moved = LessonId::Full.suggested(scene);
    let (_, tokens) = layer(&moved);
    assert_eq!(
        (&*tokens[12], &*tokens[6], &*tokens[3]),
        ("it", "river", "bridge")
    );
    let a = map(&moved).weights;
    assert_near(a[12 * 24 + 6], 0.49);
    assert_near(a[12 * 24 + 3], 0.45);
}

#[test]
fn the_window_cuts_off_what_it_looked_at() {
    let scene = LessonId::Window.scene();
    let lost_rows = lost(&scene);
    assert_near(lost_rows[12], 0.99);
    assert_near(mean(&lost_rows), 0.70);
    assert!(lost_rows.iter().all(|&share| share <= lost_rows[12]));
    assert_eq!(scene.cell(24), Some((12, 6)));
    assert!(!map(&scene).visible[12 * 24 + 6]);

    let moved = LessonId::Window.suggested(scene);
    let a = map(&moved).weights;
    assert_near(a[12 * 24 + 6], 0.51);
    assert_near(a[12 * 24 + 3], 0.47);
    assert_near(mean(&lost(&moved)), 0.38);
}

#[test]
fn a_sink_gives_the_first_token_back() {
    let scene = LessonId::Sink.scene();
    assert_near(mean(&lost(&scene)), 0.63);
    let moved = LessonId::Sink.suggested(scene);
    assert_near(mean(&lost(&moved)), 0.02);
    let a = map(&moved).weights;
    let first: Vec<f64> = (0..24).map(|i| a[i * 24]).collect();
    assert!(mean(&first) > 0.7);
}

#[test]
fn a_shared_bias_moves_nothing_and_one_per_position_does() {
    let scene = LessonId::Bias.scene();
    let mut plain = scene.clone();
    plain.cjar.p_k.amplitude = 0.0;
    let plain = map(&plain).weights;
    let moved_by = |scene: &Scene| {
        let weights = map(scene).weights;
        weights
            .iter()
            .zip(&plain)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    };
    assert!(moved_by(&scene) < 1e-12);
    // Random numbers of this size move some weight by a lot.
    assert!(moved_by(&LessonId::Bias.suggested(scene)) > 0.2);
}

#[test]
fn the_literal_formula_has_negative_weights() {
    let scene = LessonId::Signed.scene();
    let sums =
        |weights: &[f64]| -> Vec<f64> { weights.chunks(24).map(|row| row.iter().sum()).collect() };
    let a = map(&scene).weights;
    let negative = a.iter().filter(|&&a| a < 0.0).count() as f64 / a.len() as f64;
    assert_near(negative, 0.65);
    let rows = sums(&a);
    assert_near(rows.iter().copied().fold(f64::MAX, f64::min), -0.84);
    assert_near(rows.iter().copied().fold(f64::MIN, f64::max), 1.33);

    let a = map(&LessonId::Signed.suggested(scene)).weights;
    assert!(a.iter().all(|&a| a >= 0.0));
    assert!(sums(&a).iter().all(|sum| (sum - 1.0).abs() < 1e-12));
}

#[test]
fn half_the_rank_keeps_most_of_the_energy() {
    let scene = LessonId::Rank.scene();
    let (layer, _) = layer(&scene);
    let Output::Full(w_o) = &layer.output else {
        panic!("a shipped layer has W_O");
    };
    let factors = out_factors(&w_o.weight).unwrap();
    for (scene, kept) in [
        (scene.clone(), 0.942),
        (LessonId::Rank.suggested(scene), 0.570),
    ] {
        let rank = scene.config(Sizes::from(&layer)).out_rank.unwrap();
        assert!((energy_kept(&factors.sigma, rank as usize) - kept).abs() < 0.001);
    }
    assert_eq!(LessonId::Rank.facts()[0], Fact::EnergyKept);
}
