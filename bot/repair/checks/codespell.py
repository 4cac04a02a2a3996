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
"""codespell with the target branch's allow list, away from any configuration the pull request could bring."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.base import Check, CheckContext, Observation
from bot.repair.tools import run_tool, started

ALLOW_LIST: Final = ".jenkins/rules/codespell/codespell.allow"
_LINE: Final = re.compile(r"^(?P<path>.+?):(?P<line>\d+): (?P<word>\S+) ==> (?P<candidates>.+)$")
_WORD: Final = re.compile(r"(?P<word>\S+) ==> (?P<candidates>.+)$")


def parse_message(message: str) -> tuple[str, tuple[str, ...]] | None:
    """``teh ==> the`` to the word and its corrections; ``None`` for other text."""
    match = _WORD.search(message.strip())
    if match is None:
        return None
    candidates = (part.strip() for part in match["candidates"].split(","))
    return match["word"], tuple(candidate for candidate in candidates if candidate)


def _run(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    allow = context.rules.get(ALLOW_LIST)
    with tempfile.TemporaryDirectory(prefix="gatebot-codespell-") as directory:
        # codespell reads setup.cfg, pyproject.toml and .codespellrc of its working directory: run it where there are
        # none.
        argv = [sys.executable, "-I", "-m", "codespell_lib", "--disable-colors"]
        if allow is not None:
            words = Path(directory) / "allow"
            words.write_bytes(allow)
            argv += ["--ignore-words", str(words)]
        full = [str(context.root / name) for name in files]
        ran = run_tool([*argv, "--", *full], tree=Path(directory), cancel=context.cancel, visible=[str(context.root)])
        result = started(ran, "codespell", 0, 65)
    found = []
    prefix = f"{context.root}/"
    for line in result.stdout.decode("utf-8", "replace").splitlines():
        match = _LINE.match(line)
        if match is not None and match["path"].startswith(prefix):
            path = match["path"].removeprefix(prefix)
            message = f"{match['word']} ==> {match['candidates']}"
            found.append(
                Observation("Check_Codespell", "typo", path, int(match["line"]), match["word"].lower(), message)
            )
    return tuple(found)


def _shown(finding: Finding, observation: Observation) -> bool:
    said = parse_message(finding.message)
    return (
        said is not None
        and said[0].lower() == observation.symbol
        and finding.file == observation.file
        and finding.line in {0, observation.line}
    )


CHECK: Final = Check(
    name="Check_Codespell",
    wants=lambda path: True,
    run=_run,
    shown=_shown,
    command="codespell -I " + ALLOW_LIST,
    rule_files=(ALLOW_LIST,),
)
