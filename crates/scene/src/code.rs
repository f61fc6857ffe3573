//! The call of other libraries that makes the same mask. Code needs no translation;
//! `docs/parity.md` has the measured result of each call.

use super::key_count::torch_mask;
use attnscope_attention::config::FullyMasked;
use attnscope_attention::visibility::Visibility;

/// One call: the library, and the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Library and function, for a label.
    pub name: &'static str,
    /// Code that can be pasted, for q, k, v `[batch, heads, L, d_h]` (JAX: `[batch, L, heads, d_h]`).
    pub code: String,
}

/// The calls that make the mask of `visibility`; with `scale` where it is not 1/√d_h. With
/// [`FullyMasked::Mean`] the mask is written as −1e9 in the scores, which gives fully masked rows the
/// mean.
pub fn calls(visibility: &Visibility, empty: FullyMasked, scale: Option<f64>) -> Vec<Call> {
    let mask = torch_mask(visibility);
    if let (Some(mask), FullyMasked::Mean) = (&mask, empty) {
        return vec![Call {
            name: "PyTorch",
            code: filled(mask, scale),
        }];
    }
    let scale = scale.map_or_else(String::new, |scale| format!(", scale={}", number(scale)));
    let mut calls = vec![
        Call {
            name: "PyTorch",
            code: sdpa(visibility, mask.as_deref(), &scale),
        },
        Call {
            name: "PyTorch FlexAttention",
            code: flex(mask.as_deref(), &scale),
        },
    ];
    calls.extend(jax(visibility, &scale).map(|code| Call { name: "JAX", code }));
    calls.extend(onnx(visibility, &scale).map(|code| Call {
        name: "ONNX Runtime",
        code,
    }));
    calls
}

/// A number in the fewest digits that Python reads as the same f64, with an exponent instead of
/// long runs of zeros.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn sdpa(visibility: &Visibility, mask: Option<&str>, scale: &str) -> String {
    let call = "F.scaled_dot_product_attention(q, k, v";
    let nothing_but_causal = Visibility {
        causal: true,
        ..Visibility::default()
    };
    match mask {
        None => format!("{call}{scale})"),
        Some(_) if *visibility == nothing_but_causal => format!("{call}, is_causal=True{scale})"),
        Some(mask) => format!(
            "i, j = torch.arange(L)[:, None], torch.arange(L)[None, :]\n\
             mask = {mask}\n\
             {call}, attn_mask=mask{scale})"
        ),
    }
}

/// What the CJAR listing does.
fn filled(mask: &str, scale: Option<f64>) -> String {
    let scale = scale.map_or_else(|| "q.shape[-1] ** -0.5".to_owned(), number);
    format!(
        "i, j = torch.arange(L)[:, None], torch.arange(L)[None, :]\n\
         mask = {mask}\n\
         scores = (q @ k.transpose(-2, -1) * {scale}).masked_fill(~mask, -1e9)\n\
         torch.softmax(scores, dim=-1) @ v"
    )
}

fn flex(mask: Option<&str>, scale: &str) -> String {
    match mask {
        None => format!("flex_attention(q, k, v{scale})"),
        Some(mask) => format!(
            "block_mask = create_block_mask(lambda b, h, i, j: {mask}, None, None, L, L)\n\
             flex_attention(q, k, v, block_mask=block_mask{scale})"
        ),
    }
}

/// Only left, right and the causal switch.
fn is_plain(visibility: &Visibility) -> bool {
    let only_reach = Visibility {
        causal: visibility.causal,
        left: visibility.left,
        right: visibility.right,
        ..Visibility::default()
    };
    *visibility == only_reach
}

/// Only a window, with both sides limited or none.
fn jax(visibility: &Visibility, scale: &str) -> Option<String> {
    let window = match (visibility.left, visibility.right) {
        (None, None) => String::new(),
        (Some(left), Some(right)) if left >= 0 && right >= 0 => {
            format!(", local_window_size=({left}, {right})")
        }
        _ => return None,
    };
    let causal = if visibility.causal {
        ", is_causal=True"
    } else {
        ""
    };
    is_plain(visibility)
        .then(|| format!("jax.nn.dot_product_attention(q, k, v{window}{causal}{scale})"))
}

