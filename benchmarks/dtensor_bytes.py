# Copyright 2026 The GateBot Authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
# ============================================================================
"""Bytes that one of two ranks sends for operators along the sharded dim: ours beside PyTorch's DTensor.

    python -m benchmarks.dtensor_bytes

Every result is compared with one device before its bytes count; "kept" tells whether the result is still sharded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.report import keep, table
from benchmarks.wire import counted
from tests.conformance.subjects import SUBJECTS
from tests.ranks.pool import RankPool

ROWS, COLUMNS = 64, 48

functional = torch.nn.functional
Op = Callable[..., Any]

_KERNEL = torch.ones(3, 3, 3, 3)

OPS: dict[str, tuple[Op, str, str]] = {
    # name: (operator, sharded dim of the first input, input kind)
    "tril": (torch.tril, "S0", "matrix"),
    "triu": (torch.triu, "S1", "matrix"),
    "diagonal": (torch.diagonal, "S0", "square"),
    "trace": (torch.trace, "S0", "square"),
    "roll": (lambda x: torch.roll(x, 1, 0), "S0", "matrix"),
    "flip": (lambda x: torch.flip(x, [0]), "S0", "matrix"),
    "pad": (lambda x: functional.pad(x, (0, 0, 1, 1)), "S0", "matrix"),
    "slice": (lambda x: x[1:-1], "S0", "matrix"),
    "unfold": (lambda x: x.unfold(0, 3, 1), "S0", "matrix"),
    "conv2d on H": (lambda x: functional.conv2d(x, _KERNEL, padding=1), "S2", "image"),
    "conv2d on W": (lambda x: functional.conv2d(x, _KERNEL, padding=1), "S3", "image"),
    "max_pool2d on H": (lambda x: functional.max_pool2d(x, 2), "S2", "image"),
    "avg_pool2d on H": (lambda x: functional.avg_pool2d(x, 3, 1, 1), "S2", "image"),
    "conv2d on H, stride 2": (lambda x: functional.conv2d(x, _KERNEL, stride=2, padding=1), "S2", "image"),
    "conv2d on in-channels": (lambda x: functional.conv2d(x, _KERNEL, padding=1), "S1", "image"),
    "conv_transpose2d on H": (lambda x: functional.conv_transpose2d(x, _KERNEL, stride=2, padding=1), "S2", "image"),
    "max_pool2d(3, 2, 1) on H": (lambda x: functional.max_pool2d(x, 3, 2, 1), "S2", "image"),
    "adaptive_avg_pool2d(7) on H": (lambda x: functional.adaptive_avg_pool2d(x, 7), "S2", "image"),
    "adaptive_avg_pool2d(1) on H": (lambda x: functional.adaptive_avg_pool2d(x, 1), "S2", "image"),
    "nn.functional.unfold on H": (lambda x: functional.unfold(x, 3, padding=1), "S2", "image"),
    "fold on channels": (lambda x: functional.fold(x, (12, 5), (2, 2)), "S0", "patches"),
    "interpolate on H": (lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"), "S2", "image"),
    "pixel_unshuffle on H": (lambda x: torch.pixel_unshuffle(x, 2), "S2", "image"),
    "fft2 on batch": (torch.fft.fft2, "S0", "image"),
    "fftshift": (torch.fft.fftshift, "S2", "image"),
    "inv on batch": (torch.linalg.inv, "S0", "image"),
    "svdvals on batch": (torch.linalg.svdvals, "S0", "image"),
    "cdist on rows": (lambda x: torch.cdist(x, torch.ones(9, COLUMNS)), "S0", "matrix"),
    "softmax": (lambda x: torch.softmax(x, 0), "S0", "matrix"),
    "log_softmax": (lambda x: torch.log_softmax(x, 0), "S0", "matrix"),
    "logsumexp": (lambda x: torch.logsumexp(x, 0), "S0", "matrix"),
    "cross_entropy on classes": (
        lambda x: functional.cross_entropy(x, torch.arange(ROWS) % COLUMNS),
        "S1",
        "matrix",
    ),
    "cross_entropy on batch": (
        lambda x: functional.cross_entropy(x, torch.arange(ROWS) % COLUMNS),
        "S0",
        "matrix",
    ),
    "nll_loss on classes": (lambda x: functional.nll_loss(x, torch.arange(ROWS) % COLUMNS), "S1", "matrix"),
    "mse_loss": (lambda x: functional.mse_loss(x, x + 1), "S0", "matrix"),
    "kl_div": (lambda x: functional.kl_div(x, x.exp(), reduction="batchmean"), "S0", "matrix"),
    "binary_cross_entropy": (lambda x: functional.binary_cross_entropy(x.sigmoid(), (x > 0).float()), "S0", "matrix"),
    "softmin": (lambda x: functional.softmin(x, 0), "S0", "matrix"),
    "cumsum": (lambda x: torch.cumsum(x, 0), "S0", "matrix"),
    "cumprod": (lambda x: torch.cumprod(x, 0), "S0", "matrix"),
    "cummax": (lambda x: torch.cummax(x, 0), "S0", "matrix"),
    "logcumsumexp": (lambda x: torch.logcumsumexp(x, 0), "S0", "matrix"),
    "argmax": (lambda x: torch.argmax(x, 0), "S0", "matrix"),
    "max(dim)": (lambda x: torch.max(x, 0), "S0", "matrix"),
    "var": (lambda x: torch.var(x, 0), "S0", "matrix"),
    "norm": (lambda x: torch.linalg.vector_norm(x, 2, 0), "S0", "matrix"),
    "mean": (lambda x: x.mean(0), "S0", "matrix"),
    "topk": (lambda x: torch.topk(x, 4, 0), "S0", "matrix"),
    "sort": (lambda x: torch.sort(x, 0), "S0", "matrix"),
    "median": (lambda x: torch.median(x, 0), "S0", "matrix"),
    "kthvalue": (lambda x: torch.kthvalue(x, 9, 0), "S0", "matrix"),
    "nonzero": (torch.nonzero, "S0", "matrix"),
    "layer_norm(last)": (lambda x: functional.layer_norm(x, (COLUMNS,)), "S1", "matrix"),
    "rms_norm(last)": (lambda x: functional.rms_norm(x, (COLUMNS,)), "S1", "matrix"),
    "batch_norm on batch": (lambda x: functional.batch_norm(x, None, None, training=True), "S0", "image"),
    "group_norm on H": (lambda x: functional.group_norm(x, 3), "S2", "image"),
    "instance_norm on H": (functional.instance_norm, "S2", "image"),
    "normalize": (functional.normalize, "S1", "matrix"),
    "embedding on rows": (lambda x: functional.embedding(torch.arange(40) % ROWS, x), "S0", "matrix"),
    "select": (lambda x: x.select(0, 3), "S0", "matrix"),
    "index_select": (lambda x: torch.index_select(x, 0, torch.tensor([1, 40, 2])), "S0", "matrix"),
    "gather": (lambda x: torch.gather(x, 0, torch.zeros(4, COLUMNS, dtype=torch.long)), "S0", "matrix"),
    "cat": (lambda x: torch.cat([x, x], 0), "S0", "matrix"),
    "split": (lambda x: torch.split(x, 16, 0), "S0", "matrix"),
    "unique": (torch.unique, "S0", "whole numbers"),
    "histc": (lambda x: torch.histc(x, 10, -3, 3), "S0", "matrix"),
    "bincount": (torch.bincount, "S0", "counts"),
    "attention on heads": (lambda x: functional.scaled_dot_product_attention(x, x, x), "S1", "heads"),
    "attention on sequence": (lambda x: functional.scaled_dot_product_attention(x, x, x), "S2", "heads"),
    "causal attention on sequence, three tensors": (
        lambda x: functional.scaled_dot_product_attention(x, x * 2, x * 3, is_causal=True),
        "S2",
        "heads",
    ),
    "attention of one row to a cut past": (
        lambda x: functional.scaled_dot_product_attention(torch.ones(2, 4, 1, 16), x, x),
        "S2",
        "heads",
    ),
}


def _input(kind: str) -> torch.Tensor:
    torch.manual_seed(3)
    match kind:
        case "matrix":
            return torch.randn(ROWS, COLUMNS)
        case "square":
            return torch.randn(ROWS, ROWS)
        case "image":
            return torch.randn(2, 3, 32, 32)
        case "patches":
            return torch.randn(12, 44)
        case "heads":
            return torch.randn(2, 4, 32, 16)
        case "whole numbers":
            return torch.randint(0, 50, (ROWS,)).float()
        case "counts":
            return torch.randint(0, 20, (ROWS,))
    raise ValueError(f"For dtensor_bytes, the kind should be a known one, but got {kind}.")


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, (tuple, list)) else [value]


def measure(op_name: str, subject_name: str) -> tuple[float, str, dict[str, int]]:
    """Bytes sent by this rank, ``kept``, ``gathered`` or what went wrong, and the collectives' counts."""
    op, word, kind = OPS[op_name]
    subject = SUBJECTS[subject_name]
    mesh = subject.mesh((torch.distributed.get_world_size(),))
    x = _input(kind)
    wants = _leaves(op(x))
    try:
        sharded = subject.distribute(x, mesh, (word,))
        op(sharded)  # first call plans; bytes are counted on a settled one
        with counted() as wire:
            got = op(sharded)
        outputs = _leaves(got)
        kept = any(
            not placement.is_replicate()
            for out in outputs
            if subject.is_distributed(out)
            for placement in out.placements
        )
        for one, want in zip(outputs, wants, strict=True):
            full = subject.full(one) if subject.is_distributed(one) else one
            torch.testing.assert_close(full, want, rtol=1e-4, atol=1e-5)
    except NotImplementedError:
        return 0.0, "not implemented", {}
    except AssertionError:
        return 0.0, "WRONG", {}
    except Exception as error:
        return 0.0, f"error: {type(error).__name__}", {}
    return wire.sent, "kept" if kept else "replicated", dict(wire.calls)


