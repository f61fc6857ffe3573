//! Drawn pictures, pixel by pixel against the numbers that the reference expects in them.

use attnscope_attention::compare::{Comparison, Tolerance, compare};
use attnscope_attention::config::Reading;
use attnscope_attention::visibility::Visibility;
use attnscope_engine::{ColorTable, Engine, Frame, MapView, colors};
use attnscope_engine_gpu::{GpuEngine, Slot};
use attnscope_scene::{ColorScale, Quantity};

use crate::support::COLORS;
use crate::support::recipe::{Auxiliary, Projection, Recipe};
use crate::support::wanted::wanted;

use super::checks::{Judge, shown, viewed, window};

/// Pixels per edge of a cell.
const SIDE: u32 = 12;

/// The checks of pictures.
pub fn pictures() -> Vec<Judge> {
    let plain = Recipe {
        seq_len: 11,
        visibility: window(4, 2),
        ..Recipe::default()
    };
    let signed = Recipe {
        seed: 3,
        reading: Reading::Product,
        s: Some(Auxiliary::Curve(1.0)),
        visibility: Visibility::default(),
        ..plain.clone()
    };
    let past = Recipe {
        visibility: window(3, -1),
        ..plain.clone()
    };
    let even = Recipe {
        scale: 0.0,
        ..plain.clone()
    };
    // Weights of very different sizes, some of them below every floor.
    let steep = Recipe {
        scale: 4.0,
        ..plain.clone()
    };
    let nothing = |table| {
        move |map: &mut MapView| {
            (map.quantity, map.colors.table) = (Quantity::Score, table);
        }
    };
    let scaled = |table, scale| {
        move |map: &mut MapView| {
            (map.colors.table, map.colors.scale) = (table, scale);
        }
    };
    let (rising, signed_table) = (COLORS.table, ColorTable::Diverging);
    let weights = [
        ("picture", viewed(&plain, |_| {})),
        ("picture-even", viewed(&even, |_| {})),
        ("picture-nothing", viewed(&even, nothing(rising))),
        (
            "picture-signed-nothing",
            viewed(&even, nothing(signed_table)),
        ),
        (
            "picture-sqrt",
            viewed(&steep, scaled(rising, ColorScale::Sqrt)),
        ),
        (
            "picture-log",
            viewed(&steep, scaled(rising, ColorScale::Log)),
        ),
        (
            "picture-signed-sqrt",
            viewed(&signed, scaled(signed_table, ColorScale::Sqrt)),
        ),
        (
            "picture-signed-log",
            viewed(&signed, scaled(signed_table, ColorScale::Log)),
        ),
        ("picture-masked", viewed(&past, |_| {})),
        (
            "picture-signed",
            viewed(&signed, |map| map.colors.table = ColorTable::Diverging),
        ),
        (
            "picture-unit",
            viewed(&plain, |map| map.colors.range = Some((0.0, 1.0))),
        ),
    ];
    let mut all: Vec<Judge> = weights
        .into_iter()
        .map(|(name, frame)| Judge {
            name: name.to_owned(),
            run: Box::new(move |engine| vec![map_picture(engine, name, &frame)]),
        })
        .collect();
    let shrunk = viewed(&plain, |map| map.colors.range = Some((0.0, 1.0)));
    all.push(Judge {
        name: "picture-shrunk".to_owned(),
        run: Box::new(move |engine| vec![shrunk_picture(engine, &shrunk)]),
    });
    let both = Recipe {
        head_dim: 3,
        output: Projection::Ranked {
            rank: 2,
            bias: false,
        },
        ..plain
    };
    let mut both = shown(&both);
    both.map = None;
    if let Some(view) = &mut both.output {
        (view.texel_rows, view.texel_cols) = (4, 3);
    }
    all.push(Judge {
        name: "picture-output".to_owned(),
        run: Box::new(move |engine| vec![output_picture(engine, &both)]),
    });
    all
}

/// A colour step of 256, and one for rounding.
const STEP: Tolerance = Tolerance {
    name: "a step of the colour table",
    absolute: 2.5 / 256.0,
    relative: 0.0,
};

/// Draws `frame` to a texture and reads it.
fn pixels(
    engine: &mut GpuEngine,
    slot: Slot,
    (width, height): (u32, u32),
    frame: &Frame,
) -> Vec<u8> {
    engine.attach_texture(slot, width, height).unwrap();
    engine.draw(frame).unwrap();
    engine.finish();
    let pixels = engine.read_pixels(slot);
    let pixels = engine.block_on(pixels).unwrap();
    engine.detach(slot);
    pixels.rgba
}

/// Place of a pixel's colour in its table, 0 ..= 1; 2 if it is not in the table.
fn place(table: ColorTable, pixel: &[u8]) -> f64 {
    let table = colors::table(table);
    let at = table.iter().position(|color| color == &pixel[..3]);
    at.map_or(2.0, |at| (at as f64 + 0.5) / 256.0)
}

fn ends(values: &[f64], table: ColorTable, given: Option<(f32, f32)>) -> (f64, f64) {
    if let Some((least, most)) = given {
        return (f64::from(least), f64::from(most));
    }
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    match table {
        ColorTable::Diverging => (-most.max(-least), most.max(-least)),
        ColorTable::Cividis => (0.0, most),
    }
}

