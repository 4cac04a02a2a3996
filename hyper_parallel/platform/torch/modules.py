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
"""Distributing modules: parameters become DTensors; functions of local parts become functions of DTensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import Placement, R
from hyper_parallel.platform.naming import fits
from hyper_parallel.platform.torch.construct import distribute_tensor, pick_mesh
from hyper_parallel.platform.torch.dtensor import DTensor
from hyper_parallel.platform.torch.styles import ParallelStyle, shard_parameter

Tensor = torch.Tensor
PartitionFn = Callable[[str, nn.Module, DeviceMesh], None]


def distribute_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: PartitionFn | None = None,
    input_fn: Callable[[nn.Module, Any, DeviceMesh], Any] | None = None,
    output_fn: Callable[[nn.Module, Any, DeviceMesh], Any] | None = None,
) -> nn.Module:
    """Make every parameter and buffer of a module a DTensor, in place. One parameter in several places stays one.

    Args:
        module: the module; it is returned too.
        device_mesh: the mesh (default: that of the enclosing `with mesh:`).
        partition_fn: called with (name, submodule, mesh) for every submodule, to distribute parameters as it likes;
            what it leaves plain is replicated afterwards.
        input_fn: called with (module, inputs, mesh) before forward; what it returns replaces the inputs.
        output_fn: called with (module, outputs, mesh) after forward; what it returns replaces the outputs.
    """
    mesh = pick_mesh(device_mesh, "distribute_module")
    with _ties_kept(module, "distribute_module"):
        for name, part in list(module.named_modules()):
            if partition_fn is not None:
                partition_fn(name, part, mesh)
    _replicate_rest(module, mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda mod, inputs: input_fn(mod, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda mod, inputs, outputs: output_fn(mod, outputs, mesh))
    return module


def _replicate_rest(module: nn.Module, mesh: DeviceMesh) -> None:
    places = [R] * mesh.ndim
    done: dict[Any, Any] = {}
    for part in module.modules():
        for name, parameter in list(part._parameters.items()):
            if parameter is not None and not isinstance(parameter, DTensor):
                if parameter in done:
                    part.register_parameter(name, done[parameter])
                else:
                    done[parameter] = shard_parameter(part, name, mesh, places)
        for name, buffer in list(part._buffers.items()):
            if buffer is not None and not isinstance(buffer, DTensor):
                if buffer not in done:
                    done[buffer] = distribute_tensor(buffer, mesh, places)
                part._buffers[name] = done[buffer]


@contextmanager
def _ties_kept(module: nn.Module, told: str) -> Iterator[None]:
    """A parameter that stands in several places (tied weights) and is replaced in one is replaced in all.

    Raises:
        LayoutError: it has become several tensors under different layouts.
    """
    spots: dict[nn.Parameter, list[tuple[nn.Module, str]]] = {}
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                spots.setdefault(parameter, []).append((part, name))
    yield
    for old, places in spots.items():
        left = [(part, name, part._parameters[name]) for part, name in places if name in part._parameters]
        fresh: list[Any] = [new for _, _, new in left if new is not old and isinstance(new, DTensor)]
        layouts = {new._layout for new in fresh}
        if len(layouts) > 1:
            names = [f"{type(part).__name__}.{name}" for part, name in places]
            raise LayoutError(explain(told, f"layouts of a parameter shared by {names}", "equal", list(layouts)))
        if fresh:
            for part, name, _ in left:
                part.register_parameter(name, fresh[0])


def parallelize_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | dict[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> nn.Module:
    """Apply styles to submodules over a 1-D mesh, in place. One parameter in several places stays one.

    Args:
        module: the module; it is returned too.
        device_mesh: a 1-D mesh (take a sub-mesh of a larger one: `mesh["tp"]`).
        parallelize_plan: a style for the module itself, or styles by name; every part of a dotted name may be an
            fnmatch pattern (`"layers.*.w1"`), and `""` is the module itself.
        src_data_rank: the rank of the mesh whose parameters count; None: trust all ranks to hold the same.

    Raises:
        LayoutError: the mesh has several axes, or one parameter would be cut in several ways.
        TypeError: what the plan says is no style.
        ValueError: a pattern fits no submodule.
    """
    mesh = pick_mesh(device_mesh, "parallelize_module")
    if mesh.ndim != 1:
        raise LayoutError(explain("parallelize_module", "device_mesh", "1-D (a sub-mesh)", mesh))
    plan = {"": parallelize_plan} if isinstance(parallelize_plan, ParallelStyle) else parallelize_plan or {}
    with _ties_kept(module, "parallelize_module"):
        for pattern, style in plan.items():
            if not isinstance(style, ParallelStyle):
                raise TypeError(explain("parallelize_module", f"the style of {pattern!r}", "a ParallelStyle", style))
            found = [part for name, part in module.named_modules() if fits(name, pattern)]
            if not found:
                raise ValueError(
                    explain("parallelize_module", "a pattern of the plan", "a submodule's name", repr(pattern))
                )
            style.src_data_rank = src_data_rank
            for part in found:
                style.apply(part, mesh)
    return module


def local_map(
    func: Callable[..., Any] | None = None,
    out_placements: Any = None,
    in_placements: Any = None,
    in_grad_placements: Any = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Callable[..., Any]:
    """Turn a function of local tensors into one of DTensors.

    Args:
        func: the function; without it the result is a decorator.
        out_placements: placements of its output, or a tuple of placements per output (None: a plain value).
        in_placements: a tuple with placements per positional argument (None: not a DTensor); None: as they come.
        in_grad_placements: likewise for the gradients that `func` produces. By default an input that is replicated on
            an axis where an output is not has its gradient added up over that axis.
        device_mesh: for outputs when no input is a DTensor.
        redistribute_inputs: move inputs to `in_placements` instead of raising.

    Raises:
        LayoutError: an input has other placements than `in_placements`, or counts differ.
    """

    if func is None:
        return lambda given: local_map(
            given,
            out_placements,
            in_placements,
            in_grad_placements,
            device_mesh,
            redistribute_inputs=redistribute_inputs,
        )

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        mesh = device_mesh or next((a._layout.mesh for a in args if isinstance(a, DTensor)), None)
        if mesh is None:
            return func(*args, **kwargs)
        outs = _per_output(out_placements)
        locals_ = []
        for index, value in enumerate(args):
            if isinstance(value, DTensor):
                wanted = in_placements[index] if in_placements is not None else None
                value = _arrange(value, wanted, index, redistribute_inputs)
                given = in_grad_placements[index] if in_grad_placements is not None else None
                value = value.to_local(grad_placements=given or _grad_of(value, args, outs))
            locals_.append(value)
        return _wrap_results(func(*locals_, **kwargs), outs, mesh)

    return run


def custom_shard(
    func: Callable[..., Any],
    device_mesh: DeviceMesh,
    out_placements: Any,
    in_placements: Any = None,
    redistribute_inputs: bool = True,
) -> Callable[..., Any]:
    """`local_map` in the community library's argument order, moving inputs by default."""
    return local_map(func, out_placements, in_placements, None, device_mesh, redistribute_inputs=redistribute_inputs)


