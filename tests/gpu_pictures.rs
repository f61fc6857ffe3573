//! Properties of the pictures: sub-rectangles, pooling, masked cells, repeatability, strip, colours.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::reference::Head;
use attnscope_data::case::Case;
use attnscope_data::folder;
use attnscope_engine::{
    Engine, EngineError, Frame, MapValues, MapView, OutputMatrix, Pool, ReadResults, colors,
};
use attnscope_engine_gpu::Slot;
use attnscope_scene::{Quantity, Rect};
use support::{COLORS, frame, maps, matrix, output, read, strip, whole_map};

fn case(name: &str) -> Case {
    folder::cases(&folder::golden())
        .unwrap()
        .into_iter()
        .find(|c| c.name == name)
        .expect(name)
}

fn shows(frame: &Frame, map: MapView) -> Frame {
    Frame {
        map: Some(map),
        ..frame.clone()
    }
}

#[test]
fn a_rectangle_is_cut_from_the_whole_map() {
    let mut engine = support::engine();
    for name in ["cjar-in-window-bias", "window-globals", "mask-arbitrary"] {
        let case = case(name);
        let base = frame(&case);
        let len = case.layer.seq_len as u32;
        let whole = read(
            &mut engine,
            &shows(&base, whole_map(&case.layer, 0, Quantity::Weights)),
        );
        for rect in [
            Rect {
                row: 3,
                col: 2,
                rows: 7,
                cols: 6,
            },
            Rect {
                row: len - 1,
                col: len - 2,
                rows: 1,
                cols: 2,
            },
            Rect {
                row: 1,
                col: 0,
                rows: len - 1,
                cols: 3,
            },
        ] {
            let mut map = whole_map(&case.layer, 0, Quantity::Weights);
            (map.texel_rows, map.texel_cols) = (rect.rows, rect.cols);
            map.rect = rect;
            let part = read(&mut engine, &shows(&base, map));
            assert_eq!((part.rows, part.cols), (rect.rows, rect.cols));
            for y in 0..rect.rows {
                for x in 0..rect.cols {
                    let at = ((rect.row + y) * len + rect.col + x) as usize;
                    let got = (y * rect.cols + x) as usize;
                    assert_eq!(part.values[got].to_bits(), whole.values[at].to_bits());
                    assert_eq!(part.visible[got].to_bits(), whole.visible[at].to_bits());
                }
            }
        }
    }
}

#[test]
fn pooled_texels_hold_the_largest_or_the_mean_of_their_visible_cells() {
    let mut engine = support::engine();
    for name in [
        "cjar-position-product-seg5",
        "window-dilated",
        "window-sinks",
    ] {
        let case = case(name);
        let base = frame(&case);
        let len = case.layer.seq_len;
        let cells = read(
            &mut engine,
            &shows(&base, whole_map(&case.layer, 0, Quantity::Weights)),
        );
        for (texels, pool) in [
            (4, Pool::Max),
            (7, Pool::Max),
            (7, Pool::Mean),
            (1, Pool::Mean),
        ] {
            let mut map = whole_map(&case.layer, 0, Quantity::Weights);
            (map.texel_rows, map.texel_cols, map.pool) = (texels, texels, pool);
            let pooled = read(&mut engine, &shows(&base, map));
            let edge = |t: usize| t * len / texels as usize;
            for y in 0..texels as usize {
                for x in 0..texels as usize {
                    let inside: Vec<(f32, f32)> = (edge(y)..edge(y + 1))
                        .flat_map(|i| (edge(x)..edge(x + 1)).map(move |j| i * len + j))
                        .map(|at| (cells.values[at], cells.visible[at]))
                        .collect();
                    let seen: Vec<f32> = inside.iter().filter(|c| c.1 > 0.0).map(|c| c.0).collect();
                    let want = match pool {
                        Pool::Max => seen
                            .iter()
                            .copied()
                            .fold(0.0f32, |a, b| if b.abs() > a.abs() { b } else { a }),
                        Pool::Mean => seen.iter().sum::<f32>() / seen.len().max(1) as f32,
                    };
                    let at = y * texels as usize + x;
                    let share = seen.len() as f32 / inside.len() as f32;
                    assert!(
                        (pooled.values[at] - want).abs() < 1e-6,
                        "{name} {texels} {y} {x}"
                    );
                    assert!((pooled.visible[at] - share).abs() < 1e-6);
                }
            }
        }
    }
}

