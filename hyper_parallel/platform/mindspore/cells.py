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
"""Distributing cells: parameters become DTensors, styles place inputs and outputs; functions of local parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mindspore import Tensor, mint, nn

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import P_SUM, Placement, R, Shard
from hyper_parallel.platform.mindspore.construct import distribute_tensor, pick_mesh
from hyper_parallel.platform.mindspore.dtensor import DTensor
from hyper_parallel.platform.naming import fits

Hook = Callable[[nn.Cell, Any, DeviceMesh], Any]
_LINEAR = (nn.Dense, mint.nn.Linear)
_EMBEDDING = (nn.Embedding, mint.nn.Embedding)


def shard_parameter(cell: nn.Cell, name: str, mesh: DeviceMesh, placements: Sequence[Placement]) -> None:
    """Replace one parameter by a distributed one of the same name."""
    old = cell._params[name]
    if old is not None:
        cell._params[name] = distribute_tensor(old, mesh, placements)


def _own_names(cell: nn.Cell) -> list[str]:
    return [name for name, value in cell._params.items() if value is not None]


def distribute_module(
    module: nn.Cell,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, nn.Cell, DeviceMesh], None] | None = None,
    input_fn: Hook | None = None,
    output_fn: Hook | None = None,
) -> nn.Cell:
    """Make every parameter of a cell a DTensor, in place.

    Args:
        module: the cell; it is returned too.
        device_mesh: the mesh (default: that of the enclosing `with mesh:`).
        partition_fn: called with (name, sub-cell, mesh) for every sub-cell; what it leaves plain is replicated.
        input_fn: called with (cell, inputs, mesh) before construct; what it returns replaces the inputs.
        output_fn: called with (cell, outputs, mesh) after construct; what it returns replaces the outputs.
    """
    mesh = pick_mesh(device_mesh, "distribute_module")
    for name, part in list(module.cells_and_names()):
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        for own in _own_names(part):
            if not isinstance(part._params[own], DTensor):
                shard_parameter(part, own, mesh, [R] * mesh.ndim)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda cell, inputs: input_fn(cell, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda cell, inputs, outputs: output_fn(cell, outputs, mesh))
    return module


class ParallelStyle:
    """How one sub-cell is parallelized over a 1-D mesh."""

    def apply(self, module: nn.Cell, mesh: DeviceMesh) -> nn.Cell:
        """Distribute a cell in place."""
        raise NotImplementedError


def _to(value: Any, mesh: DeviceMesh, given: Placement, wanted: Placement) -> Any:
    if not isinstance(value, Tensor):
        return value
    if not isinstance(value, DTensor):
        value = DTensor.from_local(value, mesh, [given], run_check=isinstance(given, Shard))
    return value.redistribute(mesh, [wanted])


class _Weighted(ParallelStyle):
    """Parameters cut in some dim, the first input brought to a place, the output to another."""

    wanted = R
    cuts: ClassVar[dict[str, dict[str, Placement]]] = {}

    def __init__(self, given: Placement | None, output: Placement, use_local_output: bool) -> None:
        self.given, self.output, self.use_local_output = given, output, use_local_output

    def wanted_by(self, kind: str) -> Placement:
        """Where the first input has to be."""
        return self.wanted

    def apply(self, module: nn.Cell, mesh: DeviceMesh) -> nn.Cell:
        """Cut the parameters and hook input and output."""
        kind = "linear" if isinstance(module, _LINEAR) else "embedding" if isinstance(module, _EMBEDDING) else ""
        if not kind:
            what = explain(type(self).__name__, "the cell", "Dense, Linear or Embedding", type(module).__name__)
            raise NotImplementedError(what)
        for name in _own_names(module):
            shard_parameter(module, name, mesh, [self.cuts[kind].get(name, R)])
        wanted = self.wanted_by(kind)
        given = wanted if self.given is None else self.given
        module.register_forward_pre_hook(lambda cell, inputs: (_to(inputs[0], mesh, given, wanted), *inputs[1:]))

        def after(cell: nn.Cell, inputs: Any, outputs: Any) -> Any:
            placed = outputs.redistribute(mesh, [self.output])
            return placed.to_local() if self.use_local_output else placed

        module.register_forward_hook(after)
        return module


class ColwiseParallel(_Weighted):
    """Linear: output features are cut. Embedding: the embedding dim. Input replicated, output cut in the last dim."""

    cuts: ClassVar[dict[str, dict[str, Placement]]] = {
        "linear": {"weight": Shard(0), "bias": Shard(0)},
        "embedding": {"weight": Shard(1), "embedding_table": Shard(1)},
    }

    def __init__(
        self, *, input_layouts: Placement | None = None, output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(input_layouts, output_layouts or Shard(-1), use_local_output)


class RowwiseParallel(_Weighted):
    """Linear: input features are cut. Embedding: the vocabulary is cut. The output is reduced to `output_layouts`."""

    cuts: ClassVar[dict[str, dict[str, Placement]]] = {
        "linear": {"weight": Shard(1)},
        "embedding": {"weight": Shard(0), "embedding_table": Shard(0)},
    }

    def __init__(
        self, *, input_layouts: Placement | None = None, output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(input_layouts, output_layouts or R, use_local_output)

    def wanted_by(self, kind: str) -> Placement:
        """See the base class."""
        return Shard(-1) if kind == "linear" else R


class SequenceParallel(ParallelStyle):
    """Norms and dropout on a cut sequence dim: parameters replicated, input and output cut in `sequence_dim`."""

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.place, self.use_local_output = Shard(sequence_dim), use_local_output

    def apply(self, module: nn.Cell, mesh: DeviceMesh) -> nn.Cell:
        """See the base class."""
        for name in _own_names(module):
            shard_parameter(module, name, mesh, [R])
        module.register_forward_pre_hook(
            lambda cell, inputs: (_to(inputs[0], mesh, self.place, self.place), *inputs[1:])
        )
        if self.use_local_output:
            module.register_forward_hook(lambda cell, inputs, outputs: outputs.to_local())
        return module


class _Prepare(ParallelStyle):
    def __init__(self, given: Any, wanted: Any, use_local_output: bool) -> None:
        self.given = given if isinstance(given, tuple | list) else (given,)
        self.wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
        self.use_local_output = use_local_output
        if len(self.given) != len(self.wanted):
            raise LayoutError(explain(type(self).__name__, "desired layouts", len(self.given), len(self.wanted)))

    def convert(self, values: Any, mesh: DeviceMesh) -> Any:
        """Place every value."""
        many = values if isinstance(values, tuple) else (values,)
        if len(many) != len(self.given):
            raise LayoutError(explain(type(self).__name__, "the number of values", len(self.given), len(many)))
        placed = [v if b is None else _to(v, mesh, a, b) for v, a, b in zip(many, self.given, self.wanted, strict=True)]
        if self.use_local_output:
            placed = [p.to_local() if isinstance(p, DTensor) else p for p in placed]
        return tuple(placed) if isinstance(values, tuple) else placed[0]


class PrepareModuleInput(_Prepare):
    """Positional inputs of a cell: plain ones count as `input_layouts`, all move to `desired_input_layouts`."""

    def __init__(self, *, input_layouts: Any, desired_input_layouts: Any, use_local_output: bool = False) -> None:
        super().__init__(input_layouts, desired_input_layouts, use_local_output)

    def apply(self, module: nn.Cell, mesh: DeviceMesh) -> nn.Cell:
        """See the base class."""
        module.register_forward_pre_hook(lambda cell, inputs: self.convert(inputs, mesh))
        return module


class PrepareModuleOutput(_Prepare):
    """Outputs of a cell: plain ones count as `output_layouts`, all move to `desired_output_layouts`."""

    def __init__(self, *, output_layouts: Any, desired_output_layouts: Any, use_local_output: bool = True) -> None:
        super().__init__(output_layouts, desired_output_layouts, use_local_output)

    def apply(self, module: nn.Cell, mesh: DeviceMesh) -> nn.Cell:
        """See the base class."""
        module.register_forward_hook(lambda cell, inputs, outputs: self.convert(outputs, mesh))
        return module


def parallelize_module(
    module: nn.Cell,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | dict[str, ParallelStyle] | None = None,
) -> nn.Cell:
    """Apply styles to sub-cells over a 1-D mesh, in place; the plan is a style, or styles by name.

    Every part of a dotted name may be an fnmatch pattern, and `""` is the cell itself.

    Raises:
        LayoutError: the mesh has several axes.
        ValueError: a pattern fits no sub-cell.
    """
    mesh = pick_mesh(device_mesh, "parallelize_module")
    if mesh.ndim != 1:
        raise LayoutError(explain("parallelize_module", "device_mesh", "1-D (a sub-mesh)", mesh))
    if isinstance(parallelize_plan, ParallelStyle):
        return parallelize_plan.apply(module, mesh)
    cells = dict(module.cells_and_names())
    for pattern, style in (parallelize_plan or {}).items():
        found = [name for name in cells if fits(name, pattern)]
        if not found:
            raise ValueError(explain("parallelize_module", "a pattern of the plan", "a sub-cell's name", repr(pattern)))
        for name in found:
            style.apply(cells[name], mesh)
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
    """Turn a function of local tensors into one of DTensors; arguments as on PyTorch.

    By default an input that is replicated on an axis where another input or an output is not has its gradient added up
    over that axis, as ranks then do different work with it.
    """
    single = out_placements is None or (len(out_placements) > 0 and isinstance(out_placements[0], Placement))
    outs = [out_placements] if single else list(out_placements)

    def arranged(index: int, value: DTensor) -> DTensor:
        wanted = None if in_placements is None else in_placements[index]
        if wanted is None or value._layout.with_placements(wanted) is value._layout:
            return value
        if not redistribute_inputs:
            raise LayoutError(
                explain("local_map", f"placements of input {index}", list(wanted), list(value.placements))
            )
        return value.redistribute(placements=wanted)

    def run(*args: Any, **kwargs: Any) -> Any:
        values = [arranged(i, a) if isinstance(a, DTensor) else a for i, a in enumerate(args)]
        placed = [v._layout for v in values if isinstance(v, DTensor)]
        mesh = device_mesh or (placed[0].mesh if placed else None)
        if mesh is None:
            return func(*args, **kwargs)
        around = [layout.placements for layout in placed] + [out for out in outs if out is not None]
        busy = [any(places[axis] != R for places in around) for axis in range(mesh.ndim)]
        for index, value in enumerate(values):
            if isinstance(value, DTensor):
                given = None if in_grad_placements is None else in_grad_placements[index]
                pairs = zip(value.placements, value._layout.grad.placements, busy, strict=True)
                rule = [P_SUM if p == R and b else g for p, g, b in pairs]
                values[index] = value.to_local(grad_placements=given or rule)
        result = func(*values, **kwargs)
        many = result if isinstance(result, tuple | list) else (result,)
        if len(many) != len(outs):
            raise LayoutError(explain("local_map", "out_placements", f"{len(many)}, one per output", len(outs)))
        wrapped = [
            v if places is None else DTensor.from_local(v, mesh, places, run_check=True)
            for v, places in zip(many, outs, strict=True)
        ]
        return type(result)(wrapped) if isinstance(result, tuple | list) else wrapped[0]

    return run


def custom_shard(
    func: Callable[..., Any], device_mesh: DeviceMesh, out_placements: Any, in_placements: Any = None,
    redistribute_inputs: bool = True,
) -> Callable[..., Any]:  # fmt: skip
    """`local_map` in the community library's argument order, moving inputs by default."""
    return local_map(func, out_placements, in_placements, None, device_mesh, redistribute_inputs=redistribute_inputs)
