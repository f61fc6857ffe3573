//! Fully masked rows of a map: the page crosses their hatch, since in the picture they look like
//! masked cells of any other row.

use std::fmt::Write;
use std::ops::Range;

use attnscope_attention::visibility::Visibility;
use attnscope_scene::Rect;

/// Runs of fully masked rows in `rect` (L = `seq_len`), as shares of its height; in rising order.
pub fn runs(visibility: &Visibility, rect: Rect, seq_len: u32) -> Vec<Range<f64>> {
    let share = |row: u32| f64::from(row - rect.row) / f64::from(rect.rows.max(1));
    let mut runs: Vec<Range<f64>> = Vec::new();
    let mut open = false;
    for row in rect.row..rect.row.saturating_add(rect.rows).min(seq_len) {
        let masked = visibility.count(row as usize, seq_len as usize, None) == 0;
        match runs.last_mut() {
            Some(run) if masked && open => run.end = share(row + 1),
            _ if masked => runs.push(share(row)..share(row + 1)),
            _ => {}
        }
        open = masked;
    }
    runs
}

/// The CSS gradient, from top to bottom, that is opaque only on the runs.
pub fn gradient(runs: &[Range<f64>]) -> String {
    let mut css = String::from("linear-gradient(#0000 0");
    for run in runs {
        let (from, to) = (run.start * 100.0, run.end * 100.0);
        // Writing to a String cannot fail.
        let _ = write!(css, " {from:.4}%,#000 {from:.4}% {to:.4}%,#0000 {to:.4}%");
    }
    css.push_str(" 100%)");
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rows: u32) -> Rect {
        Rect {
            row: 0,
            col: 0,
            rows,
            cols: rows,
        }
    }

    #[test]
    fn rows_without_keys_are_found() {
        let past = Visibility {
            left: Some(2),
            right: Some(-1),
            ..Visibility::default()
        };
        assert_eq!(runs(&past, all(10), 10), [0.0..0.1]);
        let padded = Visibility { padding: 6, ..past };
        assert_eq!(runs(&padded, all(10), 10), [0.0..0.1, 0.6..1.0]);
        let zoomed = Rect {
            row: 5,
            rows: 4,
            ..all(10)
        };
        assert_eq!(runs(&padded, zoomed, 10), [0.25..1.0]);
        assert_eq!(runs(&Visibility::default(), all(10), 10), []);
    }

    #[test]
    fn the_gradient_is_opaque_in_the_runs_alone() {
        assert_eq!(gradient(&[]), "linear-gradient(#0000 0 100%)");
        assert_eq!(
            gradient(&[0.0..0.5]),
            "linear-gradient(#0000 0 0.0000%,#000 0.0000% 50.0000%,#0000 50.0000% 100%)"
        );
    }
}
