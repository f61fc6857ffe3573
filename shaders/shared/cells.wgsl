// The drawn value of a cell: its weight or its raw score.
//!import shared/weights

const QUANTITY_WEIGHTS: u32 = 0u;
const QUANTITY_SCORE: u32 = 1u;
override QUANTITY: u32 = QUANTITY_WEIGHTS;

// Which of the keys j0 .. j0+3 below `end` are drawn in row i.
fn drawn(i: u32, span: RowSpan, j0: u32, end: u32) -> vec4<bool> {
    if (QUANTITY == QUANTITY_SCORE) {
        return visible(i, span, j0, end);
    }
    return weighed(i, span, j0, end);
}

// Values of keys j0 .. j0+3 of row i from their scores; exactly 0 where a key is not `drawn`.
fn values(i: u32, span: RowSpan, j0: u32, r: vec4<f32>, seen: vec4<bool>) -> vec4<f32> {
    if (QUANTITY == QUANTITY_SCORE) {
        return select(vec4<f32>(0.0), whole_scores(i, r), seen);
    }
    return weights(i, span, j0, r, seen);
}
