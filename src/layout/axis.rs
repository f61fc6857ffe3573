//! Token labels beside the map: as many as fit without touching.

/// How the labels of one axis are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Every `step`-th token has a label, counted from token 0 so that labels stay put while the
    /// map is panned.
    pub step: u32,
    /// Slanted labels have room; otherwise they stand upright.
    pub slanted: bool,
}

/// Smallest distance between two lines of label text, in CSS pixels.
const LINE: f64 = 12.0;

/// The labels that fit when `count` cells share `extent` CSS pixels.
pub fn labels(extent: f64, count: u32) -> Labels {
    let pitch = extent / f64::from(count.max(1));
    if pitch.is_nan() || pitch <= 0.0 {
        return Labels {
            step: count.max(1),
            slanted: false,
        };
    }
    // A slanted line needs 1/sin 45° more along the axis.
    let slanted = pitch >= LINE * std::f64::consts::SQRT_2;
    let fit = (LINE / pitch).ceil().max(1.0) as u32;
    Labels {
        step: round_step(fit),
        slanted,
    }
}

/// The next of 1, 2, 5, 10, 20, 50 …, so that labelled positions are easy to count.
fn round_step(at_least: u32) -> u32 {
    let mut decade = 1u32;
    loop {
        for factor in [1, 2, 5] {
            let step = decade.saturating_mul(factor);
            if step >= at_least || step == u32::MAX {
                return step;
            }
        }
        decade = decade.saturating_mul(10);
    }
}

/// The labelled tokens of the window `first .. first + count`.
pub fn labelled(first: u32, count: u32, step: u32) -> impl Iterator<Item = u32> {
    let step = step.max(1);
    let start = first.div_ceil(step).saturating_mul(step);
    (start..first.saturating_add(count)).step_by(step as usize)
}

/// The labels of two tokens would touch where cells are `pitch` CSS pixels apart.
pub fn touches(pitch: f64, a: u32, b: u32) -> bool {
    f64::from(a.abs_diff(b)) * pitch < LINE
}

/// A token cut to the width of `max` letters, ending in an ellipsis.
pub fn shorten(token: &str, max: usize) -> String {
    // From here on: East Asian scripts and emoji, as wide as two letters.
    let width = |c: char| 1 + usize::from(c >= '\u{2e80}');
    if token.chars().map(width).sum::<usize>() <= max {
        return token.to_owned();
    }
    let mut left = max.saturating_sub(1);
    let fits = |c: &char| {
        let rest = left.checked_sub(width(*c));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    token.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_touch() {
        for count in [1, 24, 120, 512, 65_536] {
            for extent in [40.0, 300.0, 700.0, 1200.0] {
                let fit = labels(extent, count);
                let distance = extent / f64::from(count) * f64::from(fit.step);
                assert!(
                    distance >= LINE || fit.step >= count,
                    "{count} in {extent}: {fit:?}"
                );
            }
        }
    }

    #[test]
    fn a_sentence_on_a_desk_has_every_label_slanted() {
        assert_eq!(
            labels(600.0, 24),
            Labels {
                step: 1,
                slanted: true
            }
        );
        assert_eq!(
            labels(320.0, 24),
            Labels {
                step: 1,
                slanted: false
            }
        );
        assert_eq!(
            labels(600.0, 120),
            Labels {
                step: 5,
                slanted: false
            }
        );
    }

    #[test]
    fn no_room_is_no_panic() {
        assert_eq!(labels(0.0, 24).step, 24);
        assert_eq!(labels(f64::NAN, 0).step, 1);
    }

    #[test]
    fn labelled_tokens_stay_put_while_panning() {
        assert_eq!(labelled(3, 10, 5).collect::<Vec<_>>(), [5, 10]);
        assert_eq!(labelled(0, 3, 1).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn neighbours_give_way_only_where_cells_are_small() {
        assert!(touches(1.2, 306, 300) && touches(20.0, 3, 3));
        assert!(!touches(1.2, 306, 290) && !touches(20.0, 3, 4));
    }

    #[test]
    fn tokens_are_shortened_by_character() {
        assert_eq!(shorten("滑动窗口注意力", 7), "滑动窗…");
        assert_eq!(shorten("滑动窗口", 8), "滑动窗口");
        assert_eq!(shorten("滑动窗口注意力", 6), "滑动…");
        assert_eq!(shorten("التعليمية", 4), "الت…");
        assert_eq!(shorten("abc", 0), "…");
        assert_eq!(shorten("it", 4), "it");
    }
}
