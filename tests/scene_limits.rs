//! Limits of a layer: each is named, the limited Scene shows the same picture, and limiting it
//! again changes nothing.

#[path = "common/scenes.rs"]
mod scenes;

use attnscope_attention::visibility::Visibility;
use attnscope_scene::resolve::Sizes;
use attnscope_scene::warning::Reason;
use attnscope_scene::{Rect, Scene};
use proptest::prelude::*;

const SENTENCE: Sizes = Sizes {
    heads: 12,
    seq_len: 24,
    head_dim: 32,
};

/// A link, its warning (parameter, value used instead), and the link of the limited Scene.
type Limited = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const LIMITED: &[Limited] = &[
    ("v=1", &[], "v=1"),
    ("v=1&head=11", &[], "v=1&head=11"),
    ("v=1&head=12", &[("head", "12")], "v=1&head=11"),
    ("v=1&head=99", &[("head", "99")], "v=1&head=11"),
    (
        "v=1&rect=0.7.24.24",
        &[("rect", "0.7.24.24")],
        "v=1&rect=0.7.24.17",
    ),
    (
        "v=1&rect=20.20.12.12",
        &[("rect", "20.20.12.12")],
        "v=1&rect=20.20.4.4",
    ),
    ("v=1&rect=0.0.24.24", &[], "v=1&rect=0.0.24.24"),
    ("v=1&rect=0.0.25.30", &[("rect", "0.0.25.30")], "v=1"),
    (
        "v=1&rect=40.0.3.24",
        &[("rect", "40.0.3.24")],
        "v=1&rect=23.0.1.24",
    ),
    ("v=1&cell=23.24", &[("cell", "23.24")], "v=1"),
    ("v=1&cell=23.23", &[], "v=1&cell=23.23"),
    ("v=1&pad=25", &[("pad", "25")], "v=1&pad=24"),
    (
        "v=1&m=window&w=65536&sinks=30&globals=24&dil=90",
        &[("sinks", "30")],
        "v=1&m=window&w=65536&dil=90&sinks=24&globals=24",
    ),
    // Parameters that do not act stay as they are.
    (
        "v=1&sinks=30&r=1000&seg=900",
        &[],
        "v=1&sinks=30&seg=900&r=1000",
    ),
    (
        "v=1&m=cjar&sinks=30&r=384&rho=24&seg=24",
        &[],
        "v=1&m=cjar&sinks=30&seg=24&rho=24&r=384",
    ),
    (
        "v=1&m=cjar&inwin=1&sinks=30&r=385&rho=25&seg=25",
        &[("sinks", "30"), ("seg", "25"), ("rho", "25"), ("r", "385")],
        "v=1&m=cjar&sinks=24&inwin=1",
    ),
];

#[test]
fn each_limit_is_named_and_the_link_says_what_is_shown() {
    for &(link, wanted, after) in LIMITED {
        let parsed = Scene::from_fragment(link);
        assert_eq!(parsed.warnings, [], "{link}");
        let (shown, warnings) = parsed.scene.limited(SENTENCE);
        let named: Vec<_> = warnings.iter().map(|w| (&*w.key, &*w.value)).collect();
        assert_eq!(named, wanted, "{link}");
        assert_eq!(shown.to_fragment(), after, "{link}");
    }
}

#[test]
fn a_head_that_nobody_has_chosen_is_no_choice() {
    let four = Sizes {
        heads: 4,
        ..SENTENCE
    };
    let of = |link: &str| {
        let scene = Scene::from_fragment(link).scene;
        let (shown, warnings) = scene.limited(four);
        (shown.to_fragment(), scene.head(4), warnings.len())
    };
    assert_eq!(of("v=1"), ("v=1".to_owned(), 3, 0));
    // The same number, chosen.
    assert_eq!(of("v=1&head=8"), ("v=1&head=3".to_owned(), 3, 1));
    assert_eq!(of("v=1&head=auto"), ("v=1".to_owned(), 3, 0));
}

/// Sizes of small and of large layers.
fn sizes() -> impl Strategy<Value = Sizes> {
    let seq_len = prop_oneof![3 => 1usize..60, 1 => 1usize..=65_536];
    (1usize..20, seq_len, 1usize..70).prop_map(|(heads, seq_len, head_dim)| Sizes {
        heads,
        seq_len,
        head_dim,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_limited_scene_shows_the_same_and_fits(scene in scenes::scene(), sizes in sizes()) {
        let (scene, _) = scene.sanitize();
        let (shown, warnings) = scene.limited(sizes);
        prop_assert_eq!(warnings.is_empty(), shown == scene);
        let (again, more) = shown.limited(sizes);
        prop_assert!(more.is_empty() && again == shown, "{:?}", more);
        let (legal, moved) = shown.clone().sanitize();
        prop_assert!(moved.is_empty() && legal == shown, "{:?}", moved);

        let len = sizes.seq_len;
        prop_assert_eq!(shown.head(sizes.heads), scene.head(sizes.heads));
        prop_assert_eq!(shown.rect(len), scene.rect(len));
        prop_assert_eq!(shown.cell(len), scene.cell(len));
        let (mut was, mut is) = (scene.config(sizes), shown.config(sizes));
        for i in [0, len / 3, len / 2, len - 1] {
            let count = |scene: &Scene| scene.visibility().count(i, len, None);
            prop_assert_eq!(count(&shown), count(&scene), "row {}", i);
        }
        was.visibility = Visibility::default();
        is.visibility = Visibility::default();
        prop_assert_eq!(was, is);

        // Everything left in the link exists in the layer.
        prop_assert!(shown.view.head.is_none_or(|head| (head as usize) < sizes.heads));
        if let Some(rect) = shown.view.rect {
            prop_assert_eq!(Rect::visible(Some(rect), len as u32), rect);
        }
        prop_assert_eq!(shown.view.cell.is_some(), shown.cell(len).is_some());
        for warning in &warnings {
            let cell = warning.key == "cell";
            prop_assert_eq!(warning.reason == Reason::NotInLayer, cell);
            prop_assert_eq!(Some(warning.value.clone()), scene.value(&warning.key));
            prop_assert_ne!(scene.value(&warning.key), shown.value(&warning.key));
        }
    }
}
