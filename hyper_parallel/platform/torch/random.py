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
"""Random operators: every rank draws the full tensor from the default generator and keeps its part.

So the numbers are those of one device with the same seed, whatever the sharding, and the generators stay in step. On
first use on a mesh the state of its first rank is taken over by all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import Partial, R
from hyper_parallel.platform.torch import adjoint, wire
from hyper_parallel.platform.torch.dtensor import DTensor, Off, as_dtensor, redistribute
from hyper_parallel.redistribute import slice_full

Tensor = torch.Tensor
_IN_STEP: set[int] = set()
_FILLING = frozenset(
    {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_"}
)
_LIKE = frozenset({"rand_like", "randn_like", "randint_like"})
_SCALING = frozenset({"dropout", "dropout1d", "dropout2d", "dropout3d"})
# fmt: off
_NESTED = frozenset({"alpha_dropout", "native_dropout", "torch.alpha_dropout", "torch.dropout"})
_OTHER = frozenset(
    {
        "bernoulli", "multinomial", "normal", "poisson", "binomial", "feature_alpha_dropout", "rrelu", "rrelu_",
        "gumbel_softmax", "torch.feature_dropout", "torch.feature_alpha_dropout", "torch.rrelu",
        "scaled_dot_product_attention", "multi_head_attention_forward", "fractional_max_pool2d",
        "fractional_max_pool3d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d_with_indices",
        "pca_lowrank", "svd_lowrank",
    }
)
# fmt: on


def in_step(mesh: DeviceMesh) -> None:
    """Once per mesh: give every rank the generator state of the first one (a no-op if they were seeded alike)."""
    if id(mesh) in _IN_STEP:
        return
    state = torch.get_rng_state()
    for axis in range(mesh.ndim):
        state = wire.broadcast(state, mesh, axis, 0)
    torch.set_rng_state(state)
    _IN_STEP.add(id(mesh))


def manual_seed(seed: int, device_mesh: DeviceMesh | None = None) -> None:
    """Seed the generator of this rank; call it with the same seed on every rank."""
    torch.manual_seed(seed)


def own_part(full: Tensor, layout: Layout) -> DTensor:
    """Wrap the own part of a full tensor that every rank holds (interception off)."""
    local = slice_full(_platform(), full, layout)
    if layout.is_sharded():
        local = local.clone(memory_format=torch.contiguous_format)
    for axis, placement in enumerate(layout.placements):
        if isinstance(placement, Partial):
            local = adjoint.to_partial(local, layout.mesh, axis, placement.reduce_op)
    return as_dtensor(local, layout)


def _platform() -> Any:
    from hyper_parallel.platform.torch.backend import PLATFORM

    return PLATFORM


def nesting(x: Tensor, layout: Layout) -> list[int]:
    """The dims of a tensor, outermost in memory first; numbers are drawn in that order (interception off).

    Where some rank's part is at most one thick, its strides do not tell; all ranks then take the usual nesting.
    """
    strides, last = x.stride(), layout.slices_at([count - 1 for count in layout.mesh.mesh_shape])
    thin = any(axes and length <= 1 for axes, (_, length) in zip(layout.dim_axes, last, strict=True))
    return sorted(range(len(strides)), key=lambda dim: 0 if thin else -strides[dim])


def whole_like(x: Tensor, layout: Layout) -> Tensor:
    """Uninitialised memory of the global shape, its dims nested as in the part."""
    order = nesting(x, layout)
    full = torch.empty([layout.shape[dim] for dim in order], dtype=x.dtype, device=x.device)
    return full.permute([order.index(dim) for dim in range(len(order))])


def _fill(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    target = args[0]
    if not isinstance(target, DTensor) or any(isinstance(a, Tensor) for a in args[1:]):
        return _general(func, args, kwargs)
    layout = target._layout
    with Off():
        in_step(layout.mesh)
        full = whole_like(target, layout)
        func(full, *args[1:], **(kwargs or {}))
        target.copy_(own_part(full, layout))
    return target


def _draw_like(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    like = args[0]
    layout = like._layout
    places = [R if isinstance(p, Partial) else p for p in layout.placements]
    with Off():
        in_step(layout.mesh)
        pattern = whole_like(like, layout)
        full = func(pattern, *args[1:], **(kwargs or {}))
        return own_part(full, layout.with_placements(places)).requires_grad_(bool((kwargs or {}).get("requires_grad")))


def _scale(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    names = ("input", "p", "training", "inplace")
    given = {"p": 0.5, "training": True, "inplace": False, **dict(zip(names, args, strict=False)), **(kwargs or {})}
    x = given["input"]
    layout = x._layout
    if not 0 <= given["p"] <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {given['p']}")
    if not given["training"]:
        return x
    with Off():
        in_step(layout.mesh)
        ones = whole_like(x, layout).fill_(1)
        noise = slice_full(_platform(), func(ones, given["p"], True), layout)
        if given["inplace"]:
            x.mul_(noise)
            return x
        return as_dtensor(x * noise, layout)


def _as_nested(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Functions that draw in the order of their input's memory: its full copy is to be nested as the part is."""
    x = args[0] if args else None
    if isinstance(x, DTensor) and not (kwargs or {}).get("inplace") and len(args) < 4:
        layout = x._layout
        with Off():
            order = nesting(x, layout)
        if order != sorted(order):
            full: Any = redistribute(x, Layout.replicated(layout.mesh, layout.shape))
            back = [order.index(dim) for dim in range(len(order))]
            args = (full.permute(order).contiguous().permute(back), *args[1:])
    return _general(func, args, kwargs)


def _general(func: Any, args: Any, kwargs: Any) -> Any:
    from hyper_parallel.platform.torch.intercept import Route, find_op, key_of

    route = _ROUTES.get(func)
    if route is None:
        op, name, inplace = find_op(func)
        route = _ROUTES[func] = Route(func, op, name, inplace, {}, True)
    kwargs = kwargs or {}
    with Off():
        in_step(_mesh(args, kwargs))
    return route.slow(key_of(args, kwargs, True), args, kwargs)


def _mesh(args: Any, kwargs: Any) -> DeviceMesh:
    from hyper_parallel.dispatch.fallback import mesh_of

    mesh = mesh_of(_platform(), "random", args, kwargs)
    assert isinstance(mesh, DeviceMesh)
    return mesh


_ROUTES: dict[Any, Any] = {}


def handler_for(func: Any, name: str) -> Callable[..., Any] | None:
    """The handler of a random operator, or None for any other."""
    name = name.removeprefix("functional.")
    if getattr(func, "__module__", "") == "torch.nn.init":
        return lambda f, t, args, kwargs: _general(f, args, kwargs)
    if name in _FILLING:
        return _fill
    if name in _LIKE:
        return _draw_like
    if name in _SCALING and func is getattr(F, name):
        return _scale
    if name in _NESTED:
        return _as_nested
    if name in _OTHER:
        return lambda f, t, args, kwargs: _general(f, args, kwargs)
    return None
