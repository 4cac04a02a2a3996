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
"""DTensor on MindSpore: a tensor subclass whose memory is the local part, with an immutable layout attached.

Functions of `mint`, `ops` and `nn` reach `__fallback__` with the primitive they are about to run; operators and the few
methods that MindSpore answers without asking are overridden here. Native code never sees a DTensor: it gets plain
tensors of the same memory and history (see `intercept`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mindspore as ms
from mindspore import Tensor

from hyper_parallel.errors import AliasLostError, LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import Partial, Placement, R
from hyper_parallel.platform.mindspore.properties import Described

as_kind = Tensor._make_subclass
_NO_KWARGS: dict[str, Any] = {}


class DTensor(Described, Tensor):  # type: ignore[misc]
    """A distributed tensor. Build one with `distribute_tensor`, `DTensor.from_local` or a factory."""

    _layout: Layout

    def __fallback__(self, func: Any, args: Any, kwargs: dict[str, Any] | None = None) -> Any:
        """Entry of every primitive that has a DTensor among its arguments."""
        return _CALLS[1](func, args, kwargs or _NO_KWARGS)

    @property
    def layout(self) -> Layout:
        """The layout: global shape, mesh, placements."""
        return self._layout

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh."""
        return self._layout.mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """One placement per mesh axis."""
        return self._layout.placements

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Shape of the own part."""
        return self._layout.local_shape

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Sequence[int] | None = None,
        stride: Any = None,
    ) -> Any:
        """Make a DTensor of every rank's own part; differentiable with respect to it.

        Args:
            local_tensor: the own part; its memory is shared.
            device_mesh: the mesh (default: that of the enclosing `with mesh:`).
            placements: one per mesh axis (default: replicated).
            run_check: compare shapes across ranks first (communicates), and derive an uneven global shape from them.
            shape: the global shape. Without it, and without `run_check`, all parts are taken to be equal in size.
            stride: accepted for PyTorch's sake.

        Raises:
            LayoutError: the local shape is not what the layout gives this rank.
        """
        from hyper_parallel.platform.mindspore.construct import from_local

        return from_local(local_tensor, device_mesh, placements, run_check, shape)

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The own part as a plain tensor, differentiable.

        `grad_placements` says what the gradient that comes back is; `Partial()` on a replicated axis means that ranks
        use the part differently, so their gradients are added.
        """
        from hyper_parallel.platform.mindspore.construct import to_local

        return to_local(self, grad_placements)

    def redistribute(
        self, device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None, **_: Any
    ) -> DTensor:
        """The same tensor under other placements (same mesh), by the cheapest plan; differentiable."""
        layout = self._layout
        if device_mesh is not None and not isinstance(device_mesh, DeviceMesh):
            device_mesh, placements = None, device_mesh
        if device_mesh is not None and device_mesh is not layout.mesh:
            raise LayoutError(explain("redistribute", "device_mesh", f"the tensor's own {layout.mesh}", device_mesh))
        target = layout.with_placements(placements if placements is not None else (R,) * layout.mesh.ndim)
        return redistribute(self, target)

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole tensor as a plain tensor on every rank."""
        whole = redistribute(self, Layout.replicated(self._layout.mesh, self._layout.shape))
        return whole.to_local(grad_placements=grad_placements)

    def reduce_partial(self) -> DTensor:
        """Carry out pending reductions (to replicated)."""
        places = [R if isinstance(p, Partial) else p for p in self._layout.placements]
        return redistribute(self, self._layout.with_placements(places))

    def __repr__(self) -> str:
        layout = self._layout
        places = ", ".join(map(str, layout.placements))
        with plain(self) as local:
            text = Tensor.__str__(local)
        return f"DTensor({text}, shape={layout.shape}, mesh={layout.mesh!r}, placements=[{places}])"

    __str__ = __repr__

    def __reduce_ex__(self, protocol: Any) -> Any:
        from hyper_parallel.platform.mindspore.construct import pickled

        return pickled(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from hyper_parallel.platform.mindspore.construct import copied

        return copied(self, memo)

    __copy__ = lambda self: self.__deepcopy__({})  # noqa: E731


class LostAlias(DTensor):
    """A view that had to be computed on redistributed data: it may be read, a write to it would not reach its base."""


def check_writable(tensor: Any, name: str) -> None:
    """Refuse a write that would be lost.

    Raises:
        AliasLostError: the target is a view of redistributed data.
    """
    if type(tensor) is LostAlias:
        raise AliasLostError(
            explain(name, "its target", "a tensor that shares memory with its base (or a clone of it)",
                    "a view of redistributed data")
        )  # fmt: skip


class Undressed:
    """Gives native code what it may see: plain tensors of the same memory and history.

    A parameter is known to MindSpore's autograd by its object, so it gets its own class back while the call runs.
    """

    __slots__ = ("taken",)

    def __init__(self) -> None:
        self.taken: list[tuple[Any, type]] = []

    def __call__(self, tensor: Any) -> Any:
        """The plain tensor of a DTensor; anything else as it is."""
        kind = type(tensor)
        if kind is DTensor or kind is LostAlias:
            return as_kind(Tensor, tensor)
        if isinstance(tensor, DTensor):
            self.taken.append((tensor, kind))
            tensor.__class__ = kind._plain_class
        return tensor

    def __enter__(self) -> Undressed:
        return self

    def __exit__(self, *exc: object) -> None:
        for tensor, kind in reversed(self.taken):
            tensor.__class__ = kind
        self.taken.clear()


@contextmanager
def plain(tensor: Any) -> Iterator[Tensor]:
    """The local part as a plain tensor, for the time of the block."""
    with Undressed() as undress:
        yield undress(tensor)


def as_dtensor(local: Tensor, layout: Layout) -> DTensor:
    """Wrap a result of a native call. A plain tensor object is taken over."""
    if type(local) is Tensor:
        local.__class__ = DTensor
    elif type(local) is not DTensor or local._layout is not layout:
        local = as_kind(DTensor, local)
    local._layout = layout
    return local  # type: ignore[no-any-return]


_PARAMETER_KINDS: dict[type, type] = {}


def parameter_kind(kind: type) -> type:
    """The class of parameters of class `kind` that are distributed."""
    made = _PARAMETER_KINDS.get(kind)
    if made is None:
        from hyper_parallel.platform.mindspore.parameter import ParameterMixin

        body = {"_plain_class": kind, "__module__": __name__}
        made = _PARAMETER_KINDS[kind] = type("DTensorParameter", (ParameterMixin, DTensor, kind), body)
    return made


def as_parameter(parameter: ms.Parameter, layout: Layout) -> Any:
    """Turn a plain parameter that holds the own part into a distributed one, in place."""
    parameter.__class__ = parameter_kind(type(parameter))
    parameter._layout = layout
    return parameter


def redistribute(tensor: DTensor, target: Layout) -> DTensor:
    """A DTensor under another layout of the same mesh and shape."""
    from hyper_parallel.platform.mindspore.backend import PLATFORM
    from hyper_parallel.redistribute import redistribute_local

    with plain(tensor) as local:
        if tensor._layout is target:
            return as_dtensor(PLATFORM.alias(local), target)
        moved = redistribute_local(PLATFORM, local, tensor._layout, target)
        return as_dtensor(PLATFORM.alias(moved) if moved is local else moved, target)


_CALLS: list[Callable[..., Any]] = []


def bind(call: Callable[..., Any], on_primitive: Callable[..., Any]) -> None:
    """Tell operators and hook where calls go: functions of `intercept`, which itself needs this module."""
    _CALLS[:] = [call, on_primitive]


def _direct(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        return _CALLS[0](name, (self, *args), _NO_KWARGS)

    method.__name__ = name
    return method


OPERATORS = [
    "__add__",
    "__radd__",
    "__sub__",
    "__rsub__",
    "__mul__",
    "__rmul__",
    "__truediv__",
    "__rtruediv__",
    "__floordiv__",
    "__rfloordiv__",
    "__mod__",
    "__rmod__",
    "__pow__",
    "__rpow__",
    "__matmul__",
    "__rmatmul__",
    "__and__",
    "__rand__",
    "__or__",
    "__ror__",
    "__xor__",
    "__rxor__",
    "__invert__",
    "__neg__",
    "__pos__",
    "__abs__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__getitem__",
]
for _name in OPERATORS:
    setattr(DTensor, _name, _direct(_name))
DTensor.__hash__ = Tensor.__hash__  # type: ignore[method-assign]


def _in_place(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        from hyper_parallel.platform.mindspore.writes import call_in_place

        return call_in_place(name, self, args, kwargs)

    return method


IN_PLACE_OPERATORS = {
    "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div", "__ifloordiv__": "floor_divide",
    "__imod__": "remainder", "__ipow__": "pow", "__iand__": "bitwise_and", "__ior__": "bitwise_or",
    "__ixor__": "bitwise_xor",
}  # fmt: skip
for _name, _base in IN_PLACE_OPERATORS.items():
    setattr(DTensor, _name, _in_place(_base))
