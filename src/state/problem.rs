//! What can go wrong, as data; the texts are in lang/.

use attnscope_engine::EngineError;
use attnscope_scene::warning::Warning;

/// Something that went wrong. Shown as a sentence that says what happened and what to do.
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
    /// The first layer was cancelled while it was loading.
    LoadCancelled,
    /// A data file is cut short or damaged.
    FileBroken {
        /// Which file.
        file: String,
        /// The reader's own reason.
        why: String,
    },
    /// Values in the link do not fit: each with the value that is used instead.
    LinkWarnings(Vec<(Warning, String)>),
    /// The layer has less than the Scene asks for: each with what is shown instead.
    LayerLimits(Vec<(Warning, String)>),
    /// The link was made by a newer version of the page: the version that it names.
    LinkNewer(String),
    /// The compute worker stops again and again: ranks and sentences are missing.
    Worker(String),
    /// Copying to the clipboard was refused; the text to copy by hand.
    Clipboard(String),
}

impl Problem {
    /// It is about the files of a layer.
    pub fn is_of_file(&self) -> bool {
        matches!(
            self,
            Self::FileMissing { .. } | Self::FileBroken { .. } | Self::LoadCancelled
        )
    }

    /// It is about the compute worker.
    pub fn is_of_compute_worker(&self) -> bool {
        matches!(self, Self::Worker(_))
    }

    /// The reader can retry.
    pub fn can_be_retried(&self) -> bool {
        let no_engine = matches!(self, Self::Engine(EngineError::NoCpu(_)));
        self.is_of_file() || self.is_of_compute_worker() || no_engine
    }
}
