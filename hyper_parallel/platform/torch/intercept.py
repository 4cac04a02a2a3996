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
"""From a torch function to its handler: names, cache keys, and the path of a call through the engine."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch

from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.dispatch.engine import Engine, Plan
from hyper_parallel.dispatch.fallback import mesh_of
from hyper_parallel.dispatch.op import DistributedOp
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.errors import LayoutError
from hyper_parallel.layout import Layout
from hyper_parallel.placements import R
from hyper_parallel.platform.torch.dtensor import DTensor, Off, as_dtensor, native

Tensor = torch.Tensor
MAX_KEYS = 4096
_SCALARS = frozenset({int, float, bool, complex})
_CONSTANTS = frozenset({torch.dtype, str, type(None), torch.device, torch.memory_format, torch.layout, type(Ellipsis)})
_SEQUENCES = frozenset({tuple, list, torch.Size})
_PLAIN = object()
_NEVER = object()
_REPLICATED = "replicated"
_STATE: dict[str, Any] = {}
_NO_KWARGS: dict[str, Any] = {}


def engine() -> Engine:
    """The engine over this platform, created once."""
    if "engine" not in _STATE:
        from hyper_parallel.platform.torch.backend import PLATFORM

        _STATE["engine"] = Engine(PLATFORM)
    result: Engine = _STATE["engine"]
    return result


def registry() -> Registry:
    """The rules of this platform."""
    if "registry" not in _STATE:
        from hyper_parallel.platform.torch.backend import PLATFORM

        _STATE["registry"] = Registry(PLATFORM)
    result: Registry = _STATE["registry"]
    return result


def set_registry(rules: Registry | None) -> None:
    """Use other rules from now on (None: read the built-in and environment's YAML again)."""
    from hyper_parallel.platform.torch.dtensor import _HANDLERS

    _STATE.pop("registry", None)
    if rules is not None:
        _STATE["registry"] = rules
    _HANDLERS.clear()
    _OP_HANDLERS.clear()


def names_of(func: Any) -> list[str]:
    """Registered names to try for a torch function, most specific first.

    `torch.embedding` and `nn.functional.embedding` share a name but not a signature: the plain name then means the
    Python function of `nn.functional`, and the other one has to be registered as `torch.embedding`.
    """
    name = str(getattr(func, "__name__", func))
    owner = getattr(func, "__self__", None)
    if name in {"__get__", "__set__"} and owner is not None:
        prop = owner.__name__ if hasattr(owner, "__name__") else owner.fget.__name__
        return [prop if name == "__get__" else f"{prop}.__set__"]
    functional = getattr(torch.nn.functional, name, None)
    if isinstance(functional, FunctionType) and functional is not func and not hasattr(func, "__objclass__"):
        return [f"torch.{name}"]
    if functional is func:
        return [f"functional.{name}", name]
    return [name]


def find_op(func: Any) -> tuple[DistributedOp | None, str, bool]:
    """(rule or None, name, whether the call writes to its first argument)."""
    rules = registry()
    names = names_of(func)
    for name in names:
        inplace = (name.endswith("_") and not name.endswith("__")) or name in _IN_PLACE
        op = rules.find(name)
        if op is not None:
            return op, name, inplace
        if inplace:
            base = rules.find(_IN_PLACE.get(name, name[:-1]))
            if base is not None and getattr(base, "derives_inplace", False):
                return type(base)(name, base.platform, **base.options), name, True
    return None, names[-1], False


_IN_PLACE = {
    f"__i{op}__": name
    for op, name in {
        "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
        "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "div": "div",
        "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
    }.items()
}  # fmt: skip


def handler_for(func: Any) -> Callable[..., Any]:
    """What `__torch_function__` calls for a torch function."""
    from hyper_parallel.platform.torch import attributes, autograd, lists, random, rewrites

    for table in (attributes.HANDLERS, autograd.HANDLERS, rewrites.HANDLERS):
        special = table.get(func)
        if special is not None:
            return special
    name = names_of(func)[-1]
    if name in attributes.NATIVE or name.endswith(".__set__"):
        return attributes.run_natively
    special = random.handler_for(func, name) or lists.handler_for(name)
    if special is not None:
        return special
    return op_handler_for(func)


_OP_HANDLERS: dict[Any, Callable[..., Any]] = {}


def op_handler_for(func: Any) -> Callable[..., Any]:
    """The handler that goes through rules and fallback, whatever else is special about the function."""
    handler = _OP_HANDLERS.get(func)
    if handler is None:
        op, name, inplace = find_op(func)
        handler = _OP_HANDLERS[func] = _op_handler(func, op, name, inplace)
    return handler


def _op_handler(func: Any, op: DistributedOp | None, name: str, inplace: bool) -> Callable[..., Any]:
    cache: dict[Any, Any] = {}
    values = True if op is None else op.scalars_matter
    route = Route(func, op, name, inplace, cache, values)

    def handle(func_: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if kwargs:
            key = key_of(args, kwargs, values)
        else:
            kwargs = {}
            count = len(args)
            first: Any = args[0] if count else None
            if type(first) is not DTensor or count > 2:
                key = key_of(args, kwargs, values)
            elif count == 1:
                key = first._layout
            else:
                second: Any = args[1]
                kind = type(second)
                if kind is DTensor:
                    key = (first._layout, second._layout)
                elif kind is int or (kind is float and second):  # -0.0 == 0.0: `key_of` tells them apart
                    key = (first._layout, kind, second) if values else (first._layout, kind)
                else:
                    key = key_of(args, kwargs, values)
        plan = cache.get(key)
        if plan is None or plan is _REPLICATED:
            return route.slow(key, args, kwargs)
        quick = plan.quick
        if quick:
            out: Any = (
                native(func_, types, args, kwargs) if quick is True else native(quick, types, args[:1], _NO_KWARGS)
            )
            if type(out) is Tensor:
                out.__class__ = DTensor
                out._layout = plan.out  # type: ignore[attr-defined]
                return out
            if type(out) is DTensor and out._layout is plan.out:
                return out
            with Off():
                return as_dtensor(out, plan.out)
        with Off():
            return engine().run(plan, func_, args, kwargs)

    return handle


class Route:
    """The slow path of one torch function: promotion of plain tensors, `out=`, planning, fallback."""

    def __init__(
        self, func: Any, op: DistributedOp | None, name: str, inplace: bool, cache: dict[Any, Any], values: bool
    ) -> None:
        self.func, self.op, self.name, self.inplace = func, op, name, inplace
        self.cache, self.values = cache, values

    def slow(self, key: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """A call whose key is not planned yet, or that always runs replicated."""
        owners: dict[int, Any] = {}
        with Off():
            if kwargs.get("out") is not None:
                return self.with_out(args, kwargs)
            if key is _NEVER:
                quick = quick_promote(args) if not kwargs and not self.inplace else None
                if quick is not None:
                    args = quick
                else:
                    args, kwargs, owners = promote(self.name, args, kwargs)
                key = key_of(args, kwargs, self.values)
            out = self.planned(key, args, kwargs)
            return owners.get(id(out), out) if owners else out

    def planned(self, key: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run by the plan for `key` (made on first use), else replicated; interception is off."""
        plan = self.cache.get(key)
        if plan is None and self.op is not None:
            mesh_of(engine().platform, self.name, args, kwargs)
            inplace = self.inplace or kwargs.get("inplace") is True
            plan = engine().plan(self.op, self.func, args, kwargs, inplace) or _REPLICATED
            if key is not _NEVER:
                if len(self.cache) >= MAX_KEYS:
                    self.cache.clear()
                self.cache[key] = plan
        if isinstance(plan, Plan):
            return engine().run(plan, self.func, args, kwargs)
        return engine().fallback(self.func, self.name, args, kwargs)

    def with_out(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """Compute without `out=`, then store the result in the layout of each given tensor."""
        from hyper_parallel.platform.torch.outputs import store_out

        rest = {name: value for name, value in kwargs.items() if name != "out"}
        with torch._C._EnableTorchFunction():
            result = self.func(*args, **rest)
        return store_out(self.name, result, kwargs["out"])


def quick_promote(args: Any) -> Any:
    """`promote` for the common case: a DTensor first, then plain tensors and constants, none of them nested."""
    first = args[0] if args else None
    if type(first) is not DTensor:
        return None
    mesh = first._layout.mesh
    changed = []
    for value in args:
        kind = type(value)
        if isinstance(value, Tensor) and kind is not DTensor:
            wrapped = value.as_subclass(DTensor)
            wrapped._layout = Layout(mesh, (R,) * mesh.ndim, value.shape)
            value = wrapped
        elif kind in _SEQUENCES:
            return None
        changed.append(value)
    return tuple(changed)


def promote(name: str, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[int, Any]]:
    """Count plain tensors among DTensors as replicated; also tells which plain tensor each stand-in belongs to."""
    platform = engine().platform
    mesh = mesh_of(platform, name, args, kwargs)
    owners: dict[int, Any] = {}
    keep: list[Any] = []

    def change(tensor: Any) -> Any:
        if isinstance(tensor, DTensor):
            return tensor
        stand_in = platform.implicit(tensor, mesh)
        owners[id(stand_in)] = tensor
        keep.append(stand_in)
        return stand_in

    if mesh is None:
        raise LayoutError(f"For {name}, some input should be a DTensor, but got none.")
    args, kwargs = replace_tensors((tuple(args), dict(kwargs)), change, platform.is_tensor)
    owners[0] = keep
    return args, kwargs, owners


def key_of(args: Any, kwargs: dict[str, Any], values: bool) -> Any:
    """Cache key of a call: layouts, constants, scalars (only their types if `values` is false).

    `_NEVER` where an argument has no cheap, complete key (plain tensors, generators, …).
    """
    parts: list[Any] = []
    if not _add_parts(parts, args, values):
        return _NEVER
    if kwargs:
        for name, value in kwargs.items():
            parts.append(name)
            if not _add_parts(parts, (value,), values):
                return _NEVER
    return tuple(parts)


def _add_parts(parts: list[Any], items: Any, values: bool) -> bool:
    for item in items:
        kind = type(item)
        if kind is DTensor:
            parts.append(item._layout)
        elif kind in _SCALARS:
            parts.append(kind)
            if values or kind is bool:
                parts.append(item if item or kind is not float else repr(item))
        elif kind in _CONSTANTS:
            parts.append(item)
        elif kind in _SEQUENCES:
            parts.append(len(item))
            parts.append(kind)
            if not _add_parts(parts, item, True):
                return False
        elif kind is slice:
            parts.append(slice)
            if not _add_parts(parts, (item.start, item.stop, item.step), True):
                return False
        else:
            return False
    return True


def has_dtensor(*values: Any) -> bool:
    """Whether a DTensor is somewhere in nested values."""
    return bool(find_tensors(values, {}, lambda v: isinstance(v, DTensor)))
