//! A golden case through an engine: all of its expectations against what was computed.

use std::sync::Arc;

use attnscope_attention::compare::{Comparison, Tolerance, Verdict, compare};
use attnscope_attention::layer::{Layer, Output};
use attnscope_attention::low_rank::{self, LowRankError};
use attnscope_attention::reference::Head;
use attnscope_data::case::Case;
use attnscope_engine::{
    ColorTable, Colors, EngineError, Frame, MapValues, MapView, OutputMatrix, OutputView, Pool,
    ReadResults,
};
use attnscope_scene::{ColorScale, Quantity, Rect};

/// Colours for pictures that nobody sees.
pub const COLORS: Colors = Colors {
    table: ColorTable::Cividis,
    range: None,
    scale: ColorScale::Linear,
    ground: [255, 255, 255],
};

/// The Frame of a case, factors included, with nothing on screen yet.
///
/// # Errors
/// When a matrix of the case has no factors.
pub fn frame(case: &Case) -> Result<Frame, LowRankError> {
    let layer = Arc::new(case.layer.clone());
    let score_factors = match case.config.score_rank {
        Some(_) => Some(Arc::new(low_rank::score_factors(&layer, &case.biases)?)),
        None => None,
    };
    let out_factors = match (&layer.output, case.config.out_rank) {
        (Output::Full(linear), Some(_)) => Some(Arc::new(low_rank::out_factors(&linear.weight)?)),
        _ => None,
    };
    Ok(Frame {
        layer,
        config: case.config.clone(),
        biases: case.biases.clone(),
        score_factors,
        out_factors,
        map: None,
        strip: None,
        output: None,
    })
}

/// The whole map of `head`, one texel per cell.
pub fn whole_map(layer: &Layer, head: usize, quantity: Quantity) -> MapView {
    let len = layer.seq_len as u32;
    MapView {
        head: head as u32,
        quantity,
        rect: Rect {
            row: 0,
            col: 0,
            rows: len,
            cols: len,
        },
        texel_rows: len,
        texel_cols: len,
        pool: Pool::Max,
        colors: COLORS,
    }
}

/// Both outputs, one texel per number.
pub fn output(layer: &Layer) -> OutputView {
    OutputView {
        texel_rows: layer.seq_len as u32,
        texel_cols: layer.model_dim() as u32,
        colors: Colors {
            table: ColorTable::Diverging,
            ..COLORS
        },
    }
}

/// Draws `frame` and reads its map.
///
/// # Errors
/// An error of the engine.
pub async fn read(engine: &mut dyn ReadResults, frame: &Frame) -> Result<MapValues, EngineError> {
    engine.draw(frame)?;
    engine.read_map().await
}

/// The maps of all heads of `frame`, `[H, L, L]`.
///
/// # Errors
/// An error of the engine.
pub async fn maps(
    engine: &mut dyn ReadResults,
    frame: &Frame,
    quantity: Quantity,
) -> Result<Vec<f32>, EngineError> {
    let mut all = Vec::new();
    for head in 0..frame.layer.heads {
        let shown = Frame {
            map: Some(whole_map(&frame.layer, head, quantity)),
            ..frame.clone()
        };
        all.extend(read(engine, &shown).await?.values);
    }
    Ok(all)
}

/// O or Y of `frame`, `[L, d]`.
///
/// # Errors
/// An error of the engine.
pub async fn matrix(
    engine: &mut dyn ReadResults,
    frame: &Frame,
    which: OutputMatrix,
) -> Result<Vec<f32>, EngineError> {
    let shown = Frame {
        output: Some(output(&frame.layer)),
        ..frame.clone()
    };
    engine.draw(&shown)?;
    engine.read_matrix(which).await
}

/// O of `frame` by head, `[H, L, d_h]`.
///
/// # Errors
/// An error of the engine.
pub async fn head_outputs(
    engine: &mut dyn ReadResults,
    frame: &Frame,
) -> Result<Vec<f32>, EngineError> {
    let flat = matrix(engine, frame, OutputMatrix::Heads).await?;
    let layer = &frame.layer;
    let (len, dim, d) = (layer.seq_len, layer.head_dim, layer.model_dim());
    Ok((0..layer.heads)
        .flat_map(|head| (0..len).map(move |i| i * d + head * dim))
        .flat_map(|at| &flat[at..at + dim])
        .copied()
        .collect())
}

/// `found`; if it differs, what `again` finds when the rounding of large scores is allowed (SPEC
/// 7). That needs all rows of the reference, so it is called only then.
pub fn held(
    case: &Case,
    found: Comparison,
    again: impl FnOnce(Tolerance) -> Comparison,
) -> Comparison {
    if found.verdict != Verdict::Differs {
        return found;
    }
    let spread = (0..case.layer.heads)
        .filter_map(|head| Head::new(&case.layer, &case.config, &case.biases, head).ok())
        .map(|head| head.score_spread())
        .fold(0.0, f64::max);
    again(found.tolerance.with_spread(spread))
}

/// Compares everything that `case` expects with what the engine gives.
///
/// # Errors
/// An error of the engine, or a matrix without factors.
pub async fn judge(
    engine: &mut dyn ReadResults,
    case: &Case,
) -> Result<Vec<Comparison>, EngineError> {
    let frame = frame(case).map_err(|why| EngineError::Invalid(why.to_string()))?;
    judge_frame(engine, case, &frame).await
}

/// As [`judge`], with the [`frame`] of the case.
///
/// # Errors
/// An error of the engine.
pub async fn judge_frame(
    engine: &mut dyn ReadResults,
    case: &Case,
    frame: &Frame,
) -> Result<Vec<Comparison>, EngineError> {
    let (heads, len) = (case.layer.heads, case.layer.seq_len);
    let mut found = Vec::new();
    let mut check = |what: &str, got: &[f32], want: &[f32]| {
        let what = format!("{} {what}", case.name);
        found.push(held(
            case,
            compare(what.clone(), got, want, Tolerance::ENGINE),
            |tolerance| compare(what, got, want, tolerance),
        ));
    };
    if case.expect.a.is_some() || case.expect.a_rows.is_some() {
        let a = maps(engine, frame, Quantity::Weights).await?;
        if let Some(want) = &case.expect.a {
            check("A", &a, &want.data);
        }
        if let Some((rows, want)) = &case.expect.a_rows {
            let got: Vec<f32> = (0..heads)
                .flat_map(|h| rows.iter().map(move |&i| (h * len + i) * len))
                .flat_map(|at| &a[at..at + len])
                .copied()
                .collect();
            check("A rows", &got, &want.data);
        }
    }
    if let Some(want) = &case.expect.o {
        check("O", &head_outputs(engine, frame).await?, &want.data);
    }
    if let Some(want) = &case.expect.y {
        let which = if frame.out_factors.is_some() {
            OutputMatrix::LowRank
        } else {
            OutputMatrix::Full
        };
        check("Y", &matrix(engine, frame, which).await?, &want.data);
    }
    Ok(found)
}
