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
"""Entry points of autograd on DTensors: backward, grad, hooks. Backward itself is native, on local tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.graph import _engine_run_backward

from hyper_parallel.errors import explain
from hyper_parallel.placements import P_SUM, Partial, R
from hyper_parallel.platform.torch import adjoint
from hyper_parallel.platform.torch.dtensor import DTensor, Off, as_dtensor, attach, plain, redistribute

Tensor = torch.Tensor
_PLAIN_ROOTS: set[Any] = set()


def prepare(outputs: Sequence[Tensor], grads: Sequence[Any], create_graph: bool) -> tuple[list[Tensor], list[Any]]:
    """Outputs whose local gradients are complete, and those gradients.

    A pending reduction other than a sum is carried out first; so is a sum where its gradient is itself differentiated.
    """
    roots, seeds = [], []
    for output, grad in zip(outputs, grads, strict=True):
        if not isinstance(output, DTensor):
            if isinstance(grad, DTensor):
                grad = grad.full_tensor()
            elif grad is None and output.requires_grad:
                grad = _ones(output, output.numel())
            roots.append(output)
            seeds.append(grad)
            continue
        layout = output._layout
        keep_sum = not create_graph and grad is None
        places = [R if isinstance(p, Partial) and not (keep_sum and p == P_SUM) else p for p in layout.placements]
        if grad is None and layout.numel == 1:
            places = [R if p.is_shard() else p for p in places]
        if tuple(places) != layout.placements:
            with torch.enable_grad():  # a backward within another one (checkpointing does that) runs without
                output = redistribute(output, layout.with_placements(places))
            layout = output._layout
        if grad is None:
            grad = _ones(output, layout.numel)
        else:
            if not isinstance(grad, DTensor):
                grad = _given_plainly(grad, layout)
            if grad._layout.shape != layout.shape:
                raise RuntimeError(explain("backward", "the gradient's shape", layout.shape, grad._layout.shape))
            grad = redistribute(grad, layout.grad)
        with Off():
            roots.append(output)
            seeds.append(plain(grad))
    return roots, seeds


def _given_plainly(grad: Tensor, layout: Any) -> DTensor:
    """A plain gradient: of the own part if it has its shape (autograd functions get such), else the full one."""
    with Off():
        if tuple(grad.shape) == layout.local_shape:
            return attach(grad, layout.grad)
        return DTensor.from_local(grad, layout.mesh, [R] * layout.mesh.ndim)


def _ones(output: Tensor, numel: int) -> Tensor:
    if numel != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    with Off():
        return torch.ones_like(plain(output.detach()), memory_format=torch.preserve_format)


def _backward(func: Any, types: Any, args: Any, kwargs: Any) -> None:
    if len(args) == 1 and not kwargs and args[0]._layout in _PLAIN_ROOTS:
        with Off():
            seed = torch.ones_like(plain(args[0].detach()))
        _engine_run_backward((args[0],), (seed,), False, False, (), allow_unreachable=True, accumulate_grad=True)
        return
    names = ("gradient", "retain_graph", "create_graph", "inputs")
    given = {**dict(zip(names, args[1:], strict=False)), **(kwargs or {})}
    run_backward(
        [args[0]],
        [given.get("gradient")],
        given.get("retain_graph"),
        bool(given.get("create_graph")),
        given.get("inputs"),
    )


def run_backward(outputs: Any, grads: Any, retain: Any, create_graph: bool, inputs: Any) -> None:
    """Accumulate gradients; what `Tensor.backward` and `torch.autograd.backward` do."""
    roots, seeds = prepare(outputs, grads, create_graph)
    if len(outputs) == 1 and roots[0] is outputs[0] and grads[0] is None and isinstance(roots[0], DTensor):
        if len(_PLAIN_ROOTS) > 256:
            _PLAIN_ROOTS.clear()
        _PLAIN_ROOTS.add(roots[0]._layout)
    keep = create_graph if retain is None else retain
    if inputs is None:
        wanted: tuple[Any, ...] = ()
    else:
        wanted = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    _engine_run_backward(
        tuple(roots), tuple(seeds), keep, create_graph, wanted, allow_unreachable=True, accumulate_grad=True
    )


def _grad(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    names = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused",
             "is_grads_batched", "materialize_grads")  # fmt: skip
    given = {**dict(zip(names, args, strict=False)), **(kwargs or {})}
    outputs = given["outputs"]
    outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    inputs = given["inputs"]
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    grads = given.get("grad_outputs")
    grads = [grads] if isinstance(grads, Tensor) else list(grads) if grads is not None else [None] * len(outputs)
    if given.get("is_grads_batched"):
        raise NotImplementedError(explain("autograd.grad", "is_grads_batched", "False for DTensors", True))
    create_graph = bool(given.get("create_graph"))
    retain = given.get("retain_graph")
    materialize = bool(given.get("materialize_grads"))
    allow_unused = given.get("allow_unused")
    allow = materialize if allow_unused is None else allow_unused
    roots, seeds = prepare(outputs, grads, create_graph)
    found = _engine_run_backward(
        tuple(roots), tuple(seeds), create_graph if retain is None else retain, create_graph, inputs, allow,
        accumulate_grad=False,
    )  # fmt: skip
    return tuple(_wrap_grad(x, g, materialize) for x, g in zip(inputs, found, strict=True))


def _wrap_grad(source: Tensor, grad: Tensor | None, materialize: bool) -> Tensor | None:
    if grad is None:
        return torch.zeros_like(source) if materialize else None
    if not isinstance(source, DTensor):
        return grad
    with Off():
        grad = plain(grad)
        if grad.requires_grad:
            for axis, placement in enumerate(source._layout.placements):
                if placement == P_SUM:
                    # The ranks' equal copies stand for one value, which a second derivative must count once.
                    grad = adjoint.same_grad(grad, source._layout.mesh, axis)
        return as_dtensor(grad, source._layout.grad)


def _register_hook(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """The user's hook sees the distributed gradient and may return another one."""
    tensor, hook = args
    layout = tensor._layout.grad

    def on_local(grad: Tensor) -> Any:
        with Off():
            wrapped = attach(grad, layout)
        with torch._C._EnableTorchFunction():
            result = hook(wrapped)
        if result is None:
            return None
        if not isinstance(result, DTensor):
            with Off():
                result = DTensor.from_local(result, layout.mesh, [R] * layout.mesh.ndim)
        result = redistribute(result, layout)
        with Off():
            return plain(result)

    with Off():
        return tensor.register_hook(on_local)


HANDLERS: dict[Any, Callable[..., Any]] = {
    Tensor.backward: _backward,
    torch.autograd.grad: _grad,
    Tensor.register_hook: _register_hook,
}
