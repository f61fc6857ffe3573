"""Writes docs/parity.md from what was measured."""

from datetime import datetime, timezone
from importlib.metadata import version

from inputs import ROOT
from libraries import PACKAGES

HEAD = """# Parity with what people use

Which call of PyTorch, Hugging Face transformers, JAX and ONNX Runtime computes what each choice
here computes, and by how much the results differ. Every line was run as it stands.
Written by `python tests/parity/parity.py --write` (see
[tests/parity](../tests/parity/README.md)), {date}: {versions}, all on the CPU in 32-bit floats.
"""

HOW = """
Judged is O = A·V (SPEC 4) of the project's own 64-bit reference, which also judges the shaders.
A row is *equal* when |theirs − ours| ≤ 1e-5 + 1e-4·max|ours| for every number, all inputs and all
windows of the row; a number that is not finite fails. Inputs are {inputs}; rows of the last part
of the first table have a case of `tests/golden` of their own, two of them changed as the name says
(`-alibi` with s added, `-no-p` without P_K and P_V). `edge-large` has scores to ±13,000
and values to 207, where 32 bits round more, and a column of its own. Beforehand the reference is
held to the formulas of the specification written once more in numpy: {formulas:.0e} at most over
{tensors} tensors.

Names in the lines: `q k v` in the library's own layout; `i`, `j` are the positions of queries (a
column) and keys (a row); `w`, `left`, `right` as on the page; `L`, `H`, `d_h` are length, heads and
head width. `GroupQueryAttention` (com.microsoft) and `Attention` (opset 23) are ONNX operators, here
a graph of one node each; the first takes q, k, v without being told, with as many key heads as query
heads. `longformer` is `LongformerSelfAttention` with our q, k, v for its projections.
"""

UNEQUAL = """
## What looks alike and differs

The largest difference over the same inputs; values of `edge-large` reach 207, and so do these. That
each of them differs is held as well.
"""

ALONE = """
## What has no counterpart

- **Segmented normalisation** (SPEC 3): no library has a call for it. Over whole rows it is the mean
  of one attention per segment, as the line above; in a window each query
  divides by its own number of segments that hold a key it sees.
- **Reading product**: A is not a softmax of anything, weights can be negative. No call; by hand as
  above.
- **Score rank and output rank**: no attention call approximates q·k or W_O; by hand with an SVD. The
  output rank acts behind O and is not compared here.
- **P_K and P_V** have no argument of their own: they are added to k and v before the call.
- **A query without a key** has O = 0 here, as in PyTorch (both calls); for JAX and the listing see the
  table above, ONNX Runtime was not asked.
- **flash-attn** is not run: it needs a CUDA device. Its documented `window_size=(left, right)`, −1
  for unlimited, is our *explicit* (with `causal=True`, right is 0).
- Theirs that is not here: fewer key heads than query heads (repeat k and v), dropout, soft caps.
"""


def cell(text):
    return text.replace("|", "\\|")


def code(text):
    return f"`{cell(text)}`"


def numbers(params):
    """`w` = 0, 1, 2 …, in short."""
    if params == [{}]:
        return ""
    if "left" in params[0]:
        return "(left, right) = " + ", ".join(f"({p['left']}, {p['right']})" for p in params)
    return "w = " + ", ".join(str(w) for w in dict.fromkeys(p["w"] for p in params))


def write(results, plain, formulas):
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    date = datetime.now(timezone.utc).date().isoformat()
    what = ", ".join(
        f"{case.name} (L = {case.shape[1]}, {case.shape[0]} × {case.shape[2]})" for case in plain
    )
    text = HEAD.format(date=date, versions=versions)
    text += HOW.format(inputs=what, formulas=formulas.difference, tensors=formulas.compared)
    text += "\n## Equal\n\n| ours | link | library | call | windows | compared | largest difference | edge-large |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    for row, outcome in results:
        if not row.why:
            link = code(row.link) if row.link else f"`{row.case.name}`"
            # A row with a case of its own never meets edge-large.
            large = "" if row.case else f"{outcome.difference:.0e}"
            text += (
                f"| {cell(row.ours)} | {link} | {row.library} | {code(row.code)} | "
                f"{numbers(row.params)} | {outcome.compared} | {outcome.plain:.0e} | {large} |\n"
            )
    text += UNEQUAL + "\n| ours | library | call | largest difference | why |\n|---|---|---|---|---|\n"
    for row, outcome in results:
        if row.why:
            text += (
                f"| {cell(row.ours)} | {row.library} | {code(row.code)} | "
                f"{outcome.difference:.2g} | {row.why} |\n"
            )
    (ROOT / "docs/parity.md").write_text(text + ALONE, encoding="utf-8")
