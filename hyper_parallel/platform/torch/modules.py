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
"""Distributing modules: parameters become DTensors, styles say how inputs and outputs are placed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from typing import Any

import torch
from torch import nn

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import Placement, R, Shard
from hyper_parallel.platform.torch.construct import distribute_tensor, pick_mesh
from hyper_parallel.platform.torch.dtensor import DTensor

Tensor = torch.Tensor
PartitionFn = Callable[[str, nn.Module, DeviceMesh], None]


def distribute_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: PartitionFn | None = None,
    input_fn: Callable[[nn.Module, Any, DeviceMesh], Any] | None = None,
    output_fn: Callable[[nn.Module, Any, DeviceMesh], Any] | None = None,
) -> nn.Module:
    """Make every parameter and buffer of a module a DTensor, in place.

    Args:
        module: the module; it is returned too.
        device_mesh: the mesh (default: that of the enclosing `with mesh:`).
        partition_fn: called with (name, submodule, mesh) for every submodule, to distribute parameters as it likes;
            what it leaves plain is replicated.
        input_fn: called with (module, inputs, mesh) before forward; what it returns replaces the inputs.
        output_fn: called with (module, outputs, mesh) after forward; what it returns replaces the outputs.
    """
    mesh = pick_mesh(device_mesh, "distribute_module")
    for name, part in list(module.named_modules()):
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        _replicate_rest(part, mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda mod, inputs: input_fn(mod, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda mod, inputs, outputs: output_fn(mod, outputs, mesh))
    return module


def _replicate_rest(module: nn.Module, mesh: DeviceMesh) -> None:
    places = [R] * mesh.ndim
    for name, parameter in list(module.named_parameters(recurse=False)):
        if not isinstance(parameter, DTensor):
            shard_parameter(module, name, mesh, places)
    for name, buffer in list(module.named_buffers(recurse=False)):
        if not isinstance(buffer, DTensor):
            module._buffers[name] = distribute_tensor(buffer, mesh, places)


def shard_parameter(module: nn.Module, name: str, mesh: DeviceMesh, placements: Sequence[Placement]) -> None:
    """Replace one parameter by a distributed one (same `requires_grad`)."""
    old = getattr(module, name)
    data = distribute_tensor(old.detach(), mesh, placements)
    module.register_parameter(name, nn.Parameter(data, requires_grad=old.requires_grad))


class ParallelStyle:
    """How one submodule is parallelized over a 1-D mesh."""

    src_data_rank: int | None = 0

    def apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        """Distribute a module in place."""
        raise NotImplementedError


def _place(value: Any, mesh: DeviceMesh, given: Placement | None, wanted: Placement) -> Any:
    """A plain tensor is taken to be placed as `given`; then moved to `wanted`.

    A plain shard may be one of uneven parts, so its global size is asked of the other ranks.
    """
    if not isinstance(value, Tensor):
        return value
    if not isinstance(value, DTensor):
        place = given if given is not None else wanted
        value = DTensor.from_local(value, mesh, [place], run_check=isinstance(place, Shard))
    return value.redistribute(mesh, [wanted])


class _LinearStyle(ParallelStyle):
    """Common part of the linear styles."""

    input_layout: Placement
    wanted_input: Placement
    output_layout: Placement
    use_local_output: bool

    def weights(self, module: nn.Module, mesh: DeviceMesh) -> None:
        """Distribute the parameters."""
        raise NotImplementedError

    def apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        """Distribute parameters and hook the places of input and output."""
        self.weights(module, mesh)
        module.register_forward_pre_hook(
            lambda mod, inputs: (_place(inputs[0], mesh, self.input_layout, self.wanted_input), *inputs[1:])
        )

        def after(mod: nn.Module, inputs: Any, outputs: Any) -> Any:
            placed = _place(outputs, mesh, None, self.output_layout)
            return placed.to_local() if self.use_local_output else placed

        module.register_forward_hook(after)
        return module


class ColwiseParallel(_LinearStyle):
    """Linear: output features are cut; Embedding: the embedding dim. Input replicated, output cut in the last dim."""

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        self.input_layout = input_layouts or R
        self.wanted_input = R
        self.output_layout = output_layouts or Shard(-1)
        self.use_local_output = use_local_output

    def weights(self, module: nn.Module, mesh: DeviceMesh) -> None:
        """See the base class."""
        if isinstance(module, nn.Linear):
            for name, _ in list(module.named_parameters(recurse=False)):
                shard_parameter(module, name, mesh, [Shard(0)])
        elif isinstance(module, nn.Embedding):
            shard_parameter(module, "weight", mesh, [Shard(1)])
        else:
            raise NotImplementedError(
                explain("ColwiseParallel", "the module", "Linear or Embedding", type(module).__name__)
            )


class RowwiseParallel(_LinearStyle):
    """Linear: input features are cut. Embedding: the vocabulary is cut. The output is reduced to `output_layouts`."""

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        self.input_layout = input_layouts or Shard(-1)
        self.wanted_input = Shard(-1)
        self.output_layout = output_layouts or R
        self.use_local_output = use_local_output

    def weights(self, module: nn.Module, mesh: DeviceMesh) -> None:
        """See the base class."""
        if isinstance(module, nn.Linear):
            shard_parameter(module, "weight", mesh, [Shard(1)])
            if module.bias is not None:
                shard_parameter(module, "bias", mesh, [R])
        elif isinstance(module, nn.Embedding):
            self.wanted_input = R
            shard_parameter(module, "weight", mesh, [Shard(0)])
        else:
            raise NotImplementedError(
                explain("RowwiseParallel", "the module", "Linear or Embedding", type(module).__name__)
            )


class SequenceParallel(ParallelStyle):
    """Norms and dropout on a cut sequence dim: parameters replicated, input and output cut in `sequence_dim`."""

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.placement = Shard(sequence_dim)
        self.use_local_output = use_local_output

    def apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        """See the base class."""
        for name, _ in list(module.named_parameters(recurse=False)):
            shard_parameter(module, name, mesh, [R])
        module.register_forward_pre_hook(
            lambda mod, inputs: (_place(inputs[0], mesh, self.placement, self.placement), *inputs[1:])
        )
        if self.use_local_output:
            module.register_forward_hook(
                lambda mod, inputs, outputs: outputs.to_local() if isinstance(outputs, DTensor) else outputs
            )
        return module


class _PrepareStyle(ParallelStyle):
    def __init__(self, given: Any, wanted: Any, use_local_output: bool) -> None:
        self.given = given if isinstance(given, tuple | list) else (given,)
        self.wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
        self.use_local_output = use_local_output
        if len(self.given) != len(self.wanted):
            raise LayoutError(explain(type(self).__name__, "desired layouts", f"{len(self.given)}", len(self.wanted)))

    def _convert(self, values: Any, mesh: DeviceMesh, to_local: bool) -> Any:
        many = values if isinstance(values, tuple) else (values,)
        if len(many) != len(self.given):
            raise LayoutError(explain(type(self).__name__, "the number of values", len(self.given), len(many)))
        placed = [
            _place(value, mesh, a, b) if b is not None else value
            for value, a, b in zip(many, self.given, self.wanted, strict=True)
        ]
        if to_local:
            placed = [p.to_local() if isinstance(p, DTensor) else p for p in placed]
        return tuple(placed) if isinstance(values, tuple) else placed[0]


class PrepareModuleInput(_PrepareStyle):
    """Positional inputs of a module: plain ones count as `input_layouts`, all move to `desired_input_layouts`."""

    def __init__(self, *, input_layouts: Any, desired_input_layouts: Any, use_local_output: bool = False) -> None:
        super().__init__(input_layouts, desired_input_layouts, use_local_output)

    def apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        """See the base class."""
        module.register_forward_pre_hook(lambda mod, inputs: self._convert(inputs, mesh, self.use_local_output))
        return module


class PrepareModuleOutput(_PrepareStyle):
    """Place a module's outputs: plain ones count as `output_layouts`, all are moved to `desired_output_layouts`."""

    def __init__(self, *, output_layouts: Any, desired_output_layouts: Any, use_local_output: bool = True) -> None:
        super().__init__(output_layouts, desired_output_layouts, use_local_output)

    def apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        """See the base class."""
        module.register_forward_hook(lambda mod, inputs, out: self._convert(out, mesh, self.use_local_output))
        return module


