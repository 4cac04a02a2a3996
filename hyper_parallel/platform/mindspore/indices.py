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
"""Index expressions in the few forms that the rule book reads: numbers, ranges and tensors of positions."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor

_SIMPLE = (int, slice, type(None), type(Ellipsis), Tensor)


def cleared(index: Any) -> tuple[Any, bool]:
    """The index with lists, ranges and arrays made tensors, and whether a rule may read it.

    A mask may not be read by a rule, since the size of what it picks is known only from the values.
    """
    if isinstance(index, tuple):
        items = tuple(_item(item) for item in index)
        return items, all(map(_is_readable, items))
    item = _item(index)
    return item, _is_readable(item)


def _item(item: Any) -> Any:
    if isinstance(item, _SIMPLE):
        return item
    if isinstance(item, list | range | np.ndarray | np.generic):
        array = np.asarray(item)
        if array.dtype.kind in "iub" or not array.size:
            return Tensor(array.astype(np.int64) if array.dtype.kind != "b" else array)
    return item


def _is_readable(item: Any) -> bool:
    if isinstance(item, Tensor):
        return bool(item.dtype != ms.bool_)
    return isinstance(item, _SIMPLE) and not isinstance(item, bool)
