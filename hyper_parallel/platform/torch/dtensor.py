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
"""DTensor on PyTorch: a tensor subclass that IS the local tensor, with an immutable layout attached.

Everything from outside arrives in `__torch_function__`, where it means the global tensor. With interception switched
off the same object is its own local part, so autograd, hooks, checkpointing and autocast act natively on locals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch

from hyper_parallel.errors import AliasLostError, LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import P_SUM, Partial, Placement, R, Replicate
from hyper_parallel.platform import torch as backend

Tensor = torch.Tensor
native = torch._C._disabled_torch_function_impl
Off = torch._C.DisableTorchFunctionSubclass
_HANDLERS: dict[Any, Callable[..., Any]] = {}
_NO_KWARGS: dict[str, Any] = {}
_AS_STRIDED: list[bool] = []
"""Not empty while library code runs that looks a tensor's `layout` up in a set of torch's own."""


class DTensor(Tensor):
    """A distributed tensor. Build one with `distribute_tensor`, `DTensor.from_local` or a factory."""

    _layout: Layout
    _op_name: ClassVar[str] = ""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Entry of every torch API call that has a DTensor among its arguments."""
        handler = _HANDLERS.get(func)
        if handler is None:
            handler = _make_handler(func)
        return handler(func, types, args, kwargs)

    @property
    def layout(self) -> Layout:  # type: ignore[override]
        """The layout: global shape, mesh, placements. It compares equal to `torch.strided`.

        Where interception is off (torch's own code written in Python reads it there), it is that of the own part.
        """
        if _AS_STRIDED or not torch._C._is_torch_function_enabled():
            return super().layout  # type: ignore[return-value]
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
    def local_shape(self) -> torch.Size:
        """Shape of the own part."""
        return torch.Size(self._layout.local_shape)

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Sequence[int] | None = None,
        stride: Any = None,
        grad_placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        """Make a DTensor of every rank's own part; differentiable with respect to it.

        Args:
            local_tensor: the own part; its memory is shared.
            device_mesh: the mesh (default: that of the enclosing `with mesh:`).
            placements: one per mesh axis (default: replicated).
            run_check: compare shapes across ranks first (communicates), and derive an uneven global shape from them.
            shape: the global shape. Without it, and without `run_check`, all parts are taken to be equal in size.
            stride: accepted for PyTorch's sake; strides are those of the parts.
            grad_placements: how the gradient of `local_tensor` is to be placed, for example `Partial()` where ranks
                made equal copies of one tensor and their gradients are added up later (default: as the tensor).

        Raises:
            LayoutError: the local shape is not what the layout gives this rank. With `run_check` (and a cut dim) all
                ranks raise alike.
        """
        # An import statement here would take a tenth of the whole call.
        made: DTensor = backend.construct.from_local(
            local_tensor, device_mesh, placements, run_check, shape, grad_placements
        )
        return made

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The own part as a plain tensor, differentiable.

        `grad_placements` says what the gradient that comes back is; `Partial()` on a replicated axis means that ranks
        use the part differently, so their gradients are added.
        """
        layout = self._layout
        with Off():
            local = plain(self)
            if grad_placements is not None and local.requires_grad:
                from hyper_parallel.platform.torch.construct import expect_grad

                local = expect_grad(local, layout, grad_placements)
            return local

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: torch.dtype | None = None,
        backward_dtype: torch.dtype | None = None,
    ) -> DTensor:
        """The same tensor under other placements (same mesh), by the cheapest plan; differentiable.

        Args:
            device_mesh: the tensor's own mesh, or left out.
            placements: one per mesh axis (default: replicated).
            async_op: accepted for PyTorch's sake; the result is complete on return.
            forward_dtype: cast to this dtype first; the result has it.
            backward_dtype: only that of the result: gradients travel in the dtype of what they belong to.

        Raises:
            LayoutError: another mesh, or placements that do not fit.
            NotImplementedError: another `backward_dtype`.
        """
        if forward_dtype is not None and forward_dtype != self.dtype:
            cast: Any = self.to(forward_dtype)
            return cast.redistribute(device_mesh, placements, backward_dtype=backward_dtype)  # type: ignore[no-any-return]
        if backward_dtype is not None and backward_dtype != self.dtype:
            raise NotImplementedError(explain("redistribute", "backward_dtype", f"{self.dtype}", backward_dtype))
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

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        layout = self._layout
        places = ", ".join(map(str, layout.placements))
        with Off():
            local = repr(plain(self.detach()))
            node = self.grad_fn
            history = f", grad_fn=<{node.name()}>" if node else ", requires_grad=True" if self.requires_grad else ""
        return f"DTensor({local}, shape={layout.shape}, mesh={layout.mesh!r}, placements=[{places}]{history})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        from hyper_parallel.platform.torch.construct import encode_layout, rebuild

        with Off():
            local = plain(self.detach())
            parameter = bool(getattr(self, "_is_param", False))
            return rebuild, (local, encode_layout(self._layout), self.requires_grad, parameter)

    def __create_write_items__(self, fqn: str, object: Any) -> list[Any]:
        from hyper_parallel.platform.torch.checkpoint import write_items

        return write_items(self, fqn)

    def __create_chunk_list__(self) -> list[Any]:
        from hyper_parallel.platform.torch.checkpoint import chunks

        return chunks(self)

    def __get_tensor_shard__(self, index: Any) -> Tensor:
        return self.to_local()

    def __deepcopy__(self, memo: dict[int, Any]) -> DTensor:
        from hyper_parallel.platform.torch.construct import deepcopy

        return deepcopy(self, memo)


class LostAlias(DTensor):
    """A view that had to be computed on redistributed data: reading is fine while the base is unchanged."""

    _origin: tuple[DTensor, int | None, str]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Check, then go on with an ordinary DTensor."""
        from hyper_parallel.dispatch.call import replace_tensors

        name = getattr(func, "__name__", "")
        kwargs = kwargs or {}
        _refuse_writes(name, args, kwargs)
        lost: list[tuple[Any, DTensor]] = []

        def check(tensor: Any) -> Any:
            if not isinstance(tensor, LostAlias):
                return tensor
            base, version, maker = tensor._origin
            with Off():
                if version is not None and base._version != version:
                    raise AliasLostError(
                        explain(name, f"the base of a view made by {maker} on redistributed data",
                                "unchanged since (use clone() of the view)", "a later in-place write")
                    )  # fmt: skip
                same = attach(tensor, tensor._layout)
            lost.append((tensor._origin, same))
            return same

        if name in {"__set__", "retain_grad", "register_hook", "requires_grad_", "backward"}:
            return DTensor.__torch_function__(func, types, args, kwargs)
        if name == "__get__":
            lost = [(args[0]._origin, args[0])]
        else:
            args, kwargs = replace_tensors((args, kwargs), check, lambda v: isinstance(v, Tensor))
        result = DTensor.__torch_function__(func, types, args, kwargs)
        return replace_tensors(result, lambda value: _still_lost(value, lost), lambda v: type(v) is DTensor)