/// Place of `value` in the table of `view`, 0 ..= 1.
fn wanted_place(view: &MapView, value: f64, (least, most): (f64, f64)) -> f64 {
    let curve = |share: f64| match view.colors.scale {
        ColorScale::Linear => share,
        ColorScale::Sqrt => share.sqrt(),
        // Three decades.
        ColorScale::Log => (1.0 + share.log10() / 3.0).max(0.0),
    };
    match view.colors.table {
        ColorTable::Diverging if most <= least => 0.5,
        ColorTable::Diverging => 0.5 + 0.5 * curve(value.abs() / most).copysign(value),
        _ if most <= least => 0.0,
        ColorTable::Cividis => curve(((value - least) / (most - least)).clamp(0.0, 1.0)),
    }
}

/// Every cell of a drawn map: visible ones by their colour, masked ones by being transparent.
fn map_picture(engine: &mut GpuEngine, name: &str, frame: &Frame) -> Comparison {
    let len = frame.layer.seq_len;
    let view = frame.map.as_ref().expect("a map");
    let want = wanted(frame);
    let (values, shares) = (&want[0].1, &want[1].1);
    let visible: Vec<f64> = (0..len * len)
        .filter(|&at| shares[at] > 0.0)
        .map(|at| values[at])
        .collect();
    let ends = ends(&visible, view.colors.table, view.colors.range);
    let size = len as u32 * SIDE;
    let rgba = pixels(engine, Slot::Map, (size, size), frame);
    let pixel = |y: usize, x: usize| &rgba[(y * size as usize + x) * 4..][..4];
    let side = SIDE as usize;
    let mut got = Vec::new();
    let wanted = (0..len * len).map(|at| {
        let (i, j) = (at / len, at % len);
        let (y, x) = (i * side, j * side);
        if shares[at] > 0.0 {
            got.push(place(view.colors.table, pixel(y + side / 2, x + side / 2)));
            return wanted_place(view, values[at], ends);
        }
        got.push(match pixel(y + side / 2, x + side / 2) {
            [0, 0, 0, 0] => 1.0,
            _ => 9.0,
        });
        1.0
    });
    let wanted: Vec<f64> = wanted.collect();
    compare(format!("{name} colours"), &got, &wanted, STEP)
}

/// A map at a third of its size: every pixel is the largest of its cells.
fn shrunk_picture(engine: &mut GpuEngine, frame: &Frame) -> Comparison {
    let len = frame.layer.seq_len;
    let values = &wanted(frame)[0].1;
    let size = len / 3;
    let rgba = pixels(engine, Slot::Map, (size as u32, size as u32), frame);
    // The cells whose centre is in a pixel.
    let cells = |at: usize| (0..len).filter(move |&c| (2 * c + 1) * size / (2 * len) == at);
    let want: Vec<f64> = (0..size * size)
        .map(|at| {
            cells(at / size)
                .flat_map(|i| cells(at % size).map(move |j| i * len + j))
                .map(|cell| values[cell])
                .fold(0.0, f64::max)
        })
        .collect();
    let drawn = rgba.chunks_exact(4).zip(&want);
    // Pixels over masked cells alone have no colour.
    let got: Vec<f64> = drawn
        .map(|(pixel, &want)| {
            if want == 0.0 {
                0.0
            } else {
                place(COLORS.table, pixel)
            }
        })
        .collect();
    compare("picture-shrunk colours", &got, &want, STEP)
}

/// Y at the rank above Y; each texel shows its number of largest magnitude, on one range.
fn output_picture(engine: &mut GpuEngine, frame: &Frame) -> Comparison {
    let view = frame.output.as_ref().expect("an output");
    let (len, d) = (frame.layer.seq_len, frame.layer.model_dim());
    let (rows, cols) = (view.texel_rows as usize, view.texel_cols as usize);
    let all = wanted(frame);
    let of = |name: &str| &all.iter().find(|(what, _)| *what == name).expect(name).1;
    let texels = |matrix: &[f64]| -> Vec<f64> {
        (0..rows * cols)
            .map(|at| {
                let (y, x) = (at / cols, at % cols);
                (y * len / rows..(y + 1) * len / rows)
                    .flat_map(|i| (x * d / cols..(x + 1) * d / cols).map(move |j| i * d + j))
                    .map(|cell| matrix[cell])
                    .fold(0.0f64, |a, b| if b.abs() > a.abs() { b } else { a })
            })
            .collect()
    };
    let full = texels(of("Y"));
    // The full output sets the range of both, whatever the rank does.
    let (least, most) = ends(&full, view.colors.table, None);
    let want = [texels(of("Y at the rank")), full].concat();
    let side = SIDE as usize;
    let (width, height) = (cols * side, 2 * rows * side + 2);
    let rgba = pixels(engine, Slot::Output, (width as u32, height as u32), frame);
    let got: Vec<f64> = (0..2 * rows * cols)
        .map(|at| {
            let (y, x) = (at / cols, at % cols);
            let below = if y < rows { 0 } else { 2 };
            let (y, x) = (y * side + side / 2 + below, x * side + side / 2);
            place(view.colors.table, &rgba[(y * width + x) * 4..][..4])
        })
        .collect();
    let want: Vec<f64> = want
        .iter()
        .map(|v| ((v - least) / (most - least)).clamp(0.0, 1.0))
        .collect();
    compare("picture-output colours", &got, &want, STEP)
}
