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
"""Matrices in batches: batch dims (and labels that the result keeps apart) stay cut, matrix dims are whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot, parse_signature
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.shapes import Shape, broadcast
from hyper_parallel.placements import Placement, R, Shard

Form = tuple[list[str], list[str]]


class BatchedDistributedOp(AxisRuleOp):
    """An operator on the last dims of its tensors, told by YAML.

    YAML keys:
        signature: the operator's parameters; tensors come in this order.
        labels: the last dims of inputs and results, `mn->mk,k,kn`; equal letters are equal sizes, a letter that only
            results have is the smaller one of the sizes of m and n. All other dims are batch dims.
        switch: a parameter; `labels` then gives a form for each of its values, others are refused.
        require: parameters that must have these values.
        cut: letters that may be cut, besides batch dims.
        raises: the operator fails on some values (a singular matrix): all ranks then fail together.

    Rules:
        1. A batch dim may be cut in all tensors that have it in full size; so it is in the results.
        2. A letter of `cut` may be cut likewise.
    """

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """By the signature of the YAML entry."""
        return parse_signature(str(self.options["signature"])).bind(self.op_name, args, kwargs)

    def _form(self, call: OpCall) -> Form:
        """The labels of inputs and of results for these arguments."""
        for name, value in self.options.get("require", {}).items():
            if call[name] != value:
                raise LayoutError(explain(self.op_name, name, value, call[name]))
        labels: Any = self.options["labels"]
        if "switch" in self.options:
            found = labels.get(call[self.options["switch"]])
            if found is None:
                raise LayoutError(explain(self.op_name, self.options["switch"], f"among {list(labels)}", "another"))
            labels = found
        left, _, right = labels.partition("->")
        inputs, results = left.split(","), right.split(",")
        slots = [value.index for value in call.params.values() if isinstance(value, Slot)]
        if slots != list(range(len(inputs))) or len(call.layouts) != len(inputs):
            raise LayoutError(explain(self.op_name, "tensor arguments", f"{len(inputs)}, in order", len(call.layouts)))
        return inputs, results

    def _sizes(self, call: OpCall, inputs: Sequence[str]) -> tuple[Shape, dict[str, int]]:
        """The common batch shape, and sizes by letter."""
        sizes: dict[str, int] = {}
        for shape, letters in zip(call.shapes, inputs, strict=True):
            if len(shape) < len(letters):
                raise LayoutError(explain(self.op_name, "input dims", f"at least {len(letters)}", shape))
            for letter, size in zip(letters, shape[len(shape) - len(letters) :], strict=True):
                if sizes.setdefault(letter, size) != size:
                    raise LayoutError(explain(self.op_name, f"the size of {letter}", sizes[letter], size))
        batches = [shape[: len(shape) - len(letters)] for shape, letters in zip(call.shapes, inputs, strict=True)]
        return broadcast(self.op_name, batches), sizes

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        inputs, results = self._form(call)
        batch, sizes = self._sizes(call, inputs)
        if "m" in sizes and "n" in sizes:
            sizes.setdefault("k", min(sizes["m"], sizes["n"]))
        return tuple((*batch, *(sizes[letter] for letter in letters)) for letters in results)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        inputs, results = self._form(call)
        batch, _ = self._sizes(call, inputs)
        for back, size in enumerate(reversed(batch), 1):
            places: list[Placement] = []
            for shape, letters in zip(call.shapes, inputs, strict=True):
                dim = len(shape) - len(letters) - back
                places.append(Shard(dim) if dim >= 0 and shape[dim] == size else R)
            yield AxisRule(tuple(places), (Shard(len(batch) - back),) * len(results))
        for letter in self.options.get("cut", ""):
            starts = [len(shape) - len(letters) for shape, letters in zip(call.shapes, inputs, strict=True)]
            cuts = [_cut(letter, letters, start) for letters, start in zip(inputs, starts, strict=True)]
            yield AxisRule(tuple(cuts), tuple(_cut(letter, letters, len(batch)) for letters in results))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The operator itself; where it may fail, ranks tell each other."""
        mesh = call.layouts[0].mesh
        axes = [a for a, rule in enumerate(rules) if any(p != R for p in rule.inputs) and mesh.mesh_shape[a] > 1]
        if not self.options.get("raises") or not axes:
            return None
        names = [name for name, value in call.params.items() if isinstance(value, Slot)]
        rest = {name: value for name, value in call.params.items() if name not in names and value is not None}
        together = self.platform.run_together

        def run(*tensors: Any) -> Any:
            return together(lambda: func(*tensors, **rest), self.op_name, mesh, axes)

        return run


def _cut(letter: str, letters: str, start: int) -> Placement:
    return Shard(start + letters.index(letter)) if letter in letters else R


class SolveDistributedOp(BatchedDistributedOp):
    """linalg.solve, whose right side may be vectors: then refused, for which it is depends on all sizes."""

    def _sizes(self, call: OpCall, inputs: Sequence[str]) -> tuple[Shape, dict[str, int]]:
        matrix, right = call.shapes
        if len(right) < 2 or (len(right) == len(matrix) - 1 and right == matrix[:-1]):
            raise LayoutError(explain(self.op_name, "the right side", "matrices", right))
        return super()._sizes(call, inputs)
