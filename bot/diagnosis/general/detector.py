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
"""What a block detector is: where a failure report of some tool begins and where it ends."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Detector:
    """A form of failure report.

    Attributes:
        name: Name shown as the reason of an excerpt.
        start: Matches the first line (``re.search`` on the cleaned line).
        weight: How telling such a block is, 1 (hint) to 10 (says why the build failed).
        until: Ends the block before a line that matches; None when only the other rules end it.
        last: Ends the block with a line that matches.
        blanks: This many blank lines in a row end the block; 0 = blank lines never do.
        follow: The block goes on only while lines match this; None = any line.
        most: Most lines of a block.
        before: Lines in front of the start line that belong to it.
    """

    name: str
    start: re.Pattern[str]
    weight: float
    until: re.Pattern[str] | None = None
    last: re.Pattern[str] | None = None
    blanks: int = 1
    follow: re.Pattern[str] | None = None
    most: int = 30
    before: int = 0


def detector(
    name: str,
    start: str,
    weight: float,
    *,
    until: str = "",
    last: str = "",
    blanks: int = 1,
    follow: str = "",
    most: int = 30,
    before: int = 0,
) -> Detector:
    """Compiles a detector; see ``Detector`` for the fields."""
    return Detector(
        name,
        re.compile(start),
        weight,
        re.compile(until) if until else None,
        re.compile(last) if last else None,
        blanks,
        re.compile(follow) if follow else None,
        most,
        before,
    )
