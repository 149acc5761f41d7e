"""The forward passes of allot's networks, written once for numpy and torch arrays.

Formulas and tensors: docs/formats/checkpoint.md. Networks of several kinds share an architecture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from allot.errors import UsageError


class IndexForward:
    """out = Oh tanh(Wj x + Wc c + b) + Oj x + Oc c + ob: numbers for each job by itself."""

    output = "scores"
    has_context = True

    def checked(self, shape: Mapping[str, Any], jobs, context):
        """Both as float32 arrays; UsageError unless they have the sizes of the network."""
        jobs = np.asarray(jobs, np.float32)
        if jobs.ndim != 2 or jobs.shape[1] != shape["job_features"]:
            raise UsageError(f"jobs must have shape (n, {shape['job_features']}), got {jobs.shape}")
        if not self.has_context:
            return jobs, None
        context = np.asarray(context if context is not None else (), np.float32)
        if context.shape != (shape["context_features"],):
            raise UsageError(f"context must have shape ({shape['context_features']},), got {context.shape}")
        return jobs, context

    def forward(self, xp, w, jobs, context):
        hidden = xp.tanh(jobs @ w["hidden.job"].T + (w["hidden.context"] @ context + w["hidden.bias"]))
        return (
            hidden @ w["out.hidden"].T
            + jobs @ w["out.job"].T
            + (w["out.context"] @ context + w["out.bias"])
        )


class SharedForward(IndexForward):
    """h_i = tanh(Wj x_i + Wc c + b), p their mean; logits Vj h_i + Vp p + v, and of "done" Dp p + d."""

    output = "logits"

    def forward(self, xp, w, jobs, context):
        hidden = xp.tanh(jobs @ w["hidden.job"].T + (w["hidden.context"] @ context + w["hidden.bias"]))
        pool = hidden.sum(0) / max(len(jobs), 1)
        logits = hidden @ w["out.job"].T + (w["out.pool"] @ pool + w["out.bias"])
        return xp.concatenate([logits.reshape(-1), w["done.pool"] @ pool + w["done.bias"]])


class FlatForward(IndexForward):
    """W3 relu(W2 relu(W1 x + b1) + b2) + b3, x the rows of all slots in one line."""

    output = "logits"
    has_context = False

    def checked(self, shape: Mapping[str, Any], jobs, context):
        jobs, context = super().checked(shape, jobs, context)
        if len(jobs) != shape["window"]:
            raise UsageError(f"jobs must have {shape['window']} rows, one a slot of the window, got {len(jobs)}")
        return jobs, context

    def forward(self, xp, w, jobs, context):
        first = (w["first.weight"] @ jobs.reshape(-1) + w["first.bias"]).clip(min=0)
        second = (w["second.weight"] @ first + w["second.bias"]).clip(min=0)
        return w["out.weight"] @ second + w["out.bias"]


_ARCHITECTURES = {
    "index": IndexForward(),
    "offsets": IndexForward(),
    "order": IndexForward(),
    "shared": SharedForward(),
    "flat": FlatForward(),
}


def architecture_of(kind: str) -> IndexForward:
    """Of a network by its kind; UsageError where Python has no forward pass for it."""
    if kind not in _ARCHITECTURES:
        raise UsageError(f"allot has forward passes in Python for {', '.join(_ARCHITECTURES)}, not for '{kind}'")
    return _ARCHITECTURES[kind]
