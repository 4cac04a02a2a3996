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
"""torchrun: the block of ``ChildFailedError`` with every failed rank and the one that failed first."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.model import Line
from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_FIELD = re.compile(r"\s{1,8}(?P<key>time|host|rank|exitcode|error_file|traceback)\s{0,12}: (?P<value>.*)")
_RANK = re.compile(r"(?P<rank>\d{1,6})(?: \(local_rank: \d{1,6}\))?")
_CODE = re.compile(r"(?P<code>-?\d{1,6})(?: \(pid: \d{1,10}\))?")


def _read(window: Window) -> Iterable[Finding]:
    groups: list[tuple[bool, dict[str, str], list[Line]]] = []
    root = False
    last = window.line
    for line in window.ahead(400):
        text = line.text.rstrip()
        if text.startswith("Root Cause"):
            root = True
        elif re.fullmatch(r"\[\d{1,6}\]:", text):
            groups.append((root, {}, [line]))
        elif groups and (match := _FIELD.match(text)):
            groups[-1][1][match["key"]] = match["value"].strip()
            groups[-1][2].append(line)
        elif root and groups and groups[-1][0] and text.startswith("==="):
            last = line
            break
        elif text.startswith(("Traceback", "FAILED ", "E   ")):
            break
        last = line
    window.skip_to = last.number
    for is_root, fields, lines in sorted(groups, key=lambda group: not group[0]):
        # the agent ends the other ranks itself
        if is_root or not fields.get("exitcode", "").startswith("-15"):
            yield _finding(window, is_root, fields, lines)


def _finding(window: Window, root: bool, fields: dict[str, str], lines: list[Line]) -> Finding:
    rank = _RANK.match(fields.get("rank", ""))
    found = _CODE.match(fields.get("exitcode", ""))
    code = int(found["code"]) if found else 0
    words = fields.get("traceback", "")
    silent = not words or words.startswith("To enable traceback")
    message = f"exitcode {code}" + ("" if silent else f": {words}")
    values = at(lines[0], *lines[1:])
    if rank:
        values["rank"] = int(rank["rank"])
    return Finding(
        tool="torchrun",
        # a plain exit code tells nothing; a signal does
        rule="worker-exit"
        if silent or not root
        else "killed"
        if code == -9
        else "crash"
        if code < 0
        else "child-failed",
        function="root cause" if root else "",
        message=message[:1000],
        severity=Severity.FATAL if code < 0 else Severity.ERROR,
        failure_class=FailureClass.INFRASTRUCTURE if code == -9 else FailureClass.CODE,
        time=fields.get("time", ""),
        **values,
    )


TOOL = Tool("torchrun", literal("multiprocessing.errors.ChildFailedError"), stateless(_read))
