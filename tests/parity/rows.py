"""The table: which of our choices is compared with which call. `code` is run as it stands."""

from dataclasses import dataclass, field

import numpy as np

# Windows of none, few, odd, even and (nearly) all tokens; beyond L for every input.
W = [{"w": w} for w in (0, 1, 2, 5, 23, 64, 200)]
COUNT = W[1:]
# What transformers' Longformer can take: even, and not 2, at which its code fails.
EVEN = [{"w": w} for w in (4, 8, 24, 64)]
SIDES = [
    {"left": left, "right": right}
    for left, right in ((0, 0), (3, 1), (0, 4), (6, 0), (1, 70), (200, 2))
]

WINDOW = "m=window&conv="
DISTANCE = WINDOW + "distance&w={w}"
CAUSAL_DISTANCE = WINDOW + "causal_distance&w={w}"
CAUSAL_COUNT = WINDOW + "causal_count&w={w}"
LONGFORMER = WINDOW + "longformer&w={w}"
EXPLICIT = WINDOW + "explicit&left={left}&right={right}"
STRICT = WINDOW + "explicit&left=3&right=-1"
ALIBI = "m=cjar&reading=bias&s=1&s.decay=0.5"


def filled(link, params):
    """The link with the numbers of `params`; w1, w2 and left1 are for mistakes."""
    more = {f"{name}{by}": params[name] + by for name in ("w", "left") if name in params for by in (1, 2)}
    return link.format(**params, **more)


@dataclass
class Row:
    """One comparison, over all inputs and all `params`."""

    ours: str
    library: str
    code: str
    # The link that makes our side; None: `case` as its own file chooses.
    link: str | None = None
    params: list = field(default_factory=lambda: [{}])
    # What a mistake would be, as (changed link or changes of the case): must be seen.
    wrong: object = None
    case: object = None
    # Which queries: all, or those that see a key ("keys"), or those that see none ("none").
    queries: str = "all"
    # Said beside rows that do not equal.
    why: str = ""


def block(mask):
    """FlexAttention with a mask_mod."""
    made = f"create_block_mask(lambda b, h, q_idx, kv_idx: {mask}, None, None, L, L, device='cpu')"
    return f"flex_attention(q, k, v, block_mask={made})"


def sdpa(mask):
    return f"F.scaled_dot_product_attention(q, k, v, attn_mask={mask})"


def jax(arguments):
    return f"jax.nn.dot_product_attention(q, k, v, {arguments})"


def off_by_one(link):
    """The same window, one wider."""
    return link.replace("{w}", "{w1}").replace("{left}", "{left1}")


def window(ours, link, params, calls):
    return [
        Row(ours, library, code, link, params, wrong=off_by_one(link)) for library, code in calls
    ]


def without_window():
    """Full and causal attention, and the scale."""
    full, causal, scaled = "m=full", "m=full&causal=1", "m=full&scale=0.25"
    model = "m=full&scale=model"
    plain = "F.scaled_dot_product_attention(q, k, v{})"
    return [
        Row("full", "torch", plain.format(""), full, wrong=causal),
        Row("full", "torch", "flex_attention(q, k, v)", full, wrong=causal),
        Row("full", "jax", "jax.nn.dot_product_attention(q, k, v)", full, wrong=causal),
        Row("full", "onnxruntime", "Attention(q, k, v)", full, wrong=causal),
        Row("full, scale 1/√d", "torch", plain.format(", scale=(H * d_h) ** -0.5"), model, wrong=full),
        Row("full, free scale", "torch", plain.format(", scale=0.25"), scaled, wrong=full),
        Row("full, free scale", "torch", "flex_attention(q, k, v, scale=0.25)", scaled, wrong=full),
        Row("full, free scale", "jax", jax("scale=0.25"), scaled, wrong=full),
        Row("full, free scale", "onnxruntime", "Attention(q, k, v, scale=0.25)", scaled, wrong=full),
        Row("causal", "torch", plain.format(", is_causal=True"), causal, wrong=full),
        Row("causal", "torch", block("kv_idx <= q_idx"), causal, wrong=full),
        Row("causal", "jax", jax("is_causal=True"), causal, wrong=full),
        Row("causal", "onnxruntime", "Attention(q, k, v, is_causal=1)", causal, wrong=full),
        Row("causal", "onnxruntime", "GroupQueryAttention()", causal, wrong=full),
    ]


