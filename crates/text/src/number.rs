//! Numbers in the format of a language: the same width for the same kind, a true minus sign, and
//! never a bare "NaN".

use super::language as of;
use attnscope_scene::Lang;

/// A number with so many decimals and a true minus sign; "–" when it is not finite. A number that
/// rounds to zero has no sign.
pub fn fixed(lang: Lang, value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.*}", decimals, value.abs()).replace('.', of::DECIMAL.pick(lang));
    let is_zero = !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if value < 0.0 && !is_zero {
        format!("\u{2212}{text}")
    } else {
        text
    }
}

/// A weight or score for reading: three decimals, more for small ones.
pub fn weight(lang: Lang, value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size < 0.000_5 {
        powered(lang, value)
    } else {
        fixed(lang, value, 3)
    }
}

/// A number that is likely to be small, in about two digits.
pub fn small(lang: Lang, value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size < 0.001 {
        powered(lang, value)
    } else {
        fixed(lang, value, 4)
    }
}

/// Two digits and a power of ten.
fn powered(lang: Lang, value: f64) -> String {
    let exponent = value.abs().log10().floor();
    let digits = fixed(lang, value / 10f64.powf(exponent), 1);
    format!("{digits}\u{00b7}10{}", superscript(exponent as i32))
}

/// A number with two digits, for a bound rather than a result: "0.97", "0.00073", "5.1·10⁻⁷".
pub fn rough(lang: Lang, value: f64) -> String {
    let exponent = value.abs().log10().floor();
    if (-4.0..0.0).contains(&exponent) {
        let text = fixed(lang, value, (1.0 - exponent) as usize);
        text.strip_suffix('0').map_or(text.clone(), str::to_owned)
    } else if exponent >= 0.0 {
        fixed(lang, value, usize::from(exponent < 1.0))
    } else {
        weight(lang, value)
    }
}

/// A round number with one digit, as short as possible: "0.05", "500", "10⁻⁵", "2·10⁶".
pub fn round(lang: Lang, value: f64) -> String {
    let exponent = value.abs().log10();
    if value == 0.0 || (-3.01..4.0).contains(&exponent) {
        let decimals = (-exponent - 1e-9).ceil().max(0.0);
        return fixed(
            lang,
            value,
            if value == 0.0 { 0 } else { decimals as usize },
        );
    }
    // A digit just below the next power of ten.
    let exponent = (exponent + 1e-9).floor();
    let digit = fixed(lang, value / 10f64.powf(exponent), 0);
    let power = format!("10{}", superscript(exponent as i32));
    match digit.as_str() {
        "1" => power,
        "\u{2212}1" => format!("\u{2212}{power}"),
        _ => format!("{digit}\u{00b7}{power}"),
    }
}

/// A share as a whole percentage; "<1" and ">99" distinguish almost none and almost all.
pub fn percent(lang: Lang, share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 0.5 {
        per_hundred(lang, "<1")
    } else if value > 99.5 && value < 100.0 - 1e-9 {
        per_hundred(lang, ">99")
    } else {
        per_hundred(lang, &fixed(lang, value, 0))
    }
}

/// A share with one decimal, for slow sliders.
pub fn percent_fine(lang: Lang, share: f64) -> String {
    per_hundred(lang, &fixed(lang, share * 100.0, 1))
}

/// A number with the language's percent sign, without a line break between them.
pub fn per_hundred(lang: Lang, number: &str) -> String {
    of::PERCENT.fill(lang, &[("n", number)])
}

/// A count with grouped thousands.
pub fn count(lang: Lang, value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push_str(of::GROUP.pick(lang));
        }
        out.push(digit);
    }
    out
}

/// A large count in thousands, millions or billions (k, M, G), three significant digits.
pub fn engineering(lang: Lang, value: f64) -> String {
    let (unit, divisor) = match value.abs() {
        size if size >= 1e9 => ("G", 1e9),
        size if size >= 1e6 => ("M", 1e6),
        size if size >= 1e3 => ("k", 1e3),
        _ => ("", 1.0),
    };
    let scaled = value / divisor;
    let decimals = match scaled.abs() {
        size if unit.is_empty() && size.fract() == 0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let number = fixed(lang, scaled, decimals);
    if unit.is_empty() {
        number
    } else {
        format!("{number} {unit}")
    }
}

fn superscript(value: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    value
        .to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_fixed_form() {
        assert_eq!(fixed(Lang::En, -0.25, 2), "−0.25");
        assert_eq!(fixed(Lang::En, -0.001, 2), "0.00");
        assert_eq!(fixed(Lang::En, f64::NAN, 2), "–");
        assert_eq!(weight(Lang::En, 0.6234), "0.623");
        assert_eq!(weight(Lang::En, 0.0), "0.000");
        assert_eq!(weight(Lang::En, -0.000_12), "−1.2·10⁻⁴");
        assert_eq!(small(Lang::En, 0.001_387), "0.0014");
        assert_eq!(small(Lang::En, 0.000_87), "8.7·10⁻⁴");
        assert_eq!(small(Lang::En, 0.0), "0.0000");
    }

    #[test]
    fn bounds_have_two_digits() {
        let numbers = [0.001, 0.000_731, 0.01, 0.25, -1.503, 24.04, 0.0, 3.2e-7];
        let texts = [
            "0.001",
            "0.00073",
            "0.01",
            "0.25",
            "−1.5",
            "24",
            "0.000",
            "3.2·10⁻⁷",
        ];
        assert_eq!(numbers.map(|value| rough(Lang::En, value)), texts);
    }

    #[test]
    fn round_numbers_are_short() {
        let round = |value| round(Lang::En, value);
        let numbers = [0.0, 0.2, 0.05, -0.001, 1.0, 20.0, -5000.0];
        let texts = ["0", "0.2", "0.05", "−0.001", "1", "20", "−5000"];
        assert_eq!(numbers.map(round), texts);
        let numbers = [1e-4, 0.000_2, -1e-12, 1e4, -2e6, 0.1 + 0.2, 0.000_5];
        let texts = ["10⁻⁴", "2·10⁻⁴", "−10⁻¹²", "10⁴", "−2·10⁶", "0.3", "5·10⁻⁴"];
        assert_eq!(numbers.map(round), texts);
    }

    #[test]
    fn shares_do_not_claim_all_or_nothing() {
        assert_eq!(percent(Lang::En, 0.614), "61\u{a0}%");
        assert_eq!(percent(Lang::En, 0.0), "0\u{a0}%");
        assert_eq!(percent(Lang::En, 0.001), "<1\u{a0}%");
        assert_eq!(percent(Lang::En, 0.999), ">99\u{a0}%");
        assert_eq!(percent(Lang::En, 1.0), "100\u{a0}%");
        assert_eq!(percent(Lang::Zh, 0.001), "<1%");
        assert_eq!(percent_fine(Lang::En, 0.981_4), "98.1\u{a0}%");
    }

    #[test]
    fn large_numbers_are_short() {
        assert_eq!(count(Lang::En, 147_456), "147\u{202f}456");
        assert_eq!(count(Lang::En, 24), "24");
        assert_eq!(engineering(Lang::En, 3.22e9), "3.22 G");
        assert_eq!(engineering(Lang::En, 147_456.0), "147 k");
        assert_eq!(engineering(Lang::En, 24.0), "24");
    }
}
