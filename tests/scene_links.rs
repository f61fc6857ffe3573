//! Links and JSON are total and lossless: any text gives a legal Scene, and Scene → text → Scene
//! is the identity.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

#[path = "common/scenes.rs"]
mod scenes;

use attnscope_attention::config::Reading;
use attnscope_scene::keys::KEYS;
use attnscope_scene::permalink::{MAX_BYTES, MAX_WARNINGS, VERSION};
use attnscope_scene::warning::{QUOTE_CHARS, Reason};
use attnscope_scene::{
    Control, Convention, MAX_SEQ_LEN, Mechanism, Passage, Pattern, Scene, Source,
};
use proptest::prelude::*;
use scenes::scene;

/// A link that was right once: bytes of it changed, cut out, doubled or escaped.
fn damaged() -> impl Strategy<Value = String> {
    let hits = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..5u8), 0..6);
    (scene(), hits).prop_map(|(scene, hits)| {
        let mut bytes = scene.to_fragment().into_bytes();
        for (at, byte, kind) in hits {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => bytes.truncate(at),
                3 => bytes.extend_from_within(at..),
                _ => drop(bytes.splice(at..at, format!("%{byte:02x}&").into_bytes())),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What every parsed text must be: legal, with a canonical link that is read back silently.
fn assert_settled(text: &str) {
    let parsed = Scene::from_fragment(text);
    let (again, moved) = parsed.scene.clone().sanitize();
    assert_eq!((&again, moved.len()), (&parsed.scene, 0), "of {text:?}");
    assert!(parsed.warnings.len() <= MAX_WARNINGS);
    for warning in &parsed.warnings {
        assert!(warning.key.chars().count() <= QUOTE_CHARS);
        assert!(warning.value.chars().count() <= QUOTE_CHARS);
    }
    let link = parsed.scene.to_fragment();
    let second = Scene::from_fragment(&link);
    assert_eq!(second.warnings, [], "of {link:?}");
    assert_eq!(second.scene, parsed.scene, "through {link:?}");
    assert_eq!(second.scene.to_fragment(), link);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_a_scene(text in ".*") {
        assert_settled(&text);
    }

    #[test]
    fn any_parameters_give_a_scene(
        pairs in proptest::collection::vec((0..KEYS.len(), "[-+.,%a-z0-9]{0,12}"), 0..8),
    ) {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(key, value)| format!("{}={value}", KEYS[*key].name))
            .collect();
        assert_settled(&pairs.join("&"));
    }

    #[test]
    fn damaged_links_give_a_scene(text in damaged()) {
        assert_settled(&text);
    }

    #[test]
    fn scene_to_link_to_scene_is_the_identity(any in scene()) {
        let (legal, _) = any.sanitize();
        let link = legal.to_fragment();
        prop_assert!(link.len() < MAX_BYTES);
        prop_assert!(
            link.bytes().all(|b| b.is_ascii_alphanumeric() || b"&=.,-_".contains(&b)),
            "{} needs no escaping", link
        );
        let parsed = Scene::from_fragment(&link);
        prop_assert_eq!(&parsed.scene, &legal);
        prop_assert_eq!(&parsed.warnings, &[]);
        prop_assert_eq!(parsed.scene.to_fragment(), link);
    }
}

#[test]
fn the_default_scene_is_the_shortest_link() {
    assert_eq!(Scene::default().to_fragment(), "v=1");
    for text in ["", "#", "v=1", "#v=1", "&&"] {
        let parsed = Scene::from_fragment(text);
        assert_eq!(parsed.scene, Scene::default());
        assert_eq!((parsed.warnings, parsed.version), (vec![], VERSION));
    }
}

#[test]
fn a_link_reads_as_it_is_written() {
    let link = "v=1&src=page.3&m=cjar&causal=1&conv=causal_count&w=8&left=all&right=-1&inwin=1\
                &scale=0.125&reading=product&seg=16&pk=0.4&pk.shape=onehot&pk.each=0&s=1.5\
                &s.decay=0.1&rho=8&r=64&head=3&map=score&rect=4.0.20.30&cell=12.6&lang=zh\
                &theme=dark&lesson=signed&show=window,heads";
    let parsed = Scene::from_fragment(link);
    assert_eq!(parsed.warnings, []);
    let scene = parsed.scene;
    assert_eq!(
        scene.source,
        Source::MiniLm {
            text: Passage::Page,
            layer: 3
        }
    );
    assert_eq!(scene.mechanism, Mechanism::Cjar);
    assert_eq!(scene.window.convention, Convention::CausalCount);
    assert_eq!((scene.window.left, scene.window.right), (None, Some(-1)));
    assert_eq!(scene.cjar.reading, Reading::Product);
    assert_eq!(scene.cjar.p_k.amplitude, 0.4);
    assert!(!scene.cjar.p_k.per_position);
    assert_eq!(scene.view.cell, Some((12, 6)));
    assert_eq!(scene.show, [Control::Window, Control::Heads]);
    assert_eq!(scene.to_fragment(), link);
}

#[test]
fn what_is_wrong_is_said_and_the_rest_counts() {
    let out = |min, max| Reason::OutOfRange { min, max };
    let l = f64::from(MAX_SEQ_LEN);
    for (text, key, reason) in [
        ("w=8&colour=red", "colour", Reason::UnknownKey),
        ("w=8&w=9", "w", Reason::Duplicate),
        ("w=8&dil=two", "dil", Reason::NotANumber),
        ("w=8&m=flash", "m", Reason::UnknownWord),
        ("w=8&cell=3", "cell", Reason::Malformed),
        ("w=8&cell=3.x", "cell", Reason::Malformed),
        ("w=8&dil=0", "dil", out(1.0, l)),
        ("w=8&sinks=-1", "sinks", out(0.0, l)),
        ("w=8&globals=99999999999999999999", "globals", out(0.0, l)),
        ("w=8&pk=1e9", "pk", out(-5.0, 5.0)),
        ("pk=1e9&w=8&pk.each=0", "pk", out(-1000.0, 1000.0)),
        ("w=8&scale=1000", "scale", out(-10.0, 10.0)),
        ("w=8&pk=nan", "pk", Reason::NotANumber),
        ("w=8&src=random.99999999", "src", out(1.0, l)),
        ("w=8&src=sentence.6", "src", out(0.0, 5.0)),
        ("w=8&src=sentence.1.2", "src", Reason::Malformed),
        ("w=8&show=heads,heads", "show", Reason::Repeated),
        ("w=8&show=heads,feet", "show", Reason::UnknownWord),
        ("v=2&w=8", "v", Reason::NewerVersion),
        ("v=99999999999&w=8", "v", Reason::NewerVersion),
        ("v=4294967295&w=8", "v", Reason::NewerVersion),
        ("v=4294967296&w=8", "v", Reason::NewerVersion),
        ("v=%2B2&w=8", "v", Reason::NewerVersion),
        ("v=0&w=8", "v", out(1.0, 1.0)),
        ("v=-1&w=8", "v", out(1.0, 1.0)),
        ("v=-99999999999&w=8", "v", out(1.0, 1.0)),
        ("v=&w=8", "v", Reason::NotANumber),
        ("v&w=8", "v", Reason::NotANumber),
        ("v=-&w=8", "v", Reason::NotANumber),
        ("v=1.5&w=8", "v", Reason::NotANumber),
        ("v=2e3&w=8", "v", Reason::NotANumber),
        ("v=one&w=8", "v", Reason::NotANumber),
        ("v=1&v=2&w=8", "v", Reason::Duplicate),
    ] {
        let parsed = Scene::from_fragment(text);
        assert_eq!(parsed.scene.window.size, 8, "{text}");
        assert_eq!(parsed.warnings.len(), 1, "{text}: {:?}", parsed.warnings);
        assert_eq!(parsed.warnings[0].key, key, "{text}");
        assert_eq!(parsed.warnings[0].reason, reason, "{text}");
    }
    for (text, version) in [
        ("v=2", 2),
        ("v=01", 1),
        ("v=99999999999", u32::MAX),
        ("v=0", 1),
        ("v=-1", 1),
        ("v=1.5", 1),
        ("v=", 1),
        ("v=2&v=1", 2),
    ] {
        assert_eq!(Scene::from_fragment(text).version, version, "{text}");
    }
    let long = format!("v={}&w=8", "9".repeat(400));
    let parsed = Scene::from_fragment(&long);
    assert_eq!(parsed.warnings[0].reason, Reason::NewerVersion);
    assert_eq!((parsed.version, parsed.scene.window.size), (u32::MAX, 8));
    assert_eq!(Scene::from_fragment("dil=0").scene.window.dilation, 1);
    assert_eq!(
        Scene::from_fragment("src=local").scene.source,
        Source::Synthetic {
            pattern: Pattern::Local,
            seq_len: 64,
            seed: 1
        }
    );
}

#[test]
fn what_is_used_instead_can_be_named() {
    for (text, key, used) in [
        ("w=99999", "w", "65536"),
        ("m=flash", "m", "full"),
        ("src=sentence.9", "src", "sentence.5"),
        ("rect=65535.0.9.9", "rect.size", "65535.0.1.9"),
        ("pk.seed=x", "pk.seed", "1"),
        ("w=3&w=4", "w", "3"),
        ("v=0", "v", "1"),
        ("v=1.5", "v", "1"),
    ] {
        let parsed = Scene::from_fragment(text);
        assert_eq!(parsed.warnings[0].key, key, "{text}");
        assert_eq!(parsed.scene.value(key).as_deref(), Some(used), "{text}");
    }
    assert_eq!(Scene::default().value("colour"), None);
}

#[test]
fn a_warning_repeats_nothing_that_turns_text_around() {
    let parsed = Scene::from_fragment("m=%E2%80%AEx%0A");
    assert_eq!(parsed.warnings[0].value, "\u{fffd}x\u{fffd}");
}

#[test]
fn escapes_and_html_ampersands_are_read() {
    let parsed = Scene::from_fragment("%6D=window&amp;w=%38&amp;show=heads%2Cwindow");
    assert_eq!(parsed.warnings, []);
    assert_eq!(parsed.scene.mechanism, Mechanism::Window);
    assert_eq!(parsed.scene.window.size, 8);
    assert_eq!(parsed.scene.show.len(), 2);
    for text in ["w=%", "w=%4", "w=%zz", "w=%ff", "%", "%e4%b8"] {
        assert_eq!(Scene::from_fragment(text).warnings.len(), 1, "{text}");
    }
}

#[test]
fn a_long_text_is_cut_between_parameters() {
    let text = format!("w=9&{}", "sinks=3&".repeat(MAX_BYTES));
    let parsed = Scene::from_fragment(&text);
    assert_eq!(parsed.scene.window.size, 9);
    assert_eq!(parsed.scene.window.sinks, 3);
    assert_eq!(parsed.warnings[0].reason, Reason::TooLong);
    assert_eq!(parsed.warnings.len(), MAX_WARNINGS);
    let one = Scene::from_fragment(&"字".repeat(MAX_BYTES));
    assert_eq!(one.scene, Scene::default());
    assert_eq!(one.warnings.len(), 1);
}

#[test]
fn every_parameter_is_named_once() {
    for (at, key) in KEYS.iter().enumerate() {
        assert!(KEYS[..at].iter().all(|other| other.name != key.name));
        assert_ne!(key.name, "v");
    }
}
