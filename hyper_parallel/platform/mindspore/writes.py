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
"""Writes into DTensors: computed out of place, then copied into the target under its own layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore as ms
from mindspore import Tensor
from mindspore._c_expression import NoFallbackGuard

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.platform.mindspore import native
from hyper_parallel.platform.mindspore.dtensor import DTensor, check_writable, plain
from hyper_parallel.platform.mindspore.intercept import call
from hyper_parallel.platform.mindspore.replicated import run_replicated
from hyper_parallel.redistribute import redistribute_local


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
