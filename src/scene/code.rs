//! The call of other libraries that makes the same mask. Code is in no language of the page;
//! `docs/parity.md` holds what each call was seen to do.

use super::facts::torch_mask;
use crate::attention::config::Empty;
use crate::attention::visibility::Visibility;

/// One call: the library, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Library and function, for a label.
    pub name: &'static str,
    /// Code that can be pasted, for q, k, v `[batch, heads, L, d_h]` (JAX: `[batch, L, heads, d_h]`).
    pub code: String,
}

/// The calls that make the mask of `visibility`; `scale` where it is not 1/√d_h. With
/// [`Empty::Mean`] a mask is written as −1e9 in the scores, which is what gives such rows the mean.
pub fn calls(visibility: &Visibility, empty: Empty, scale: Option<f64>) -> Vec<Call> {
    let mask = torch_mask(visibility);
    if let (Some(mask), Empty::Mean) = (&mask, empty) {
        return vec![Call {
            name: "PyTorch",
            code: filled(mask, scale),
        }];
    }
    let scale = scale.map_or_else(String::new, |scale| format!(", scale={scale:.6}"));
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
    let scale = scale.map_or_else(
        || "q.shape[-1] ** -0.5".to_owned(),
        |scale| format!("{scale:.6}"),
    );
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

/// Reaches and the causal switch, and nothing else.
fn is_plain(visibility: &Visibility) -> bool {
    let only_reach = Visibility {
        causal: visibility.causal,
        left: visibility.left,
        right: visibility.right,
        ..Visibility::default()
    };
    *visibility == only_reach
}

/// A window and nothing else, with both reaches or none.
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

/// The last so many keys of a causal mask: the operator counts the token itself.
fn onnx(visibility: &Visibility, scale: &str) -> Option<String> {
    let ahead = visibility.right.is_none_or(|right| right >= 0);
    let left = visibility.left.filter(|&left| left >= 0)?;
    (is_plain(visibility) && ahead && visibility.causal)
        .then(|| format!("GroupQueryAttention(local_window_size={}{scale})", left + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_code(visibility: &Visibility, scale: Option<f64>) -> Vec<(&'static str, String)> {
        calls(visibility, Empty::Zero, scale)
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
            "F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.250000)"
        );
        assert_eq!(
            causal[2].1,
            "jax.nn.dot_product_attention(q, k, v, is_causal=True, scale=0.250000)"
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
        let found = calls(&strict, Empty::Mean, None);
        assert_eq!(found.len(), 1);
        assert!(found[0].code.contains("masked_fill(~mask, -1e9)"));
        let full = calls(&Visibility::default(), Empty::Mean, None);
        assert_eq!(full.len(), 3, "without a mask there is no such row");
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
