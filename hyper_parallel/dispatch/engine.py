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
"""The engine: from an intercepted call to a plan (cached) to its execution on local tensors.

Correct by default: where a rule refuses the given placements, inputs are redistributed to the cheapest ones it
accepts; where there is no rule (or none for these arguments), the call runs on replicated inputs. Under `strict` the
rule's own error is raised instead. The engine knows no framework: `platform` supplies tensors and collectives.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from hyper_parallel import planner, report
from hyper_parallel.dispatch.call import Path, find_tensors, replace_tensors
from hyper_parallel.dispatch.fallback import run_replicated
from hyper_parallel.dispatch.op import DistributedOp
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.redistribute import redistribute_once

logger = logging.getLogger(__name__)
_STRICT: ContextVar[bool] = ContextVar("hyper_parallel_strict", default=False)
_REFUSALS = (LayoutError, ValueError, IndexError, TypeError, KeyError)


@contextmanager
def strict(enabled: bool = True) -> Iterator[None]:
    """Inside the block, a call that would redistribute its inputs raises `LayoutError` instead."""
    token = _STRICT.set(enabled)
    try:
        yield
    finally:
        _STRICT.reset(token)


def is_strict() -> bool:
    """Whether implicit redistribution is an error here."""
    return _STRICT.get()


class Plan:
    """What one combination of layouts and scalars needs; reused for every call with the same key."""

    __slots__ = ("checked", "crosses", "impl", "moves", "op", "out", "outs", "paths", "plain", "quick", "refusal",
                 "takes_tensors")  # fmt: skip

    def __init__(
        self,
        op: DistributedOp,
        paths: list[Path],
        given: Sequence[Layout],
        used: Sequence[Layout],
        outs: tuple[Layout, ...],
        impl: Callable[..., Any] | None,
        refusal: str,
    ) -> None:
        self.op = op
        self.paths = paths
        self.moves = [(i, a, b) for i, (a, b) in enumerate(zip(given, used, strict=True)) if a is not b]
        crossing = op.crossing_inputs(used, outs)
        self.crosses = [(i, axes) for i, axes in enumerate(crossing) if axes]
        self.outs = outs
        self.out = outs[0] if len(outs) == 1 else None
        self.impl = impl
        self.takes_tensors = bool(getattr(impl, "takes_tensors", False))
        self.plain = not self.moves and impl is None
        self.refusal = refusal
        self.checked = False
        self.quick: Any = False

    def settle(self) -> None:
        """After a first, checked run: allow the shortest way if one local call and one wrap are all that is needed.

        `quick` is then true (call the function itself) or the replacement, which takes the one tensor.
        """
        kind = type(self.op)
        own_stages = kind.preprocess is DistributedOp.preprocess and kind.wrap_output is DistributedOp.wrap_output
        self.checked = True
        if self.moves or self.crosses or self.out is None or not own_stages:
            return
        if self.plain:
            self.quick = True
        elif self.takes_tensors and self.paths == [(0,)]:
            self.quick = self.impl


class Engine:
    """Plans and runs calls for one platform."""

    def __init__(self, platform: Any) -> None:
        self.platform = platform

    def plan(self, op: DistributedOp, func: Any, args: Any, kwargs: dict[str, Any], inplace: bool) -> Plan | None:
        """A plan by the op's rule, or None where the call has to run replicated.

        Raises:
            LayoutError: in strict mode, the rule's refusal.
        """
        local_args, local_kwargs = args, kwargs
        try:
            local_args, local_kwargs, values = op.preprocess(args, kwargs)
        except _REFUSALS as error:
            self._refused(op, error)
            return None
        found = find_tensors(local_args, local_kwargs, self.platform.is_tensor)
        given = [v for v in values if isinstance(v, Layout)]
        paths = [path for path, _ in found]
        if len(given) != len(found):
            raise LayoutError(
                explain(op.op_name, "layouts in cache_values", f"{len(found)}, one per tensor", len(given))
            )
        try:
            return self._build(op, func, paths, given, given, values, inplace, "")
        except _REFUSALS as error:
            if is_strict():
                raise
            refusal = str(error)
            if not isinstance(error, LayoutError):
                logger.debug("rule of %s failed: %r", op.op_name, error)
        try:
            choices = self._choices(op, values, given, inplace)
        except _REFUSALS as error:
            self._refused(op, error)
            return None
        for used in choices:
            changed = iter(used)
            new_values = [next(changed) if isinstance(v, Layout) else v for v in values]
            try:
                return self._build(op, func, paths, given, used, new_values, inplace, refusal)
            except _REFUSALS:
                continue
        return None

    def _refused(self, op: DistributedOp, error: Exception) -> None:
        if is_strict():
            raise error
        logger.debug("rule of %s refused: %s", op.op_name, error)

    def _build(
        self,
        op: DistributedOp,
        func: Any,
        paths: list[Path],
        given: Sequence[Layout],
        used: Sequence[Layout],
        values: list[Any],
        inplace: bool,
        refusal: str,
    ) -> Plan:
        result = op.infer_layout(values)
        outs = result[0]
        if inplace and (not outs or outs[0] is not given[0]):
            raise LayoutError(explain(op.op_name, "the result's layout", f"that of the target, {given[0]}", outs))
        lacks = not inplace and any(layout.numel and not math.prod(layout.local_shape) for layout in (*used, *outs))
        as_elsewhere = self.platform.as_elsewhere
        impl = op.get_expand_impl(as_elsewhere(func, op.fits_stand_ins) if lacks else func, result, values)
        if inplace and impl is not None:
            raise LayoutError(explain(op.op_name, "the local call", "the operator itself", "a replacement"))
        if lacks and impl is None:
            impl = as_elsewhere(func, True)
        return Plan(op, paths, given, used, outs, impl, refusal)

    def _choices(
        self, op: DistributedOp, values: list[Any], given: Sequence[Layout], inplace: bool
    ) -> list[tuple[Layout, ...]]:
        """Candidate input layouts, cheapest first; ties go to the one that keeps most inputs sharded."""
        ranked = []
        for order, used in enumerate(op.candidates(values)):
            if inplace and used[0] is not given[0]:
                continue
            price = sum(planner.cost(a, b) for a, b in zip(given, used, strict=True))
            uneven = sum(not layout.is_even for layout in used)
            sharded = sum(layout.is_sharded() for layout in used)
            ranked.append((price, uneven, -sharded, order, used))
        ranked.sort(key=lambda item: item[:4])
        return [item[4] for item in ranked]

    def run(self, plan: Plan, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Carry out a plan; the caller has switched interception off."""
        platform = self.platform
        op = plan.op
        if plan.moves and is_strict():
            raise LayoutError(plan.refusal)
        local_args, local_kwargs = args, kwargs
        if type(op).preprocess is not DistributedOp.preprocess:
            local_args, local_kwargs, _ = op.preprocess(args, kwargs)
        tape = plan.crosses and platform.grad_enabled()
        moved: list[tuple[Any, Any]] = []
        report.enter(op.op_name)
        try:
            if plan.plain and not tape:
                out = func(*local_args, **local_kwargs)
            else:
                tensors = [_pick(local_args, local_kwargs, path) for path in plan.paths]
                if plan.moves:
                    report.of(op.op_name).redistributions += 1
                for index, src, dst in plan.moves:
                    owner = tensors[index]
                    tensors[index] = redistribute_once(platform, owner, src, dst)
                    moved.append((owner, tensors[index]))
                if tape:
                    for index, axes in plan.crosses:
                        for axis in axes:
                            tensors[index] = platform.cross(tensors[index], plan.outs[0].mesh, axis)
                if plan.takes_tensors:
                    out = plan.impl(*tensors)  # type: ignore[misc]
                else:
                    stream = iter(tensors)
                    new_args, new_kwargs = replace_tensors(
                        (tuple(local_args), local_kwargs), lambda _: next(stream), platform.is_tensor
                    )
                    out = (plan.impl or func)(*new_args, **new_kwargs)
        finally:
            report.leave()
        if not plan.checked:
            check_local_shapes(platform, op.op_name, out, plan.outs)
            plan.settle()
        wrapped = op.wrap_output(out, plan.outs)
        return mark_lost_aliases(platform, wrapped, moved, op.op_name) if moved else wrapped

    def fallback(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a call on replicated inputs; see `run_replicated`.

        Raises:
            LayoutError: in strict mode, if an input is not replicated.
        """
        if is_strict():
            for _, tensor in find_tensors(args, kwargs, self.platform.is_dtensor):
                if not tensor._layout.is_replicated:
                    raise LayoutError(explain(name, "inputs", "replicated (there is no rule)", tensor._layout))
        return run_replicated(self.platform, func, name, args, kwargs)


def mark_lost_aliases(platform: Any, outputs: Any, moved: list[tuple[Any, Any]], name: str) -> Any:
    """Outputs that share memory with a redistributed copy are views that lost their base: writes to them are errors."""

    def mark(tensor: Any) -> Any:
        for owner, copy in moved:
            if tensor is copy or platform.shares_storage(copy, tensor):
                return platform.mark_lost_alias(tensor, owner, name)
        return tensor

    return replace_tensors(outputs, mark, platform.is_tensor) if platform.may_alias(name) else outputs


def check_local_shapes(platform: Any, name: str, out: Any, layouts: Sequence[Layout]) -> None:
    """Guard against a wrong rule: what the local call returned has to have the shape that the layout promises.

    Raises:
        RuntimeError: it has not.
    """
    tensors = [t for _, t in find_tensors((out,), {}, platform.is_tensor)]
    if len(tensors) != len(layouts):
        raise RuntimeError(explain(name, "the number of outputs", len(layouts), len(tensors)))
    for tensor, layout in zip(tensors, layouts, strict=True):
        shape = platform.local_shape(tensor)
        if shape != layout.local_shape:
            raise RuntimeError(explain(name, "the local output shape", f"{layout.local_shape} under {layout}", shape))


def _pick(args: Sequence[Any], kwargs: dict[str, Any], path: Path) -> Any:
    value = args[path[0]] if isinstance(path[0], int) else kwargs[path[0]]
    for step in path[1:]:
        value = value[step]
    return value
