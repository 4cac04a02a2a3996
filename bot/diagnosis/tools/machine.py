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
"""The machine under the build: disk, memory, network, the agent, and time limits of the build server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bot.diagnosis.tool import Reader, Tool, Window, at, literal, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_KILLED = re.compile(r"(?:.{1,300}: line \d{1,9}: )?\s{0,10}\d{1,10} (?P<what>Killed)\s")
_CRASHED = re.compile(
    r".{1,300}: line \d{1,9}:\s{0,10}\d{1,10} (?P<what>Segmentation fault|Aborted|Bus error"
    r"|Illegal instruction|Floating point exception)\b"
)
# Python prints the name of the exception at the start of a line; elsewhere the word is source code or a class name.
_MEMORY = re.compile(
    r"MemoryError\b|.*(?:Cannot allocate memory|[Vv]irtual memory exhausted|std::bad_alloc|Out of memory: Kill|oom-kill"
    r"|java\.lang\.OutOfMemoryError|JavaScript heap out of memory|memory exhausted)"
)
_REQUEST = re.compile(
    r"Could not resolve host: |Temporary failure (?:in name resolution|resolving)|curl: \(\d{1,3}\) "
    r"|wget: (?:unable|server returned)"
    r"|ReadTimeoutError|Max retries exceeded with url|TLS handshake timeout|502 Bad Gateway|503 Service|504 Gateway"
)
_NOTICE = re.compile(r"\b(?:WARN(?:ING)?|warning)\b|Retrying \(")


def _simple(
    tool: str, rule: str, pattern: re.Pattern[str], failure_class: FailureClass, *, search: bool = True
) -> Callable[[], Reader]:
    def read(window: Window) -> Iterable[Finding]:
        text = window.line.text[:1500]
        match = pattern.search(text) if search else pattern.match(text)
        if match:
            yield Finding(
                tool=tool,
                rule=rule,
                message=text.strip()[:1000],
                severity=Severity.WARNING if _NOTICE.search(text) else Severity.ERROR,
                failure_class=failure_class,
                **at(window.line),
            )

    return stateless(read)


def _memory(window: Window) -> Iterable[Finding]:
    text = window.line.text[:1500]
    match = None if text.startswith("MemoryError") else _KILLED.match(text) or _CRASHED.match(text)
    if match is None and not _MEMORY.match(text):
        return
    crashed = match is not None and match["what"] != "Killed"
    yield Finding(
        tool="shell" if crashed else "memory",
        rule="crash" if crashed else "killed" if match else "memory",
        message=text.strip()[:1000],
        severity=Severity.FATAL if match else Severity.ERROR,
        failure_class=FailureClass.CODE if crashed else FailureClass.INFRASTRUCTURE,
        **at(window.line),
    )


_DISK_WORDS = (
    "No space left on device",
    "[Errno 28]",
    "Disk quota exceeded",
    "disk I/O error",
    "Read-only file system",
)
_AGENT_WORDS = (
    "Cannot contact ",
    "ChannelClosedException",
    "was marked offline",
    "Agent went offline",
    "Agent was removed",
    "FATAL: command execution failed",
    "Remote call on ",
    "java.nio.channels.ClosedChannelException",
    "Connection was broken",
    "RequestAbortedException",
    "The connection to the agent was lost",
    "wrapper script does not seem to be touching the log file",
)
_TIME_WORDS = ("Build timed out (after ", "Cancelling nested steps due to timeout", "ERROR: Timeout has been exceeded")
_NETWORK_WORDS = (
    "Could not resolve host: ",
    "Temporary failure ",
    "curl: (",
    "wget: ",
    "ReadTimeoutError",
    "Max retries exceeded with url",
    "TLS handshake timeout",
    "502 Bad Gateway",
    "503 Service",
    "504 Gateway",
)


def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word) for word in words))


TOOLS = (
    Tool("disk", literal(*_DISK_WORDS), _simple("disk", "disk", _any_of(_DISK_WORDS), FailureClass.INFRASTRUCTURE)),
    Tool(
        "memory",
        (
            *literal("MemoryError", "Cannot allocate memory", "irtual memory exhausted", "std::bad_alloc", "oom-kill"),
            *literal("Out of memory: Kill", "java.lang.OutOfMemoryError", "heap out of memory", "memory exhausted"),
            r"\d (?:Killed|Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception)",
        ),
        stateless(_memory),
    ),
    Tool(
        "agent", literal(*_AGENT_WORDS), _simple("agent", "agent", _any_of(_AGENT_WORDS), FailureClass.INFRASTRUCTURE)
    ),
    Tool("timeout", literal(*_TIME_WORDS), _simple("timeout", "timeout", _any_of(_TIME_WORDS), FailureClass.FLAKE)),
    Tool("network", literal(*_NETWORK_WORDS), _simple("network", "network", _REQUEST, FailureClass.INFRASTRUCTURE)),
    # no triggers of its own: the memory reader tells shell crashes apart
    Tool("shell", (), stateless(_memory)),
)