def _refuse_writes(name: str, args: Any, kwargs: dict[str, Any]) -> None:
    """A write to a lost alias would not reach its base.

    Raises:
        AliasLostError: the call writes to one.
    """
    writes = _writes(name) or kwargs.get("inplace") is True
    targets = [args[0]] if args and writes else []
    out = kwargs.get("out")
    targets += list(out) if isinstance(out, list | tuple) else [out]
    for target in targets:
        if isinstance(target, LostAlias):
            raise AliasLostError(
                explain(name, "its target", "a tensor that shares memory with its base (or a clone of it)",
                        f"a view made by {target._origin[2]} on redistributed data")
            )  # fmt: skip


def _still_lost(value: DTensor, lost: list[tuple[Any, DTensor]]) -> DTensor:
    """A view of a lost alias is one too."""
    from hyper_parallel.platform.torch.backend import PLATFORM

    with Off():
        for origin, source in lost:
            if PLATFORM.shares_storage(source, value):
                value = attach(value, value._layout)
                value.__class__ = LostAlias
                value._origin = origin  # type: ignore[attr-defined]
                break
    return value


def _writes(name: str) -> bool:
    if name.startswith("__"):
        return name == "__setitem__" or (name.startswith("__i") and name not in {"__invert__", "__index__", "__int__"})
    return name.endswith("_") and name not in {"requires_grad_"}


def plain(tensor: Tensor) -> Tensor:
    """The same memory and history as a plain `torch.Tensor` (interception off)."""
    if type(tensor) is Tensor:
        return tensor
    try:
        return tensor.as_subclass(Tensor)
    except RuntimeError:  # a sparse tensor has no storage to share, or no strides
        return tensor.clone()


def as_dtensor(local: Tensor, layout: Layout) -> DTensor:
    """Wrap a result of a native call. A plain tensor object is taken over; interception is off."""
    kind = type(local)
    if kind is Tensor:
        local.__class__ = DTensor
        local._layout = layout  # type: ignore[attr-defined]
        return local  # type: ignore[return-value]
    if kind is DTensor and local._layout is layout:  # type: ignore[attr-defined]
        return local  # type: ignore[return-value]
    other = local.as_subclass(DTensor)
    other._layout = layout
    return other


def attach(local: Tensor, layout: Layout) -> DTensor:
    """A new DTensor object over a local tensor that others may hold; same memory and history (interception off)."""
    out = local.as_subclass(DTensor)
    out._layout = layout
    return out


def redistribute(tensor: DTensor, target: Layout) -> DTensor:
    """A DTensor under another layout of the same mesh and shape."""
    from hyper_parallel.platform.torch.backend import PLATFORM
    from hyper_parallel.redistribute import redistribute_local

    with Off():
        if tensor._layout is target:
            return as_dtensor(plain(tensor), target)
        local = redistribute_local(PLATFORM, tensor, tensor._layout, target)
        return as_dtensor(plain(local), target)


def grad_layout_of(placements: Sequence[Placement]) -> list[Placement]:
    """Placements of a gradient."""
    return [R if isinstance(p, Replicate) or p == P_SUM else p for p in placements]


def _make_handler(func: Any) -> Callable[..., Any]:
    from hyper_parallel.platform.torch.intercept import handler_for

    handler = handler_for(func)
    _HANDLERS[func] = handler
    return handler


def engine_of() -> Any:
    """The engine of this platform."""
    from hyper_parallel.platform.torch.intercept import engine

    return engine()
