//! Pictures of the CPU engine against those that the WGSL engine draws on a Vulkan adapter: same
//! texels, same colours, same marks. And what holds of every engine: pooling, partial drawing,
//! newer Frames.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_data::case::Case;
use attnscope_data::folder;
use attnscope_engine::{ColorTable, Colors, Engine, Frame, MapValues, Pool, colors};
use attnscope_engine_cpu::CpuEngine;
use attnscope_engine_cpu::Picture;
use attnscope_engine_gpu::{GpuEngine, Slot};
use attnscope_scene::{ColorScale, Quantity, Rect};
use support::{COLORS, SLOTS, frame, output, resize, strip, whole_map};

fn case(name: &str) -> Case {
    let cases = folder::cases(&folder::golden()).unwrap();
    cases.into_iter().find(|c| c.name == name).expect(name)
}

/// The pictures of both engines, and the large map's values on the GPU.
fn both(
    gpu: &mut GpuEngine,
    frame: &Frame,
    sizes: [(u32, u32); 3],
) -> Vec<(Slot, Picture, Vec<u8>)> {
    let mut cpu = CpuEngine::default();
    resize(&mut cpu, sizes);
    cpu.draw(frame).unwrap();
    while cpu.idle() {}
    let pictures = cpu.take_pictures();
    for (slot, (width, height)) in SLOTS.into_iter().zip(sizes) {
        if width > 0 {
            gpu.attach_texture(slot, width, height).unwrap();
        }
    }
    gpu.draw(frame).unwrap();
    gpu.finish();
    let mut found = Vec::new();
    for (slot, picture) in SLOTS.into_iter().zip(pictures) {
        if sizes[slot as usize].0 > 0 {
            let pixels = gpu.read_pixels(slot);
            let pixels = gpu.block_on(pixels).unwrap();
            found.push((slot, picture.expect("a picture"), pixels.rgba));
        }
    }
    assert_eq!(gpu.take_fault(), None);
    found
}

/// Every pixel is within 1/255, unless the engines' values lie on both sides of a step of the
/// table: then the neighbouring step is allowed. Returns the number of such pixels.
fn judge(what: &str, picture: &Picture, gpu: &[u8], table: ColorTable) -> usize {
    let got: &[u8] = bytemuck::cast_slice(&picture.pixels);
    assert_eq!(got.len(), gpu.len(), "{what}");
    let steps = colors::table(table);
    let step = |p: &[u8]| steps.iter().position(|s| s == &p[..3]);
    let mut borders = 0;
    for (at, (a, b)) in got.chunks_exact(4).zip(gpu.chunks_exact(4)).enumerate() {
        let near = |a: &u8, b: &u8| a.abs_diff(*b) <= 1;
        if a.iter().zip(b).all(|(a, b)| near(a, b)) {
            continue;
        }
        let (x, y) = (at as u32 % picture.width, at as u32 / picture.width);
        let (Some(i), Some(j)) = (step(a), step(b)) else {
            panic!("{what}: pixel {x} {y} is {a:?} here and {b:?} on the GPU");
        };
        assert!(
            i.abs_diff(j) <= 1,
            "{what}: pixel {x} {y}, steps {i} and {j}"
        );
        borders += 1;
    }
    borders
}

