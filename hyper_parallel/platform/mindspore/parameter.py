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
"""Distributed parameters: what `nn.Cell` and optimizers ask of a parameter, told by the layout."""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import Tensor

from hyper_parallel.errors import explain
from hyper_parallel.platform.mindspore.dtensor import DTensor, Undressed, as_parameter, plain


class ParameterMixin:
    """Mixed into the class of a distributed parameter."""

    _plain_class: type
    _layout: Any

    def clone(self, init: Any = "same") -> Any:
        """A new parameter under the same layout (optimizers make their state so); see `Parameter.clone`."""
        layout = self._layout
        with plain(self) as local:
            copy = local.clone(init)
            if hasattr(copy, "init_data") and getattr(copy, "has_init", False):
                copy = copy.init_data()
        return as_parameter(copy, layout)

    def set_data(self, data: Any, slice_shape: bool = False) -> Any:
        """Replace the values: by a DTensor, or by the full plain tensor."""
        from hyper_parallel.platform.mindspore.construct import like_owner

        value = like_owner(self, data)
        with plain(self) as local, plain(value) as source:
            local.set_data(source, slice_shape)
        return self

    def asnumpy(self) -> Any:
        """The full values as a numpy array. Every rank has to call it."""
        return DTensor.asnumpy(self)  # type: ignore[arg-type]

    @property
    def data(self) -> Any:
        """The parameter itself, as MindSpore has it."""
        return self

    def __parameter__(self) -> None:
        """Mark for MindSpore's parser."""

    def init_data(self, *args: Any, **kwargs: Any) -> Any:
        """The values exist already."""
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        from hyper_parallel.platform.mindspore.construct import pickled_parameter

        return pickled_parameter(self)


def new_parameter(local: Tensor, layout: Any, name: str, requires_grad: bool = True) -> Any:
    """A distributed parameter that holds `local` as its own part."""
    if isinstance(local, DTensor):
        raise TypeError(explain("Parameter", "the own part", "a plain tensor", "a DTensor"))
    return as_parameter(ms.Parameter(local, name=name, requires_grad=requires_grad), layout)


__all__ = ["ParameterMixin", "Undressed", "new_parameter"]
