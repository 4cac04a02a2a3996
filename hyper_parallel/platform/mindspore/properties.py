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
"""What a DTensor says about itself without an operator: shape and the like from the layout, values from all ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mindspore as ms
from mindspore import Tensor

from hyper_parallel.errors import explain
from hyper_parallel.layout import Layout


class Described:
    """Mixed into DTensor."""

    _layout: Layout

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
        return self._layout.shape

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._layout.shape

    @property
    def ndim(self) -> int:
        """Number of dims."""
        return self._layout.ndim

    def dim(self) -> int:
        """Number of dims."""
        return self._layout.ndim

    ndimension = dim

    @property
    def size(self) -> int:
        """Number of elements of the global tensor (a property, as MindSpore has it)."""
        return self._layout.numel

    def numel(self) -> int:
        """Number of elements of the global tensor."""
        return self._layout.numel

    nelement = numel

    @property
    def _size(self) -> int:
        return self._layout.numel

    @property
    def nbytes(self) -> int:
        """Bytes of the global tensor."""
        return self._layout.numel * int(self.itemsize)  # type: ignore[attr-defined]

    def stride(self, dim: int | None = None) -> Any:
        """Strides in elements that the full tensor has when contiguous."""
        steps, step = [], 1
        for size in reversed(self._layout.shape):
            steps.append(step)
            step *= max(size, 1)
        steps.reverse()
        return tuple(steps) if dim is None else steps[dim]

    @property
    def _nbytes(self) -> int:
        return self.nbytes

    @property
    def _strides(self) -> tuple[int, ...]:
        return self.strides

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes that the full tensor has when contiguous."""
        return tuple(n * int(self.itemsize) for n in self.stride())  # type: ignore[attr-defined]

    def full_tensor(self) -> Tensor:
        """See DTensor."""
        raise NotImplementedError

    def _values(self) -> Tensor:
        """The full values; pending reductions carried out. Collective."""
        return self.full_tensor()

    def asnumpy(self) -> Any:
        """The full values as a numpy array. Every rank has to call it."""
        return self._values().asnumpy()

    def numpy(self) -> Any:
        """The full values as a numpy array. Every rank has to call it."""
        return self._values().asnumpy()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        values = self._values().asnumpy()
        return values if dtype is None else values.astype(dtype)

    def tolist(self) -> Any:
        """The full values as nested lists. Every rank has to call it."""
        return self._values().tolist()

    def item(self, *index: Any) -> Any:
        """The only element, or the one at `index`. Every rank has to call it."""
        values = self._values()
        return values[index if len(index) > 1 else index[0]].item() if index else values.item()

    def __bool__(self) -> bool:
        return bool(self._values())

    def __int__(self) -> int:
        return int(self._values())

    def __float__(self) -> float:
        return float(self._values())

    def __index__(self) -> int:
        return int(self._values().__index__())

    def __len__(self) -> int:
        if not self._layout.shape:
            raise TypeError("len() of a 0-d tensor")
        return self._layout.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._layout.shape:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(self._layout.shape[0]))  # type: ignore[index]

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self._layout.shape else format(repr(self), spec)

    def __setitem__(self, index: Any, value: Any) -> None:
        from hyper_parallel.platform.mindspore.writes import set_item

        set_item(self, index, value)  # type: ignore[arg-type]

    @property
    def data(self) -> Any:
        """The same values without history."""
        return ms.ops.stop_gradient(self)

    def isreal(self) -> Any:
        """Which elements have no imaginary part."""
        if self.is_complex():  # type: ignore[attr-defined]
            return ms.mint.eq(ms.mint.imag(self), 0)
        return self == self if not self.is_floating_point() else ms.mint.logical_or(self == self, self != self)  # type: ignore[attr-defined]

    def register_hook(self, hook: Any) -> Any:
        """Call `hook` with the (distributed) gradient in backward; what it returns replaces the gradient."""
        from hyper_parallel.platform.mindspore.construct import hooked

        return Tensor.register_hook(self, hooked(self._layout.grad, hook))

    @property
    def T(self) -> Any:
        """The transpose of all dims."""
        return ms.mint.permute(self, tuple(reversed(range(self._layout.ndim))))

    @property
    def mT(self) -> Any:
        """The transpose of the last two dims."""
        if self._layout.ndim < 2:
            raise ValueError(explain("mT", "the number of dims", "at least 2", self._layout.ndim))
        return ms.mint.transpose(self, -1, -2)


def _refuse(name: str, instead: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(explain(name, "the tensor", f"a plain one (use {instead})", "a DTensor"))

    method.__name__ = name
    return method


# These look into the local memory; their answer would be the local part's, without a word.
LOCAL_ONLY = [
    "assign_value",
    "assign_value_cpp",
    "data_ptr",
    "flush_from_cache",
    "from_numpy",
    "get_bytes",
    "getitem_index_info",
    "inplace_update",
    "itemset",
    "convert_bytes_to_tensor",
    "offload",
    "offload_file_path",
    "pin_memory",
    "set_",
    "set_device_address",
    "setitem_index_info",
    "storage",
    "storage_offset",
    "to_coo",
    "to_csr",
    "to_dlpack",
    "untyped_storage",
    "_data_ptr",
    "_item",
    "_tolist",
    "_getitem",
    "_setitem",
    "is_pinned",
    "data_sync",
    "move_to",
    "slogdet",
    "unique_with_pad",
    "value",
    "cauchy",
    "_numpy_non_blocking",
    "_update_data",
    "_offload",
    "_shared_host_memory_with_device_",
]
for _name in LOCAL_ONLY:
    if hasattr(Tensor, _name):
        setattr(Described, _name, _refuse(_name, "to_local() or full_tensor()"))
