//! Sizes, tested without a device.
#![allow(clippy::unwrap_used)]

use super::*;
use attnscope_attention::layer::{Output, Tensor};

fn layer(heads: usize, seq_len: usize, head_dim: usize) -> Layer {
    let none = Tensor::new(&[0], Vec::new()).unwrap();
    Layer {
        id: 0,
        heads,
        seq_len,
        head_dim,
        input: Input::Heads {
            q: none.clone(),
            k: none.clone(),
            v: none,
        },
        output: Output::Identity,
        mask: None,
        preview_of: None,
    }
}

#[test]
fn long_sequences_fit_and_longer_ones_say_so() {
    assert!(PaddedSizes::new(&layer(12, 65_536, 64), Allowed::default()).is_err());
    assert!(PaddedSizes::new(&layer(12, 40_000, 64), Allowed::default()).is_ok());
    assert!(PaddedSizes::new(&layer(4, 65_536, 64), Allowed::default()).is_ok());
    let Err(EngineError::TooLarge { wanted, allowed }) =
        PaddedSizes::new(&layer(1, 1 << 20, 256), Allowed::default())
    else {
        panic!("a million rows of 256 must not fit");
    };
    assert!(wanted > allowed);
    let longest = max_seq_len(768, 12, Allowed::default()) as usize;
    assert!(PaddedSizes::new(&layer(12, longest, 64), Allowed::default()).is_ok());
    assert!(PaddedSizes::new(&layer(12, longest + 1, 64), Allowed::default()).is_err());
}

#[test]
fn heads_start_where_a_binding_may() {
    for (seq_len, head_dim) in [(1, 1), (7, 3), (65, 40), (120, 32)] {
        let sizes = PaddedSizes::new(&layer(3, seq_len, head_dim), Allowed::default()).unwrap();
        assert_eq!(sizes.head_bytes % ALIGN, 0);
        assert!(sizes.head_bytes >= (seq_len * head_dim * 4) as u64);
        assert!(sizes.head_stride * 4 >= head_dim);
    }
}

#[test]
fn statistics_never_grow_with_the_square_of_the_length() {
    let mut config = Config::full(8);
    for segment in [None, Some(1), Some(7), Some(64), Some(1000)] {
        config.segment = segment;
        for seq_len in [1, 2, 63, 64, 65, 512, 4096] {
            let s = StatSizes::new(seq_len, 4, &config);
            assert!(s.stride <= 1 + MAX_STORED_SEGMENTS);
            assert!(s.segment * s.segments >= seq_len);
        }
    }
}

#[test]
fn blocks_cover_every_row_once() {
    for (rows, per_row, budget) in [(1, 1, 1), (512, 1000, 10_000), (13, 5, 1_000_000)] {
        let cut = blocks(rows, per_row, budget, 4);
        assert_eq!(cut[0].0, 0);
        assert_eq!(cut[cut.len() - 1].1 as usize, rows);
        assert!(cut.windows(2).all(|w| w[0].1 == w[1].0 && w[0].1 % 4 == 0));
    }
}

#[test]
fn grids_hold_every_thread_within_the_limit() {
    for threads in [1, 8, 9, 524_280, 524_281, 5_000_000] {
        let (x, y) = grid(threads, 8, 65_535);
        assert!(u64::from(x) * u64::from(y) * 8 >= threads);
        assert!(x <= 65_535 && y <= 65_535);
    }
    assert_eq!(grid(100, 8, 65_535), (13, 1));
}

#[test]
fn small_maps_have_texels_of_whole_blocks() {
    assert_eq!(strip_texels(24, 90), 24);
    assert_eq!(strip_texels(120, 90), 120);
    assert_eq!(strip_texels(512, 90), 128);
    assert_eq!(strip_texels(4096, 128), 128);
    assert_eq!(strip_texels(1, 90), 1);
    for len in [300usize, 513, 2047, 65_536] {
        let texels = strip_texels(len, 96) as usize;
        assert!(
            texels <= 4 * 96 + 1 && len.div_ceil(texels) % 4 == 0,
            "{len} {texels}"
        );
    }
}

#[test]
fn keys_per_row_follow_the_window() {
    let window = |left, right| Visibility {
        left,
        right,
        ..Visibility::default()
    };
    assert_eq!(keys_per_row(100, &window(None, None)), 100);
    assert_eq!(keys_per_row(100, &window(Some(4), Some(4))), 9);
    assert_eq!(keys_per_row(100, &window(Some(4), Some(0))), 5);
    assert_eq!(keys_per_row(100, &window(Some(4), None)), 100);
    assert_eq!(keys_per_row(3, &window(Some(4), Some(4))), 3);
}