#[test]
fn masked_cells_are_exactly_zero_and_visibility_is_the_rule() {
    let mut engine = support::engine();
    let mut masked = 0;
    for case in folder::cases(&folder::golden()).unwrap() {
        if case.layer.seq_len > 70 {
            continue;
        }
        let len = case.layer.seq_len;
        let map = read(
            &mut engine,
            &shows(&frame(&case), whole_map(&case.layer, 0, Quantity::Weights)),
        );
        for i in 0..len {
            for j in 0..len {
                let allowed = case.layer.mask.as_ref().is_none_or(|m| m[i * len + j] != 0);
                let sees = case.config.visibility.sees(i, j) && allowed;
                let at = i * len + j;
                assert_eq!(map.visible[at] > 0.5, sees, "{} {i} {j}", case.name);
                if !sees {
                    masked += 1;
                    assert_eq!(map.values[at].to_bits(), 0.0f32.to_bits());
                }
            }
        }
    }
    assert!(masked > 1000);
}

#[test]
fn masked_cells_are_zero_and_transparent() {
    let mut engine = support::engine();
    engine.attach_texture(Slot::Map, 120, 120).unwrap();
    let case = case("window-strict-past");
    let map = whole_map(&case.layer, 0, Quantity::Weights);
    let values = read(&mut engine, &shows(&frame(&case), map));
    let len = case.layer.seq_len;
    assert!(values.values[..len].iter().all(|v| v.to_bits() == 0));
    assert!(values.visible[..len].iter().all(|&v| v == 0.0));
    let pixels = engine.read_pixels(Slot::Map);
    let pixels = engine.block_on(pixels).unwrap();
    // Row 0 is fully masked, row 1 hides its last keys: the page hatches both.
    let drawn = |row: usize, col: usize| {
        let side = 120 / len;
        (0..side * side)
            .map(|p| ((row * side + p / side) * 120 + col * side + p % side) * 4)
            .filter(|&at| pixels.rgba[at..at + 4] != [0; 4])
            .count()
    };
    assert_eq!((drawn(0, len - 1), drawn(1, len - 1)), (0, 0));
    assert!(drawn(1, 0) > 5);
}

#[test]
fn the_same_frame_gives_the_same_bits() {
    let case = case("cjar-in-window-product");
    let base = frame(&case);
    let once = maps(&mut support::engine(), &base, Quantity::Weights);
    let mut engine = support::engine();
    let again = maps(&mut engine, &base, Quantity::Weights);
    let third = maps(&mut engine, &base, Quantity::Weights);
    let bits = |of: &[f32]| of.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&once), bits(&again));
    assert_eq!(bits(&once), bits(&third));
}

#[test]
fn a_window_over_everything_is_full_attention() {
    let mut engine = support::engine();
    let case = case("full-h2-l65-d40");
    let full = frame(&case);
    let want = maps(&mut engine, &full, Quantity::Weights);
    for w in [64, 65, 1_000_000, i32::MAX] {
        let mut windowed = full.clone();
        windowed.config.visibility.left = Some(w);
        windowed.config.visibility.right = Some(w);
        assert_eq!(
            maps(&mut engine, &windowed, Quantity::Weights),
            want,
            "w = {w}"
        );
    }
    let mut narrow = full.clone();
    narrow.config.visibility.left = Some(63);
    assert_ne!(maps(&mut engine, &narrow, Quantity::Weights), want);
}

#[test]
fn scores_are_those_of_the_reference() {
    let mut engine = support::engine();
    for name in [
        "cjar-position-bias-seg5",
        "window-distance-5",
        "rank-score-3",
    ] {
        let case = case(name);
        let len = case.layer.seq_len;
        let got = maps(&mut engine, &frame(&case), Quantity::Score);
        let mut want = Vec::new();
        for head in 0..case.layer.heads {
            let head = Head::new(&case.layer, &case.config, &case.biases, head).unwrap();
            for i in 0..len {
                want.extend((0..len).map(|j| {
                    if case.config.visibility.sees(i, j) {
                        head.score(i, j)
                    } else {
                        0.0
                    }
                }));
            }
        }
        compare(format!("{name} r"), &got, &want, Tolerance::ENGINE).assert();
    }
}

