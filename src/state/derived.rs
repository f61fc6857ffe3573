//! Values that components read often, derived once from [`AppState`].

use std::sync::Arc;

use leptos::prelude::*;

use crate::components::rich_text::{RichText, rich};
use crate::state::long_lived::LongLived;
use crate::state::{AppState, State};
use attnscope_scene::{Lang, Passage, Rect, Scene, Source, Theme};
use attnscope_text::Text;

/// Sizes of the layer on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownSizes {
    /// L.
    pub seq_len: u32,
    /// H of the whole layer, even while only one of its heads has loaded.
    pub heads: u32,
    /// d_h.
    pub head_dim: u32,
}

impl ShownSizes {
    /// d.
    pub fn model_dim(self) -> u32 {
        self.heads * self.head_dim
    }

    /// The sizes that a source will have once loaded, so that the page can be laid out in advance.
    pub fn expected(source: &Source) -> Self {
        match *source {
            Source::MiniLm { text, .. } => Self {
                seq_len: match text {
                    Passage::Sentence => 24,
                    Passage::Paragraph => 120,
                    Passage::Page => 512,
                },
                heads: 12,
                head_dim: 32,
            },
            Source::Synthetic { seq_len, .. } => Self {
                seq_len: seq_len.max(1),
                heads: 4,
                head_dim: 32,
            },
        }
    }
}

/// A derived value that outlives the views that read it.
pub type Lasting<T> = LongLived<Memo<T>>;

/// Derives a value for views that come and go.
pub fn lasting<T>(value: impl Fn() -> T + Send + Sync + 'static) -> Lasting<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    LongLived::new(Memo::new(move |_| value()))
}

/// Derived values, as context.
#[derive(Clone, Copy)]
pub struct Derived {
    /// Language on screen.
    pub lang: Lasting<Lang>,
    /// Theme on screen.
    pub theme: Lasting<Theme>,
    /// Sizes of the layer on screen.
    pub sizes: Lasting<ShownSizes>,
    /// One label per token.
    pub tokens: Lasting<Arc<[String]>>,
    /// Visible rectangle of the map.
    pub rect: Lasting<Rect>,
    /// It is only a part of the map.
    pub zoomed: Lasting<bool>,
    /// The hovered cell, else the locked one.
    pub cell: Lasting<Option<(u32, u32)>>,
    /// The cell that the panel explains: `cell`, else the one that the sentence is about.
    pub explained: Lasting<Option<(u32, u32)>>,
    /// Head on screen: the chosen one, or the layer's last.
    pub head: Lasting<u32>,
    /// The page is one column (phone).
    pub narrow: State<bool>,
}

impl Derived {
    /// Derives them from the state and the browser's preferences.
    pub fn new(app: AppState, preferences: Preferences) -> Self {
        let lang = part(app, |s| s.lang);
        let theme = part(app, |s| s.theme);
        let lang = lasting(move || lang.get().unwrap_or(preferences.lang));
        let theme = lasting(move || {
            theme.get().unwrap_or(if preferences.dark.get() {
                Theme::Dark
            } else {
                Theme::Light
            })
        });
        let source = part(app, |s| s.source.clone());
        let sizes = lasting(move || {
            let expected = source.with(ShownSizes::expected);
            app.layer.with(|state| {
                state.shown().map_or(expected, |shown| ShownSizes {
                    seq_len: shown.layer.seq_len as u32,
                    // A preview holds one head of a shipped layer.
                    heads: match shown.layer.preview_of {
                        Some(_) => expected.heads,
                        None => shown.layer.heads as u32,
                    },
                    head_dim: shown.layer.head_dim as u32,
                })
            })
        });
        let tokens = lasting(move || {
            app.layer.with(|state| {
                state
                    .shown()
                    .map_or_else(|| Arc::from([]), |shown| Arc::clone(&shown.tokens))
            })
        });
        let locked = part(app, |s| s.view.cell);
        let cell = lasting(move || {
            let seq_len = sizes.get().seq_len;
            app.hover
                .get()
                .or(locked.get())
                .filter(|&(i, j)| i < seq_len && j < seq_len)
        });
        let rect = lasting(move || {
            let seq_len = sizes.get().seq_len as usize;
            app.scene.with(|s| s.rect(seq_len))
        });
        Self {
            lang,
            theme,
            sizes,
            head: lasting(move || {
                let heads = sizes.get().heads as usize;
                app.scene.with(|s| s.head(heads)) as u32
            }),
            tokens,
            rect,
            zoomed: lasting(move || rect.get() != Rect::whole(sizes.get().seq_len)),
            cell,
            explained: lasting(move || {
                let seq_len = sizes.get().seq_len;
                let spoken = app.spoken.get().map(|at| (at.row as u32, at.col as u32));
                cell.get()
                    .or(spoken)
                    .filter(|&(i, j)| i < seq_len && j < seq_len)
            }),
            narrow: preferences.narrow,
        }
    }

    /// The values that [`App`](crate::app::App) provided.
    pub fn get() -> Self {
        expect_context()
    }

    /// Label of a token, or its number.
    pub fn token(self, at: u32) -> String {
        self.tokens
            .with(|tokens| tokens.get(at as usize).cloned())
            .unwrap_or_else(|| format!("#{at}"))
    }
}

/// The browser's preferences, for what the Scene leaves open.
#[derive(Clone, Copy)]
pub struct Preferences {
    /// `?lang=`, else the browser's language.
    pub lang: Lang,
    /// The system theme is dark.
    pub dark: State<bool>,
    /// The window is too narrow for two columns.
    pub narrow: State<bool>,
}

/// A part of the Scene, notified only when it changes.
pub fn part<T>(app: AppState, of: impl Fn(&Scene) -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    Memo::new(move |_| of(&app.scene.read()))
}

/// A text in the language on screen: markup as an element's content, words as an attribute.
pub fn t(text: Text) -> RichText {
    let lang = Derived::get().lang;
    rich(move || text.pick(lang.get()))
}