def with_window():
    """The five conventions of one number w, and what can be added to a window."""
    return [
        *window("distance", DISTANCE, W, [
            ("torch", sdpa("(j - i).abs() <= w")),
            ("torch", block("(q_idx - kv_idx).abs() <= w")),
            ("jax", jax("local_window_size=w")),
            ("jax", jax("local_window_size=(w, w)")),
            ("onnxruntime", "Attention(q, k, v, attn_mask=abs(j - i) <= w)"),
        ]),
        *window("causal distance", CAUSAL_DISTANCE, W, [
            ("torch", sdpa("(j <= i) & (i - j <= w)")),
            ("torch", block("(q_idx >= kv_idx) & (q_idx - kv_idx <= w)")),
            ("jax", jax("local_window_size=(w, 0)")),
            ("jax", jax("local_window_size=w, is_causal=True")),
        ]),
        *window("causal count", CAUSAL_COUNT, COUNT, [
            ("transformers", sdpa("sliding_window_causal_mask_function(w)(0, 0, i, j)")),
            ("torch", block("(q_idx >= kv_idx) & (q_idx - kv_idx < w)")),
            ("jax", jax("local_window_size=(w - 1, 0)")),
            ("onnxruntime", "GroupQueryAttention(local_window_size=w)"),
        ]),
        *window("Longformer", LONGFORMER, W, [
            ("torch", sdpa("(j - i).abs() <= w // 2")),
            ("jax", jax("local_window_size=w // 2")),
        ]),
        Row("Longformer", "transformers", "longformer(attention_window=w)", LONGFORMER, EVEN,
            wrong=LONGFORMER.replace("{w}", "{w2}")),
        *window("explicit", EXPLICIT, SIDES, [
            ("torch", sdpa("(j - i >= -left) & (j - i <= right)")),
            ("torch", block("(kv_idx - q_idx >= -left) & (kv_idx - q_idx <= right)")),
            ("jax", jax("local_window_size=(left, right)")),
        ]),
        Row("explicit, a strict past", "torch", sdpa("(j - i >= -3) & (j - i <= -1)"), STRICT,
            wrong=STRICT.replace("-1", "0")),
        Row("explicit, a strict past", "torch", block("(kv_idx - q_idx >= -3) & (kv_idx < q_idx)"),
            STRICT, wrong=STRICT.replace("-1", "0")),
        Row("explicit, a strict past; queries that see a key", "jax",
            jax("local_window_size=(3, -1)"), STRICT, wrong=STRICT.replace("-1", "0"),
            queries="keys"),
    ]  # fmt: skip


def beside_window():
    sinks, many = CAUSAL_DISTANCE + "&sinks=2", DISTANCE + "&globals=2"
    dilated = DISTANCE + "&dil=3"
    lines = [
        {"w": w, "more": more, "conv": conv}
        for w in (1, 4)
        for conv in ("distance", "causal_distance", "causal_count", "longformer")
        for more in ("", "&dil=2", "&sinks=3", "&globals=2", "&sinks=1&globals=2&dil=3&causal=1")
    ]
    link = WINDOW + "{conv}&w={w}{more}"
    return [
        *window("distance with dilation 3", dilated, W, [
            ("torch", block("((q_idx - kv_idx).abs() <= w) & ((q_idx - kv_idx) % 3 == 0)")),
        ]),
        *window("causal distance with 2 sinks", sinks, W, [
            ("torch", block("(q_idx >= kv_idx) & ((q_idx - kv_idx <= w) | (kv_idx < 2))")),
        ]),
        Row("Longformer with 2 globals", "transformers", "longformer(attention_window=w, globals=2)",
            LONGFORMER + "&globals=2", EVEN, wrong=LONGFORMER + "&globals=1"),
        *window("distance with 2 globals", many, W, [
            ("torch", block("((q_idx - kv_idx).abs() <= w) | (q_idx < 2) | (kv_idx < 2)")),
        ]),
        Row("any window: the PyTorch line that the page shows (`line`)", "torch",
            sdpa("eval(line)"), link, lines, wrong=WINDOW + "{conv}&w={w2}{more}"),
    ]  # fmt: skip


