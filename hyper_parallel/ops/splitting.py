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
"""Splitting sorted lines over ranks: what every backend's search for the places has to keep to."""

from __future__ import annotations


def rounds_at_most(positions: int) -> int:
    """A bound of the rounds of a backend's `split_lines` on lines of so many positions.

    Each round leaves at most three quarters of a line open, or one position. Ranks whose counts do not belong to one
    sorted sequence would never agree: they raise after so many rounds.
    """
    return 4 + 3 * positions.bit_length()


def integers_up_to(longest: int) -> str:
    """Name of the smallest integers on the wire that count up to `longest`."""
    return "uint8" if longest < 2**8 else "int16" if longest < 2**15 else "int32"
