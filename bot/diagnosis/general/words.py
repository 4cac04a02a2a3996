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
"""How much a single line sounds like the reason of a failure."""

from __future__ import annotations

import re
from functools import lru_cache

# (pattern, points); a line gets the points of every pattern that it matches once.
_POINTS = tuple(
    (re.compile(pattern), points)
    for pattern, points in (
        (r"(?:^|[\s\[(:])(?:FATAL|Fatal|fatal|PANIC|panic)\b", 3.0),
        (r"(?:^|[\s\[(>:])(?:error|Error|ERROR)\b\s?[:\]!]", 3.0),
        (r"(?:^|[\s(:.])\w*(?:Error|Exception|Failure|Fault)\b\s?(?::|$|\()", 3.0),
        (r"\b(?:FAILED|FAIL|FAILURE|FAILURES|FAILING)\b|[✗✖✘❌]", 2.5),
        (r"\b[Ff]ail(?:ed|ing|s|ures?)\b", 1.5),
        (r"\b(?:error|errors|ERROR|ERRORS|Error)\b", 1.0),
        (r"\b[Aa]ssert(?:ion|ed)?\b|\bexpected\b|\bExpected\b|\b[Aa]ctual\b|\bbut (?:got|was)\b", 1.5),
        (
            r"\b(?:[Cc]annot|[Cc]an't|[Cc]ould not|[Cc]ouldn't|[Uu]nable to|[Nn]ot found|[Nn]o such"
            r"|[Uu]ndefined|[Uu]nresolved"
            r"|[Uu]nknown|[Uu]nexpected|[Ii]nvalid|[Mm]issing|[Mm]ismatch|[Dd]enied|[Rr]ejected|[Ii]ncompatible|[Cc]onflict"
            r"|does not (?:exist|match)|[Nn]ot (?:defined|declared|permitted|allowed|supported)"
            r"|[Uu]nrecognized|[Uu]nmet)\b",
            1.5,
        ),
        (
            r"\b(?:[Kk]illed|[Ss]egmentation|core dumped|[Aa]borted|[Tt]imed out|TIMEOUT|[Tt]imeout"
            r"|[Dd]eadlock|[Oo]ut of memory)\b",
            2.0,
        ),
        (r"\bexit(?:ed)? (?:with )?(?:code|status)?:? ?[1-9]\d*\b|non-zero|returned [1-9]\d*\b", 1.5),
        (r"^\s*(?:at |from |File \"|in )\S+.{0,200}[:(]\d+", 0.5),
        (r"^\S+[:(]\d+(?:[:,]\d+)?\)?:? ", 1.0),
        # the sum at the end of a list of complaints
        (r"^\W{0,4}(?:Found )?[1-9]\d* (?:errors?|problems?|failures?|offen[cs]es?|violations?|fail(?:ed|ing))\b", 2.0),
    )
)
# What only looks like a failure.
_CALM = tuple(
    (re.compile(pattern), points)
    for pattern, points in (
        (
            r"\b0 (?:errors?|failures?|failed|failing|warnings?)\b|\b(?:errors?|failures?|failed|Failures"
            r"|Errors)\s?[:=]\s?0\b",
            -4.0,
        ),
        (r"\b[Nn]o (?:errors?|failures?|problems)\b|without (?:errors?|failures?)", -4.0),
        (r"(?:^|\s)(?:warning|WARNING|WARN|warn|Warning|npm WARN|deprecated|DEPRECATED|DeprecationWarning)\b", -2.0),
        (
            r"-W?error[=\s]|-Werror|--\S*(?:error|fail)\S*|\|\| (?:true|exit)|set -e|\w*[_./-](?:error|fail"
            r"|exception)s?[_./-]\w*",
            -2.0,
        ),
        (r"\b(?:ignored|ignoring|skipped|retrying|Retrying|optional|allowed failure|allow_failure)\b", -1.5),
        (r"(?:\.\.\.|:)\s*(?:ok|OK|passed|PASSED|yes|done)\s*$|^\s*(?:ok|PASS|✓|✔|√)\b|^\s*[✓✔√]|^---? PASS", -4.0),
        (
            r"^(?:\$|\+) |^(?:Get|Hit|Ign|Selecting|Preparing|Unpacking|Setting up|Downloading|Downloaded"
            r"|Installing|Compiling|Using|Fetching)[: ]",
            -2.5,
        ),
        (r"^(?:checking (?:for|whether)|-- (?:Looking for|Check|Performing|Found))", -4.0),
    )
)
WRAPPER = re.compile(
    r"[Ee]xited with (?:exit )?(?:code|status)|\b[Cc]ommands? (?:failed|errored)|InvocationError"
    r"|non-zero (?:exit )?(?:code|status)|\bELIFECYCLE\b|\b[Ee]xit (?:code|status):? ?[1-9]"
    r"|There (?:are|were) (?:test failures|failing tests)|Compilation failed; see the compiler"
    r"|\*\*\* \[.{1,300}\] Error \d|^npm (?:ERR!|error)|^rake aborted!"
    r"|^\S{0,40}make\[\d+\]: Leaving"
)
"""A line that passes on that some command failed; why it did stands elsewhere."""
_WENT_WELL = re.compile(
    r"^\s*(?:ok \d|[✓✔√] |PASS(?:ED)?\b|--- PASS|\[ *OK *\]|passed\b)"
    r"|(?:\.\.\.|:| )\s*(?:ok|OK|PASSED|Passed)\s*(?:\(?[\d.]+ ?m?s.{0,20})?$"
)
# One of these must be in a line that is scored at all; the same words for both scan engines.
TRIGGER = (
    r"(?i:error|fail|exception|fatal|panic|abort|assert|expected|actual|cannot|can't|could not|couldn't"
    r"|unable|not found"
    r"|no such|undefined|unresolved|unknown|unexpected|invalid|missing|mismatch|denied|rejected|incompatible|conflict"
    r"|does not|killed|segmentation|core dumped|timed? ?out|deadlock|out of memory|exit code|exited"
    r"|exit status|non-zero"
    r"|but got|but was|unmet|fault|falsif|lnk\d|outofmemory|no space left|sanitizer|illegal instruction|sigsegv|sigabrt"
    r"|smashing|multiple definition|completed with|marked build|no output has|exceeded|script returned"
    r"|execute project|licen[sc]e header|copyright header|\d problems?\b|offen[cs]es?\b|violation)"
)


def went_well(text: str) -> bool:
    """Whether a line reports a success, whatever error words the name of what succeeded holds."""
    return _WENT_WELL.search(text[:600]) is not None


def line_score(text: str) -> float:
    """Points of one line; 0 when nothing in it speaks of a failure.

    Args:
        text: The cleaned line (the first 600 characters count).
    """
    return _score(text[:600])


@lru_cache(maxsize=2048)
def _score(text: str) -> float:
    points = sum(value for pattern, value in _POINTS if pattern.search(text))
    if points:
        points += sum(value for pattern, value in _CALM if pattern.search(text))
    return max(points, 0.0)
