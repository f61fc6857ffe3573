//! What can go wrong, as data; the words are in the locales.

use attnscope_engine::EngineError;
use attnscope_scene::warning::Warning;

/// One thing that went wrong. Shown as a sentence that says what happened and what to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The engine could not start or go on.
    Engine(EngineError),
    /// A data file is missing or was refused: file and HTTP status (0 = no answer).
    FileMissing {
        /// Which file.
        file: String,
        /// HTTP status, 0 when there was no answer at all.
        status: u16,
    },
    /// The first layer was not waited for.
    LoadCancelled,
    /// A data file is cut short or not what it should be.
    FileBroken {
        /// Which file.
        file: String,
        /// The reader's own word for it.
        why: String,
    },
    /// The link held values that do not fit: each with the value that is used.
    LinkWarnings(Vec<(Warning, String)>),
    /// The layer has less than the Scene asks for: each with what is shown.
    LayerLimits(Vec<(Warning, String)>),
    /// The link was made by a newer version of the page: the version that it claims.
    LinkNewer(String),
    /// The compute worker stops again and again: ranks and sentences are missing.
    Worker(String),
    /// Copying to the clipboard was refused; the text to copy by hand.
    Clipboard(String),
}

impl Problem {
    /// Whether it is about the files of a layer.
    pub fn is_of_file(&self) -> bool {
        matches!(
            self,
            Self::FileMissing { .. } | Self::FileBroken { .. } | Self::LoadCancelled
        )
    }

    /// Whether it is about the compute worker.
    pub fn is_of_compute_worker(&self) -> bool {
        matches!(self, Self::Worker(_))
    }

    /// Whether the reader can ask for the same once more.
    pub fn can_be_retried(&self) -> bool {
        let no_engine = matches!(self, Self::Engine(EngineError::NoCpu(_)));
        self.is_of_file() || self.is_of_compute_worker() || no_engine
    }
}
