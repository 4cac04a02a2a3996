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
"""Check_Markdownlint by markdownlint-cli2, on copies: beside the originals may lie a configuration that is code."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bot.repair.checks.base import Check, CheckContext, Observation, same_place
from bot.repair.tools import CancelToken, find_tool, run_tool, started

_LINE: Final = re.compile(
    r"^(?P<file>f\d+\.md):(?P<line>\d+)(?::\d+)? (?:error |warning )?(?P<rule>MD\d{3})\S* (?P<message>.*)$"
)
# Switched off by the repository's own configuration.
_OFF: Final = ("MD013", "MD024", "MD036", "MD060")


def wants(path: str) -> bool:
    """Markdown files."""
    return path.lower().endswith((".md", ".markdown"))


def lint(
    contents: Iterable[bytes], rules: Iterable[str], cancel: CancelToken, *, only: bool = False, fix: bool = False
) -> tuple[list[tuple[int, str, int, str]], list[bytes]]:
    """Lint copies of Markdown texts.

    Args:
        contents: The texts.
        rules: Rules to have on even if usually off.
        cancel: Stops the tool.
        only: Have on nothing but ``rules``.
        fix: Let the tool mend what it can.

    Returns:
        ``(index of the text, rule, line, message)`` of each message, and the texts as they are afterwards.

    Raises:
        ToolMissing: markdownlint-cli2 is not installed.
    """
    tool = find_tool("markdownlint-cli2")
    config: dict[str, bool] = {"default": not only}
    if not only:
        config |= dict.fromkeys(_OFF, False)
    config |= dict.fromkeys(rules, True)
    with tempfile.TemporaryDirectory(prefix="gatebot-markdown-") as directory:
        root = Path(directory)
        (root / "gate.markdownlint-cli2.jsonc").write_text(json.dumps({"config": config}), encoding="utf-8")
        names = []
        for number, content in enumerate(contents):
            names.append(f"f{number}.md")
            (root / names[-1]).write_bytes(content)
        argv = [tool, "--config", "gate.markdownlint-cli2.jsonc", *(["--fix"] if fix else []), *names]
        result = started(run_tool(argv, tree=root, cancel=cancel, writable=fix), "markdownlint-cli2", 0, 1)
        after = [(root / name).read_bytes() for name in names]
    found = []
    for line in result.stderr.decode("utf-8", "replace").splitlines():
        match = _LINE.match(line)
        if match is not None:
            found.append((int(match["file"][1:-3]), match["rule"], int(match["line"]), match["message"]))
    return found, after


def _run(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    rules = {finding.rule for finding in context.findings if finding.tool in {"markdownlint", "mdl"}}
    texts = [(context.root / name).read_bytes() for name in files]
    found, _ = lint(texts, rules, context.cancel)
    return tuple(
        Observation("Check_Markdownlint", rule, files[index], line, "", text) for index, rule, line, text in found
    )


CHECK: Final = Check(
    "Check_Markdownlint",
    wants,
    _run,
    lambda finding, seen: finding.rule.startswith(seen.rule) and same_place(finding, seen),
    "markdownlint-cli2",
)
