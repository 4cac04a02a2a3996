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
"""The path of a call: from a primitive or an operator through the rule book's engine to plain MindSpore functions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import mindspore as ms
from mindspore import Tensor

from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.dispatch.engine import Engine, Plan, is_strict
from hyper_parallel.dispatch.op import DistributedOp
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.platform.mindspore import indices, local, native, vocabulary
from hyper_parallel.platform.mindspore.dtensor import (
    DTensor,
    Undressed,
    as_dtensor,
    as_kind,
    bind,
)
from hyper_parallel.platform.mindspore.errors import MissingFunction, MissingKernelError, missing_kernel
from hyper_parallel.platform.mindspore.replicated import layout_of, mesh_of, own_object, run_replicated
from hyper_parallel.platform.mindspore.standin import Standin

logger = logging.getLogger(__name__)
MAX_KEYS = 4096
_REPLICATED = "replicated"
_NEVER = object()
_SCALARS = frozenset({int, float, bool, complex})
_COMPARED = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_STATE: dict[str, Any] = {}
_NO_KWARGS: dict[str, Any] = {}
_ENTRIES: dict[str, Entry] = {}


def engine() -> Engine:
    """The engine over this platform, created once."""
    if "engine" not in _STATE:
        from hyper_parallel.platform.mindspore.backend import PLATFORM

        _STATE["engine"] = Engine(PLATFORM)
    result: Engine = _STATE["engine"]
    return result


def registry() -> Registry:
    """The rules of this platform."""
    if "registry" not in _STATE:
        from hyper_parallel.platform.mindspore.backend import PLATFORM

        _STATE["registry"] = Registry(PLATFORM)
    result: Registry = _STATE["registry"]
    return result


def set_registry(rules: Registry | None) -> None:
    """Use other rules from now on (None: read the YAML files again)."""
    _STATE.pop("registry", None)
    if rules is not None:
        _STATE["registry"] = rules
    _ENTRIES.clear()


class Entry:
    """One operator: its rule, what to run on local tensors, and the plans made so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.op: DistributedOp | None = registry().find(name)
        self.func = native.function(name)
        self.values = True if self.op is None else self.op.scalars_matter
        self.plans: dict[Any, Any] = {}

    def run(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Carry out a call of which some argument is a DTensor."""
        count = len(args)
        if count < 3 and not kwargs and type(args[0]) is DTensor:
            first, key = args[0], _NEVER
            if count == 1:
                key = (first._layout,)
            else:
                second = args[1]
                kind = type(second)
                if kind is DTensor:
                    key = (first._layout, second._layout)
                elif kind is Tensor:
                    key = (first._layout, Layout.replicated(first._layout.mesh, second.shape))
                elif kind is int or kind is float:
                    key = (first._layout, kind, second) if self.values else (first._layout, kind)
            plan = self.plans.get(key)
            if type(plan) is Plan and plan.quick is True:
                local_first = as_kind(Tensor, first)
                if count == 1:
                    out = self.func(local_first)  # type: ignore[misc]
                else:
                    out = self._native()(local_first, as_kind(Tensor, second) if kind is DTensor else second)
                if type(out) is Tensor:
                    out.__class__ = DTensor
                    out._layout = plan.out
                    return out
                return as_dtensor(own_object(out), plan.out)  # type: ignore[arg-type]
        return self.any_call(args, kwargs)

    def any_call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """As `run`, for calls that are not of the simplest kind or not yet planned."""
        mesh = mesh_of(self.name, args, kwargs)
        parts: list[Any] = []
        known = _add_parts(parts, args, self.values, mesh)
        for name, value in kwargs.items():
            parts.append(name)
            known = known and _add_parts(parts, (value,), self.values, mesh)
        key: Any = tuple(parts) if known else _NEVER
        plan = self.plans.get(key) if known else None
        if plan is None:
            plan = self._plan(args, kwargs, mesh)
            if known:
                if len(self.plans) >= MAX_KEYS:
                    self.plans.clear()
                self.plans[key] = plan
        if plan is _REPLICATED:
            return run_replicated(self.name, self._native(), args, kwargs, mesh)
        return self._by_plan(plan, key, args, kwargs, mesh)

    def _by_plan(self, plan: Plan, key: Any, args: Sequence[Any], kwargs: dict[str, Any], mesh: DeviceMesh) -> Any:
        try:
            with Undressed() as undress:
                if plan.quick is True:
                    out = self._native()(*_locals(args, undress), **kwargs_locals(kwargs, undress))
                    return as_dtensor(own_object(out), plan.out)  # type: ignore[arg-type]
                local_args = _locals(args, undress)
                return engine().run(plan, self._native(), local_args, kwargs_locals(kwargs, undress))
        except LayoutError as error:
            if is_strict() or not isinstance(error, MissingFunction):
                raise
            reason: Exception = error
        except (AttributeError, TypeError, NotImplementedError) as error:
            if plan.checked:
                raise
            reason = error
        except RuntimeError as error:
            kernel = missing_kernel(error)
            if kernel is None:
                raise
            if plan.checked:
                raise MissingKernelError.of(self.name, kernel) from error
            reason = error
        # The rule needs what this backend lacks; all ranks come here alike. The replicated way is always right.
        logger.debug("rule of %s cannot run here: %r", self.name, reason)
        if key is not _NEVER:
            self.plans[key] = _REPLICATED
        return run_replicated(self.name, self._native(), args, kwargs, mesh)

    def _native(self) -> Callable[..., Any]:
        if self.func is None:
            raise NotImplementedError(explain(self.name, "the function", "one that MindSpore has", "none"))
        return self.func

    def _plan(self, args: Sequence[Any], kwargs: dict[str, Any], mesh: DeviceMesh) -> Any:
        if self.op is None or self.func is None:
            return _REPLICATED
        stand_args, stand_kwargs = replace_tensors(
            (tuple(args), dict(kwargs)), lambda t: Standin(t, layout_of(t, mesh)), native.is_tensor
        )
        plan = engine().plan(self.op, self.func, stand_args, stand_kwargs, False)
        if plan is None:
            return _REPLICATED
        layouts = [*plan.outs, *(layout for move in plan.moves for layout in move[1:])]
        layouts += [stand._layout for _, stand in find_tensors(stand_args, stand_kwargs, is_standin)]
        # MindSpore computes nonsense on some empty parts; a full tensor has none (unless it is empty itself).
        return _REPLICATED if any(has_empty_part(layout) for layout in layouts) else plan


def is_standin(value: Any) -> bool:
    """Whether a value stands for a tensor while a call is planned."""
    return isinstance(value, Standin)


def has_empty_part(layout: Layout) -> bool:
    """Whether some rank's part of a tensor is empty while the tensor is not."""
    known = layout.__dict__.get("has_empty_part")
    if known is None:
        known = False
        for size, axes in zip(layout.shape, layout.dim_axes, strict=True):
            for axis in axes:
                parts = layout.mesh.mesh_shape[axis]
                step = -(-size // parts)
                known = known or step * (parts - 1) >= size
                size = size - step * (parts - 1)
        layout.__dict__["has_empty_part"] = known
    return bool(known)


def _add_parts(parts: list[Any], items: Any, values: bool, mesh: DeviceMesh) -> bool:
    for item in items:
        kind = type(item)
        if isinstance(item, Tensor):
            parts.append(layout_of(item, mesh))
        elif kind in _SCALARS:
            parts.append(kind)
            if values or kind is bool:
                parts.append(item)
        elif item is None or kind is str or kind is type(Ellipsis) or isinstance(item, ms.Type):
            parts.append(item)
        elif kind is tuple or kind is list:
            parts.append(len(item))
            parts.append(kind)
            if not _add_parts(parts, item, True, mesh):
                return False
        elif kind is slice:
            parts.append(slice)
            if not _add_parts(parts, (item.start, item.stop, item.step), True, mesh):
                return False
        else:
            return False
    return True


def _locals(args: Sequence[Any], undress: Undressed) -> tuple[Any, ...]:
    changed: list[Any] = []
    for value in args:
        if isinstance(value, DTensor):
            changed.append(undress(value))
        elif type(value) in (list, tuple, slice):
            changed.append(replace_tensors(value, undress, native.is_dtensor))
        else:
            changed.append(value)
    return tuple(changed)


def kwargs_locals(kwargs: dict[str, Any], undress: Undressed) -> dict[str, Any]:
    """Keyword arguments with DTensors made plain."""
    return replace_tensors(kwargs, undress, native.is_dtensor) if kwargs else kwargs


def call(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """An operator of the rule book's vocabulary."""
    if not (args and type(args[0]) is DTensor) and not find_tensors(args, kwargs, native.is_dtensor):
        return native.call_plain(name, args, kwargs)
    entry = _ENTRIES.get(name)
    if entry is None:
        entry = _ENTRIES[name] = Entry(name)
    if name == "__getitem__":
        index, readable = indices.cleared(args[1])
        args = (args[0], index)
        if not readable:
            return run_replicated(name, entry._native(), args, kwargs, mesh_of(name, args, kwargs))
    if args and type(args[-1]) is DTensor:
        return entry.run(args, kwargs)
    if len(args) == 2 and name in _COMPARED and not (isinstance(args[1], Tensor) or type(args[1]) in _SCALARS):
        return getattr(as_kind(Tensor, args[0]), name)(args[1])  # `x == None` and the like: MindSpore's own answer
    return entry.run(args, kwargs)


def on_primitive(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Entry of every primitive with a DTensor: translated into the rule book's words where it has some."""
    name = str(func.name)
    if not kwargs and len(args) < 3:
        known = vocabulary.simple().get(name)
        fits = known is not None and len(args) <= known[1]
        if fits and all(type(a) is DTensor or type(a) in _SCALARS for a in args):
            return call(known[0], args, kwargs)  # type: ignore[index]
    primitive, real = func, args
    if len(args) == 3 and args[1] == name and isinstance(args[2], tuple):
        primitive, real = args[0], args[2]
    if name == "Select" and type(func).__name__ == "TensorOverloadCall":  # x.where(condition, other) comes as written
        args = real = (real[1], real[0], *real[2:])
    if name == "BatchNormExt" and len(real) > 5 and real[5]:
        cut = [i for i in (3, 4) if native.is_dtensor(real[i]) and not real[i]._layout.is_replicated]
        if cut:
            return _with_whole(func, args, cut)
    if name in local.SAME_EVERYWHERE:
        return local.run(func, name, args, kwargs, real)
    entry = vocabulary.entries().get(name)
    said = entry.translate(primitive, real, kwargs) if entry is not None else None
    if entry is None or said is None:
        return _untranslated(func, name, args, kwargs)
    words, named = said
    if entry.name.endswith("_"):
        from hyper_parallel.platform.mindspore.writes import call_in_place

        return call_in_place(entry.name[:-1], words[0], words[1:], named)
    if native.function(entry.name) is None:
        return _untranslated(func, name, args, kwargs)
    out = call(entry.name, words, named)
    return out if entry.results == 1 else (out, *(None,) * (entry.results - 1))


def _with_whole(func: Any, args: Any, written: Sequence[int]) -> Any:
    """A call that writes to some arguments, on replicated copies of those; the new values go back to their owners."""
    from hyper_parallel.platform.mindspore.writes import write_into

    copies = {i: args[i].redistribute(args[i]._layout.mesh) for i in written}
    out = on_primitive(func, tuple(copies.get(i, a) for i, a in enumerate(args)), _NO_KWARGS)
    for i, copy in copies.items():
        write_into(args[i], copy, str(func.name))
    return out


def _untranslated(func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    if name.startswith(("Inplace", "Assign", "Apply", "Scatter")) and name not in {
        "Scatter",
        "ScatterAddExt",
        "ScatterValue",
    }:
        raise NotImplementedError(
            explain(
                name, "the target of an in-place operator", "a plain tensor (its result is not tracked)", "a DTensor"
            )
        )
    return run_replicated(name, func, args, kwargs, mesh_of(name, args, kwargs))


bind(call, on_primitive)
