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
"""pip: requirements that cannot be found, installed, built or reconciled."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.classes import class_of_message
from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import FailureClass, Finding

_LINE = re.compile(
    r"(?:error: |  )?(?:ERROR: )(?P<message>(?:Could not find a version that satisfies the requirement"
    r" (?P<wanted>\S{1,200})"
    r"|No matching distribution found for (?P<missing>\S{1,200})|Could not install packages due to an? "
    r"|Failed building wheel for "
    r"|Failed to build |Cannot install |ResolutionImpossible|Could not open requirements file|Invalid requirement"
    r"|Package '.{1,100}' requires a different Python|THESE PACKAGES DO NOT MATCH THE HASHES|Exception:).*)"
)


def _read(window: Window) -> Iterable[Finding]:
    match = _LINE.match(window.line.text)
    if match is None:
        return
    message = match["message"].strip()
    if match["missing"]:
        # pip repeats "could not find a version" in these words
        before = next(iter(window.back(1)), None)
        if before is not None and "Could not find a version" in before.text:
            return
    down = match["wanted"] and "(from versions: none)" in message
    yield Finding(
        tool="pip",
        rule="requirement" if match["wanted"] or match["missing"] else "install",
        function=match["wanted"] or match["missing"] or "",
        message=message[:1000],
        failure_class=FailureClass.INFRASTRUCTURE if down else class_of_message(message),
        **at(window.line),
    )


TOOL = Tool(
    "pip",
    literal(
        "ERROR: Could not find a version",
        "ERROR: No matching distribution",
        "ERROR: Could not install packages",
        "ERROR: Failed building wheel",
        "ERROR: Failed to build ",
        "ERROR: Cannot install ",
        "ERROR: ResolutionImpossible",
        "ERROR: Could not open requirements",
        "ERROR: Invalid requirement",
        "ERROR: Package '",
        "ERROR: THESE PACKAGES DO NOT",
        "ERROR: Exception:",
    ),
    stateless(_read),
)
