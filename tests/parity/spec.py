"""The formulas of the specification once more, in numpy float64 and in the plainest form, to
check our own side with: nothing here is shared with the Rust code or with a library."""

import numpy as np

DEFAULT = {
    "m": "full", "causal": "0", "conv": "distance", "w": "2", "left": "2", "right": "2",
    "dil": "1", "sinks": "0", "globals": "0", "inwin": "0", "scale": "head", "reading": "bias",
    "seg": "all", "s": "0", "s.slope": "0", "s.decay": "0.5",
}  # fmt: skip

REACH = {
    "distance": lambda w: (w, w, False),
    "causal_distance": lambda w: (w, 0, True),
    "causal_count": lambda w: (w - 1, 0, True),
    "longformer": lambda w: (w // 2, w // 2, False),
}


def visible(choice, length):
    """Which keys (columns) each query (row) sees: section 2."""
    i, j = np.arange(length)[:, None], np.arange(length)[None, :]
    causal = choice["causal"] == "1"
    seen = np.ones((length, length), bool)
    if choice["m"] == "window" or choice["m"] == "cjar" and choice["inwin"] == "1":
        if choice["conv"] == "explicit":
            left, right = (np.inf if choice[x] == "all" else int(choice[x]) for x in ("left", "right"))
        else:
            left, right, forced = REACH[choice["conv"]](int(choice["w"]))
            causal = causal or forced
        sinks, many = int(choice["sinks"]), int(choice["globals"])
        near = (j - i >= -left) & (j - i <= right) & ((j - i) % int(choice["dil"]) == 0)
        seen = near | (j < sinks) | (j < many) | (i < many)
    return seen & (j <= i) if causal else seen


def single(text):
    """A number of a link, which is kept as float32."""
    return float(np.float32(text))


def attention(case, link):
    """A and O of a case under a link: sections 1, 3 and 4."""
    choice = {**DEFAULT, **dict(part.split("=") for part in link.split("&"))}
    q, k, v = (case.tensors[name].astype(np.float64) for name in "qkv")
    heads, length, width = q.shape
    scale = {"head": width**-0.5, "model": (heads * width) ** -0.5}.get(choice["scale"])
    if scale is None:
        scale = single(choice["scale"])
    r = scale * np.einsum("hid,hjd->hij", q, k)
    seen = np.broadcast_to(visible(choice, length), r.shape)
    i, j = np.arange(length)[:, None], np.arange(length)[None, :]
    s = single(choice["s.slope"]) * (j - i) - single(choice["s.decay"]) * abs(j - i)
    s = np.broadcast_to(np.float32(single(choice["s"]) * s).astype(np.float64), r.shape)
    cjar = choice["m"] == "cjar"
    reading = choice["reading"] if cjar else "softmax"
    segment = int(choice["seg"]) if cjar and choice["seg"] != "all" else length
    z = {"softmax": r, "bias": r + s, "product": s}[reading]
    a, filled = np.zeros_like(r), np.zeros((heads, length, 1))
    for start in range(0, length, segment):
        here = seen & (j >= start) & (j < start + segment)
        top = np.max(np.where(here, z, -np.inf), axis=-1, keepdims=True)
        e = np.where(here, np.exp(np.where(here, z - np.where(np.isfinite(top), top, 0), 0)), 0)
        total = e.sum(-1, keepdims=True)
        a += np.divide(e, total, out=np.zeros_like(e), where=total > 0)
        filled += total > 0
    a = np.divide(a, filled, out=np.zeros_like(a), where=filled > 0)
    if reading == "product":
        a = r * a
    return a, a @ v
