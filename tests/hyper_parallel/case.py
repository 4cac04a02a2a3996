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
"""Declarative system cases: what to call, with which inputs under which placements, and how to compare.

A case file ``cases/case_<family>.py`` holds ``CASES``, a list of ``OpCase``. Ranks import the file again and look the
case up by name, so functions may be lambdas.
"""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch

from hyper_parallel.placements import Partial, Placement, Replicate, Shard

R, P = Replicate(), Partial("sum")
S0, S1, S2, S3 = Shard(0), Shard(1), Shard(2), Shard(3)
CASE_DIR = Path(__file__).parent / "cases"
LEVELS = ("cpu_level0", "cpu_level1")
Places = tuple[Placement, ...]


@dataclass(frozen=True)
class InputSpec:
    """One tensor input; every rank makes the same full tensor from it.

    ``init`` is ``randn uniform ones zeros arange integers``; ``range`` bounds uniform and integers; ``data`` gives the
    values outright. Floating inputs get a gradient unless ``grad`` is false.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    init: str = "randn"
    seed: int = 0
    range: tuple[float, float] = (0.0, 1.0)
    data: Any = None
    grad: bool = True

    def build(self, position: int = 0) -> torch.Tensor:
        """The full tensor; ``position`` tells equal specs of one case apart."""
        dtype = getattr(torch, self.dtype)
        if self.data is not None:
            return torch.tensor(self.data, dtype=dtype).reshape(self.shape)
        draw = torch.Generator().manual_seed(1000 * self.seed + position)
        low, high = self.range
        match self.init:
            case "randn":
                real = dtype if dtype.is_floating_point or dtype.is_complex else torch.float32
                return torch.randn(self.shape, generator=draw, dtype=real).to(dtype)
            case "uniform":
                return (torch.rand(self.shape, generator=draw, dtype=torch.float64) * (high - low) + low).to(dtype)
            case "integers":
                return torch.randint(int(low), int(high), self.shape, generator=draw).to(dtype)
            case "ones":
                return torch.ones(self.shape, dtype=dtype)
            case "zeros":
                return torch.zeros(self.shape, dtype=dtype)
            case "arange":
                count = torch.Size(self.shape).numel()
                return torch.arange(count).to(dtype).reshape(self.shape)
        raise ValueError(f"For InputSpec, init should be a known one, but got {self.init}.")


@dataclass(frozen=True)
class DerivedSpec:
    """An input computed once from the full inputs, then cut like the others."""

    fn: Callable[..., torch.Tensor]
    placement: Places


@dataclass(frozen=True)
class CompareSpec:
    """How an output is compared with one device: shape and dtype always, values by ``kind``."""

    kind: str = "allclose"
    rtol: float = 1e-5
    atol: float = 1e-5

    @classmethod
    def equal(cls) -> CompareSpec:
        """Bit for bit (NaN equal to NaN)."""
        return cls("equal")

    @classmethod
    def allclose(cls, rtol: float = 1e-5, atol: float = 1e-5) -> CompareSpec:
        """Within tolerances; integers and booleans are compared bit for bit."""
        return cls("allclose", rtol, atol)

    @classmethod
    def shape(cls) -> CompareSpec:
        """Shape and dtype only."""
        return cls("shape")


@dataclass(frozen=True)
class Every:
    """Brute force: every combination of R and Shard (and P, if ``partial``), at most ``limit`` of them."""

    limit: int = 40
    partial: bool = False
    seed: int = 0

    def combinations(self, specs: Sequence[InputSpec], mesh_ndim: int) -> list[tuple[Places, ...]]:
        """All-replicated first; a seeded draw of the rest where there are too many."""
        options: list[list[Places]] = []
        for spec in specs:
            words: list[Placement] = [R, *(Shard(dim) for dim in range(len(spec.shape)))]
            if self.partial and getattr(torch, spec.dtype).is_floating_point:
                words.append(P)
            options.append(list(itertools.product(words, repeat=mesh_ndim)))
        total = 1
        for option in options:
            total *= len(option)
        if total <= self.limit:
            return list(itertools.product(*options))
        draw = random.Random(self.seed)
        chosen: dict[tuple[Places, ...], None] = {tuple(option[0] for option in options): None}
        while len(chosen) < self.limit:
            chosen[tuple(draw.choice(option) for option in options)] = None
        return list(chosen)


@dataclass(frozen=True)
class OpCase:
    """One case. Call order: ``fn([mesh,] *inputs, *derived_inputs, *extra_inputs, **kwargs)``.

    Attributes:
        name: ``{op}_ops_{scenario}``, unique over all files.
        placements: one tuple per input (one placement per mesh axis), or ``Every(…)``.
        mesh_shape: default: (2,) and (4,) for one placement per tuple, (2, 2) for two.
        mesh_axes: with ``Every`` and no ``mesh_shape``, the numbers of mesh axes to try.
        compare_outputs: applied to the result (full tensors) before it is compared.
        grad: compare gradients of all floating inputs; ``second_order``: those of the gradients too.
        out_placements: placements that the first tensor output must have.
        max_bytes: what one rank may send in the forward pass, once planned; 0 says no communication.
    """

    name: str
    fn: Callable[..., Any]
    inputs: tuple[InputSpec, ...]
    placements: tuple[Places, ...] | Every = field(default_factory=Every)
    mesh_shape: tuple[int, ...] | None = None
    mesh_dim_names: tuple[str, ...] | None = None
    mesh_axes: tuple[int, ...] = (1, 2)
    kwargs: dict[str, Any] = field(default_factory=dict)
    extra_inputs: tuple[Any, ...] = ()
    derived_inputs: tuple[DerivedSpec, ...] = ()
    compare: CompareSpec = field(default_factory=CompareSpec)
    compare_outputs: Callable[[Any], Any] | None = None
    needs_mesh: bool = False
    grad: bool = True
    second_order: bool = False
    out_placements: Places | None = None
    max_bytes: int | None = None
    tags: tuple[str, ...] = ("cpu_level0",)

    def __post_init__(self) -> None:
        unknown = set(self.tags) - set(LEVELS)
        if unknown:
            raise ValueError(f"For {self.name}, tags should be among {LEVELS}, but got {sorted(unknown)}.")
        if isinstance(self.placements, Every):
            return
        if len(self.placements) != len(self.inputs):
            raise ValueError(
                f"For {self.name}, placements should be one tuple for each of {len(self.inputs)} inputs, "
                f"but got {len(self.placements)}."
            )
        mesh_ndim = len(self.mesh_shape) if self.mesh_shape else len(self.placements[0])
        for spec, places in zip(self.inputs, self.placements, strict=True):
            if len(places) != mesh_ndim:
                raise ValueError(f"For {self.name}, placements should be {mesh_ndim} per input, but got {places}.")
            for place in places:
                if isinstance(place, Shard) and not -len(spec.shape) <= place.dim < len(spec.shape):
                    raise ValueError(f"For {self.name}, the sharded dim should be in {spec.shape}, but got {place}.")

    def meshes(self) -> list[tuple[int, ...]]:
        """The mesh shapes on which the case runs."""
        if self.mesh_shape:
            return [self.mesh_shape]
        axes = self.mesh_axes if isinstance(self.placements, Every) else (len(self.placements[0]),)
        found: list[tuple[int, ...]] = []
        for count in axes:
            found += {1: [(2,), (4,)], 2: [(2, 2)]}[count]
        return found

    def combinations(self, mesh_ndim: int) -> list[tuple[Places, ...]]:
        """The placements to try on a mesh of so many axes."""
        if isinstance(self.placements, Every):
            return self.placements.combinations(self.inputs, mesh_ndim)
        return [self.placements]


@dataclass(frozen=True)
class OpSpec:
    """An operator of a family; the other fields override those of the scenario."""

    name: str
    fn: Callable[..., Any]
    overrides: dict[str, Any] = field(default_factory=dict)


def op_family(ops: Iterable[OpSpec], scenarios: Iterable[OpCase]) -> list[OpCase]:
    """Every operator in every scenario (an ``OpCase`` whose name is the scenario's), named ``op_ops_scenario``."""
    scenarios = list(scenarios)
    return [
        replace(scenario, name=f"{op.name}_ops_{scenario.name}", fn=op.fn, **op.overrides)
        for op in ops
        for scenario in scenarios
    ]


def placeholder(*_: Any, **__: Any) -> Any:
    """The ``fn`` of a scenario, which ``op_family`` replaces."""
    raise NotImplementedError("For op_family, the scenario's function should be replaced, but it was called.")


def all_cases() -> dict[str, tuple[str, OpCase]]:
    """Case name → (module, case), from every case file.

    Raises:
        ValueError: a name occurs twice.
    """
    found: dict[str, tuple[str, OpCase]] = {}
    for path in sorted(CASE_DIR.glob("case_*.py")):
        module = f"tests.hyper_parallel.cases.{path.stem}"
        for case in importlib.import_module(module).CASES:
            if case.name in found:
                raise ValueError(f"For {module}, case names should be unique, but got {case.name} twice.")
            found[case.name] = (module, case)
    return found


def chosen_cases(pattern: str = "*") -> dict[str, tuple[str, OpCase]]:
    """Cases whose names match one of comma separated wildcards."""
    patterns = pattern.split(",")
    return {name: entry for name, entry in all_cases().items() if any(fnmatchcase(name, p) for p in patterns)}
