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
"""``gatebot check-template``: check a description in a file against a template in a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.template.check import check_description
from bot.template.model import Verdict
from bot.texts.template import TEXTS

EXIT_PASSED, EXIT_NOT_PASSED, EXIT_UNREADABLE = 0, 1, 2


def run(template_path: str, body_path: str, as_json: bool, language: str = "zh") -> int:
    """Check and print.

    Args:
        template_path: Template file, or ``-`` for standard input.
        body_path: File with the description, or ``-`` for standard input (only one of the two).
        as_json: Print ``{"passed", "template", "note", "missing": [{"kind", "section", "field", "message", "fix"}]}``.
        language: ``zh`` or ``en``.

    Returns:
        0 when nothing is missing, 1 when something is, 2 when a file could not be read (told on standard error).
    """
    texts: list[str] = []
    for path in (template_path, body_path):
        try:
            if path == "-" and texts and template_path == "-":
                raise OSError("standard input can be only one of the two")
            texts.append(_read(path))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            print(TEXTS["template.unreadable"][language].format(path=path, why=why), file=sys.stderr)
            return EXIT_UNREADABLE
    verdict = check_description(*texts)
    print(_as_json(verdict, template_path, language) if as_json else _as_text(verdict, language))
    return EXIT_PASSED if verdict.passed else EXIT_NOT_PASSED


def _read(path: str) -> str:
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    return raw.decode("utf-8-sig")


def _as_json(verdict: Verdict, template_path: str, language: str) -> str:
    missing = [
        {
            "kind": item.kind,
            "section": item.section,
            "field": item.field,
            "message": item.message(language),
            "fix": item.fix(language),
        }
        for item in verdict.missing
    ]
    note = TEXTS[verdict.note][language] if verdict.note else ""
    result = {"passed": verdict.passed, "template": template_path, "note": note, "missing": missing}
    return json.dumps(result, ensure_ascii=False, indent=2)


def _as_text(verdict: Verdict, language: str) -> str:
    if verdict.passed:
        note = f"\n{TEXTS[verdict.note][language]}" if verdict.note else ""
        return TEXTS["template.passed"][language] + note
    lines = [TEXTS["template.failed.head"][language].format(count=len(verdict.missing))]
    for item in verdict.missing:
        lines += [f"- {item.message(language)}", f"  {item.fix(language)}"]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of ``python -m bot.template``; the same options as ``gatebot check-template``."""
    parser = argparse.ArgumentParser(prog="python -m bot.template")
    parser.add_argument("--template", required=True, metavar="FILE", help="template file, or - for standard input")
    parser.add_argument("--body", required=True, metavar="FILE", help="description file, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--lang", choices=("zh", "en"), default="zh", help="language of the messages")
    options = parser.parse_args(arguments)
    return run(options.template, options.body, options.json, options.lang)