def _per_output(out_placements: Any) -> list[Any]:
    if out_placements is None or (len(out_placements) and isinstance(out_placements[0], Placement)):
        return [out_placements]
    return list(out_placements)


def _arrange(value: DTensor, wanted: Any, index: int, move: bool) -> DTensor:
    if wanted is None:
        return value
    target = value._layout.with_placements(wanted)
    if target is value._layout:
        return value
    if not move:
        raise LayoutError(explain("local_map", f"placements of input {index}", list(wanted), list(value.placements)))
    return value.redistribute(placements=wanted)


def _grad_of(value: DTensor, args: Any, outs: Sequence[Any]) -> list[Placement]:
    """The gradient's placements by the general rule: a pending sum where ranks do different work with a replica."""
    from hyper_parallel.placements import P_SUM

    layout = value._layout
    places = list(layout.grad.placements)
    for axis, placement in enumerate(layout.placements):
        others = [a._layout.placements[axis] for a in args if isinstance(a, DTensor)]
        others += [out[axis] for out in outs if out is not None]
        if placement == R and any(other != R for other in others):
            places[axis] = P_SUM
    return places


def _wrap_results(result: Any, outs: Sequence[Any], mesh: DeviceMesh) -> Any:
    results = result if isinstance(result, tuple | list) else (result,)
    if len(results) != len(outs):
        raise LayoutError(explain("local_map", "out_placements", f"{len(results)}, one per output", len(outs)))
    wrapped = [
        DTensor.from_local(value, mesh, places, run_check=True) if places is not None else value
        for value, places in zip(results, outs, strict=True)
    ]
    return type(result)(wrapped) if isinstance(result, tuple | list) else wrapped[0]
