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
"""Fills the pull request template and proves the description with the gate's own checker.

    python skills/autogit/scripts/pr_body.py values.yaml --out body.md

values.yaml maps part of a section's title to its content:

    PR 类型: [新特性]                      # a list ticks the boxes whose labels hold one of its words
    做了什么: 新增 vander 的切分规则,…      # a text fills the section
    关联的 Issue: "Fixes #12"
    设计说明: {涉及的模块: ops, 对外接口变化: 无}   # a mapping fills the named lines

Exit code: 0 the description passes · 1 it does not, and what is missing · 2 wrong use.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
_TITLE = re.compile(r"^(#{1,6} +.+|\*\*[^*]+\*\*\s*)$")
_BOX = re.compile(r"^(\s*[-*] )\[ \](.*)$")


def filled(template: str, values: dict[str, Any]) -> str:
    """The description: hints dropped, each section filled with the value whose key its title holds.

    Raises:
        ValueError: a key fits no section, or no line or box of its section.
    """
    text = re.sub(r"<!--.*?-->\n?", "", template, flags=re.DOTALL)
    used: set[str] = set()
    out: list[str] = []
    for title, body in _sections(text):
        key = next((key for key in values if key in title), None) if title else None
        lines = body if key is None else _fill(title, body, values[key])
        used |= {key} if key is not None else set()
        out += ([title] if title else []) + lines
    if left := [key for key in values if key not in used]:
        raise ValueError(f"For pr_body, keys should be part of a section's title, but got {left}.")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip() + "\n"


def _sections(text: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        if _TITLE.match(line):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return found


def _fill(title: str, body: list[str], value: Any) -> list[str]:
    if isinstance(value, list):
        return _ticked(title, body, [str(word) for word in value])
    if isinstance(value, dict):
        return _named(title, body, {str(name): str(text) for name, text in value.items()})
    boxes = [line for line in body if _BOX.match(line)]
    return [*boxes, str(value).rstrip(), ""]


def _ticked(title: str, body: list[str], words: list[str]) -> list[str]:
    for word in words:
        if not any(_BOX.match(line) and word in line for line in body):
            raise ValueError(f"For pr_body, {title.strip('*# ')!r} should have a box with {word!r}, but got none.")
    return [_BOX.sub(r"\1[x]\2", line) if any(word in line for word in words) else line for line in body]


def _named(title: str, body: list[str], values: dict[str, str]) -> list[str]:
    out = list(body)
    for name, text in values.items():
        place = next((i for i, line in enumerate(out) if name in line), None)
        if place is None:
            raise ValueError(f"For pr_body, {title.strip('*# ')!r} should have a line {name!r}, but got none.")
        label = re.match(r"^(\s*[-*] (?:\*\*)?[^:\uff1a]*[:\uff1a](?:\*\*)?)", out[place])
        out[place] = f"{label[1] if label else out[place].rstrip()} {text}"
    return out


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("values", type=Path, help="YAML file, see above")
    parser.add_argument("--template", type=Path, default=ROOT / "config" / "PULL_REQUEST_TEMPLATE.zh-CN.md")
    parser.add_argument("--out", type=Path, default=Path("body.md"), help="where the description is written")
    options = parser.parse_args(argv)
    sys.path.insert(0, str(ROOT))
    import yaml

    from bot.template.command import run

    try:
        values = yaml.safe_load(options.values.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError("For pr_body, values should be a mapping of titles, but got something else.")
        text = filled(options.template.read_text(encoding="utf-8"), {str(k): v for k, v in values.items()})
    except (OSError, ValueError, yaml.YAMLError) as error:
        parser.error(str(error))
    options.out.write_text(text, encoding="utf-8")
    return run(str(options.template), str(options.out), False)


if __name__ == "__main__":
    sys.exit(main())
