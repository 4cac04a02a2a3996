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
from mindspore._c_expression import NoFallbackGuard

from hyper_parallel import report
from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.dispatch.engine import Engine, Plan, is_strict
from hyper_parallel.dispatch.op import DistributedOp
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.platform.mindspore import local, native, vocabulary
from hyper_parallel.platform.mindspore.dtensor import DTensor, Undressed, as_dtensor, as_kind, bind, check_writable, plain
from hyper_parallel.platform.mindspore.errors import MissingFunction, MissingKernelError, missing_kernel
from hyper_parallel.platform.mindspore.standin import Standin
from hyper_parallel.redistribute import redistribute_local

logger = logging.getLogger(__name__)
MAX_KEYS = 4096
_REPLICATED = "replicated"
_NEVER = object()
_SCALARS = frozenset({int, float, bool, complex})
_STATE: dict[str, Any] = {}
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
                    out = self.func(local_first, as_kind(Tensor, second) if kind is DTensor else second)  # type: ignore[misc]
                if type(out) is Tensor:
                    out.__class__ = DTensor
                    out._layout = plan.out
                    return out
                return as_dtensor(_own_object(out), plan.out)  # type: ignore[arg-type]
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
                    out = self.func(*_locals(args, undress), **kwargs_locals(kwargs, undress))
                    return as_dtensor(_own_object(out), plan.out)  # type: ignore[arg-type]
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


def layout_of(tensor: Any, mesh: DeviceMesh) -> Layout:
    """A DTensor's layout; a plain tensor among DTensors counts as replicated."""
    layout = getattr(tensor, "_layout", None)
    return layout if layout is not None else Layout.replicated(mesh, tuple(tensor.shape))


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


def mesh_of(name: str, args: Any, kwargs: dict[str, Any]) -> DeviceMesh:
    """The one mesh of all DTensors in the arguments.

    Raises:
        LayoutError: they live on different meshes, or there is none.
    """
    first = args[0] if args else None
    if isinstance(first, DTensor) and not kwargs and (len(args) == 1 or type(args[1]) in _SCALARS and len(args) == 2):
        return first._layout.mesh
    mesh: DeviceMesh | None = None
    for _, tensor in find_tensors(args, kwargs, native.is_dtensor):
        other = tensor._layout.mesh
        if mesh is not None and other is not mesh:
            raise LayoutError(explain(name, "the mesh of all inputs", mesh, other))
        mesh = other
    if mesh is None:
        raise LayoutError(explain(name, "some input", "a DTensor", "none"))
    return mesh


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
    return replace_tensors(kwargs, undress, native.is_dtensor) if kwargs else kwargs  # type: ignore[no-any-return]


def _own_object(out: Any) -> Any:
    """A result that may be wrapped: a parameter that came back as it went in stays a parameter."""
    return ms.mint.mul(out, 1) if isinstance(out, ms.Parameter) else out


