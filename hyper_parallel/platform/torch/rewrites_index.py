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
"""Index expressions brought to a form that rules read: lists and arrays become tensors, 0-d tensors in slices numbers.

Masks are told from positions here, since layouts know no dtype: an assignment of a number to a mask is `masked_fill_`,
every other call with a mask runs on replicated inputs, because the result's size depends on data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from hyper_parallel.platform.torch.dtensor import DTensor, Off

Tensor = torch.Tensor
_INDEX_DTYPES = frozenset({torch.int64, torch.int32, torch.uint8, torch.bool})
_PLAIN = frozenset({int, slice, type(None), type(Ellipsis)})


def _simple(item: Any) -> bool:
    kind = type(item)
    if kind is slice:
        return all(type(end) in _PLAIN and type(end) is not slice for end in (item.start, item.stop, item.step))
    return kind in _PLAIN


def _is_mask(item: Any) -> bool:
    return isinstance(item, bool) or (isinstance(item, Tensor) and item.dtype in {torch.bool, torch.uint8})


def _clear(item: Any) -> Any:
    if _simple(item) or isinstance(item, bool):
        return item
    if isinstance(item, slice):
        ends = (item.start, item.stop, item.step)
        return slice(*(None if end is None else int(end) for end in ends))
    if isinstance(item, Tensor):
        if item.dtype not in _INDEX_DTYPES:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return item
    if hasattr(item, "__index__") and not getattr(item, "ndim", 0):  # an array of numpy has it too
        return int(item)
    if isinstance(item, range):
        item = list(item)
    tensor = torch.as_tensor(item)
    return tensor if tensor.dtype in _INDEX_DTYPES else tensor.to(torch.int64)


def _cleared(index: Any) -> tuple[Any, bool]:
    """(index, whether it holds a mask)."""
    if isinstance(index, tuple):
        if all(_simple(item) for item in index):
            return index, False
        items = tuple(_clear(item) for item in index)
        return items, any(_is_mask(item) for item in items)
    if _simple(index):
        return index, False
    item = _clear(index)
    return item, _is_mask(item)


def _getitem(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    from hyper_parallel.platform.torch.intercept import engine, op_handler_for

    index, masked = _cleared(args[1])
    if masked or not isinstance(args[0], DTensor):
        with Off():
            return engine().fallback(func, "__getitem__", (args[0], index), {})
    return op_handler_for(func)(func, types, (args[0], index), {})


def _setitem(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    from hyper_parallel.platform.torch.intercept import engine, op_handler_for

    target, (index, masked), value = args[0], _cleared(args[1]), args[2]
    if masked and isinstance(index, Tensor) and index.dtype is torch.bool and _fills(target, index, value):
        target.masked_fill_(index.reshape((*index.shape, *(1,) * (target.dim() - index.dim()))), value)
        return None
    if masked or not isinstance(target, DTensor):
        with Off():
            return engine().fallback(func, "__setitem__", (target, index, value), {})
    return op_handler_for(func)(func, types, (target, index, value), {})


def _fills(target: Tensor, mask: Tensor, value: Any) -> bool:
    if not isinstance(target, DTensor) or tuple(mask.shape) != tuple(target.shape)[: mask.dim()]:
        return False
    if isinstance(value, bool):
        return True
    return isinstance(value, int | float) and (target.is_floating_point() or target.is_complex())


HANDLERS: dict[Any, Callable[..., Any]] = {Tensor.__getitem__: _getitem, Tensor.__setitem__: _setitem}
