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
"""Styles: how one submodule is parallelized, and where its inputs and outputs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import Placement, R, Shard
from hyper_parallel.platform.torch.construct import distribute_tensor
from hyper_parallel.platform.torch.dtensor import DTensor

Tensor = torch.Tensor


def shard_parameter(
    module: nn.Module,
    name: str,
    mesh: DeviceMesh,
    placements: Sequence[Placement],
    src_data_rank: int | None = 0,
) -> nn.Parameter:
    """Replace one parameter by a distributed one (same `requires_grad`)."""
    old = getattr(module, name)
    data = distribute_tensor(old.detach(), mesh, placements, src_data_rank=src_data_rank)
    made = nn.Parameter(data, requires_grad=old.requires_grad)
    module.register_parameter(name, made)
    return made


class ParallelStyle:
    """How one submodule is parallelized over a 1-D mesh."""

    src_data_rank: int | None = 0
    """The rank of the mesh whose parameters count; None: those of all ranks are trusted to be equal."""

    def apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        """Distribute a module in place."""
        return self._apply(module, mesh)

    def _apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        """What a style does; PyTorch's name for what styles of your own override."""
        raise NotImplementedError

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


def _place(value: Any, mesh: DeviceMesh, given: Placement, wanted: Placement | None) -> Any:
    """A plain tensor is taken to be placed as `given`; then moved to `wanted` (None: left there).

    A plain shard may be one of uneven parts, so its global size is asked of the other ranks.
    """
    if not isinstance(value, Tensor):
        return value
    if not isinstance(value, DTensor):
        value = DTensor.from_local(value, mesh, [given], run_check=isinstance(given, Shard))
    return value if wanted is None else value.redistribute(mesh, [wanted])


class _WeightedStyle(ParallelStyle):
    """Parameters cut in some dim, the first input brought to a place, the output to another."""

    usual_input: ClassVar[Placement]
    usual_output: ClassVar[Placement]
    wanted: ClassVar[dict[type[nn.Module], Placement]]
    cuts: ClassVar[dict[type[nn.Module], dict[str, Placement]]]

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        self.input_layout = input_layouts or self.usual_input
        self.output_layout = output_layouts or self.usual_output
        self.use_local_output = use_local_output

    def _apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        kind = next((kind for kind in self.cuts if isinstance(module, kind)), None)
        if kind is None:
            what = explain(type(self).__name__, "the module", "Linear or Embedding", type(module).__name__)
            raise NotImplementedError(what)
        for name, _ in list(module.named_parameters(recurse=False)):
            shard_parameter(module, name, mesh, [self.cuts[kind].get(name, R)], self.src_data_rank)
        wanted = self.wanted[kind]
        module.register_forward_pre_hook(
            lambda mod, inputs: (_place(inputs[0], mesh, self.input_layout, wanted), *inputs[1:])
        )

        def after(mod: nn.Module, inputs: Any, outputs: Any) -> Any:
            placed = _place(outputs, mesh, self.output_layout, self.output_layout)
            return placed.to_local() if self.use_local_output else placed

        module.register_forward_hook(after)
        return module


class ColwiseParallel(_WeightedStyle):
    """Linear: output features are cut; Embedding: the embedding dim. Input replicated, output cut in the last dim."""

    usual_input, usual_output = R, Shard(-1)
    wanted: ClassVar[dict[type[nn.Module], Placement]] = {nn.Linear: R, nn.Embedding: R}
    cuts: ClassVar[dict[type[nn.Module], dict[str, Placement]]] = {
        nn.Linear: {"weight": Shard(0), "bias": Shard(0)},
        nn.Embedding: {"weight": Shard(1)},
    }


class RowwiseParallel(_WeightedStyle):
    """Linear: input features are cut. Embedding: the vocabulary is cut. The output is reduced to `output_layouts`."""

    usual_input, usual_output = Shard(-1), R
    wanted: ClassVar[dict[type[nn.Module], Placement]] = {nn.Linear: Shard(-1), nn.Embedding: R}
    cuts: ClassVar[dict[type[nn.Module], dict[str, Placement]]] = {
        nn.Linear: {"weight": Shard(1)},
        nn.Embedding: {"weight": Shard(0)},
    }


