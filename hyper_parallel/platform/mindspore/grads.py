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
"""`ms.grad`, `ms.value_and_grad` and their kin give DTensors for DTensors; jit compilation of DTensors is refused.

MindSpore takes gradients with respect to objects it is handed, natively and on the own parts. It returns parts of
gradients as plain tensors: they get their owners' layouts here, at the one method that all of MindSpore's gradient
functions go through.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import Tensor, nn
from mindspore.graph import api
from mindspore.ops.composite import base

from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.placements import Partial
from hyper_parallel.platform.mindspore import native
from hyper_parallel.platform.mindspore.construct import like_owner
from hyper_parallel.platform.mindspore.dtensor import Undressed, as_dtensor


def install() -> None:
    """Wrap MindSpore's entry points once."""
    executor = api._PyNativeExecutor
    if getattr(executor.grad, "_hyper_parallel", False):
        return
    executor.grad = _grad(executor.grad)
    base._pynative_func_grad_forward = _forward(base._pynative_func_grad_forward)
    Tensor.__init__ = _from_data(Tensor.__init__)
    api._JitExecutor.__call__ = _compiled(api._JitExecutor.__call__)


def _from_data(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Tensor(d)` would copy the own part without a word: it is the full tensor, as `Tensor` of a plain one is."""

    @functools.wraps(original)
    def init(self: Any, input_data: Any = None, *args: Any, **kwargs: Any) -> None:
        if native.is_dtensor(input_data):
            input_data = input_data.full_tensor()
        original(self, input_data, *args, **kwargs)

    return init


def _grad(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def grad(self: Any, obj: Any, operation: Any, weights: Any, position: Any, has_aux: Any, *args: Any) -> Any:
        out = original(self, obj, operation, weights, position, has_aux, *args)
        owners = list(_owners(operation, weights, position, args))
        if not any(native.is_dtensor(owner) for owner in owners):
            return out
        found = find_tensors((out,), {}, native.is_tensor)
        if len(found) != len(owners):
            raise RuntimeError(explain("grad", "the number of gradients", len(owners), len(found)))
        stream = iter(owners)
        return replace_tensors(out, lambda part: _placed(part, next(stream)), native.is_tensor)

    grad._hyper_parallel = True  # type: ignore[attr-defined]
    return grad


def _owners(operation: Any, weights: Any, position: Any, args: Any) -> Iterator[Any]:
    """The tensors that gradients were taken for, in the order of the results."""
    if getattr(operation, "get_by_position", False):
        for place in (position,) if isinstance(position, int) else position:
            yield from _tensors(args[place])
    elif getattr(operation, "get_all", False):
        count = len(args) - bool(getattr(operation, "sens_param", False))
        for value in args[:count]:
            yield from _tensors(value)
    elif not getattr(operation, "get_by_list", False):
        yield from _tensors(args[0])
    if getattr(operation, "get_by_list", False) and weights is not None:
        yield from _tensors(weights if isinstance(weights, Tensor) else tuple(weights))


def _tensors(value: Any) -> list[Any]:
    return [tensor for _, tensor in find_tensors((value,), {}, native.is_tensor)]


def _placed(part: Tensor, owner: Any) -> Any:
    if not native.is_dtensor(owner):
        return part
    layout = owner._layout.grad
    if tuple(part.shape) != layout.local_shape:
        raise RuntimeError(explain("grad", "the local gradient's shape", layout.local_shape, tuple(part.shape)))
    return as_dtensor(part, layout)


def _forward(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def forward(fn: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = original(fn, *args, **kwargs)
        for _, tensor in find_tensors((outputs,), {}, native.is_dtensor):
            for placement in tensor._layout.placements:
                if isinstance(placement, Partial) and placement.reduce_op != "sum":
                    raise LayoutError(
                        explain("grad", "the function's result", "without a pending reduction other than a sum "
                                "(call reduce_partial())", tensor._layout)
                    )  # fmt: skip
        return outputs

    return forward


# They compile their update (also in PyNative mode), and it works element by element: own parts are all it needs.
_ELEMENTWISE = (
    nn.ASGD, nn.Adadelta, nn.Adagrad, nn.AdaMax, nn.Adam, nn.AdamWeightDecay, nn.FTRL, nn.Momentum, nn.ProximalAdagrad,
    nn.RMSProp, nn.Rprop, nn.SGD,
)  # fmt: skip


def _compiled(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        owner = self.obj if self.obj is not None else self.shard_parent_obj
        held = list(owner.get_parameters()) if isinstance(owner, nn.Cell) else []
        if not find_tensors((args, held), kwargs, native.is_dtensor):
            return original(self, *args, **kwargs)
        if not isinstance(owner, _ELEMENTWISE) or getattr(owner, "grad_centralization", False):
            raise NotImplementedError(
                explain(
                    "jit", "arguments and parameters", "plain tensors (DTensors work in PyNative mode)", "a DTensor"
                )
            )
        aligned = replace_tensors(args, lambda t: t, native.is_tensor)
        if len(args) == 1 and isinstance(args[0], tuple | list):
            aligned = (tuple(_aligned(g, p) for g, p in zip(args[0], owner._parameters, strict=True)),)
        with Undressed() as undress:
            for parameter in held:
                undress(parameter)
            return original(self, *replace_tensors(aligned, undress, native.is_tensor), **kwargs)

    return call


def _aligned(gradient: Any, parameter: Any) -> Any:
    """A gradient under the layout of its parameter."""
    if not native.is_dtensor(parameter):
        return gradient.full_tensor() if native.is_dtensor(gradient) else gradient
    if native.is_dtensor(gradient):
        return gradient.redistribute(parameter._layout.mesh, parameter._layout.placements)
    return like_owner(parameter, gradient)
