"""Writes a checkpoint's network as an ONNX graph, node by node: torch is not needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from allot.forward import FlatForward, SharedForward, architecture_of

if TYPE_CHECKING:
    from allot.checkpoints import Checkpoint

_OPSET = 17  # ONNX 1.12; every onnxruntime since 1.12 reads it


class _Graph:
    """Nodes in order; every method returns the name of its result."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants = [numpy_helper.from_array(values, name) for name, values in weights.items()]

    def constant(self, name: str, values: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def add(self, operator: str, *inputs: str, to: str = "", **attributes) -> str:
        name = to or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def linear(self, x: str, weight: str, bias: str) -> str:
        """x W^T + b, x a matrix."""
        return self.add("Gemm", x, weight, bias, transB=1)


def _index(g: _Graph) -> None:
    context = g.add("Unsqueeze", "context", g.constant("axis", np.array([0])))
    hidden = _hidden(g, context)
    linear = g.add("Add", g.linear(hidden, "out.hidden", "out.bias"), _product(g, "jobs", "out.job"))
    g.add("Add", linear, _product(g, context, "out.context"), to="scores")


def _shared(g: _Graph) -> None:
    hidden = _hidden(g, g.add("Unsqueeze", "context", g.constant("axis", np.array([0]))))
    pool = g.add("ReduceMean", hidden, axes=[0], keepdims=1)
    rows = g.add("Add", _product(g, hidden, "out.job"), g.linear(pool, "out.pool", "out.bias"))
    done = g.linear(pool, "done.pool", "done.bias")
    line = g.constant("line", np.array([-1]))
    g.add("Concat", g.add("Reshape", rows, line), g.add("Reshape", done, line), to="logits", axis=0)


def _flat(g: _Graph) -> None:
    row = g.add("Reshape", "jobs", g.constant("row", np.array([1, -1])))
    first = g.add("Relu", g.linear(row, "first.weight", "first.bias"))
    second = g.add("Relu", g.linear(first, "second.weight", "second.bias"))
    out = g.linear(second, "out.weight", "out.bias")
    g.add("Reshape", out, g.constant("line", np.array([-1])), to="logits")


def _hidden(g: _Graph, context: str) -> str:
    return g.add("Tanh", g.add("Add", _product(g, "jobs", "hidden.job"), g.linear(context, "hidden.context", "hidden.bias")))


def _product(g: _Graph, x: str, weight: str) -> str:
    return g.add("Gemm", x, weight, transB=1)


def write_onnx(checkpoint: Checkpoint, path: str, world: str) -> None:
    """Writes the graph of a checkpoint, in one world, to `path`; what export_onnx does after its checks."""
    architecture = architecture_of(checkpoint.kind)
    graph = _Graph(checkpoint.weights(world))
    shape = checkpoint.shape
    rows = shape["window"] if isinstance(architecture, FlatForward) else "n"
    inputs = [helper.make_tensor_value_info("jobs", TensorProto.FLOAT, [rows, shape["job_features"]])]
    if architecture.has_context:
        inputs.append(helper.make_tensor_value_info("context", TensorProto.FLOAT, [shape["context_features"]]))
    if isinstance(architecture, FlatForward):
        _flat(graph)
        out = [shape["window"] * shape["kinds"] + 1]
    elif isinstance(architecture, SharedForward):
        _shared(graph)
        out = ["actions"]
    else:
        _index(graph)
        out = ["n", shape["outputs"]]
    outputs = [helper.make_tensor_value_info(architecture.output, TensorProto.FLOAT, out)]
    model = helper.make_model(
        helper.make_graph(graph.nodes, f"allot-{checkpoint.kind}", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=8,
        producer_name="allot",
    )
    helper.set_model_props(
        model,
        {
            "allot.kind": checkpoint.kind,
            "allot.feature_version": str(checkpoint.feature_version),
            "allot.lineage": json.dumps(checkpoint.lineage),
        },
    )
    onnx.checker.check_model(model)
    onnx.save(model, path)
