use super::*;
use crate::symbols::written;
use attnscope_scene::{Cjar, Window};

fn tokens() -> Vec<String> {
    ["[CLS]", "the", "children", "walked"]
        .map(String::from)
        .to_vec()
}

fn say(scene: &Scene, summary: &Summary) -> [String; 2] {
    let tokens = tokens();
    [Lang::En, Lang::Zh].map(|lang| {
        let facts = SentenceInput {
            scene,
            head: 8,
            summary,
            tokens: &tokens,
            reach: (scene.window.left, scene.window.right),
            rank_energy: scene.cjar.out_rank.map(|r| (r, 0.914)),
        };
        written(&sentence(lang, &facts)).into_owned()
    })
}

#[test]
fn full_attention_names_the_habit_that_is_strongest() {
    let mut summary = Summary {
        offset: Some((1, 0.62)),
        favourite: Some((0, 0.33)),
        ..Summary::default()
    };
    let scene = Scene::default();
    let [en, zh] = say(&scene, &summary);
    assert_eq!(
        en,
        "Head 8 mostly looks one token to the right: 62\u{a0}% of the weight on average."
    );
    assert_eq!(zh, "第 8 头主要看向右边第一个词元：平均占权重的 62%。");
    summary.favourite = Some((0, 0.7));
    assert_eq!(
        say(&scene, &summary)[0],
        "Head 8 mostly rests on “[CLS]”: 70\u{a0}% of the weight on average."
    );
    summary = Summary {
        entropy: Some(2.0),
        strongest: Some((3, 2, 0.18)),
        ..Summary::default()
    };
    let [en, _] = say(&scene, &summary);
    assert!(
        en.contains("4 equal keys") && en.contains("0.18, goes from “walked” to “children”"),
        "{en}"
    );
}

#[test]
fn mostly_is_more_than_half() {
    let said = |share: f64| {
        let summary = Summary {
            offset: Some((0, share)),
            ..Summary::default()
        };
        say(&Scene::default(), &summary)
    };
    assert!(said(0.5)[0].starts_with("Head 8 mostly looks"));
    assert!(said(0.5)[1].contains("主要看"));
    assert!(said(0.23)[0].starts_with("Head 8 most often looks at the token itself: 23"));
    assert!(said(0.23)[1].contains("最常看"));
}

#[test]
fn a_window_says_what_is_kept_and_what_is_lost() {
    let scene = Scene {
        mechanism: Mechanism::Window,
        ..Scene::default()
    };
    let summary = Summary {
        visible_min: 3,
        visible_max: 5,
        lost: Some(Lost {
            mean: 0.3,
            row: 2,
            share: 0.61,
            key: 0,
            key_share: 0.4,
        }),
        ..Summary::default()
    };
    let [en, zh] = say(&scene, &summary);
    assert_eq!(
        en,
        "With w = 2 each token keeps 3–5 of 4 keys; row “children” loses 61\u{a0}% of its weight, most of it on “[CLS]”."
    );
    assert!(zh.contains("“children” 行失去 61% 的权重"), "{zh}");
    let little = Summary {
        lost: summary.lost.clone().map(|lost| Lost {
            share: 0.001,
            ..lost
        }),
        ..summary
    };
    assert!(say(&scene, &little)[0].ends_with("; hardly any weight is lost."));
    let mut locked = scene.clone();
    locked.view.cell = Some((2, 0));
    assert!(say(&locked, &little)[0].ends_with("; row “children” loses hardly any weight."));
    locked.view.cell = Some((1, 0));
    assert!(say(&locked, &little)[0].ends_with("; hardly any weight is lost."));
    let all = Summary {
        lost: None,
        visible_min: 4,
        visible_max: 4,
        ..summary
    };
    assert!(say(&scene, &all)[0].ends_with("this is full attention."));
    // Weights that are not shares of a whole have no loss to report.
    let signed = Summary {
        lost: None,
        ..summary
    };
    let [en, zh] = say(&scene, &signed);
    assert!(en.ends_with("keeps 3–5 of 4 keys."), "{en}");
    assert!(zh.ends_with('。'), "{zh}");
}

#[test]
fn the_literal_formula_owns_up_to_its_signs() {
    let scene = Scene {
        mechanism: Mechanism::Cjar,
        cjar: Cjar {
            reading: Reading::Product,
            ..Cjar::default()
        },
        ..Scene::default()
    };
    let summary = Summary {
        negative: 0.48,
        row_sum: (-1.25, 3.5),
        ..Summary::default()
    };
    assert_eq!(
        say(&scene, &summary)[0],
        "48\u{a0}% of the visible weights are negative, and rows sum to between −1.25 and 3.50 instead of 1."
    );
}

#[test]
fn a_bias_says_how_far_it_moves_weights() {
    let mut scene = Scene {
        mechanism: Mechanism::Cjar,
        ..Scene::default()
    };
    let summary = Summary {
        moved: 0.234_5,
        ..Summary::default()
    };
    assert!(say(&scene, &summary)[0].starts_with("No bias is set yet"));
    scene.cjar.p_k.amplitude = 1.0;
    assert_eq!(
        say(&scene, &summary)[0],
        "Weights move by at most 0.234 because of P_K."
    );
    scene.cjar.s.amplitude = 1.0;
    assert_eq!(
        say(&scene, &summary)[0],
        "Weights move by at most 0.234 because of P_K and s."
    );
    scene.cjar.p_k.per_position = false;
    assert_eq!(
        say(&scene, &summary)[0],
        "Weights move by at most 0.234 because of s.",
        "a shared P_K moves nothing"
    );
    scene.cjar.s.amplitude = 0.0;
    assert!(say(&scene, &summary)[0].contains("moves no weight at all"));
    scene.cjar.out_rank = Some(64);
    assert!(say(&scene, &summary)[1].contains("秩 64 保留 W_O 能量的 91.4%"));
    scene.cjar.p_k.amplitude = 0.0;
    assert!(
        say(&scene, &summary)[0].starts_with("Rank 64"),
        "nothing to say about a bias"
    );
    assert!(say(&scene, &summary)[0].ends_with(
        "Rank 64 keeps 91.4\u{a0}% of W_O's energy; W_O comes after the map and leaves it alone."
    ));
}

