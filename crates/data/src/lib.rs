//! File formats, and layers made from a seed. Pure: bytes in, values or typed errors out; only
//! [`folder`] and [`pack`], which are native, touch files.

pub mod case;
#[cfg(not(target_arch = "wasm32"))]
pub mod folder;
pub mod minilm;
#[cfg(not(target_arch = "wasm32"))]
pub mod pack;
pub mod safetensors;
pub mod synthetic;

use attnscope_scene::warning::harmless;

/// Longest label of a token, in characters: nobody reads more, and a file may contain anything.
pub const LABEL_CHARS: usize = 64;

/// The label of a token from a file: shortened, and without characters that change the direction of
/// the text around it.
pub fn label(token: &str) -> String {
    token.chars().take(LABEL_CHARS).map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_script_and_lose_what_acts_on_their_surroundings() {
        for whole in [
            "##ing",
            "注意力",
            "שלום",
            "مرحبا",
            "é",
            "👩\u{200d}🔬",
            "[CLS]",
        ] {
            assert_eq!(label(whole), whole);
        }
        let turning = [
            '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}',
            '\n', '\u{2028}', '\0', '\u{85}',
        ];
        for c in turning {
            assert_eq!(label(&format!("a{c}b")), "a\u{fffd}b", "{c:?}");
        }
        assert_eq!(label(&"字".repeat(1000)).chars().count(), LABEL_CHARS);
    }
}