def call(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """An operator of the rule book's vocabulary."""
    if not (args and type(args[0]) is DTensor) and not find_tensors(args, kwargs, native.is_dtensor):
        return native.call_plain(name, args, kwargs)
    entry = _ENTRIES.get(name)
    if entry is None:
        entry = _ENTRIES[name] = Entry(name)
    if args and type(args[-1]) is DTensor:
        return entry.run(args, kwargs)
    if len(args) == 2 and name.startswith("__") and not (isinstance(args[1], Tensor) or type(args[1]) in _SCALARS):
        if name != "__getitem__":  # `x == None` and the like: MindSpore's own answer
            return Tensor._make_subclass(Tensor, args[0]).__getattribute__(name)(args[1])
    return entry.run(args, kwargs)


def on_primitive(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Entry of every primitive with a DTensor: translated into the rule book's words where it has some."""
    name = str(func.name)
    if not kwargs and len(args) < 3:
        known = vocabulary.simple().get(name)
        if known is not None and all(type(a) is DTensor or type(a) in _SCALARS for a in args):
            return call(known, args, kwargs)
    primitive, real = func, args
    if len(args) == 3 and args[1] == name and isinstance(args[2], tuple):
        primitive, real = args[0], args[2]
    if name in local.SAME_EVERYWHERE:
        return local.run(func, name, args, kwargs, real)
    entry = vocabulary.entries().get(name)
    said = entry.translate(primitive, real, kwargs) if entry is not None else None
    if entry is None or said is None:
        return _untranslated(func, name, args, kwargs)
    words, named = said
    if entry.name.endswith("_"):
        return call_in_place(entry.name[:-1], words[0], words[1:], named)
    if native.function(entry.name) is None:
        return _untranslated(func, name, args, kwargs)
    out = call(entry.name, words, named)
    return out if entry.results == 1 else (out, *(None,) * (entry.results - 1))


def _untranslated(func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    if name.startswith(("Inplace", "Assign", "Apply", "Scatter")) and name not in {"Scatter", "ScatterAddExt"}:
        raise NotImplementedError(
            explain(name, "the target of an in-place operator", "a plain tensor (its result is not tracked)", "a DTensor")
        )
    return run_replicated(name, func, args, kwargs, mesh_of(name, args, kwargs))


def run_replicated(
    name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any], mesh: DeviceMesh
) -> Any:
    """Replicate every DTensor, run `func` natively, wrap every output tensor as replicated.

    Raises:
        LayoutError: in strict mode, if an input is not replicated.
        MissingKernelError: MindSpore has no kernel for it on this device.
    """
    from hyper_parallel.platform.mindspore.backend import PLATFORM

    copies: list[Any] = []
    report.enter(name)
    try:
        with Undressed() as undress:

            def replicate(tensor: Any) -> Any:
                if not native.is_dtensor(tensor):
                    return tensor
                layout = tensor._layout
                if not layout.is_replicated and is_strict():
                    raise LayoutError(explain(name, "inputs", "replicated (there is no rule)", layout))
                full = redistribute_local(PLATFORM, undress(tensor), layout, Layout.replicated(mesh, layout.shape))
                if not layout.is_replicated:
                    copies.append(full)
                return full

            local_args, local_kwargs = replace_tensors((tuple(args), kwargs), replicate, native.is_tensor)
            if copies:
                report.of(name).replicated += 1
            if name in native.RANDOM:
                local_args, local_kwargs = native.in_step(mesh, local_args, local_kwargs)
            try:
                out = func(*local_args, **local_kwargs)
            except (RuntimeError, NotImplementedError) as error:
                kernel = missing_kernel(error)
                if kernel is None:
                    raise
                raise MissingKernelError.of(name, kernel) from error
    finally:
        report.leave()

    def finish(tensor: Any) -> Any:
        wrapped = PLATFORM.wrap(_own_object(tensor), Layout.replicated(mesh, tuple(tensor.shape)))
        if any(PLATFORM.shares_storage(full, tensor) for full in copies):
            return PLATFORM.mark_lost_alias(wrapped, None, name)
        return wrapped

    return replace_tensors(out, finish, native.is_tensor)


def call_in_place(base: str, target: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`target.op_(…)`: computed out of place, then written into the target under its own layout.

    MindSpore's own in-place arithmetic leaves CPU tensors as they were; a copy into them works.
    """
    if not isinstance(target, DTensor):
        raise LayoutError(explain(f"{base}_", "the target", "a DTensor where an argument is one", "a plain tensor"))
    check_writable(target, f"{base}_")
    if base == "copy":
        value = args[0]
    elif base in {"zero", "fill"}:
        value = call("full_like", (target, args[0] if args and not native.is_tensor(args[0]) else 0), {})
        if args and native.is_tensor(args[0]):
            value = call("add", (value, args[0]), {})
    else:
        value = call(base, (target, *args), kwargs)
    return write_into(target, value, f"{base}_")


def write_into(target: DTensor, value: Any, name: str) -> DTensor:
    """Overwrite a DTensor; `value` is broadcast, cast and redistributed to it."""
    from hyper_parallel.platform.mindspore.backend import PLATFORM

    check_writable(target, name)
    layout = target._layout
    if not native.is_dtensor(value):
        value = value if native.is_tensor(value) else Tensor(value, target.dtype)
        value = PLATFORM.implicit(value, layout.mesh)
    if value._layout.shape != layout.shape:
        value = call("broadcast_to", (value, layout.shape), {})
    if value.dtype != target.dtype:
        value = call("to", (value, target.dtype), {})
    with plain(value) as source:
        moved = redistribute_local(PLATFORM, source, value._layout, layout)
        with NoFallbackGuard():
            if isinstance(target, ms.Parameter):
                with plain(target) as own:
                    Tensor.copy_(own, moved)
            else:
                Tensor.copy_(target, moved)
    return target


def set_item(target: DTensor, index: Any, value: Any) -> None:
    """`target[index] = value` on the full tensor, written back into the target's own layout."""
    check_writable(target, "__setitem__")
    layout = target._layout

    def changed(full: Any, where: Any, what: Any) -> Any:
        fresh = native.function("clone")(full)  # type: ignore[misc]
        fresh[where] = what
        return fresh

    result = run_replicated("__setitem__", changed, (target, index, value), {}, layout.mesh)
    write_into(target, result, "__setitem__")


bind(call, on_primitive)
