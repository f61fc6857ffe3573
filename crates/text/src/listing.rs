//! Words of the source listings: where a listing and its own text disagree.

use super::{Text, texts};
use attnscope_scene::listing::Point;

texts!("listing");

/// Title of a point, and what listing and text say about it.
pub const fn point(of: Point) -> (Text, Text) {
    match of {
        Point::Window => (WINDOW, WINDOW_SAYS),
        Point::Projection => (PROJECTION, PROJECTION_SAYS),
        Point::Scale => (SCALE, SCALE_SAYS),
        Point::Keys => (KEYS, KEYS_SAYS),
        Point::Bias => (BIAS, BIAS_SAYS),
        Point::Empty => (EMPTY, EMPTY_SAYS),
        Point::Rank => (RANK, RANK_SAYS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attnscope_scene::Lang;
    use attnscope_scene::link_words::Word;
    use attnscope_scene::listing::{OUT_RANK, SCORE_RANK};

    #[test]
    fn the_ranks_are_those_that_the_switch_sets() {
        for &(lang, _) in Lang::WORDS {
            let text = RANK_SAYS.pick(lang);
            assert!(text.contains(&format!("r = {OUT_RANK}")), "{text}");
            assert!(text.contains(&format!("ρ = {SCORE_RANK}")), "{text}");
        }
    }
}
