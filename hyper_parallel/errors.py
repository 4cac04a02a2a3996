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


class LayoutError(ValueError):
    """An operator rule does not accept the given layouts or arguments."""


class AliasLostError(RuntimeError):
    """A write to (or a stale read of) the result of a view op that had to be computed on redistributed data."""


def explain(op: str, what: str, expected: object, actual: object) -> str:
    """The sentence of every error: who, what, what was right, what came."""
    return f"For {op}, {what} should be {expected}, but got {actual}."
