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
"""pylint with the target branch's rcfile, stripped of everything in it that could run code."""

from __future__ import annotations

import configparser
import io
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from bot.errors import TellOperator
from bot.gate.finding import Finding
from bot.repair.checks.base import Check, CheckContext, Observation, same_place
from bot.repair.tools import run_tool

RCFILE: Final = ".jenkins/rules/pylint/pylintrc"
# init-hook is Python code, plugins and extension packages are imported: with a rcfile from a pull request each is
# code execution.
_DROPPED: Final = frozenset(
    {"init-hook", "init_hook", "load-plugins", "load_plugins", "unsafe-load-any-extension", "unsafe_load_any_extension"}
    | {"extension-pkg-whitelist", "extension-pkg-allow-list", "extension_pkg_allow_list", "jobs", "persistent"}
    | {"output-format", "output_format", "msg-template", "msg_template", "reports", "score", "from-stdin", "recursive"}
)
_OWN_FILES: Final = (".py", ".pyi")
_OPTIONS: Final = ("--output-format=json2", "--persistent=n", "--score=n", "--reports=n", "--jobs=1")


def safe_rcfile(content: bytes) -> str:
    """The rcfile without its dangerous and presentational options; pylint's own extension plugins stay."""
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(content.decode("utf-8", "replace"))
    except configparser.Error as error:
        raise TellOperator(f"{RCFILE} on the target branch cannot be read: {error}") from error
    for section in parser.sections():
        for option in list(parser[section]):
            if option.lower() not in _DROPPED:
                continue
            value = parser[section].pop(option)
            own = [
                name.strip()
                for name in value.replace("\n", ",").split(",")
                if name.strip().startswith("pylint.extensions.")
            ]
            if option.lower().replace("_", "-") == "load-plugins" and own:
                parser[section][option] = ",".join(own)
    written = io.StringIO()
    parser.write(written)
    return written.getvalue()


def _run(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    rcfile = context.rules.get(RCFILE)
    enabled = sorted({finding.rule for finding in context.findings if finding.tool == "pylint" and finding.rule})
    with tempfile.TemporaryDirectory(prefix="gatebot-pylint-") as directory:
        config = Path(directory) / "pylintrc"
        config.write_text(safe_rcfile(rcfile) if rcfile is not None else "[MAIN]\n", encoding="utf-8")
        # -I: neither the tree nor the environment can put a module in front of pylint's own.
        argv = [sys.executable, "-I", "-m", "pylint", f"--rcfile={config}", *_OPTIONS]
        if enabled:
            argv.append(f"--enable={','.join(enabled)}")
        limit = _line_limit(context.findings)
        if limit:
            argv.append(f"--max-line-length={limit}")
        result = run_tool([*argv, "--", *files], tree=context.root, cancel=context.cancel, visible=[directory])
    if result.code & 32:
        raise TellOperator(f"pylint refused its options: {result.stderr.decode('utf-8', 'replace')[-400:]}")
    return _parse(result.stdout, files)


def _line_limit(findings: tuple[Finding, ...]) -> int:
    """The gate's own line limit, which its message tells: ``Line too long (130/120)``; 0 when no finding says."""
    said = [re.search(r"\(\d+/(\d+)\)", finding.message) for finding in findings if finding.rule == "C0301"]
    return min((int(match[1]) for match in said if match), default=0)


def _parse(output: bytes, files: tuple[str, ...]) -> tuple[Observation, ...]:
    try:
        messages: list[dict[str, Any]] = json.loads(output or b"{}").get("messages", [])
    except ValueError as error:
        raise TellOperator(f"pylint did not print JSON: {output[:200]!r}") from error
    return tuple(
        Observation("Check_Pylint", item["messageId"], item["path"], item["line"], item.get("obj", ""), item["message"])
        for item in messages
        if item["path"] in files
    )


def _shown(finding: Finding, observation: Observation) -> bool:
    return (
        finding.rule == observation.rule
        and same_place(finding, observation)
        and (not finding.message or _words(finding.message) == _words(observation.message))
    )


def _words(message: str) -> str:
    """The message without white space and the trailing symbol some forms append."""
    return "".join(message.split()).partition("(")[0]


CHECK: Final = Check(
    name="Check_Pylint",
    wants=lambda path: path.endswith(_OWN_FILES),
    run=_run,
    shown=_shown,
    command="pylint --rcfile=" + RCFILE,
    rule_files=(RCFILE,),
)
