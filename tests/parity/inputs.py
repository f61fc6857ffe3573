"""What is computed on: q, k, v of golden cases and of the shipped MiniLM layers, as float32."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
SHIPPED = ROOT / "www/data/minilm"
# Scores to ±13,000 and values to 207: what 32 bits round here hides what they round elsewhere.
LARGE = "edge-large"


@dataclass
class Input:
    """One layer as q, k, v [H, L, d_h], with what else its case holds (s, p_k, p_v, mask)."""

    name: str
    tensors: dict
    config: dict

    @property
    def shape(self):
        return self.tensors["q"].shape

    def write(self, folder):
        """Writes it as a case file, which is what our side reads. Returns the path."""
        path = Path(folder) / f"{self.name}.safetensors"
        save_file(self.tensors, path, metadata={"config": json.dumps(self.config)})
        return path

    def changed(self, name, config=None, **tensors):
        """The same with other tensors (None: without that one) and other choices."""
        both = {**self.tensors, **tensors}
        kept = {key: value for key, value in both.items() if value is not None}
        return Input(name, kept, {**self.config, **(config or {})})


def read(path):
    """Tensors and metadata of a safetensors file."""
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()


def golden(name):
    """A golden case that brings q, k, v; its expectations are left out."""
    tensors, metadata = read(GOLDEN / f"{name}.safetensors")
    inputs = {key: value for key, value in tensors.items() if not key.startswith("expect.")}
    return Input(name, inputs, json.loads(metadata["config"]))


def minilm(text, layer, heads):
    """Some heads of a shipped layer, projected here in float64 and rounded once."""
    x = read(SHIPPED / f"{text}.x{layer}.safetensors")[0][f"x.{layer}"].astype(np.float64)
    weights, metadata = read(SHIPPED / f"layer{layer}.qk.safetensors")
    weights |= read(SHIPPED / f"layer{layer}.vo.safetensors")[0]
    number = int(metadata["heads"])
    tensors = {}
    for name in "qkv":
        weight, bias = weights[f"w_{name}"], weights[f"b_{name}"]
        y = x @ weight.astype(np.float64).T + bias.astype(np.float64)
        split = y.reshape(len(y), number, -1).transpose(1, 0, 2)
        tensors[name] = np.ascontiguousarray(split[list(heads)], np.float32)
    return Input(f"minilm-{text}-layer{layer}", tensors, {"heads": len(heads)})


def plain():
    """The inputs of every row that a link chooses: L = 1, 24, 33, 65, 120."""
    return [
        golden("causal-l1"),
        golden("window-distance-2"),
        golden(LARGE),
        golden("full-h2-l65-d40"),
        minilm("sentence", 1, range(12)),
        minilm("paragraph", 2, (0, 7)),
    ]
