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
"""A replacement for a commented line, only where the fix is certain. Pure."""

from __future__ import annotations

import re

from bot.gate.finding import Finding

_TYPO = re.compile(r"^(?P<wrong>[\w'-]+) ==> (?P<right>[\w'-]+)$")
_PLAIN_IMPORT = re.compile(r"import (?P<name>[\w.]+)$")


def suggestion(finding: Finding, text: str) -> str | None:
    """The new text of the line; an empty one deletes it, ``None`` means that nothing is certain enough.

    Args:
        finding: What was found on the line.
        text: The line as the diff shows it, without its end.
    """
    if not text:
        return None
    match finding.tool, finding.rule:
        case "pylint", "C0303":
            return text.rstrip() if text.rstrip() != text else None
        case "pylint", "W0611":
            found = _PLAIN_IMPORT.fullmatch(text)
            return "" if found and finding.message == f"Unused import {found['name']}" else None
        case "codespell", _:
            return _respelt(finding.message, text)
        case "tab", _:
            lead = text[: len(text) - len(text.lstrip(" \t"))]
            return lead.expandtabs(4) + text[len(lead) :] if "\t" in lead and "\t" not in text[len(lead) :] else None
        case _:
            return None


def _respelt(message: str, text: str) -> str | None:
    """The line with the one misspelt word replaced; not certain with several corrections or several such words."""
    match = _TYPO.match(message.strip())
    if match is None:
        return None
    found = re.findall(rf"(?<!\w){re.escape(match['wrong'])}(?!\w)", text)
    if len(found) != 1:
        return None
    return re.sub(rf"(?<!\w){re.escape(match['wrong'])}(?!\w)", match["right"], text)
