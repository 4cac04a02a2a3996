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
"""Readers of Jenkins' JSON: tolerant, pure, and free of any knowledge about requests."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bot.build_server import Build, QueueItem, StageResult, TestCase

# One query serves the search for a pull request's build and the look at a single one.
BUILD_FIELDS = (
    "number,url,result,building,inProgress,queueId,timestamp,duration,description,"
    "actions[causes[shortDescription],parameters[name,value]]"
)
TEST_FIELDS = "suites[name,cases[className,name,status,duration,age,failedSince,errorDetails,errorStackTrace]]"

PULL_REQUEST_PARAMETERS = ("giteePullRequestIid", "gitcodePullRequestIid", "pullRequestIid", "PR_NUMBER", "pr_number")
HEAD_SHA_PARAMETERS = ("giteePullRequestLastCommit", "gitcodePullRequestLastCommit", "HEAD_SHA", "head_sha")

# `Pull Request #64` must not be found in `Pull Request #647`, nor `#64` in a branch called `fix#647`.
_PULL_REQUEST = re.compile(r"(?:Pull|Merge) Request #(\d+)(?!\d)", re.IGNORECASE)
_PULL_REQUEST_LINK = re.compile(r"/(?:pulls?|merge_requests)/(\d+)(?!\d)")
_TAG = re.compile(r"<[^>]*>")
_HREF = re.compile(r"""href\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_SHA = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_STAGE_STATUS = {
    "SUCCESS": "success",
    "FAILED": "failed",
    "FAILURE": "failed",
    "UNSTABLE": "failed",
    "IN_PROGRESS": "running",
    "PAUSED_PENDING_INPUT": "running",
    "ABORTED": "aborted",
    "NOT_EXECUTED": "skipped",
}
_TEST_STATUS = {"PASSED": "passed", "FIXED": "passed", "SKIPPED": "skipped", "FAILED": "failed", "REGRESSION": "failed"}

Document = Mapping[str, Any]


def read_build(document: Document) -> Build:
    """A build of the JSON that ``BUILD_FIELDS`` asks for."""
    parameters = read_parameters(document)
    texts = _texts(document)
    result = document.get("result") or None
    return Build(
        number=_integer(document.get("number")),
        url=str(document.get("url") or ""),
        result=result,
        # Neither flag alone tells the end: the result may be set while it builds, and the log may grow after it.
        running=bool(document.get("building")) or bool(document.get("inProgress")) or result is None,
        started_at=datetime.fromtimestamp(_integer(document.get("timestamp")) / 1000, UTC),
        duration_ms=max(0, _integer(document.get("duration"))),
        queue_id=max(0, _integer(document.get("queueId"))),
        pull_request=pull_request_of(texts, parameters),
        head_sha=head_sha_of(texts, parameters),
    )


def read_builds(document: Document) -> list[Build]:
    """The builds of a job's JSON, newest number first; entries without a number are dropped."""
    builds = [read_build(entry) for entry in _mappings(document.get("builds")) if _integer(entry.get("number")) > 0]
    return sorted(builds, key=lambda build: build.number, reverse=True)


def read_parameters(document: Document) -> dict[str, str]:
    """Parameters of a build or queue item; a password comes without a value and is left out."""
    return {
        str(parameter["name"]): str(parameter["value"])
        for action in _mappings(document.get("actions"))  # holds empty objects: never address it by index
        for parameter in _mappings(action.get("parameters"))
        if parameter.get("name") and parameter.get("value") is not None
    }


def pull_request_of(texts: Iterable[str], parameters: Mapping[str, str] | None = None) -> int:
    """Number of the pull request that a description, a cause or a parameter names; 0 when none does.

    The forms are those of the Gitee plugin, English and Chinese, plain and with a link.
    """
    for name in PULL_REQUEST_PARAMETERS:
        value = (parameters or {}).get(name, "").strip()
        if value.isdecimal():
            return int(value)
    texts = list(texts)
    for text in texts:
        if match := _PULL_REQUEST.search(html.unescape(_TAG.sub("", text))):
            return int(match.group(1))
    for text in texts:
        for target in _HREF.findall(text):
            if match := _PULL_REQUEST_LINK.search(html.unescape(target)):
                return int(match.group(1))
    return 0


def head_sha_of(texts: Iterable[str], parameters: Mapping[str, str] | None = None) -> str:
    """The 40-digit head sha that a parameter or a text shows; empty when none does, or when several differ."""
    for name in HEAD_SHA_PARAMETERS:
        value = (parameters or {}).get(name, "").strip().lower()
        if _SHA.fullmatch(value):
            return value
    found = {sha for text in texts for sha in _SHA.findall(text)}
    return found.pop() if len(found) == 1 else ""


def read_queue_item(document: Document) -> QueueItem:
    """A queue item; ``executable`` may be missing or null for a moment after the item left the queue."""
    executable = document.get("executable")
    number = _integer(executable.get("number")) if isinstance(executable, Mapping) else 0
    return QueueItem(
        queue_id=_integer(document.get("id")),
        build_number=number,
        cancelled=bool(document.get("cancelled")),
        why=str(document.get("why") or ""),
    )


def find_by_queue_id(document: Document, queue_id: int) -> int:
    """Number of the build that a queue item became, out of ``builds[number,queueId]``; 0 when it is not among them."""
    return next(
        (
            _integer(entry.get("number"))
            for entry in _mappings(document.get("builds"))
            if _integer(entry.get("queueId")) == queue_id
        ),
        0,
    )


def read_stages(document: Document) -> list[StageResult]:
    """Stages of ``wfapi/describe``, which says ``FAILED`` where the build says ``FAILURE``."""
    return [
        StageResult(
            name=str(stage.get("name") or ""),
            status=_STAGE_STATUS.get(str(stage.get("status")), "running"),
            duration_ms=max(0, _integer(stage.get("durationMillis"))),
        )
        for stage in _mappings(document.get("stages"))
    ]


def read_tests(document: Document) -> list[TestCase]:
    """Cases of a test report; a new failure is called ``REGRESSION`` there, a healed one ``FIXED``."""
    return [
        TestCase(
            suite=str(case.get("className") or suite.get("name") or ""),
            name=str(case.get("name") or ""),
            status=_TEST_STATUS.get(str(case.get("status")), "failed"),
            age=_integer(case.get("age")),
            failed_since=_integer(case.get("failedSince")),
            duration_s=_seconds(case.get("duration")),
            details="\n".join(str(case[key]) for key in ("errorDetails", "errorStackTrace") if case.get(key)),
        )
        for suite in _mappings(document.get("suites"))
        for case in _mappings(suite.get("cases"))
    ]


def _texts(document: Document) -> list[str]:
    description = document.get("description")
    causes = [
        str(cause.get("shortDescription") or "")
        for action in _mappings(document.get("actions"))
        for cause in _mappings(action.get("causes"))
    ]
    return [text for text in [str(description or ""), *causes] if text]


def _mappings(value: object) -> Sequence[Document]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _integer(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _seconds(value: object) -> float:
    return max(0.0, float(value)) if isinstance(value, int | float) else 0.0
