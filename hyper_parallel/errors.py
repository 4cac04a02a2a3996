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
"""Errors of the library; every message has the form `For {op}, <what> should be <expected>, but got <actual>.`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class LayoutError(ValueError):
    """An operator rule does not accept the given layouts or arguments."""


class UnsupportedTensorError(LayoutError, NotImplementedError):
    """A kind of tensor (sparse, nested, quantized) that cannot be cut or sent."""


class AliasLostError(RuntimeError):
    """A write to (or a stale read of) the result of a view op that had to be computed on redistributed data."""


def explain(op: str, what: str, expected: object, actual: object) -> str:
    """The sentence of every error: who, what, what was right, what came."""
    return f"For {op}, {what} should be {expected}, but got {actual}."


def raised_alike(
    call: Callable[[], Any],
    name: str,
    kinds: Sequence[type[Exception]],
    largest: Callable[[int], int],
    everywhere: Callable[[Exception], bool] = lambda error: False,
) -> Any:
    """What `call` returns. If it raises one of `kinds` on some rank, all ranks raise an error of that kind.

    Args:
        call: a computation without communication, which may refuse values that only this rank has.
        name: the operator, for the message on ranks whose own call went well.
        kinds: special ones first; an error of another kind goes its own way at once.
        largest: makes of every rank's number the largest over all ranks (communicates).
        everywhere: whether an error is one that all ranks have anyway: it goes its own way, too.
    """
    error: Exception | None = None
    out = None
    try:
        out = call()
    except tuple(kinds) as caught:
        if everywhere(caught):
            raise
        error = caught
    code = largest(0 if error is None else 1 + next(i for i, kind in enumerate(kinds) if isinstance(error, kind)))
    if error is not None:
        raise error
    if code:
        raise kinds[code - 1](explain(name, "the parts of all ranks", "computable", "an error on another rank"))
    return out
