//! Why a case was not checked, in the language of the page.

use attnscope_data::label;
use attnscope_data::safetensors::ReadError;
use attnscope_engine::EngineError;
use attnscope_scene::Lang;
use attnscope_scene::warning::harmless;
use attnscope_text::{Text, check as texts};

/// Longest reason in the parser's own words, in characters: it may quote parts of the file.
const MOST: usize = 300;

/// What is wrong with a file. Details that only help someone who writes such files stay in the
/// parser's words.
pub fn of_file(lang: Lang, why: &ReadError) -> String {
    let named = |text: Text, name: &str| text.fill(lang, &[("tensor", &label(name))]);
    match why {
        ReadError::Missing(name) => named(texts::MISSING, name),
        ReadError::Unknown(name) => named(texts::UNKNOWN, name),
        ReadError::Twice(name) => named(texts::TWICE, name),
        ReadError::NotFinite(name) => named(texts::NOT_FINITE, name),
        ReadError::Alone { name, needs } => {
            texts::ALONE.fill(lang, &[("tensor", name), ("needs", needs)])
        }
        ReadError::Both { name, other } => {
            texts::BOTH.fill(lang, &[("tensor", name), ("other", other)])
        }
        ReadError::Shape {
            name,
            shape,
            wanted,
        } => {
            let shape = format!("{shape:?}");
            texts::SHAPE.fill(
                lang,
                &[("tensor", name), ("shape", &shape), ("wanted", wanted)],
            )
        }
        ReadError::UnknownField(name) => {
            texts::UNKNOWN_FIELD.fill(lang, &[("field", &label(name))])
        }
        ReadError::Field(name) => texts::FIELD.fill(lang, &[("field", name)]),
        ReadError::Short { .. } => texts::SHORT.pick(lang).to_owned(),
        ReadError::HeaderTooLong(_)
        | ReadError::Header(_)
        | ReadError::Layout(_)
        | ReadError::Surplus(_)
        | ReadError::Type { .. }
        | ReadError::Content(_) => why.to_string().chars().take(MOST).map(harmless).collect(),
    }
}

/// Why the engine did not compute it.
pub fn of_engine(lang: Lang, why: &EngineError) -> String {
    match why {
        EngineError::TooLarge { wanted, allowed } => {
            let [wanted, allowed] = [wanted, allowed].map(u64::to_string);
            texts::TOO_LARGE.fill(lang, &[("wanted", &wanted), ("allowed", &allowed)])
        }
        _ => texts::ENGINE_ERROR.fill(lang, &[("why", &why.to_string())]),
    }
}