def main() -> None:
    """Takes the figures, prints them and keeps them."""
    figures: dict[str, dict[str, Any]] = {}
    rows = []
    with RankPool(2) as pool:
        for name, (_, _, kind) in OPS.items():
            whole = _input(kind)
            gather = whole.numel() * whole.element_size() / 2
            row: dict[str, Any] = {"all-gather": gather}
            for subject in ("torch", "ours"):
                verdict = pool.attempt("benchmarks.dtensor_bytes", "measure", name, subject, timeout_s=60.0)
                if verdict.kind == "done":
                    sent, state, calls = verdict.answers[0]
                    others = [answer[0] for answer in verdict.answers[1:]]
                    row[subject] = {"sent": max([sent, *others]), "state": state, "calls": calls}
                else:
                    row[subject] = {"sent": 0.0, "state": verdict.kind, "calls": {}}
            figures[name] = row
            rows.append(
                [
                    name,
                    int(gather),
                    int(row["torch"]["sent"]),
                    row["torch"]["state"],
                    int(row["ours"]["sent"]),
                    row["ours"]["state"],
                ]
            )
    print(table(["op on the sharded dim", "an all-gather sends", "torch", "", "ours", ""], rows))
    print(keep("dtensor_bytes", figures))


if __name__ == "__main__":
    main()
