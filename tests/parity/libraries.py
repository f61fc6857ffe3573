"""The other side: what a line of `rows.py` may name, per library, and how its result is read.

A line is run as it stands in the table: `eval` with these names. q, k, v have the layout and the
type that the library wants (float32); i and j are the columns and the row of positions."""

import logging
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from transformers.masking_utils import sliding_window_causal_mask_function
from transformers.models.longformer.configuration_longformer import LongformerConfig
from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

# Uncompiled FlexAttention is slow and says so; here it computes a few hundred rows.
warnings.filterwarnings("ignore", message=".*flex_attention called without torch.compile.*")
# The padding that Longformer's own model adds is added in `longformer`, where the log is not asked.
logging.getLogger("transformers").setLevel(logging.ERROR)
torch.set_grad_enabled(False)
# The matrices are small: threads cost more than they bring.
torch.set_num_threads(1)

PACKAGES = ("torch", "transformers", "jax", "onnxruntime")


def common(case):
    heads, length, width = case.shape
    return {"L": length, "H": heads, "d_h": width, "B": case.config.get("segment")}


def of_torch(case):
    names = {key: torch.from_numpy(value)[None] for key, value in case.tensors.items()}
    if "mask" in names:
        names["mask"] = names["mask"][0].bool()
    at = torch.arange(case.shape[1])
    names |= {"i": at[:, None], "j": at[None, :], "torch": torch, "F": F}
    names |= {"flex_attention": flex_attention, "create_block_mask": create_block_mask}
    names |= {"sliding_window_causal_mask_function": sliding_window_causal_mask_function}
    names["longformer"] = lambda **choices: longformer(case, **choices)
    return names | common(case)


def of_jax(case):
    names = {key: jnp.asarray(value)[None] for key, value in case.tensors.items()}
    for name in "qkv":
        names[name] = names[name].transpose(0, 2, 1, 3)
    if "mask" in names:
        names["mask"] = names["mask"][0].astype(bool)
    at = jnp.arange(case.shape[1])
    return names | {"i": at[:, None], "j": at[None, :], "jax": jax, "jnp": jnp} | common(case)


def of_onnx(case):
    names = {key: value[None] for key, value in case.tensors.items()}
    if "mask" in names:
        names["mask"] = names["mask"][0].astype(bool)
    at = np.arange(case.shape[1])
    names |= {"i": at[:, None], "j": at[None, :], "np": np}
    names["GroupQueryAttention"] = lambda **choices: group_query_attention(case, **choices)
    names["Attention"] = onnx_attention
    return names | common(case)


NAMES = {"torch": of_torch, "transformers": of_torch, "jax": of_jax, "onnxruntime": of_onnx}


def run(library, code, names):
    """The result of one line as [H, L, d_h] float64."""
    result = eval(code, dict(names))  # noqa: S307 - the lines are those of rows.py
    if library == "jax":
        result = np.asarray(result).transpose(0, 2, 1, 3)
    return np.asarray(result, np.float64)[0]


def infer(nodes, feeds, outputs, domain):
    """Runs a graph of one node on the CPU provider and returns its first output."""
    kinds = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "bool": TensorProto.BOOL}
    inputs = [
        helper.make_tensor_value_info(name, kinds[str(value.dtype)], value.shape)
        for name, value in feeds.items()
    ]
    outs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "one", inputs, outs)
    opsets = [helper.make_opsetid("", 23)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(outputs[:1], feeds)[0]


def group_query_attention(case, **attributes):
    """`com.microsoft.GroupQueryAttention` over a whole prompt: no past, as many key heads as
    query heads."""
    heads, length, width = case.shape
    rows = {
        name: np.ascontiguousarray(case.tensors[name].transpose(1, 0, 2)).reshape(1, length, -1)
        for name in "qkv"
    }
    feeds = {"query": rows["q"], "key": rows["k"], "value": rows["v"]}
    feeds["seqlens_k"] = np.array([length - 1], np.int32)
    feeds["total_sequence_length"] = np.array(length, np.int32)
    node = helper.make_node(
        "GroupQueryAttention",
        ["query", "key", "value", "", "", "seqlens_k", "total_sequence_length"],
        ["output", "present_key", "present_value"],
        domain="com.microsoft",
        num_heads=heads,
        kv_num_heads=heads,
        **attributes,
    )
    o = infer([node], feeds, ["output", "present_key", "present_value"], "com.microsoft")
    return o.reshape(1, length, heads, width).transpose(0, 2, 1, 3)


def onnx_attention(q, k, v, attn_mask=None, **attributes):
    """The standard operator `Attention` of opset 23."""
    feeds = {"Q": q, "K": k, "V": v}
    if attn_mask is not None:
        feeds["attn_mask"] = attn_mask
    node = helper.make_node("Attention", list(feeds), ["Y"], **attributes)
    return infer([node], feeds, ["Y"], None)


class Given(torch.nn.Module):
    """Stands for a projection of Longformer and returns what is given, so that the layer attends
    over our q, k, v."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self, _hidden):
        return self.rows.clone()


def longformer(case, attention_window, globals=0):
    """`LongformerSelfAttention`, padded to a multiple of its window as its own model does."""
    heads, length, width = case.shape
    padded = -length % attention_window + length
    config = LongformerConfig(
        hidden_size=heads * width,
        num_attention_heads=heads,
        attention_window=[attention_window],
        attention_probs_dropout_prob=0.0,
    )
    layer = LongformerSelfAttention(config, layer_id=0).eval()
    for name in ("query", "key", "value"):
        rows = torch.zeros(padded, 1, heads * width)
        rows[:length, 0] = torch.from_numpy(case.tensors[name[0]]).transpose(0, 1).flatten(1)
        setattr(layer, name, Given(rows))
        # A global token's query is projected for itself, its keys and values for all tokens.
        setattr(layer, f"{name}_global", Given(rows[:globals] if name == "query" else rows))
    at = torch.arange(padded)[None]
    hidden, is_global = at >= length, at < globals
    attention_mask = torch.where(hidden, -10000.0, torch.where(is_global, 10000.0, 0.0))
    o = layer(
        torch.zeros(1, padded, heads * width),
        attention_mask=attention_mask,
        is_index_masked=hidden,
        is_index_global_attn=is_global,
        is_global_attn=globals > 0,
    )[0]
    return o[:, :length].reshape(1, length, heads, width).transpose(1, 2)
