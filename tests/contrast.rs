//! The marks on a map against every colour that a map can have, and the focus ring against every
//! background of the page (WCAG 2.2, 1.4.11). The colours are read from the page's own style sheet.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use attnscope_engine::{ColorTable, colors};

const STYLES: &str = include_str!("../www/style.css");
/// Least contrast of non-text parts.
const LEAST: f64 = 3.0;

type Rgb = [u8; 3];

/// The declarations of the rule that begins with `selector {` at the start of a line.
fn rule<'a>(styles: &'a str, selector: &str) -> &'a str {
    let start = format!("\n{selector} {{");
    let (_, after) = styles
        .split_once(&start)
        .unwrap_or_else(|| panic!("no rule {selector}"));
    after.split_once('}').expect("a rule ends").0
}

/// The custom property `name` in a rule, as `#rrggbb`.
fn color(rule: &str, name: &str) -> Option<Rgb> {
    let (_, after) = rule.split_once(&format!("{name}: #"))?;
    let hex = after.split(';').next()?.trim();
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    (hex.len() == 6).then_some([byte(0)?, byte(2)?, byte(4)?])
}

fn of_theme(theme: &str, name: &str) -> Rgb {
    let own = (theme == "dark").then(|| rule(STYLES, ":root[data-theme='dark']"));
    own.and_then(|rule| color(rule, name))
        .or_else(|| color(rule(STYLES, ":root"), name))
        .unwrap_or_else(|| panic!("{theme} has no {name}"))
}

/// Relative luminance, as WCAG defines it.
fn luminance(color: Rgb) -> f64 {
    let [r, g, b] = color.map(|byte| {
        let c = f64::from(byte) / 255.0;
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

/// Every colour that a map of `theme` can show under a mark.
fn map_colors(theme: &str) -> Vec<Rgb> {
    let tables = [ColorTable::Cividis, ColorTable::Diverging];
    let marks = ["--map-ground", "--map-hatch"].map(|name| of_theme(theme, name));
    tables
        .into_iter()
        .flat_map(colors::table)
        .chain(marks)
        .collect()
}

/// The colour on which the better of two lines has the least contrast, and that contrast.
fn worst(lines: [Rgb; 2], under: &[Rgb]) -> (f64, Rgb) {
    under
        .iter()
        .map(|&color| {
            (
                contrast(lines[0], color).max(contrast(lines[1], color)),
                color,
            )
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap()
}

#[test]
fn one_line_of_every_mark_is_seen_on_every_colour_of_every_map() {
    // The element of each mark, and its two lines.
    let marks = [
        (
            ".ring, .head:focus-visible",
            ["--ring-dark", "--ring-light"],
            "",
        ),
        (".band", ["--ring-dark", "--ring-q"], ".band-q"),
        (".band", ["--ring-dark", "--ring-k"], ".band-k"),
    ];
    for theme in ["light", "dark"] {
        let under = map_colors(theme);
        assert_eq!(under.len(), 2 * colors::STEPS + 2);
        for (selector, names, also) in marks {
            let mut drawn = rule(STYLES, selector).to_owned();
            if !also.is_empty() {
                drawn.push_str(rule(STYLES, also));
            }
            for name in names {
                let used = format!("var({name})");
                assert!(drawn.contains(&used), "{selector} does not use {name}");
            }
            let (least, color) = worst(names.map(|name| of_theme(theme, name)), &under);
            assert!(
                least >= LEAST,
                "{theme}: {names:?} on {color:?}: {least:.2}"
            );
        }
    }
}

#[test]
fn the_focus_ring_is_seen_on_every_ground_of_the_page() {
    assert!(rule(STYLES, ":focus-visible").contains("var(--accent)"));
    for theme in ["light", "dark"] {
        let ring = of_theme(theme, "--accent");
        for ground in ["--bg", "--surface", "--raised", "--accent-soft"] {
            let seen = contrast(ring, of_theme(theme, ground));
            assert!(seen >= LEAST, "{theme}: {ground}: {seen:.2}");
        }
    }
}

#[test]
fn one_line_alone_or_two_alike_would_not_do() {
    let under = map_colors("light");
    for pair in [
        ["#000000", "#000000"],
        ["#1f5fc0", "#ffffff"],
        ["#86b5ff", "#ffffff"],
    ] {
        let lines = pair.map(|hex| color(&format!("--x: {hex};"), "--x").unwrap());
        assert!(worst(lines, &under).0 < LEAST, "{pair:?}");
    }
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
}