def scores():
    """A bias inside the softmax."""
    flex = "flex_attention(q, k, v, score_mod=lambda score, b, h, q_idx, kv_idx: {}{})"
    softer = ALIBI.replace("0.5", "0.4")
    inside = ALIBI + "&inwin=1&conv=causal_distance&w={w}"
    mask = "lambda b, h, q_idx, kv_idx: (q_idx >= kv_idx) & (q_idx - kv_idx <= w)"
    made = f", block_mask=create_block_mask({mask}, None, None, L, L, device='cpu')"
    alibi = "reading bias, s = −0.5·|j − i| (ALiBi)"
    curve = flex.format("score - 0.5 * (q_idx - kv_idx).abs()", "")
    return [
        Row(alibi, "torch", curve, ALIBI, wrong=softer),
        Row(alibi, "torch", sdpa("-0.5 * (j - i).abs()"), ALIBI, wrong=softer),
        Row(alibi, "jax", jax("bias=-0.5 * abs(j - i)[None, None]"), ALIBI, wrong=softer),
        Row(alibi, "onnxruntime",
            "Attention(q, k, v, attn_mask=np.float32(-0.5 * abs(j - i)))", ALIBI, wrong=softer),
        Row(alibi + " in causal distance", "torch",
            flex.format("score - 0.5 * (q_idx - kv_idx).abs()", made), inside, W,
            wrong=off_by_one(inside)),
    ]  # fmt: skip


def cases(golden):
    """What only a case file can bring: masks, biases of its own, segments, ranks."""
    padding, arbitrary = golden("mask-padding"), golden("mask-arbitrary")
    dense = golden("cjar-position-bias-segnone")
    soft = golden("cjar-position-softmax-segnone")
    per_head = alibi_of_heads(golden("full-h3-l33-d16"))
    product = golden("cjar-shared-product-segnone")
    rank = golden("rank-score-3")
    in_segments = golden("cjar-position-softmax-seg5").changed("cjar-position-softmax-seg5-no-p", p_k=None, p_v=None)
    several = [
        "sum(F.scaled_dot_product_attention(q, k[:, :, g:g + B], v[:, :, g:g + B])",
        "for g in range(0, L, B)) / -(-L // B)",
    ]
    biased = "F.scaled_dot_product_attention(q, k + p_k, v + p_v"
    by_mask = [(case, case.changed(case.name + "-open", mask=None)) for case in (padding, arbitrary)]
    no_s = dense.changed("cjar-no-s", s=dense.tensors["s"] * 0)
    return [
        *(Row(f"mask ({case.name})", library, code, case=case, wrong=open_, queries="keys")
          for case, open_ in by_mask
          for library, code in (("torch", sdpa("mask")), ("jax", jax("mask=mask[None, None]")),
                                ("onnxruntime", "Attention(q, k, v, attn_mask=mask)"))),
        Row("reading bias, s = −m_h·|j − i| with ALiBi's slopes of the heads, causal", "torch",
            "flex_attention(q, k, v, score_mod=lambda score, b, h, q_idx, kv_idx: torch.where("
            "kv_idx <= q_idx, score - 2.0 ** (-8 * (h + 1) / H) * (q_idx - kv_idx), -torch.inf))",
            case=per_head, wrong=per_head.changed("alibi-no-s", s=per_head.tensors["s"] * 0)),
        Row("reading bias, dense s, P_K and P_V", "torch", biased + ", attn_mask=s)", case=dense,
            wrong=no_s),
        Row("reading bias, dense s, P_K and P_V", "jax",
            "jax.nn.dot_product_attention(q, k + p_k.transpose(0, 2, 1, 3), "
            "v + p_v.transpose(0, 2, 1, 3), bias=s)", case=dense, wrong=no_s),
        Row("reading softmax, P_K and P_V per position", "torch", biased + ")", case=soft,
            wrong=soft.changed("cjar-no-p", p_k=None)),
        Row("segments of B = 5 keys", "torch", " ".join(several), case=in_segments,
            wrong=in_segments.changed("cjar-seg6", {"segment": 6})),
        Row("reading product, shared P_K and P_V", "torch",
            "(q @ (k + p_k).mT * d_h ** -0.5 * s.softmax(-1)) @ (v + p_v)", case=product,
            wrong=product.changed("product-as-bias", {"reading": "bias"})),
        Row("score rank ρ = 3", "torch",
            "(lambda U, S, V: ((U[..., :3] * S[..., None, :3]) @ V[..., :3, :] * d_h ** -0.5)"
            ".softmax(-1) @ v)(*torch.linalg.svd(q @ k.mT))", case=rank,
            wrong=rank.changed("rank-score-2", {"score_rank": 2})),
    ]  # fmt: skip


