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
"""Shape helpers shared by operator rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyper_parallel.errors import LayoutError, explain

Shape = tuple[int, ...]


def broadcast(op: str, shapes: Iterable[Sequence[int]]) -> Shape:
    """The common shape of element-wise operands.

    Raises:
        LayoutError: they do not broadcast.
    """
    result: list[int] = []
    for shape in shapes:
        padded = [1] * (len(shape) - len(result)) + result
        for back in range(1, len(shape) + 1):
            size, other = shape[-back], padded[-back]
            if size != other and 1 not in (size, other):
                raise LayoutError(explain(op, "operand shapes", "broadcastable", (tuple(result), tuple(shape))))
            padded[-back] = size if other == 1 else other
        result = padded
    return tuple(result)


def dims_of(op: str, dim: object, ndim: int) -> tuple[int, ...]:
    """A dim argument (None: all dims; int or sequence) as sorted non-negative dims.

    Raises:
        LayoutError: out of range, repeated or no int.
    """
    if dim is None or (isinstance(dim, list | tuple) and not dim):
        return tuple(range(ndim))
    given = dim if isinstance(dim, list | tuple) else (dim,)
    span = max(ndim, 1)
    wrapped = []
    for d in given:
        if isinstance(d, bool) or not isinstance(d, int) or not -span <= d < span:
            raise LayoutError(explain(op, "dim", f"ints in [{-span}, {span})", dim))
        wrapped.append(d % span)
    if len(set(wrapped)) != len(wrapped):
        raise LayoutError(explain(op, "dim", "without repetition", dim))
    return tuple(sorted(d for d in wrapped if d < ndim))


def reduced(shape: Sequence[int], dims: Sequence[int], keepdim: bool) -> Shape:
    """Shape after a reduction over `dims`."""
    if keepdim:
        return tuple(1 if d in dims else n for d, n in enumerate(shape))
    return tuple(n for d, n in enumerate(shape) if d not in dims)
