use super::*;
use crate::scene::{Cjar, Window};

fn tokens() -> Vec<String> {
    ["[CLS]", "the", "children", "walked"]
        .map(String::from)
        .to_vec()
}

fn say(scene: &Scene, summary: &Summary) -> [String; 2] {
    let tokens = tokens();
    [Lang::En, Lang::Zh].map(|lang| {
        let facts = Facts {
            scene,
            head: 8,
            summary,
            tokens: &tokens,
            reach: (scene.window.left, scene.window.right),
            rank_energy: scene.cjar.out_rank.map(|r| (r, 0.914)),
        };
        sentence(lang, &facts)
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
        "Head 8 mostly looks one token to the right: 62 % of the weight on average."
    );
    assert_eq!(zh, "第 8 头主要看向右边第一个词元：平均占权重的 62 %。");
    summary.favourite = Some((0, 0.7));
    assert_eq!(
        say(&scene, &summary)[0],
        "Head 8 mostly rests on “[CLS]”: 70 % of the weight on average."
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
        "With w = 2 each token keeps 3–5 of 4 keys; row “children” loses 61 % of its weight, most of it on “[CLS]”."
    );
    assert!(zh.contains("“children” 行失去 61 % 的权重"), "{zh}");
    let all = Summary {
        lost: None,
        ..summary
    };
    assert!(say(&scene, &all)[0].ends_with("this is full attention."));
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
        "48 % of the visible weights are negative, and rows sum to between −1.25 and 3.50 instead of 1."
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
    assert!(say(&scene, &summary)[1].contains("秩 64 保留 W_O 能量的 91.4 %"));
    scene.cjar.p_k.amplitude = 0.0;
    assert!(
        say(&scene, &summary)[0].starts_with("Rank 64"),
        "nothing to say about a bias"
    );
    assert!(say(&scene, &summary)[0].ends_with(
        "Rank 64 keeps 91.4 % of W_O's energy; W_O comes after the map and leaves it alone."
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
    assert!(
        en.ends_with("Rows that see no key and stay empty: 1."),
        "{en}"
    );
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
        en.contains("the last 4 tokens") && en.contains("stay empty: 2"),
        "{en}"
    );
    assert!(zh.contains("末尾 4 个词元") && zh.contains("2 行"), "{zh}");
    scene.empty = Empty::Mean;
    let [en, _] = say(&scene, &summary);
    assert!(
        en.contains("the mean of all values: 2") && !en.contains("stay empty"),
        "{en}"
    );
}