#[test]
fn many_short_segments_are_recomputed_rightly() {
    // 129 tokens in segments of 1 and 2: more segments than are stored.
    let mut engine = support::engine();
    let case = case("full-h2-l129-d64");
    for segment in [1, 2, 3, 50] {
        for left in [None, Some(7)] {
            let mut case = case.clone();
            case.config.segment = Some(segment);
            case.config.visibility.left = left;
            let base = frame(&case);
            let got = maps(&mut engine, &base, Quantity::Weights);
            let want: Vec<f64> = (0..case.layer.heads)
                .flat_map(|h| {
                    Head::new(&case.layer, &case.config, &case.biases, h)
                        .unwrap()
                        .map()
                        .weights
                })
                .collect();
            compare(format!("segment {segment}"), &got, &want, Tolerance::ENGINE).assert();
            let o = matrix(&mut engine, &base, OutputMatrix::Heads);
            let dim = case.layer.head_dim;
            for h in 0..case.layer.heads {
                let want = Head::new(&case.layer, &case.config, &case.biases, h)
                    .unwrap()
                    .output()
                    .unwrap();
                let got: Vec<f32> = o
                    .chunks_exact(case.layer.model_dim())
                    .flat_map(|row| &row[h * dim..(h + 1) * dim])
                    .copied()
                    .collect();
                compare(
                    format!("O, segment {segment}"),
                    &got,
                    &want,
                    Tolerance::ENGINE,
                )
                .assert();
            }
        }
    }
}

#[test]
fn small_maps_equal_the_large_one() {
    let mut engine = support::engine();
    let case = case("minilm-sentence-window");
    let base = frame(&case);
    let texels = case.layer.seq_len as u32;
    let both = Frame {
        strip: Some(strip(texels)),
        ..shows(&base, whole_map(&case.layer, 3, Quantity::Weights))
    };
    engine.draw(&both).unwrap();
    for head in 0..case.layer.heads {
        let small = engine.read_strip(head as u32);
        let small = engine.block_on(small).unwrap();
        let large = read(
            &mut engine,
            &shows(&base, whole_map(&case.layer, head, Quantity::Weights)),
        );
        let numbers = |map: MapValues| (map.values, map.visible);
        assert!(numbers(small) == numbers(large), "head {head}");
        engine.draw(&both).unwrap();
    }
}

#[test]
fn pixels_are_the_colours_of_the_values() {
    let mut engine = support::engine();
    let case = case("window-distance-2");
    let len = case.layer.seq_len;
    let side = 10;
    engine
        .attach_texture(Slot::Map, (len * side) as u32, (len * side) as u32)
        .unwrap();
    let frame = shows(&frame(&case), whole_map(&case.layer, 0, Quantity::Weights));
    let map = read(&mut engine, &frame);
    let report = engine.report();
    let report = engine.block_on(report).unwrap();
    let seen: Vec<f32> = (0..len * len)
        .filter(|&at| map.visible[at] > 0.0)
        .map(|at| map.values[at])
        .collect();
    let least = seen.iter().copied().fold(f32::MAX, f32::min);
    let most = seen.iter().copied().fold(f32::MIN, f32::max);
    assert_eq!(report.map_range, Some((least, most)));
    let pixels = engine.read_pixels(Slot::Map);
    let pixels = engine.block_on(pixels).unwrap();
    let table = colors::table(COLORS.table);
    for i in 0..len {
        for j in 0..len {
            if map.visible[i * len + j] == 0.0 {
                continue;
            }
            let t = (map.values[i * len + j] - least) / (most - least);
            let step = ((t * 256.0) as usize).min(255);
            // Every pixel of the cell up to its edges; one step of the table is allowed for
            // rounding.
            for (y, x) in [(0, 0), (side - 1, side - 1), (side / 2, side / 2)] {
                let at = ((i * side + y) * len * side + j * side + x) * 4;
                let got = &pixels.rgba[at..at + 3];
                let near = (step.saturating_sub(1)..=(step + 1).min(255)).any(|s| table[s] == got);
                assert!(near, "cell {i} {j}: {got:?} at step {step}");
            }
        }
    }
}

#[test]
fn output_energies_give_the_error_of_every_rank() {
    let mut engine = support::engine();
    let case = case("rank-out-4");
    let full = frame(&case);
    let y = matrix(&mut engine, &full, OutputMatrix::Full);
    let low = matrix(&mut engine, &full, OutputMatrix::LowRank);
    let report = engine.report();
    let report = engine.block_on(report).unwrap();
    let square = |of: &[f32]| of.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
    let difference: Vec<f32> = y.iter().zip(&low).map(|(a, b)| a - b).collect();
    let measured = (square(&difference) / square(&y)).sqrt();
    let sigma = &full.out_factors.as_ref().unwrap().sigma;
    let predicted = attnscope_attention::low_rank::output_error(
        sigma,
        &report.component_energy,
        f64::from(report.output_energy),
        4,
    );
    assert_eq!(report.component_energy.len(), case.layer.model_dim());
    assert!(
        (measured - predicted).abs() < 1e-4 * measured.max(1e-3),
        "{measured} {predicted}"
    );
    assert!(measured > 0.01);
}

