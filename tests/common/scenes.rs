//! Arbitrary Scenes, most of them illegal.

use attnscope_scene::link_words::Word;
use attnscope_scene::{
    Bias, Cjar, Control, Curve, Passage, Pattern, Rect, Scale, Scene, Source, View, Window,
};
use proptest::prelude::*;

/// A value of any choice.
fn word<T: Word + std::fmt::Debug>() -> impl Strategy<Value = T> {
    (0..T::WORDS.len()).prop_map(|at| T::WORDS[at].0)
}

/// Any f32 at all, with ordinary sizes often.
fn real() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<u32>().prop_map(f32::from_bits),
        -20f32..20.0,
        Just(-0.0),
        Just(f32::NAN),
        Just(f32::INFINITY),
    ]
}

/// Any u32 at all, with ordinary sizes often.
fn whole() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..100, any::<u32>()]
}

fn bias() -> impl Strategy<Value = Bias> {
    (real(), word(), any::<bool>(), any::<u32>()).prop_map(
        |(amplitude, shape, per_position, seed)| Bias {
            amplitude,
            shape,
            per_position,
            seed,
        },
    )
}

fn curve() -> impl Strategy<Value = Curve> {
    let numbers = proptest::collection::vec(real(), 8);
    (numbers, any::<bool>(), any::<u32>()).prop_map(|(n, dense, seed)| Curve {
        amplitude: n[0],
        slope: n[1],
        decay: n[2],
        wave: n[3],
        period: n[4],
        bump: n[5],
        at: n[6],
        width: n[7],
        dense,
        seed,
    })
}

fn cjar() -> impl Strategy<Value = Cjar> {
    let optional = || proptest::option::of(whole());
    (
        word(),
        optional(),
        bias(),
        bias(),
        curve(),
        optional(),
        optional(),
    )
        .prop_map(
            |(reading, segment, p_k, p_v, s, score_rank, out_rank)| Cjar {
                reading,
                segment,
                p_k,
                p_v,
                s,
                score_rank,
                out_rank,
            },
        )
}

fn window() -> impl Strategy<Value = Window> {
    let reach = || proptest::option::of(prop_oneof![-9i32..9, any::<i32>()]);
    (word(), whole(), reach(), reach(), whole(), whole(), whole()).prop_map(
        |(convention, size, left, right, dilation, sinks, globals)| Window {
            convention,
            size,
            left,
            right,
            dilation,
            sinks,
            globals,
        },
    )
}

fn view() -> impl Strategy<Value = View> {
    let rect = (whole(), whole(), whole(), whole()).prop_map(|(row, col, rows, cols)| Rect {
        row,
        col,
        rows,
        cols,
    });
    (
        proptest::option::of(whole()),
        word(),
        proptest::option::of(rect),
        word(),
        proptest::option::of(word()),
        word(),
        proptest::option::of((whole(), whole())),
    )
        .prop_map(|(head, quantity, rect, range, color, panel, cell)| View {
            head,
            quantity,
            rect,
            range,
            color,
            panel,
            cell,
        })
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        (word::<Passage>(), any::<u8>()).prop_map(|(text, layer)| Source::MiniLm { text, layer }),
        (word::<Pattern>(), whole(), any::<u32>()).prop_map(|(pattern, seq_len, seed)| {
            Source::Synthetic {
                pattern,
                seq_len,
                seed,
            }
        }),
    ]
}

/// Any Scene, most of them illegal.
pub fn scene() -> impl Strategy<Value = Scene> {
    let scale = prop_oneof![
        Just(Scale::HeadDim),
        Just(Scale::ModelDim),
        real().prop_map(Scale::Free)
    ];
    let page = (
        proptest::option::of(word()),
        proptest::option::of(word()),
        proptest::option::of(word()),
        proptest::collection::vec(word::<Control>(), 0..9),
    );
    (
        (source(), word(), any::<bool>(), window(), any::<bool>()),
        (scale, cjar(), view()),
        (any::<bool>(), whole(), word()),
        page,
    )
        .prop_map(
            |(
                (source, mechanism, causal, window, windowed),
                (scale, cjar, view),
                (projected, padding, empty),
                (lang, theme, lesson, show),
            )| Scene {
                source,
                projected,
                mechanism,
                causal,
                window,
                windowed,
                padding,
                empty,
                scale,
                cjar,
                view,
                lang,
                theme,
                lesson,
                show,
            },
        )
}