/// A causal mask of the last keys: the operator counts the token itself.
fn onnx(visibility: &Visibility, scale: &str) -> Option<String> {
    let ahead = visibility.right.is_none_or(|right| right >= 0);
    let left = visibility.left.filter(|&left| left >= 0)?;
    (is_plain(visibility) && ahead && visibility.causal)
        .then(|| format!("GroupQueryAttention(local_window_size={}{scale})", left + 1))
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    fn names_and_code(visibility: &Visibility, scale: Option<f64>) -> Vec<(&'static str, String)> {
        calls(visibility, FullyMasked::Zero, scale)
            .into_iter()
            .map(|call| (call.name, call.code))
            .collect()
    }

    #[test]
    fn full_and_causal_need_no_mask() {
        let full = names_and_code(&Visibility::default(), None);
        assert_eq!(full[0].1, "F.scaled_dot_product_attention(q, k, v)");
        assert_eq!(full[1].1, "flex_attention(q, k, v)");
        assert_eq!(full[2].1, "jax.nn.dot_product_attention(q, k, v)");
        assert_eq!(full.len(), 3);
        let causal = Visibility {
            causal: true,
            ..Visibility::default()
        };
        let causal = names_and_code(&causal, Some(0.25));
        assert_eq!(
            causal[0].1,
            "F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.25)"
        );
        assert_eq!(
            causal[2].1,
            "jax.nn.dot_product_attention(q, k, v, is_causal=True, scale=0.25)"
        );
    }

    #[test]
    fn a_causal_count_is_what_the_operator_counts() {
        let window = Visibility {
            causal: true,
            left: Some(3),
            right: Some(0),
            ..Visibility::default()
        };
        let found = names_and_code(&window, None);
        assert!(
            found[0]
                .1
                .contains("mask = (j - i >= -3) & (j - i <= 0) & (j <= i)")
        );
        assert_eq!(
            found[2].1,
            "jax.nn.dot_product_attention(q, k, v, local_window_size=(3, 0), is_causal=True)"
        );
        assert_eq!(found[3].1, "GroupQueryAttention(local_window_size=4)");
    }

    #[test]
    fn rows_that_get_the_mean_are_made_by_a_large_number() {
        let strict = Visibility {
            right: Some(-1),
            ..Visibility::default()
        };
        let found = calls(&strict, FullyMasked::Mean, None);
        assert_eq!(found.len(), 1);
        assert!(found[0].code.contains("masked_fill(~mask, -1e9)"));
        let full = calls(&Visibility::default(), FullyMasked::Mean, None);
        assert_eq!(full.len(), 3, "without a mask there is no such row");
    }

    /// The scale in a call, as its text.
    fn written(code: &str) -> &str {
        let start = ["scale=", "(-2, -1) * "]
            .iter()
            .find_map(|before| code.find(before).map(|at| at + before.len()))
            .expect("a call with a scale");
        let rest = &code[start..];
        &rest[..rest.find([',', ')']).expect("an end")]
    }

    /// Whether Python accepts `text` as a float: sign, digits with a point, exponent.
    fn is_python_float(text: &str) -> bool {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let unsigned = |text: &str| text.strip_prefix('-').unwrap_or(text).to_owned();
        let text = unsigned(text);
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa, Some(unsigned(exponent))),
            None => (&*text, None),
        };
        let whole = match mantissa.split_once('.') {
            Some((whole, part)) => digits(whole) && digits(part),
            None => digits(mantissa) && exponent.is_some(),
        };
        whole && exponent.is_none_or(|exponent| digits(&exponent))
    }

    #[test]
    fn every_scale_is_read_back_as_it_is() {
        let window = Visibility {
            causal: true,
            left: Some(3),
            right: Some(0),
            ..Visibility::default()
        };
        // Numbers of a Scene are f32, numbers from sizes f64.
        let narrow = [
            4e-7f32,
            -4e-7,
            1e-45,
            f32::MIN_POSITIVE,
            0.1,
            -0.25,
            1000.0,
            -999.999_94,
        ];
        let wide = [
            0.0,
            -0.0,
            384f64.sqrt().recip(),
            1e16,
            1e-5,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
        ];
        for scale in narrow.map(f64::from).into_iter().chain(wide) {
            for empty in [FullyMasked::Zero, FullyMasked::Mean] {
                let found = calls(&window, empty, Some(scale));
                assert_eq!(found.len(), if empty == FullyMasked::Mean { 1 } else { 4 });
                for Call { name, code } in found {
                    let text = written(&code);
                    assert!(is_python_float(text), "{name}: {text}");
                    let read: f64 = text.parse().expect("a number");
                    assert_eq!(read.to_bits(), scale.to_bits(), "{name}: {code}");
                }
            }
        }
    }

    #[test]
    fn a_small_scale_of_a_link_is_in_the_code() {
        let parsed = crate::Scene::from_fragment("v=1&scale=0.0000004");
        assert_eq!(parsed.warnings, []);
        let sizes = crate::resolve::Sizes {
            heads: 12,
            seq_len: 24,
            head_dim: 32,
        };
        let scale = parsed.scene.config(sizes).scale;
        for Call { name, code } in calls(&parsed.scene.visibility(), FullyMasked::Zero, Some(scale))
        {
            let read: f64 = written(&code).parse().expect("a number");
            // What the engines use.
            assert_eq!((read as f32).to_bits(), 4e-7f32.to_bits(), "{name}: {code}");
        }
    }

    #[test]
    fn what_a_library_cannot_say_is_left_out() {
        let strict = Visibility {
            right: Some(-1),
            ..Visibility::default()
        };
        let sinks = Visibility {
            left: Some(2),
            right: Some(2),
            sinks: 1,
            ..Visibility::default()
        };
        let padding = Visibility {
            padding: 3,
            ..Visibility::default()
        };
        for visibility in [strict, sinks, padding] {
            let found = names_and_code(&visibility, None);
            assert_eq!(found.len(), 2, "{found:?}");
        }
    }
}
