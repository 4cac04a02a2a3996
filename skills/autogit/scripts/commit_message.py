#!/usr/bin/env python3
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
"""Checks a commit message; also fit for git's commit-msg hook.

    python skills/autogit/scripts/commit_message.py message.txt
    python skills/autogit/scripts/commit_message.py --gate message.txt

Exit code: 0 good · 1 something is wrong, told line by line · 2 wrong use.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

KINDS = ("feat", "fix", "docs", "test", "refactor", "perf", "build", "ci", "style", "chore", "revert")
LONGEST = 100
_STAGE = r"\b(?:Check_\w+|Smoke_\w+|Compile_\w+|UT|ST)\b"
_RULE = r"(?:[A-Z]{1,3}\d{3,4}|[a-z]+/[a-z_]+|[a-z]+(?:-[a-z]+)+)"
_CAUSE = re.compile(
    rf"{_STAGE}[:,\uff1a\uff0c\u3001]?[ \t]*{_RULE}|\({_STAGE}[:,]?[ \t]+[^\s()]|^fix\(gate\)!?: {_STAGE}"
)
_BY_GIT = re.compile(r"(Merge|Revert) \S")
_SCISSORS = re.compile(r"^# -+ >8 -+$.*", re.DOTALL | re.MULTILINE)
_ATTRIBUTION = re.compile(
    r"\U0001f916|^(made-with|generated-by|generated with)\b|^co-authored-by:.*no-?reply", re.I | re.M
)


def problems(message: str, gate: bool = False) -> list[str]:
    """What is wrong with a message; empty if nothing is.

    Args:
        message: As written to the editor; lines that start with `#` are git's own.
        gate: The commit mends a red gate, so stage and rule have to be named.
    """
    lines = [line for line in _SCISSORS.sub("", message).splitlines() if not line.startswith("#")]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        return ["提交信息为空 / the message is empty"]
    if _BY_GIT.match(lines[0]) and not gate:
        return []
    found = []
    title, text = lines[0], "\n".join(lines)
    if not re.match(rf"({'|'.join(KINDS)})(\([\w.-]+\))?!?: \S", title):
        found.append(
            f"标题应为“类型: 一句话”,类型取 {', '.join(KINDS)} / the title should start with one of these and ': '"
        )
    if len(title) > LONGEST or title.rstrip().endswith((".", "。")):
        found.append(
            f"标题至多 {LONGEST} 个字符,末尾不加句号 / the title should have {LONGEST} characters at most, no full stop"
        )
    if len(lines) > 1 and lines[1].strip():
        found.append("标题之后应空一行 / a blank line should follow the title")
    if not any(line.strip() for line in lines[2:]):
        found.append("正文应说明为什么 / the body should say why")
    if _ATTRIBUTION.search(text):
        found.append("不写工具署名 / no attribution to tools")
    if gate and not _CAUSE.search(text):
        found.append("修门禁的提交应写明阶段与规则,例如 (Check_Pylint W0702) / stage and rule should be named")
    return found


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="file with the message, - for standard input")
    parser.add_argument("--gate", action="store_true", help="the commit mends a red gate: stage and rule are required")
    options = parser.parse_args(argv)
    try:
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"file should be readable text, but got {error}")
    found = problems(text, options.gate)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