def alibi_of_heads(case):
    """The case, causal, with s = −m_h·(i − j), m_h = 2^(−8(h+1)/H), as the ALiBi paper has it."""
    heads, length, _ = case.shape
    at = np.arange(length)
    slopes = 2.0 ** (-8 * (np.arange(heads) + 1) / heads)
    s = -slopes[:, None, None] * np.abs(at[:, None] - at[None, :])
    return case.changed("full-h3-l33-d16-alibi", {"reading": "bias", "causal": True}, s=s.astype(np.float32))


def unequal():
    """What looks alike and is not; that it differs is held as well."""
    none = dict(link=STRICT, queries="none")
    return [
        Row("causal distance", "jax", jax("local_window_size=w"), CAUSAL_DISTANCE, W,
            why="an int is both sides in jax: it is our *distance*"),
        Row("Longformer", "jax", jax("local_window_size=w"), LONGFORMER, EVEN,
            why="jax's int is the distance of each side, Longformer's w is both sides together"),
        Row("causal distance", "transformers",
            sdpa("sliding_window_causal_mask_function(w)(0, 0, i, j)"), CAUSAL_DISTANCE, COUNT,
            why="`sliding_window` counts the token itself: with the same number it sees one key less"),
        Row("causal distance", "onnxruntime", "GroupQueryAttention(local_window_size=w)",
            CAUSAL_DISTANCE, COUNT,
            why="`local_window_size` counts the token itself"),
        Row("causal count", "torch", block("(q_idx >= kv_idx) & (q_idx - kv_idx <= w)"),
            CAUSAL_COUNT, COUNT,
            why="the formula of attention-gym's `sliding_window` is a distance: it sees one key more"),
        Row("distance", "onnxruntime", "GroupQueryAttention(local_window_size=w)", DISTANCE, COUNT,
            why="GroupQueryAttention is always causal: there is no window to both sides"),
        Row("full", "onnxruntime", "GroupQueryAttention()", "m=full",
            why="GroupQueryAttention is always causal"),
        Row("a query without a key (ours: O = 0)", "jax", jax("local_window_size=(3, -1)"), **none,
            why="jax masks with a large negative number: the mean of all values"),
        Row("a query without a key (ours: O = 0)", "torch",
            "(q @ k.mT * d_h ** -0.5).masked_fill(~((j - i >= -3) & (j < i)), -1e9).softmax(-1) @ v",
            **none,
            why="masking with −1e9, as the CJAR listing does: the mean of all values"),
    ]  # fmt: skip


def equal(golden):
    return without_window() + with_window() + beside_window() + scores() + cases(golden)
