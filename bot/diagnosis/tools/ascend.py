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
"""Ascend and CANN: error codes and log lines, HCCL time-outs, device memory (fact sheet 9.7)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.general.words import went_well
from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_C, _I, _F = FailureClass.CODE, FailureClass.INFRASTRUCTURE, FailureClass.FLAKE
# level, module, four digits; six characters, so pylint ids (five) do not clash
_CODE = re.compile(r"(?<![A-Za-z0-9_])(?P<code>E[A-Z]\d{4})(?::|\s|$)(?P<rest>.*)")
_PTA = re.compile(r"(?<![A-Za-z0-9_])(?P<code>ERR\d{5}) (?P<rest>\S.*)")
_ACL = re.compile(r"(?<![\d.])(?P<code>(?:107|207|507)\d{3})(?![\d.])")
_ACL_WORDS = re.compile(r"error|fail|\bret\b|retcode|code", re.IGNORECASE)
# [ERROR] RUNTIME(160186,python):2023-01-10-09:25:45.337.259 [engine.cc:1263]163618 ReportExceptProc:…
_CANN = re.compile(
    r"\[(?P<level>ERROR|CRITICAL)\] (?P<module>[A-Z_]{2,20})\((?P<pid>\d{1,10}),(?!(?:[0-9a-fx]{1,20},))[^)]{0,60}\):"
    r"\s?(?P<time>[\d-]{10,11}[\d:.]{8,20}) ?\[(?P<source>[^\]]{1,300})\] ?(?P<message>.*)"
)
_MINDSPORE = re.compile(r"\[[A-Z]{4,9}\] [A-Z_]{2,30}\(\d{1,10},[0-9a-fx]{1,20},")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[- T]\d\d:\d\d:\d\d[.\d]{0,12}")
_RANK = re.compile(r"\brank(?:Id)?[ \[:=(]{1,3}(?P<rank>\d{1,6})\b")
_HCCL_TIMEOUT = re.compile(
    r"wait socket establish timeout|(?:event|notify) wait (?:time ?out|timeout)|Heartbeat Lost Occurred|socket timeout"
    r"|get socket timeout|hccl.{0,40}time ?out",
    re.IGNORECASE,
)
_OOM = re.compile(
    r"NPU out of memory\. Tried to allocate (?P<size>[\d.]{1,12}) (?P<unit>[KMG]i?B)"
    r"(?:.{0,400}?; (?P<free>[\d.]{1,12}) (?P<free_unit>[KMG]i?B) free)?"
)
_CLASSES = {
    "EI0006": _F,
    "EI0002": _F,
    "EL0004": _C,
    "EE1001": _C,
    "207001": _C,
    "507011": _C,
    "507014": _C,
    "507015": _C,
    "507017": _C,
    "507018": _C,
    "507046": _F,
    "507048": _F,
    "107022": _C,
    "507899": _C,
}
_SHARED_CARD = re.compile(r"other processes occupying this card|halMemAlloc failed")
_GIB = {"K": 1 / 1024 / 1024, "M": 1 / 1024, "G": 1.0}


def acl_code(text: str) -> str:
    """The six-digit code of the ACL or runtime layer in an error message, or an empty text."""
    match = _ACL.search(text) if _ACL_WORDS.search(text) else None
    return match["code"] if match else ""


def is_mindspore_line(text: str) -> bool:
    """Whether a line has MindSpore's own form (three fields in the parentheses, CANN has two)."""
    return bool(_MINDSPORE.search(text[:300]))


def class_of_code(code: str) -> FailureClass:
    """Whose failure a code is (fact sheet 9.7)."""
    return _I if code.startswith("EJ00") else _CLASSES.get(code, _C)


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text[:3000]
    if is_mindspore_line(text):
        return
    if "NPU out of memory" in text and (match := _OOM.search(text)):
        yield _out_of_memory(window, match)
        return
    coded = _CODE.search(text) or _PTA.search(text)
    if coded:
        yield _finding(window, coded["code"], coded["rest"].strip(" :") or _next_words(window))
        return
    log = _CANN.search(text)
    # a number of six digits may as well be that of a test that passed
    code = "" if went_well(text) else acl_code(text)
    if code:
        yield _finding(window, code, (log["message"] if log else text).strip())
    elif _SHARED_CARD.search(text):
        yield _finding(window, "207001", (log["message"] if log else text).strip())
    elif ("imeout" in text or "time out" in text or "Heartbeat" in text) and _HCCL_TIMEOUT.search(text):
        yield _finding(window, "hccl-timeout", (log["message"] if log else text).strip())
    elif log:
        yield _finding(window, log["module"], log["message"].strip())


def _next_words(window: Window) -> str:
    """A code alone on its line is followed by its text."""
    return next((line.text.strip() for line in window.ahead(3) if line.text.strip(" -")), "")


def _finding(window: Window, code: str, message: str) -> Finding:
    text = window.line.text
    rank = _RANK.search(text[:3000])
    time = _TIME.search(text[:600])
    failure_class = _I if _SHARED_CARD.search(text) else class_of_code(code)
    if code == "hccl-timeout":
        failure_class = _F
    fields = at(window.line)
    if window.line.rank < 0 and rank:
        fields["rank"] = int(rank["rank"])
    return Finding(
        tool="ascend",
        rule=code,
        message=message[:1000] or code,
        severity=Severity.ERROR,
        failure_class=failure_class,
        time=time[0] if time else "",
        **fields,
    )


def _out_of_memory(window: Window, match: re.Match[str]) -> Finding:
    asked = float(match["size"]) * _GIB[match["unit"][0]]
    free = float(match["free"]) * _GIB[match["free_unit"][0]] if match["free"] else asked
    # a small request that does not fit means that somebody else holds the card
    shared = asked < 1.0 and free < asked
    return Finding(
        tool="ascend",
        rule="out-of-memory",
        message=window.line.text[match.start() :].strip()[:1000],
        failure_class=_I if shared else _C,
        **at(window.line),
    )


TOOL = Tool(
    "ascend",
    (
        r"E[A-Z]\d{4}[: \n]",
        r"ERR\d{5} ",
        r"[125]07\d{3}",
        r"\[(?:ERROR|CRITICAL)\] [A-Z_]+\(\d+,",
        *literal("NPU out of memory", "Heartbeat Lost", "other processes occupying", "halMemAlloc failed"),
        r"[Ww]ait (?:socket|time)",
        r"[Ss]ocket timeout",
    ),
    stateless(_read),
    stages=("Smoke_Ascend",),
)
