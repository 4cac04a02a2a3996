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
"""Globs over repository paths, with ``**``. Pure."""

from __future__ import annotations

import functools
import re


@functools.lru_cache(maxsize=512)
def _glob(glob: str) -> re.Pattern[str]:
    words = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(words.get(part) or re.escape(part) for part in parts))


def matches(path: str, glob: str) -> bool:
    """Whether the whole path fits the glob: ``**/`` any directories, ``*`` and ``?`` within one name."""
    return _glob(glob).fullmatch(path) is not None