#[test]
fn outputs_are_drawn_and_a_rank_alone_redraws_them() {
    let mut engine = support::engine();
    engine.attach_texture(Slot::Output, 60, 40).unwrap();
    let case = case("rank-out-1");
    let mut frame = frame(&case);
    frame.output = Some(output(&case.layer));
    engine.draw(&frame).unwrap();
    engine.finish();
    let one = engine.read_pixels(Slot::Output);
    let one = engine.block_on(one).unwrap();
    frame.config.out_rank = Some(12);
    // No `finish`: dragging the rank must move the picture within `draw`.
    engine.draw(&frame).unwrap();
    let all = engine.read_pixels(Slot::Output);
    let all = engine.block_on(all).unwrap();
    let half = 60 * 19 * 4;
    assert_ne!(one.rgba[..half], all.rgba[..half]);
    // At full rank the upper map equals the lower one.
    assert_eq!(all.rgba[..half], all.rgba[60 * 21 * 4..]);
}

#[test]
fn what_cannot_be_drawn_is_said_and_the_engine_goes_on() {
    let mut engine = support::engine();
    assert_eq!(
        engine.attach_texture(Slot::Map, 0, 5),
        Err(EngineError::EmptyCanvas)
    );
    assert!(matches!(
        engine.attach_texture(Slot::Map, 1 << 20, 5),
        Err(EngineError::TooLarge { .. })
    ));
    let case = case("causal-l1");
    let mut map = whole_map(&case.layer, 99, Quantity::Weights);
    map.rect = Rect {
        row: 7,
        col: 7,
        rows: 9,
        cols: 9,
    };
    map.texel_rows = 9;
    let values = read(&mut engine, &shows(&frame(&case), map));
    assert_eq!((values.rows, values.cols), (1, 1));
    assert_eq!(engine.take_fault(), None);
}

#[test]
fn a_map_smaller_than_its_cells_still_shows_its_largest() {
    // One bright cell per row, drawn at a seventh of its size: every pixel row must show it.
    let mut engine = support::engine();
    let case = case("window-distance-0");
    let len = case.layer.seq_len as u32;
    engine.attach_texture(Slot::Map, 5, 5).unwrap();
    let mut frame = shows(&frame(&case), whole_map(&case.layer, 0, Quantity::Weights));
    if let Some(map) = &mut frame.map {
        map.colors.range = Some((0.0, 1.0));
    }
    let map = read(&mut engine, &frame);
    assert_eq!(map.rows, len);
    let pixels = engine.read_pixels(Slot::Map);
    let pixels = engine.block_on(pixels).unwrap();
    let brightest = colors::table(COLORS.table)[255];
    for i in 0..5 {
        let at = (i * 5 + i) * 4;
        assert_eq!(pixels.rgba[at..at + 3], brightest, "pixel {i}");
    }
}

#[test]
fn strips_of_long_sequences_are_pooled_from_every_cell() {
    let mut engine = support::engine();
    engine.attach_texture(Slot::Strip, 70, 34).unwrap();
    let case = case("minilm-page-full");
    let base = frame(&case);
    let both = Frame {
        strip: Some(strip(32)),
        ..base.clone()
    };
    engine.draw(&both).unwrap();
    let small = engine.read_strip(2);
    let small = engine.block_on(small).unwrap();
    let large = read(
        &mut engine,
        &shows(&base, whole_map(&case.layer, 2, Quantity::Weights)),
    );
    let (len, texels) = (large.rows as usize, small.rows as usize);
    let side = len / texels;
    assert_eq!(side * texels, len);
    for (at, &value) in small.values.iter().enumerate() {
        let (y, x) = (at / texels * side, at % texels * side);
        let want = (y..y + side)
            .flat_map(|i| (x..x + side).map(move |j| i * len + j))
            .map(|cell| large.values[cell])
            .fold(0.0f32, f32::max);
        assert!((value - want).abs() <= 1e-6, "texel {at}: {value}, {want}");
    }
    let pixels = engine.read_pixels(Slot::Strip);
    let pixels = engine.block_on(pixels).unwrap();
    let ground = pixels
        .rgba
        .chunks_exact(4)
        .filter(|p| p[..3] == COLORS.ground)
        .count();
    // Gaps have the background colour, tiles do not.
    assert!(ground > 100 && ground < 70 * 34 / 2, "{ground}");
    assert_eq!(engine.take_fault(), None);
}
