//! Pictures of the CPU engine beside those that the WGSL engine draws on a Vulkan adapter: same
//! texels, same colours, same marks. And what holds of every engine: pooling, pieces, newer Frames.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope::attention::compare::{Tolerance, compare};
use attnscope::data::case::Case;
use attnscope::data::folder;
use attnscope::engine::cpu::engine::{CpuEngine, Targets};
use attnscope::engine::cpu::paint::Picture;
use attnscope::engine::gpu::{GpuEngine, Slot};
use attnscope::engine::{ColorTable, Colors, Engine, Frame, MapValues, Pool, colors};
use attnscope::scene::{Quantity, Rect};
use support::{COLORS, frame, output, strip, whole_map};

const SLOTS: [Slot; 3] = [Slot::Map, Slot::Strip, Slot::Output];

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
    let targets = Targets { sizes };
    let mut cpu = CpuEngine::default();
    cpu.draw(frame, targets).unwrap();
    while cpu.step() {}
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

/// Every pixel within 1/255, except where two engines' values lie on both sides of a border between
/// two steps of the table: there the neighbouring step. Returns how many such there are.
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

/// Case, colours, range, quantity, cells a texel.
type Shown = (&'static str, ColorTable, Option<(f32, f32)>, Quantity, u32);

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
        ColorTable::Viridis,
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
        ColorTable::Viridis,
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
    for (name, table, range, quantity, per_texel) in SCENES {
        let case = case(name);
        let len = case.layer.seq_len as u32;
        let colors = Colors {
            table,
            range,
            ..COLORS
        };
        let mut frame = frame(&case);
        let mut map = whole_map(&case.layer, 0, quantity);
        map.colors = colors;
        (map.texel_rows, map.texel_cols) = (len.div_ceil(per_texel), len.div_ceil(per_texel));
        frame.map = Some(map);
        let mut small = strip(len.min(40));
        small.colors = Colors {
            range: None,
            ..colors
        };
        frame.strip = Some(small);
        frame.output = Some(output(&case.layer));
        // Larger than the texels, smaller than the texels, and nothing of either evenly.
        for sizes in [
            [(170, 233), (130, 61), (90, 81)],
            [(13, 9), (80, 30), (7, 12)],
        ] {
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

/// Draws on both and returns both maps.
fn maps(gpu: &mut GpuEngine, frame: &Frame) -> [MapValues; 2] {
    let mut cpu = CpuEngine::default();
    cpu.draw(frame, Targets::default()).unwrap();
    [cpu.map_values(), support::read(gpu, frame)]
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
    // Long enough for several pieces.
    let mut long = case("minilm-page-full");
    let mut base = frame(&long);
    base.map = Some(whole_map(&long.layer, 5, Quantity::Weights));
    let targets = Targets {
        sizes: [(128, 128), (0, 0), (0, 0)],
    };
    let mut whole = CpuEngine::default();
    whole.draw(&base, targets).unwrap();
    let want = whole.map_values();
    let mut layer = long.layer.clone();
    layer = lengthened(&layer, 4);
    long.layer = layer;
    let mut frame = frame(&long);
    let mut map = whole_map(&long.layer, 5, Quantity::Weights);
    (map.texel_rows, map.texel_cols) = (128, 128);
    frame.map = Some(map);
    let mut engine = CpuEngine::default();
    engine.draw(&frame, targets).unwrap();
    let mut pieces = 0;
    let mut first = None;
    let mut share = 0.0;
    assert_eq!(engine.progress(), None, "nothing is drawn yet");
    while engine.is_partial() {
        engine.step();
        pieces += 1;
        let [picture, ..] = engine.take_pictures();
        first = first.or(picture.map(|picture| (pieces, picture)));
        // What is drawn is known to be coarse until it is whole.
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
    engine.draw(&frame, targets).unwrap();
    engine.step();
    assert!(engine.progress().is_some(), "its coarse map is drawn");
    engine.draw(&base, targets).unwrap();
    assert_eq!(engine.progress(), None);
    assert_eq!(engine.map_values(), want);
}

#[test]
fn small_maps_of_an_older_frame_are_known_as_such() {
    let case = case("window-distance-2");
    let mut frame = frame(&case);
    let mut engine = CpuEngine::default();
    engine.draw(&frame, Targets::default()).unwrap();
    assert!(!engine.strip_waits(), "there are none");
    frame.strip = Some(strip(9));
    for scale in [1.0, 2.0] {
        frame.config.scale = scale;
        engine.draw(&frame, Targets::default()).unwrap();
        assert!(engine.strip_waits());
        while engine.step() {}
        assert!(!engine.strip_waits());
    }
}

/// The layer with its tokens repeated `times` times.
fn lengthened(
    layer: &attnscope::attention::layer::Layer,
    times: usize,
) -> attnscope::attention::layer::Layer {
    use attnscope::attention::layer::{Input, Tensor, fresh_id};
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
    // One engine through a chain of Frames gives what fresh engines give.
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
        let targets = Targets {
            sizes: [(40, 40), (50, 20), (30, 30)],
        };
        for (at, frame) in chain.iter().enumerate() {
            engine.draw(frame, targets).unwrap();
            let mut fresh = CpuEngine::default();
            fresh.draw(frame, targets).unwrap();
            assert_eq!(engine.map_values(), fresh.map_values(), "{name} {at}");
            assert_eq!(engine.strip_values(0), fresh.strip_values(0), "{name} {at}");
            assert_eq!(engine.report(), fresh.report(), "{name} {at}");
            let drawn = engine.take_pictures();
            let wanted = fresh.take_pictures();
            for (drawn, wanted) in drawn.into_iter().zip(wanted) {
                assert!(drawn.is_none() || drawn == wanted, "{name} {at}");
            }
        }
    }
}
