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
"""User-written `torch.autograd.Function`s applied to DTensors: backward sees distributed gradients, as forward saw
distributed tensors, although autograd itself runs on the local parts."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from hyper_parallel.errors import explain
from hyper_parallel.layout import Layout
from hyper_parallel.placements import R
from hyper_parallel.platform.torch.dtensor import DTensor, Off, attach, plain, redistribute

Tensor = torch.Tensor
_WRAPPED: dict[type, type] = {}


def wrapped_function(kind: type) -> type:
    """A subclass of a function class whose backward wraps and unwraps gradients; one per class."""
    found = _WRAPPED.get(kind)
    if found is None:
        found = _WRAPPED[kind] = _derive(kind)
    return found


def _derive(kind: Any) -> type:
    split = kind.setup_context is not Function.setup_context

    def note(ctx: Any, inputs: Any, output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.hp_outputs = [o._layout if isinstance(o, DTensor) else None for o in outputs]
        ctx.hp_inputs = [i._layout if isinstance(i, DTensor) else None for i in inputs]
        ctx.hp_saved = [t._layout if isinstance(t, DTensor) else None for t in getattr(ctx, "to_save", None) or ()]

    def forward(*args: Any, **kwargs: Any) -> Any:
        output = kind.forward(*args, **kwargs)
        if not split:
            note(args[0], args[1:], output)
        return output

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        kind.setup_context(ctx, inputs, output)
        note(ctx, inputs, output)

    def backward(ctx: Any, *grads: Any) -> Any:
        seen = [_wrap(grad, layout) for grad, layout in zip(grads, ctx.hp_outputs, strict=True)]
        found = kind.backward(ctx, *seen)
        results = found if isinstance(found, tuple) else (found,)
        layouts = [*ctx.hp_inputs, *[None] * (len(results) - len(ctx.hp_inputs))]
        return tuple(_unwrap(kind, grad, layout) for grad, layout in zip(results, layouts, strict=True))

    members: dict[str, Any] = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    if split:
        members["setup_context"] = staticmethod(setup_context)
    derived = type(kind.__name__, (kind,), members)
    derived._backward_cls.saved_tensors = property(_saved_tensors)  # type: ignore[attr-defined]
    return derived


def _saved_tensors(ctx: Any) -> tuple[Any, ...]:
    """What forward saved; saved-tensor hooks (offloading to the CPU, say) hand back plain local parts."""
    saved = super(type(ctx), ctx).saved_tensors
    layouts = getattr(ctx, "hp_saved", [])
    if len(layouts) != len(saved):
        return saved  # type: ignore[no-any-return]
    return tuple(map(_attached, saved, layouts))


def _attached(value: Tensor | None, layout: Layout | None) -> Tensor | None:
    if value is None or layout is None or isinstance(value, DTensor):
        return value
    with Off():
        return attach(value, layout)


def _wrap(grad: Any, layout: Layout | None) -> Any:
    if grad is None or layout is None:
        return grad
    with Off():
        return attach(grad, layout.grad)


def _unwrap(kind: type, grad: Any, layout: Layout | None) -> Any:
    if not isinstance(grad, Tensor):
        return grad
    if layout is None:
        return grad.full_tensor() if isinstance(grad, DTensor) else grad
    if not isinstance(grad, DTensor):
        with Off():
            if tuple(grad.shape) == layout.local_shape:
                return grad
            grad = DTensor.from_local(grad, layout.mesh, [R] * layout.mesh.ndim)
    if grad._layout.shape != layout.shape:
        raise RuntimeError(explain(kind.__name__, "the gradient's shape", layout.shape, grad._layout.shape))
    grad = redistribute(grad, layout.grad)
    with Off():
        return plain(grad)


def teach_module_hooks() -> None:
    """Module backward hooks get distributed gradients: torch hands them what flows between nodes, which is local."""
    from torch.utils.hooks import BackwardHook

    kind: Any = BackwardHook
    pack, unpack = kind._pack_with_none, kind._unpack_none
    set_input, set_output = kind.setup_input_hook, kind.setup_output_hook

    def layouts_of(values: Any) -> list[Layout | None]:
        return [v._layout if isinstance(v, DTensor) else None for v in values]

    def setup_input_hook(self: Any, args: Any) -> Any:
        self.hp_inputs = layouts_of(args)
        return set_input(self, args)

    def setup_output_hook(self: Any, args: Any) -> Any:
        self.hp_outputs = layouts_of(args if isinstance(args, tuple) else (args,))
        return set_output(self, args)

    def pack_with_none(self: Any, indices: Any, values: Any, size: int) -> Any:
        layouts = getattr(self, "hp_inputs" if indices is self.input_tensors_index else "hp_outputs", [None] * size)
        wrapped = [_wrap(v, layouts[i]) if isinstance(v, Tensor) else v for i, v in zip(indices, values, strict=True)]
        return pack(self, indices, wrapped, size)

    def unpack_none(self: Any, indices: Any, values: Any) -> Any:
        found = unpack(self, indices, values)
        return tuple(_unwrap(kind, v, self.hp_inputs[i]) for i, v in zip(indices, found, strict=True))

    kind._pack_with_none, kind._unpack_none = pack_with_none, unpack_none
    kind.setup_input_hook, kind.setup_output_hook = setup_input_hook, setup_output_hook
