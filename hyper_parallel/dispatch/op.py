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
"""Base class of operator rules: the three stages and what the engine asks of a rule.

    preprocess(args, kwargs)                          -> (local_args, local_kwargs, cache_values)
    infer_layout(cache_values)                        -> ((output layouts...), None)
    get_expand_impl(func, infer_result, cache_values) -> callable or None

Rules are framework-free. `preprocess` is the only stage that sees arguments; the others work on `cache_values`: the
layout of every tensor argument first, then whatever else decides about layouts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.call import OpCall, Slot, parse_signature
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.placements import Partial, Placement, R, Shard

InferResult = tuple[tuple[Layout, ...], None]
MAX_TRIALS = 256


class DistributedOp:
    """A rule for one operator name.

    Class attributes:
        signature: parameters of the operator, e.g. `"input, dim=None, *, dtype=None"`; needed by rules that read them.
        scalars_matter: False if no scalar's value influences layouts or the local call (element-wise ops): one cache
            entry then serves all scalars.
        allow_partial_inputs: whether pending reductions may come in.
        fits_stand_ins: whether what a replacement gives to `func` still fits together where every empty dim is taken to
            be one long: an error that `func` then raises is one that ranks with a part raise.
    """

    signature: ClassVar[str] = ""
    scalars_matter: ClassVar[bool] = True
    _allow_partial_inputs: ClassVar[bool] = False
    fits_stand_ins: ClassVar[bool] = False

    def __init__(self, op_name: str, platform: Any = None, **options: Any) -> None:
        self.op_name = op_name
        self._platform = platform
        self.options = options

    @property
    def platform(self) -> Any:
        """Collectives and tensor functions of the framework, for closures of `get_expand_impl`."""
        if self._platform is None:
            from hyper_parallel.platform import get_platform

            self._platform = get_platform()
        return self._platform

    # -- stage 1
    def preprocess(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any], list[Any]]:
        """Split a call into local arguments and `cache_values` (layouts, then the parameters by name).

        DTensors are their own local tensors inside the engine, so the arguments are passed on as they are.
        """
        layouts: list[Layout] = []

        def slot(value: Any) -> Any:
            layout = getattr(value, "_layout", None)
            if layout is not None:
                layouts.append(layout)
                return Slot(len(layouts) - 1)
            if isinstance(value, list | tuple):
                return tuple(slot(item) for item in value)
            return value

        marked = [slot(value) for value in args]
        marked_kw = {name: slot(value) for name, value in kwargs.items()}
        return args, kwargs, [*layouts, self.bind(marked, marked_kw)]

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameters by name, from arguments whose tensors are replaced by `Slot`s."""
        return parse_signature(self.signature).bind(self.op_name, args, kwargs) if self.signature else dict(kwargs)

    def call_of(self, cache_values: Sequence[Any]) -> OpCall:
        """The default `cache_values` as an `OpCall`."""
        params = cache_values[-1] if cache_values and isinstance(cache_values[-1], dict) else {}
        return OpCall(self.op_name, tuple(v for v in cache_values if isinstance(v, Layout)), params)

    # -- stage 2
    def infer_layout(self, cache_values: Sequence[Any]) -> InferResult:
        """Output layouts for exactly these input layouts.

        Raises:
            LayoutError: the rule does not accept them.
        """
        raise NotImplementedError

    # -- stage 3
    def get_expand_impl(
        self, func: Callable[..., Any], infer_result: InferResult, cache_values: Sequence[Any]
    ) -> Callable[..., Any] | None:
        """What to run on local tensors in place of `func`; None: `func` itself.

        A callable with a true attribute `takes_tensors` gets the local tensors by slot, any other one gets the local
        arguments as `preprocess` returned them.
        """
        return None

    def wrap_output(self, py_output: Any, output_layouts: Sequence[Layout]) -> Any:
        """Turn what the local call returned into DTensors."""
        return self.platform.wrap_outputs(py_output, output_layouts, self.op_name)

    # -- what the engine asks besides
    def candidates(self, cache_values: Sequence[Any]) -> Iterable[tuple[Layout, ...]]:
        """Input layouts worth redistributing to, where `infer_layout` refuses the given ones.

        The default tries every combination of Replicate and Shard per axis through `infer_layout`, so that a rule
        written for exact layouts is still correct by default.
        """
        layouts = [v for v in cache_values if isinstance(v, Layout)]
        mesh = layouts[0].mesh
        options: list[list[Placement]] = [[R, *(Shard(d) for d in range(x.ndim))] for x in layouts]
        per_axis: list[list[tuple[Placement, ...]]] = []
        for axis in range(mesh.ndim):
            given = tuple(x.placements[axis] for x in layouts)
            combos = list(itertools.islice(itertools.product(*options), MAX_TRIALS))
            kept = [given] if not any(isinstance(p, Partial) for p in given) else []
            per_axis.append(kept + [c for c in combos if c != given])
        for choice in itertools.islice(itertools.product(*per_axis), MAX_TRIALS):
            yield tuple(
                x.with_placements([choice[axis][i] for axis in range(mesh.ndim)]) for i, x in enumerate(layouts)
            )

    def _check_partial_inputs(self, layouts: Iterable[Layout | None]) -> None:
        """Refuse pending reductions unless the class allows them."""
        if self._allow_partial_inputs:
            return
        for layout in layouts:
            if layout is not None and layout.is_partial():
                raise LayoutError(explain(self.op_name, "inputs", "without a pending reduction", layout.partial))

    def crossing_inputs(self, inputs: Sequence[Layout], outputs: Sequence[Layout]) -> list[tuple[int, ...]]:
        """Per input the mesh axes on which its gradient is a sum over ranks (the general autograd rule).

        That is every axis on which the input is replicated while some other tensor of the call is not: ranks then do
        different work with the same input.
        """
        if not inputs:
            return []
        mesh = inputs[0].mesh
        busy = [
            axis
            for axis in range(mesh.ndim)
            if mesh.mesh_shape[axis] > 1 and any(x.placements[axis] != R for x in (*inputs, *outputs))
        ]
        return [tuple(axis for axis in busy if x.placements[axis] == R) for x in inputs]
