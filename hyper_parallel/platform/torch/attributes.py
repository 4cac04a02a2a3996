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
"""What a DTensor says about itself: shape and the like come from the layout, the rest from the local part."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from hyper_parallel.layout import Layout
from hyper_parallel.platform.torch.dtensor import DTensor, Off, as_dtensor, redistribute

Tensor = torch.Tensor

# fmt: off
NATIVE = frozenset(
    {
        "dtype", "device", "requires_grad", "is_leaf", "grad_fn", "output_nr", "retains_grad", "volatile", "_version",
        "_backward_hooks", "_post_accumulate_grad_hooks", "_base", "_cdata", "name", "names", "itemsize", "is_sparse",
        "is_sparse_csr", "is_quantized", "is_meta", "is_cpu", "is_cuda", "is_xpu", "is_mps", "is_hpu", "is_ipu",
        "is_vulkan", "is_xla", "is_mtia", "is_maia", "is_ort", "is_mkldnn", "is_nested", "layout", "grad_dtype",
        "element_size", "is_floating_point", "is_complex", "is_signed", "is_conj", "is_neg", "is_inference",
        "is_contiguous", "data_ptr", "storage", "untyped_storage", "storage_offset", "storage_type", "_typed_storage",
        "is_shared", "share_memory_", "is_pinned", "get_device", "retain_grad", "requires_grad_", "detach_",
        "result_type", "_has_compatible_shallow_copy_type", "has_names", "__setstate__", "_is_view",
        "register_post_accumulate_grad_hook", "has_torch_function", "sparse_dim", "dense_dim", "type_as_native",
        "is_coalesced", "_clear_non_serializable_cached_data", "is_distributed", "is_set_to", "_is_zerotensor",
        "_dimI", "_dimV",
    }
)
# fmt: on


def run_natively(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Ask the local part; a tensor that comes back as it went in stays what it was."""
    with Off():
        return func(*args, **(kwargs or {}))


def _shape(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return size_of(args[0]._layout)


def size_of(layout: Layout) -> torch.Size:
    """The global shape as torch's own type, cached on the layout."""
    cached = layout.__dict__.get("torch_size")
    if cached is None:
        cached = layout.__dict__["torch_size"] = torch.Size(layout.shape)
    return cached


def _size(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    size = size_of(args[0]._layout)
    dim = args[1] if len(args) > 1 else (kwargs or {}).get("dim")
    if dim is None:
        return size
    if not -len(size) <= dim < len(size):
        span = max(len(size), 1)
        raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})")
    return size[dim]


def _len(func: Any, types: Any, args: Any, kwargs: Any) -> int:
    shape = args[0]._layout.shape
    if not shape:
        raise TypeError("len() of a 0-d tensor")
    return int(shape[0])


def _stride(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Strides that the full tensor would have with the local part's dim order."""
    layout = args[0]._layout
    with Off():
        local: tuple[int, ...] = args[0].stride()
    order = sorted(range(layout.ndim), key=lambda d: (local[d], -d))
    strides: list[int] = [0] * layout.ndim
    step = 1
    for dim in order:
        strides[dim] = step if local[dim] or layout.local_shape[dim] == 0 else 0
        if local[dim]:
            step *= max(layout.shape[dim], 1)
    asked = args[1] if len(args) > 1 else (kwargs or {}).get("dim")
    return tuple(strides) if asked is None else strides[asked]


def _nbytes(func: Any, types: Any, args: Any, kwargs: Any) -> int:
    with Off():
        return int(math.prod(args[0]._layout.shape) * args[0].element_size())


def _is_same_size(func: Any, types: Any, args: Any, kwargs: Any) -> bool:
    return tuple(args[0].shape) == tuple(args[1].shape)


def _get_data(func: Any, types: Any, args: Any, kwargs: Any) -> DTensor:
    args[0].__dict__["_exposed"] = True
    with Off():
        return as_dtensor(args[0].data, args[0]._layout)


def _set_data(func: Any, types: Any, args: Any, kwargs: Any) -> None:
    target, value = args
    value = _like(target, value)
    with Off():
        target.data = value
    target.__dict__["_exposed"] = True
    target._layout = value._layout


def _get_grad(func: Any, types: Any, args: Any, kwargs: Any) -> DTensor | None:
    owner = args[0]
    with Off():
        grad: Any = owner.grad
        if grad is None:
            return None
        if type(grad) is Tensor:
            grad.__class__ = DTensor
            grad._layout = owner._layout.grad  # type: ignore[attr-defined]
        return grad  # type: ignore[no-any-return]


def _set_grad(func: Any, types: Any, args: Any, kwargs: Any) -> None:
    owner, value = args
    if value is not None:
        value = _like(owner, value)
        if value._layout is not owner._layout.grad:
            value = redistribute(value, owner._layout.grad)
    with Off():
        owner.grad = value


def _like(owner: DTensor, value: Tensor) -> DTensor:
    """`value` as a DTensor; a plain tensor of the global shape is taken to be the full tensor."""
    if isinstance(value, DTensor):
        return value
    if not isinstance(owner, DTensor):
        raise TypeError("For data, the target of a DTensor should be a DTensor, but got a plain tensor.")
    from hyper_parallel.platform.torch.backend import PLATFORM

    with Off():
        full = PLATFORM.implicit(value, owner._layout.mesh)
    if full._layout.shape != owner._layout.shape:
        raise ValueError(
            f"For DTensor, a plain tensor assigned to data or grad should be the full tensor of shape "
            f"{owner._layout.shape}, but got {full._layout.shape}."
        )
    return redistribute(full, owner._layout)


def _iter(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if not args[0]._layout.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(args[0].unbind(0))


def _format(func: Any, types: Any, args: Any, kwargs: Any) -> str:
    tensor, spec = args[0], args[1] if len(args) > 1 else ""
    if not spec or tensor._layout.shape:
        return repr(tensor).__format__(spec)
    return format(tensor.item(), spec)


_TENSOR: Any = Tensor

HANDLERS: dict[Any, Callable[..., Any]] = {
    _TENSOR.shape.__get__: _shape,
    Tensor.size: _size,
    _TENSOR.ndim.__get__: lambda f, t, a, k: a[0]._layout.ndim,
    Tensor.dim: lambda f, t, a, k: a[0]._layout.ndim,
    Tensor.ndimension: lambda f, t, a, k: a[0]._layout.ndim,
    Tensor.numel: lambda f, t, a, k: a[0]._layout.numel,
    Tensor.nelement: lambda f, t, a, k: a[0]._layout.numel,
    torch.numel: lambda f, t, a, k: a[0]._layout.numel,
    Tensor.__len__: _len,
    Tensor.stride: _stride,
    _TENSOR.nbytes.__get__: _nbytes,
    Tensor.is_same_size: _is_same_size,
    torch.is_same_size: _is_same_size,
    _TENSOR.data.__get__: _get_data,
    _TENSOR.data.__set__: _set_data,
    _TENSOR.grad.__get__: _get_grad,
    _TENSOR.grad.__set__: _set_grad,
    _TENSOR._grad.__get__: _get_grad,
    _TENSOR._grad.__set__: _set_grad,
    Tensor.__iter__: _iter,
    Tensor.__format__: _format,
}
