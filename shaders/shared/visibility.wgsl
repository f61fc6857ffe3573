// Which keys a row sees (SPEC 2), as a prefix and one span. Pure.
//!import shared/params

// Row i sees j when j < prefix, or when lo ≤ j ≤ hi and j − i is divisible by the dilation.
struct RowSpan {
    prefix: i32,
    lo: i32,
    hi: i32,
}

fn row_span(i: i32, p: HeadParams) -> RowSpan {
    let last = i32(p.key_end) - 1;
    var span = RowSpan(min(p.prefix_keys, last + 1), 0, last);
    if (i < p.globals) {
        span.prefix = last + 1;
    }
    if ((p.flags & FLAG_LEFT_LIMITED) != 0u) {
        span.lo = max(i - p.left, 0);
    }
    if ((p.flags & FLAG_RIGHT_LIMITED) != 0u) {
        span.hi = min(i + p.right, last);
    }
    if ((p.flags & FLAG_CAUSAL) != 0u) {
        span.hi = min(span.hi, i);
        span.prefix = min(span.prefix, i + 1);
    }
    return span;
}

// Four keys of row i at once, without the mask.
fn span_sees(span: RowSpan, i: i32, j: vec4<i32>, dilation: i32) -> vec4<bool> {
    var near = (j >= vec4<i32>(span.lo)) & (j <= vec4<i32>(span.hi));
    if (DILATED) {
        near = near & ((j - vec4<i32>(i)) % vec4<i32>(dilation) == vec4<i32>(0));
    }
    return near | (j < vec4<i32>(span.prefix));
}

// The union of the keys that rows i0 ..= i1 can see: [0, prefix) and [lo, hi].
fn block_span(i0: i32, i1: i32, p: HeadParams) -> RowSpan {
    let first = row_span(i0, p);
    let last = row_span(i1, p);
    // lo and hi grow with i; the prefix grows when causal and shrinks after the global rows.
    return RowSpan(max(first.prefix, last.prefix), first.lo, last.hi);
}