class SequenceParallel(ParallelStyle):
    """Norms and dropout on a cut sequence dim: parameters replicated, input and output cut in `sequence_dim`."""

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.placement = Shard(sequence_dim)
        self.use_local_output = use_local_output

    def _apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        for name, _ in list(module.named_parameters(recurse=False)):
            shard_parameter(module, name, mesh, [R], self.src_data_rank)
        module.register_forward_pre_hook(
            lambda mod, inputs: (_place(inputs[0], mesh, self.placement, self.placement), *inputs[1:])
        )
        if self.use_local_output:
            module.register_forward_hook(
                lambda mod, inputs, outputs: outputs.to_local() if isinstance(outputs, DTensor) else outputs
            )
        return module


class PrepareModuleInput(ParallelStyle):
    """Inputs of a module: plain ones count as `input_layouts`, all move to `desired_input_layouts`.

    Args:
        input_layouts: one per positional input, or one for the only one; None: left as it is.
        desired_input_layouts: likewise; None: not moved.
        input_kwarg_layouts: by name, for keyword inputs.
        desired_input_kwarg_layouts: likewise.
        use_local_output: hand the module the own parts.

    Raises:
        LayoutError: counts differ.
    """

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.positional = None if input_layouts is None else _pairs(self, input_layouts, desired_input_layouts)
        given, wanted = input_kwarg_layouts or {}, desired_input_kwarg_layouts or {}
        if given.keys() != wanted.keys():
            raise LayoutError(explain(type(self).__name__, "desired keyword layouts", list(given), list(wanted)))
        self.named = {name: (place, wanted[name]) for name, place in given.items()}
        self.use_local_output = use_local_output

    def _apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        def before(mod: nn.Module, inputs: Any, named: dict[str, Any]) -> Any:
            if self.positional is not None:
                inputs = _convert(self, inputs, self.positional, mesh)
            placed = {name: self.named.get(name, (None, None)) for name in named}
            return inputs, dict(zip(named, _convert(self, tuple(named.values()), placed.values(), mesh), strict=True))

        module.register_forward_pre_hook(before, with_kwargs=True)
        return module


class PrepareModuleOutput(ParallelStyle):
    """Place a module's outputs: plain ones count as `output_layouts`, all are moved to `desired_output_layouts`."""

    def __init__(self, *, output_layouts: Any, desired_output_layouts: Any, use_local_output: bool = True) -> None:
        self.outputs = _pairs(self, output_layouts, desired_output_layouts)
        self.use_local_output = use_local_output

    def _apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        def after(mod: nn.Module, inputs: Any, out: Any) -> Any:
            placed = _convert(self, out if isinstance(out, tuple) else (out,), self.outputs, mesh)
            return placed if isinstance(out, tuple) else placed[0]

        module.register_forward_hook(after)
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """`PrepareModuleInput` and `PrepareModuleOutput` of one module."""

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_input: bool = False,
        output_layouts: Any,
        desired_output_layouts: Any,
        use_local_output: bool = True,
    ) -> None:
        self.before = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.after = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        return self.after.apply(self.before.apply(module, mesh), mesh)


def _pairs(style: ParallelStyle, given: Any, wanted: Any) -> list[tuple[Placement | None, Placement | None]]:
    have = given if isinstance(given, tuple | list) else (given,)
    want = wanted if isinstance(wanted, tuple | list) else (wanted,)
    if len(have) != len(want):
        raise LayoutError(explain(type(style).__name__, "desired layouts", f"{len(have)}", len(want)))
    return list(zip(have, want, strict=True))


def _convert(style: Any, values: tuple[Any, ...], pairs: Any, mesh: DeviceMesh) -> tuple[Any, ...]:
    if len(values) != len(pairs):
        raise LayoutError(explain(type(style).__name__, "the number of values", len(pairs), len(values)))
    placed = [v if a is None else _place(v, mesh, a, b) for v, (a, b) in zip(values, pairs, strict=True)]
    if style.use_local_output:
        placed = [p.to_local() if isinstance(p, DTensor) else p for p in placed]
    return tuple(placed)