/// Case, colours, range, quantity, cells per texel.
type Shown = (&'static str, ColorTable, Option<(f32, f32)>, Quantity, u32);

const SCALES: [ColorScale; 3] = [ColorScale::Linear, ColorScale::Sqrt, ColorScale::Log];

const SCENES: [Shown; 9] = [
    (
        "window-distance-2",
        ColorTable::Cividis,
        None,
        Quantity::Weights,
        1,
    ),
    (
        "window-strict-past",
        ColorTable::Cividis,
        Some((0.0, 1.0)),
        Quantity::Weights,
        1,
    ),
    (
        "cjar-in-window-product",
        ColorTable::Diverging,
        None,
        Quantity::Weights,
        1,
    ),
    (
        "cjar-position-bias-seg5",
        ColorTable::Diverging,
        None,
        Quantity::Score,
        1,
    ),
    (
        "mask-arbitrary",
        ColorTable::Cividis,
        None,
        Quantity::Weights,
        2,
    ),
    (
        "window-dilated",
        ColorTable::Cividis,
        None,
        Quantity::Weights,
        3,
    ),
    (
        "window-globals",
        ColorTable::Cividis,
        None,
        Quantity::Score,
        1,
    ),
    (
        "minilm-sentence-window",
        ColorTable::Cividis,
        None,
        Quantity::Weights,
        1,
    ),
    (
        "rank-out-4",
        ColorTable::Cividis,
        None,
        Quantity::Weights,
        1,
    ),
];

#[test]
fn colours_and_marks_are_those_of_the_gpu() {
    let mut gpu = support::engine();
    for (at, (name, table, range, quantity, per_texel)) in SCENES.into_iter().enumerate() {
        let case = case(name);
        let len = case.layer.seq_len as u32;
        let mut frame = frame(&case);
        let mut map = whole_map(&case.layer, 0, quantity);
        map.colors = Colors {
            table,
            range,
            ..COLORS
        };
        (map.texel_rows, map.texel_cols) = (len.div_ceil(per_texel), len.div_ceil(per_texel));
        frame.map = Some(map);
        let mut small = strip(len.min(40));
        small.colors.table = table;
        frame.strip = Some(small);
        frame.output = Some(output(&case.layer));
        // Larger than the texels, smaller than the texels, and no even multiple of either.
        for (n, sizes) in [
            [(170, 233), (130, 61), (90, 81)],
            [(13, 9), (80, 30), (7, 12)],
        ]
        .into_iter()
        .enumerate()
        {
            let scale = SCALES[(at + n) % 3];
            frame.map.iter_mut().for_each(|m| m.colors.scale = scale);
            frame.strip.iter_mut().for_each(|s| s.colors.scale = scale);
            frame.output.iter_mut().for_each(|o| o.colors.scale = scale);
            let mut pixels = 0;
            let mut borders = 0;
            for (slot, picture, gpu) in both(&mut gpu, &frame, sizes) {
                let table = if slot == Slot::Output {
                    ColorTable::Diverging
                } else {
                    table
                };
                borders += judge(&format!("{name} {slot:?}"), &picture, &gpu, table);
                pixels += picture.pixels.len();
            }
            assert!(borders * 50 < pixels, "{name}: {borders} of {pixels}");
        }
    }
}

#[test]
fn a_wrong_colour_is_told() {
    let mut gpu = support::engine();
    let case = case("window-distance-2");
    let mut frame = frame(&case);
    frame.map = Some(whole_map(&case.layer, 0, Quantity::Weights));
    let (_, picture, mut pixels) = both(&mut gpu, &frame, [(60, 60), (0, 0), (0, 0)]).remove(0);
    judge("control", &picture, &pixels, COLORS.table);
    pixels[0] ^= 0x40;
    let judged = std::panic::catch_unwind(|| judge("broken", &picture, &pixels, COLORS.table));
    assert!(judged.is_err());
}

/// Draws on both engines and returns both maps.
fn maps(gpu: &mut GpuEngine, frame: &Frame) -> [MapValues; 2] {
    let mut cpu = CpuEngine::default();
    cpu.draw(frame).unwrap();
    [support::map(&mut cpu), support::read(gpu, frame)]
}

#[test]
fn texels_are_those_of_the_gpu() {
    let mut gpu = support::engine();
    for name in [
        "cjar-in-window-bias",
        "window-globals",
        "mask-arbitrary",
        "window-dilated",
        "window-strict-past",
    ] {
        let case = case(name);
        let mut frame = frame(&case);
        let len = case.layer.seq_len as u32;
        for (texels, pool) in [
            (len, Pool::Max),
            (7, Pool::Max),
            (7, Pool::Mean),
            (1, Pool::Mean),
        ] {
            for rect in [
                Rect {
                    row: 0,
                    col: 0,
                    rows: len,
                    cols: len,
                },
                Rect {
                    row: 3,
                    col: 2,
                    rows: 9,
                    cols: 8,
                },
                Rect {
                    row: len - 1,
                    col: len - 2,
                    rows: 1,
                    cols: 2,
                },
            ] {
                let mut map = whole_map(&case.layer, 0, Quantity::Weights);
                (map.rect, map.pool) = (rect, pool);
                (map.texel_rows, map.texel_cols) = (texels, texels);
                frame.map = Some(map);
                let [got, want] = maps(&mut gpu, &frame);
                assert_eq!((got.rows, got.cols), (want.rows, want.cols));
                let what = format!("{name} {texels} {rect:?}");
                compare(what.clone(), &got.values, &want.values, Tolerance::ENGINE).assert();
                compare(what.clone(), &got.visible, &want.visible, Tolerance::ENGINE).assert();
                for (value, share) in got.values.iter().zip(&got.visible) {
                    assert!(*share > 0.0 || value.to_bits() == 0, "{what}: {value}");
                }
            }
        }
    }
}

#[test]
fn long_maps_come_coarse_first_and_make_way() {
    // Long enough for several parts.
    let mut long = case("minilm-page-full");
    let mut base = frame(&long);
    base.map = Some(whole_map(&long.layer, 5, Quantity::Weights));
    let sizes = [(128, 128), (0, 0), (0, 0)];
    let mut whole = CpuEngine::default();
    resize(&mut whole, sizes);
    whole.draw(&base).unwrap();
    let want = support::map(&mut whole);
    let mut layer = long.layer.clone();
    layer = lengthened(&layer, 4);
    long.layer = layer;
    let mut frame = frame(&long);
    let mut map = whole_map(&long.layer, 5, Quantity::Weights);
    (map.texel_rows, map.texel_cols) = (128, 128);
    frame.map = Some(map);
    let mut engine = CpuEngine::default();
    resize(&mut engine, sizes);
    engine.draw(&frame).unwrap();
    let mut pieces = 0;
    let mut first = None;
    let mut share = 0.0;
    assert_eq!(engine.progress(), None, "nothing is drawn yet");
    while engine.is_partial() {
        engine.idle();
        pieces += 1;
        let [picture, ..] = engine.take_pictures();
        first = first.or(picture.map(|picture| (pieces, picture)));
        // A partial picture is marked as coarse until it is complete.
        let coarse = first.is_some() && engine.is_partial();
        assert_eq!(engine.progress().is_some(), coarse);
        if let Some(now) = engine.progress() {
            assert!((share..1.0).contains(&now), "{now} after {share}");
            share = now;
        }
    }
    let (at, coarse) = first.expect("a picture");
    assert!(
        at < pieces,
        "the first picture is the last: {at} of {pieces}"
    );
    assert!(coarse.pixels.iter().any(|&p| p != coarse.pixels[0]));
    assert!(share > 0.0, "it is told how far it is");
    // A newer Frame in the middle wins, and nothing of the old one stays.
    frame.config.scale *= 2.0;
    engine.draw(&frame).unwrap();
    engine.idle();
    assert!(engine.progress().is_some(), "its coarse map is drawn");
    engine.draw(&base).unwrap();
    assert_eq!(engine.progress(), None);
    assert_eq!(support::map(&mut engine), want);
}

#[test]
fn small_maps_of_an_older_frame_are_known_as_such() {
    let case = case("window-distance-2");
    let mut frame = frame(&case);
    let mut engine = CpuEngine::default();
    engine.draw(&frame).unwrap();
    assert!(!engine.strip_waits(), "there are none");
    frame.strip = Some(strip(9));
    for scale in [1.0, 2.0] {
        frame.config.scale = scale;
        engine.draw(&frame).unwrap();
        assert!(engine.strip_waits());
        while engine.idle() {}
        assert!(!engine.strip_waits());
    }
}

/// The layer with its tokens repeated `times` times.
fn lengthened(
    layer: &attnscope_attention::layer::Layer,
    times: usize,
) -> attnscope_attention::layer::Layer {
    use attnscope_attention::layer::{Input, Tensor, fresh_id};
    let mut layer = layer.clone();
    layer.id = fresh_id();
    layer.seq_len *= times;
    if let Input::Hidden { x, .. } = &mut layer.input {
        let shape = [layer.seq_len, x.shape[1]];
        *x = Tensor::new(&shape, x.data.repeat(times)).unwrap();
    }
    layer
}

#[test]
fn a_change_computes_no_more_than_it_must_and_all_of_it() {
    // One engine through a chain of Frames gives what new engines give.
    let names = ["cjar-position-bias-seg5", "rank-out-4", "window-distance-2"];
    let mut engine = CpuEngine::default();
    for name in names {
        let case = case(name);
        let mut frame = frame(&case);
        frame.map = Some(whole_map(&case.layer, 0, Quantity::Weights));
        frame.strip = Some(strip(9));
        frame.output = Some(output(&case.layer));
        let mut chain = vec![frame.clone()];
        let mut next = |edit: &dyn Fn(&mut Frame)| {
            edit(&mut frame);
            chain.push(frame.clone());
        };
        next(&|f| f.config.visibility.left = Some(1));
        next(&|f| f.config.scale *= 2.0);
        next(&|f| f.config.out_rank = f.config.out_rank.map(|_| 2));
        next(&|f| f.biases.p_v.iter_mut().for_each(|p| p.amplitude *= 3.0));
        next(&|f| f.biases.p_k.iter_mut().for_each(|p| p.amplitude = 0.0));
        next(&|f| f.map.iter_mut().for_each(|m| m.quantity = Quantity::Score));
        next(&|f| f.config.segment = Some(2));
        let sizes = [(40, 40), (50, 20), (30, 30)];
        resize(&mut engine, sizes);
        for (at, frame) in chain.iter().enumerate() {
            engine.draw(frame).unwrap();
            let mut fresh = CpuEngine::default();
            resize(&mut fresh, sizes);
            fresh.draw(frame).unwrap();
            assert_eq!(
                support::map(&mut engine),
                support::map(&mut fresh),
                "{name} {at}"
            );
            assert_eq!(
                support::small_map(&mut engine, 0),
                support::small_map(&mut fresh, 0),
                "{name} {at}"
            );
            assert_eq!(
                support::report(&mut engine),
                support::report(&mut fresh),
                "{name} {at}"
            );
            let drawn = engine.take_pictures();
            let wanted = fresh.take_pictures();
            for (drawn, wanted) in drawn.into_iter().zip(wanted) {
                assert!(drawn.is_none() || drawn == wanted, "{name} {at}");
            }
        }
    }
}

/// Every pixel of a map with one pixel per cell, from both engines, as its place in the table.
fn places(gpu: &mut GpuEngine, frame: &Frame) -> [Vec<Option<usize>>; 2] {
    let map = frame.map.as_ref().expect("a map");
    let sizes = [(map.texel_cols, map.texel_rows), (0, 0), (0, 0)];
    let (_, picture, pixels) = both(gpu, frame, sizes).remove(0);
    let steps = colors::table(map.colors.table);
    let place = |p: &[u8]| (p[3] > 0).then(|| steps.iter().position(|s| s == &p[..3]).unwrap());
    let of = |rgba: &[u8]| rgba.chunks_exact(4).map(place).collect();
    [of(bytemuck::cast_slice(&picture.pixels)), of(&pixels)]
}

#[test]
fn equal_weights_are_bright_and_weights_of_0_dark_whatever_the_smallest_is() {
    let mut gpu = support::engine();
    let (one, full) = (case("window-distance-0"), case("minilm-sentence-full"));
    let view = |case: &Case| {
        let mut frame = frame(case);
        let mut map = whole_map(&case.layer, 0, Quantity::Weights);
        map.colors.table = ColorTable::Cividis;
        frame.map = Some(map);
        frame
    };
    // Every weight is 1; every weight is 1/24.
    let mut even = view(&full);
    even.config.scale = 0.0;
    for (what, frame) in [("1", view(&one)), ("1/24", even)] {
        for found in places(&mut gpu, &frame) {
            let seen: Vec<_> = found.into_iter().flatten().collect();
            assert!(
                !seen.is_empty() && seen.iter().all(|&at| at == 255),
                "{what}: {seen:?}"
            );
        }
    }
    // So steep that all but one weight of a row are 0.
    let mut steep = view(&full);
    steep.config.scale = 1e4;
    let values = support::read(&mut gpu, &steep).values;
    let len = full.layer.seq_len;
    let row = (0..len)
        .find(|i| values[i * len..][..2] == [0.0; 2])
        .expect("a row that begins with 0");
    if let Some(map) = &mut steep.map {
        map.rect = Rect {
            row: row as u32,
            col: 0,
            rows: 1,
            cols: 2,
        };
        (map.texel_rows, map.texel_cols) = (1, 2);
    }
    for found in places(&mut gpu, &steep) {
        assert_eq!(found, [Some(0); 2]);
    }
    // All scores equal: 0 has the middle colour, others the end on their side.
    let mut score = steep;
    score.config.scale = 0.0;
    if let Some(map) = &mut score.map {
        (map.quantity, map.colors.table) = (Quantity::Score, ColorTable::Diverging);
    }
    for found in places(&mut gpu, &score) {
        assert_eq!(found, [Some(128); 2]);
    }
}

/// The place of a value in the table, in steps of 256: 0 is the first colour (of a diverging table,
/// the middle one), and the scale of the share of the largest magnitude counts from there.
fn step(value: f64, (low, high): (f64, f64), table: ColorTable, scale: ColorScale) -> f64 {
    let curve = |share: f64| match scale {
        ColorScale::Linear => share,
        ColorScale::Sqrt => share.sqrt(),
        // Three decades.
        ColorScale::Log => (1.0 + share.log10() / 3.0).max(0.0),
    };
    if table == ColorTable::Diverging {
        assert!((low + high).abs() < 1e-12);
        let size = curve((value / high).abs().min(1.0));
        128.0 + 128.0 * size.copysign(value)
    } else {
        256.0 * curve(((value - low) / (high - low)).clamp(0.0, 1.0))
    }
}

/// As [`SCENES`], with a factor by which the scores are steeper: weights then go from 1 to exactly
/// 0.
const FORMULAS: [Shown; 6] = {
    use ColorTable::{Cividis, Diverging};
    use Quantity::{Score, Weights};
    let (one, both) = (Some((0.0, 1.0)), Some((-1.0, 1.0)));
    [
        ("minilm-sentence-full", Cividis, None, Weights, 1),
        ("minilm-sentence-full", Cividis, None, Weights, 40),
        ("minilm-sentence-window", Cividis, one, Weights, 1),
        ("cjar-in-window-product", Diverging, None, Weights, 1),
        ("cjar-in-window-product", Diverging, both, Weights, 1),
        ("cjar-position-bias-seg5", Diverging, None, Score, 1),
    ]
};

#[test]
fn every_scale_is_its_formula_in_both_engines() {
    let mut gpu = support::engine();
    for (name, table, range, quantity, steeper) in FORMULAS {
        let colors = colors::table(table);
        let case = case(name);
        let mut frame = frame(&case);
        frame.config.scale *= f64::from(steeper);
        for scale in SCALES {
            let mut map = whole_map(&case.layer, 0, quantity);
            map.colors = Colors {
                table,
                range,
                scale,
                ..COLORS
            };
            frame.map = Some(map);
            let found = places(&mut gpu, &frame);
            for (map, found) in maps(&mut gpu, &frame).into_iter().zip(found) {
                let seen = map.values.iter().zip(&map.visible);
                let seen = seen
                    .filter(|(_, share)| **share > 0.0)
                    .map(|(v, _)| f64::from(*v));
                let most = seen.clone().fold(0.0, f64::max);
                let reach = seen.clone().fold(most, |a, v| a.max(v.abs()));
                let ends = match (range, table) {
                    (Some((low, high)), _) => (f64::from(low), f64::from(high)),
                    (None, ColorTable::Diverging) => (-reach, reach),
                    (None, _) => (0.0, most),
                };
                let mut steps = std::collections::BTreeSet::new();
                for (at, found) in found.into_iter().enumerate() {
                    let what = format!("{name} {scale:?} {range:?}, cell {at}");
                    assert_eq!(found.is_some(), map.visible[at] > 0.0, "{what}");
                    let Some(found) = found else { continue };
                    let value = f64::from(map.values[at]);
                    let want = step(value, ends, table, scale);
                    let near = [want - 0.02, want + 0.02].map(|at| at.clamp(0.0, 255.0) as usize);
                    // Neighbours in a table may have the same colour.
                    assert!(
                        near.iter().any(|&at| colors[at] == colors[found]),
                        "{what}: {value} is {found}, not {want}"
                    );
                    steps.insert(found);
                }
                if steeper > 1 {
                    assert!(seen.clone().any(|v| v == 0.0) && steps.contains(&0));
                } else {
                    let count = steps.len();
                    assert!(count > 20, "{name} {scale:?}: {count} colours");
                }
            }
        }
    }
}