#[test]
fn explicit_reach_and_empty_rows_are_named() {
    let scene = Scene {
        mechanism: Mechanism::Window,
        window: Window {
            convention: Convention::Explicit,
            left: None,
            right: Some(-1),
            ..Window::default()
        },
        ..Scene::default()
    };
    let summary = Summary {
        visible_max: 3,
        empty_rows: 1,
        lost: Some(Lost::default()),
        ..Summary::default()
    };
    let [en, _] = say(&scene, &summary);
    assert!(
        en.starts_with("With (∞, −1) each token keeps 0–3 of 4 keys"),
        "{en}"
    );
    assert!(en.ends_with("1 row sees no key and stays empty."), "{en}");
}

#[test]
fn a_token_of_any_direction_keeps_its_place() {
    let tokens = ["שלום", "注意力", "שלום"].map(String::from);
    assert_eq!(quoted(Lang::En, &tokens, 0), "“\u{2068}שלום\u{2069}” (0)");
    assert_eq!(quoted(Lang::Zh, &tokens, 1), "“\u{2068}注意力\u{2069}”");
}

#[test]
fn padding_and_the_mean_in_empty_rows_are_told() {
    let summary = Summary {
        empty_rows: 2,
        ..Summary::default()
    };
    let mut scene = Scene {
        padding: 9,
        ..Scene::default()
    };
    let [en, zh] = say(&scene, &summary);
    assert!(
        en.contains("The last 4 tokens are padding")
            && en.contains("2 rows see no key and stay empty"),
        "{en}"
    );
    assert!(zh.contains("末尾 4 个词元") && zh.contains("2 行"), "{zh}");
    // However much else there is to say.
    scene.causal = true;
    scene.mechanism = Mechanism::Cjar;
    scene.cjar.reading = Reading::Product;
    scene.cjar.out_rank = Some(64);
    scene.view.quantity = Quantity::Score;
    for text in say(&scene, &summary) {
        assert!(
            text.contains("2 rows see no key") || text.contains("有 2 行"),
            "{text}"
        );
    }
    scene.empty = FullyMasked::Mean;
    let [en, _] = say(&scene, &summary);
    assert!(
        en.contains("2 rows see no key and get the mean of all values"),
        "{en}"
    );
}

/// The cell that the sentence is about, which does not depend on the language.
fn about(scene: &Scene, summary: &Summary) -> Option<(usize, usize, How)> {
    let tokens = tokens();
    let [en, zh] = [Lang::En, Lang::Zh].map(|lang| {
        let facts = SentenceInput {
            scene,
            head: 8,
            summary,
            tokens: &tokens,
            reach: (None, None),
            rank_energy: None,
        };
        said(lang, &facts).cell
    });
    assert_eq!(en, zh);
    en.map(|cell| (cell.row, cell.col, cell.how))
}

#[test]
fn every_sentence_is_about_a_cell() {
    let scene = Scene::default();
    let mut summary = Summary {
        strongest: Some((3, 2, 0.18)),
        offset: Some((-1, 0.62)),
        offset_row: Some(2),
        favourite: Some((0, 0.33)),
        favourite_row: Some(1),
        entropy: Some(2.0),
        ..Summary::default()
    };
    assert_eq!(about(&scene, &summary), Some((2, 1, How::Example)));
    summary.offset = None;
    assert_eq!(about(&scene, &summary), Some((1, 0, How::Example)));
    summary.favourite = None;
    assert_eq!(about(&scene, &summary), Some((3, 2, How::Named)));

    let mut windowed = scene.clone();
    windowed.mechanism = Mechanism::Window;
    // All keys are visible: the sentence is about no cell.
    assert_eq!(about(&windowed, &summary), Some((3, 2, How::Strongest)));
    summary.lost = Some(Lost {
        row: 2,
        share: 0.61,
        key: 0,
        ..Lost::default()
    });
    assert_eq!(about(&windowed, &summary), Some((2, 0, How::Named)));

    let mut cjar = scene.clone();
    cjar.mechanism = Mechanism::Cjar;
    summary.moved = 0.3;
    summary.moved_at = Some((1, 3));
    assert_eq!(about(&cjar, &summary), Some((3, 2, How::Strongest)));
    cjar.cjar.s.amplitude = 1.0;
    assert_eq!(about(&cjar, &summary), Some((1, 3, How::Named)));
    cjar.windowed = true;
    cjar.view.quantity = Quantity::Score;
    assert_eq!(about(&cjar, &summary), Some((1, 3, How::Named)));
    cjar.cjar.reading = Reading::Product;
    summary.lost = None;
    assert_eq!(about(&cjar, &summary), Some((3, 2, How::Strongest)));

    // Without any key every row is fully masked.
    let empty = Summary {
        empty_rows: 4,
        ..Summary::default()
    };
    assert_eq!(about(&windowed, &empty), Some((0, 0, How::Example)));
    let [en, _] = say(&scene, &empty);
    assert_eq!(en, "4 rows see no key and stay empty.");
    assert_eq!(about(&scene, &Summary::default()), None);
}
