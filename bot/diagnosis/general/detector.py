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
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

_LONG, _LONGEST = 18, 45


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
        least: Shorter blocks do not count.
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
    least: int = 1


def _detector(fields: dict[str, Any]) -> Detector:
    """Compiles an entry of the data files.

    Raises:
        TypeError: An entry has a field that detectors do not know, or lacks one.
        re.error: A pattern is not a regular expression.
    """
    patterns: dict[str, Any] = {
        key: re.compile(fields[key]) for key in ("start", "until", "last", "follow") if key in fields
    }
    if patterns.keys() & {"until", "last"} and fields.get("blanks", 1) != 1:
        # where an end is known, a block may be as long as it is
        fields = {"most": _LONGEST, **fields, **({"most": _LONGEST} if fields.get("most", 0) >= _LONG else {})}
    return Detector(**{**fields, **patterns})


@lru_cache(maxsize=1)
def all_detectors() -> tuple[Detector, ...]:
    """Every entry of the ``*.yaml`` files beside this module, in the order of file name and entry."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: list[Detector] = []
    for path in sorted(files(__package__).iterdir(), key=lambda one: one.name):
        if path.name.endswith(".yaml"):
            found.extend(_detector(fields) for fields in yaml.load(path.read_text(encoding="utf-8"), Loader=loader))
    return tuple(found)
