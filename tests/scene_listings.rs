//! The sources as they are written: the golden cases that the listings themselves made, what each
//! point changes, and what masking with −1e9 does.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use std::path::Path;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::config::{Config, FullyMasked, Reading};
use attnscope_attention::layer::{Biases, Input, Layer, Linear, ScoreBias, Tensor};
use attnscope_attention::output::{head_outputs, layer_output};
use attnscope_attention::reference::Head;
use attnscope_attention::summary::summarize;
use attnscope_data::case::Case;
use attnscope_data::folder;
use attnscope_data::minilm::{assemble, files};
use attnscope_scene::listing::Point;
use attnscope_scene::resolve::{MAX_DENSE, Sizes};
use attnscope_scene::{LessonId, Mechanism, Pattern, Scene, Source};

const LISTINGS: [(LessonId, &str); 2] = [
    (LessonId::Partial, "listing-partial"),
    (LessonId::Cjar, "listing-cjar"),
];

fn case(name: &str) -> Case {
    let cases = folder::cases(&folder::own_golden()).unwrap();
    cases.into_iter().find(|case| case.name == name).unwrap()
}

/// The shipped layer that `scene` names, as the Scene takes it.
fn layer(scene: &Scene) -> Layer {
    let Source::MiniLm { text, layer } = scene.source else {
        panic!("the listings are shown on a real text");
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/data");
    let names = files(text, layer);
    let [x, qk, vo] =
        [names.hidden, names.qk, names.vo].map(|name| std::fs::read(folder.join(name)).unwrap());
    scene.taken(assemble(layer, &x, &qk, &vo).unwrap().layer)
}

fn head(layer: &Layer, scene: &Scene) -> Head {
    let sizes = Sizes::from(layer);
    let (config, biases) = (scene.config(sizes), scene.biases(sizes));
    Head::new(layer, &config, &biases, scene.head(sizes.heads)).unwrap()
}

fn weights(scene: &Scene) -> Vec<f64> {
    let head = head(&layer(scene), scene);
    let l = head.seq_len;
    (0..l).flat_map(|i| head.row(i).dense_weights(l)).collect()
}

/// Largest difference of any weight.
fn moved(a: &Scene, b: &Scene) -> f64 {
    let (a, b) = (weights(a), weights(b));
    let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// A, O and Y of the golden inputs under the choices of `scene` against what the listing gave.
/// The mask is an argument of the listings and was not given there.
fn reproduces(scene: &Scene, case: &Case) -> bool {
    // Projections that a listing makes and does not use.
    let mut given = case.layer.clone();
    if let Input::Hidden { x, w_q, .. } = &mut given.input
        && w_q.is_none()
    {
        let d = x.shape[1];
        let double = |at: usize| {
            if at.is_multiple_of(d + 1) {
                2.0f32
            } else {
                0.0
            }
        };
        let weight = Tensor::new(&[d, d], (0..d * d).map(double).collect::<Vec<_>>()).unwrap();
        *w_q = Some(Linear { weight, bias: None });
    }
    let layer = scene.taken(given);
    let sizes = Sizes::from(&layer);
    let config = Config {
        visibility: case.config.visibility,
        ..scene.config(sizes)
    };
    let own = scene.biases(sizes);
    let mut biases = Biases {
        s: own.s,
        ..case.biases.clone()
    };
    // The numbers are the case's where its shape is: another shape needs numbers of its own.
    if own.p_k.as_ref().map(|p| &p.unit.shape) != biases.p_k.as_ref().map(|p| &p.unit.shape) {
        biases.p_k = own.p_k;
    }
    assert_eq!(
        own.p_v.map(|p| p.unit.shape),
        biases.p_v.as_ref().map(|p| p.unit.shape.clone())
    );
    let a: Vec<f64> = (0..layer.heads)
        .flat_map(|at| {
            Head::new(&layer, &config, &biases, at)
                .unwrap()
                .map()
                .weights
        })
        .collect();
    let o = head_outputs(&layer, &config, &biases).unwrap();
    let y = layer_output(&layer, &config, &o, None).unwrap();
    let expect = &case.expect;
    [
        ("A", a, &expect.a),
        ("O", o, &expect.o),
        ("Y", y, &expect.y),
    ]
    .into_iter()
    .all(|(what, got, want)| {
        let want = &want.as_ref().unwrap().data;
        compare(what, &got, want, Tolerance::REFERENCE)
            .check()
            .is_ok()
    })
}

#[test]
fn presets_reproduce_what_the_listings_computed() {
    for (id, name) in LISTINGS {
        let (scene, case) = (id.scene(), case(name));
        assert!(reproduces(&scene, &case), "{name}");
        for &point in id.points() {
            let mut text = scene.clone();
            point.set(&mut text, true);
            if point == Point::Rank {
                // The heads of the golden case are 8 wide: there ρ = 8 takes nothing away.
                text.cjar.score_rank = Some(4);
            }
            // Without a mask there is no row without keys.
            let still = point == Point::Empty;
            if point == Point::Window {
                // The window is no argument of the golden case's own mask.
                assert_ne!(text.visibility(), scene.visibility());
                continue;
            }
            assert_eq!(reproduces(&text, &case), still, "{name}, {point:?}");
        }
    }
}

#[test]
fn every_point_is_an_edit_whose_state_is_read_back() {
    for (id, _) in LISTINGS {
        let listing = id.scene();
        assert_eq!(listing.lesson, Some(id));
        for &point in id.points() {
            assert_eq!(point.as_text(&listing), Some(false), "{point:?}");
            let mut scene = listing.clone();
            point.set(&mut scene, true);
            assert_eq!(point.as_text(&scene), Some(true), "{point:?}");
            for &other in id.points().iter().filter(|&&other| other != point) {
                assert_eq!(other.as_text(&scene), Some(false), "{other:?} of {point:?}");
            }
            let parsed = Scene::from_fragment(&scene.to_fragment());
            assert_eq!((parsed.scene, parsed.warnings), (scene.clone(), vec![]));
            point.set(&mut scene, false);
            assert_eq!(point.as_text(&scene), Some(false), "{point:?}");
            assert!(moved(&scene, &listing) == 0.0, "{point:?} and back");
        }
    }
    for id in LessonId::ALL {
        assert!(id.points().is_empty());
    }
}

#[test]
fn every_point_moves_the_map() {
    for (id, _) in LISTINGS {
        let listing = id.scene();
        for &point in id.points() {
            let mut text = listing.clone();
            point.set(&mut text, true);
            let by = moved(&text, &listing);
            assert!(by > 0.02, "{point:?} moves {by}");
        }
    }
    // … and the shared pos_k of the listing moves nothing.
    let listing = LessonId::Cjar.scene();
    let mut without = listing.clone();
    without.cjar.p_k.amplitude = 0.0;
    assert!(moved(&without, &listing) < 1e-12);
}

#[test]
fn a_third_way_is_neither() {
    let mut scene = LessonId::Cjar.scene();
    scene.cjar.reading = Reading::Bias;
    scene.cjar.out_rank = None;
    assert_eq!(Point::Bias.as_text(&scene), None);
    assert_eq!(Point::Rank.as_text(&scene), None);
    scene.mechanism = Mechanism::Full;
    assert_eq!(Point::Keys.as_text(&scene), None);
    Point::Keys.set(&mut scene, true);
    assert_eq!(Point::Keys.as_text(&scene), Some(true));
    let mut made_up = LessonId::Partial.scene();
    assert!(Point::Projection.applies(&made_up));
    made_up.source = Source::Synthetic {
        pattern: Pattern::Local,
        seq_len: 8,
        seed: 1,
    };
    assert!(!Point::Projection.applies(&made_up));
}

/// `masked_fill(mask == 0, -1e9)` before the softmax, as the CJAR listing has it.
#[test]
fn the_mean_of_all_values_is_what_minus_1e9_gives() {
    let scene = LessonId::Cjar.scene();
    let layer = layer(&scene);
    let sizes = Sizes::from(&layer);
    let head = head(&layer, &scene);
    let l = sizes.seq_len;
    let mut want = Vec::new();
    for i in 0..l {
        let z: Vec<f64> = (0..l)
            .map(|j| if j < i { head.score(i, j) } else { -1e9 })
            .collect();
        let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = z.iter().map(|z| (z - top).exp()).sum();
        want.extend(z.iter().map(|z| (z - top).exp() / sum));
    }
    let got = weights(&scene);
    for (got, want) in got.iter().zip(&want) {
        assert!((got - want).abs() < 1e-12, "{got}, not {want}");
    }
    let row = head.row(0);
    assert_eq!((row.seen, row.segments, row.keys.len()), (0, 0, l));
    let cell = head.cell(0, 5);
    assert!(!cell.visible && cell.visible_keys == 0);
    assert!((cell.weight - 1.0 / l as f64).abs() < 1e-15);
    // The same in O: the mean of v', and exactly 0 in the other choice.
    let mut zero = scene.clone();
    zero.empty = FullyMasked::Zero;
    let dim = sizes.head_dim;
    let empty = Head::new(&layer, &zero.config(sizes), &zero.biases(sizes), 2).unwrap();
    assert!(empty.output().unwrap()[..dim].iter().all(|&o| o == 0.0));
    let mut all = zero.clone();
    all.windowed = false;
    all.scale = attnscope_scene::Scale::Free(0.0);
    let mean = Head::new(&layer, &all.config(sizes), &all.biases(sizes), 2).unwrap();
    let (got, want) = (head.output().unwrap(), mean.output().unwrap());
    for (got, want) in got[..dim].iter().zip(&want) {
        assert!((got - want).abs() < 1e-12, "{got}, not {want}");
    }
    // Facts still say that the row sees no key.
    let facts = summarize(&layer, &scene.config(sizes), &scene.biases(sizes), 2).unwrap();
    assert_eq!((facts.empty_rows, facts.visible_min), (1, 0));
    // It shares its weight out anew, so that it is not the row that loses most; left empty it is.
    let lost = facts.lost.unwrap();
    assert!(lost.row != 0 && lost.share < 1.0);
    let facts = summarize(&layer, &zero.config(sizes), &zero.biases(sizes), 2).unwrap();
    let lost = facts.lost.unwrap();
    assert!(lost.row == 0 && (lost.share - 1.0).abs() < 1e-12);
}

#[test]
fn padding_is_the_boolean_mask_of_its_keys() {
    let mut scene = Scene {
        padding: 5,
        ..Scene::default()
    };
    let plain = layer(&scene);
    let (l, sizes) = (plain.seq_len, Sizes::from(&plain));
    let padded = head(&plain, &scene).map();
    let mut masked = plain.clone();
    masked.mask = Some((0..l * l).map(|at| u8::from(at % l < l - 5)).collect());
    let want = head(&masked, &Scene::default()).map();
    assert_eq!(padded, want);
    // The layer's own mask and padding act together.
    let mut own = plain;
    own.mask = Some((0..l * l).map(|at| u8::from(at % l > 2)).collect());
    let both = head(&own, &scene).map();
    for (at, visible) in both.visible.iter().enumerate() {
        assert_eq!(*visible, (3..l - 5).contains(&(at % l)));
    }
    scene.padding = u32::MAX;
    let (scene, warnings) = scene.sanitize();
    assert_eq!(warnings.len(), 1);
    assert_eq!(scene.config(sizes).visibility.pairs(l, None), 0);
}

#[test]
fn a_dense_s_is_seeded_and_bounded() {
    let scene = Scene::from_fragment("v=1&m=cjar&reading=bias&s=0.5&s.dense=1&s.seed=7").scene;
    let sizes = Sizes {
        heads: 2,
        seq_len: 9,
        head_dim: 4,
    };
    let dense = |scene: &Scene, sizes| match scene.biases(sizes).s {
        Some(ScoreBias::Dense(s)) => Some(s),
        None => None,
        Some(ScoreBias::Curve { .. }) => panic!("a curve"),
    };
    let s = dense(&scene, sizes).unwrap();
    assert_eq!(s.shape, [2, 9, 9]);
    assert_eq!(dense(&scene, sizes).unwrap(), s);
    let mut other = scene.clone();
    other.cjar.s.seed = 8;
    assert_ne!(dense(&other, sizes).unwrap(), s);
    other = scene.clone();
    other.cjar.s.amplitude = 1.0;
    let doubled: Vec<f32> = s.data.iter().map(|x| 2.0 * x).collect();
    assert_eq!(&*dense(&other, sizes).unwrap().data, doubled.as_slice());
    let spread = s.data.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / 162.0;
    assert!((spread.sqrt() - 0.5).abs() < 0.08, "{spread}");
    let largest = |seq_len| Sizes { seq_len, ..sizes };
    const { assert!(2 * 1414 * 1414 <= MAX_DENSE && 2 * 1415 * 1415 > MAX_DENSE) };
    assert!(largest(1414).dense_fits());
    assert_eq!(dense(&scene, largest(1415)), None);
    assert!(!largest(usize::MAX).dense_fits());
}