def parallelize_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | dict[str, ParallelStyle] | None = None,
) -> nn.Module:
    """Apply styles to submodules over a 1-D mesh, in place.

    Args:
        module: the module; it is returned too.
        device_mesh: a 1-D mesh (take a sub-mesh of a larger one: `mesh["tp"]`).
        parallelize_plan: a style for the module itself, or styles by fully qualified name or fnmatch pattern.

    Raises:
        LayoutError: the mesh has several axes.
        ValueError: a pattern fits no submodule.
    """
    mesh = pick_mesh(device_mesh, "parallelize_module")
    if mesh.ndim != 1:
        raise LayoutError(explain("parallelize_module", "device_mesh", "1-D (a sub-mesh)", mesh))
    if isinstance(parallelize_plan, ParallelStyle):
        return parallelize_plan.apply(module, mesh)
    for pattern, style in (parallelize_plan or {}).items():
        found = [part for name, part in module.named_modules() if fnmatch(name, pattern)]
        if not found:
            raise ValueError(
                explain("parallelize_module", "a pattern of the plan", "a submodule's name", repr(pattern))
            )
        for part in found:
            style.apply(part, mesh)
    return module


def local_map(
    func: Callable[..., Any],
    out_placements: Any,
    in_placements: Any = None,
    in_grad_placements: Any = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Callable[..., Any]:
    """Turn a function of local tensors into one of DTensors.

    Args:
        func: the function.
        out_placements: placements of its output, or a tuple of placements per output (None: a plain value).
        in_placements: a tuple with placements per positional argument (None: not a DTensor); None: as they come.
        in_grad_placements: likewise for the gradients that `func` produces. By default an input that is replicated on
            an axis where an output is not has its gradient added up over that axis.
        device_mesh: for outputs when no input is a DTensor.
        redistribute_inputs: move inputs to `in_placements` instead of raising.

    Raises:
        LayoutError: an input has other placements than `in_placements`, or counts differ.
    """

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
