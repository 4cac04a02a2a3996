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
"""Per-process account of communication: which operator redistributed, with which collectives, and how many bytes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class OpTraffic:
    """What one operator caused in this process; bytes are those sent by this rank."""

    redistributions: int = 0
    replicated: int = 0
    collectives: dict[str, int] = field(default_factory=dict)
    bytes_sent: int = 0


_TRAFFIC: dict[str, OpTraffic] = {}
_CURRENT: list[str] = ["redistribute"]


def of(op_name: str) -> OpTraffic:
    """The (created on demand) record of an operator."""
    return _TRAFFIC.setdefault(op_name, OpTraffic())


def enter(op_name: str) -> None:
    """Book the following collectives on `op_name`; pair with `leave`."""
    _CURRENT.append(op_name)


def leave() -> None:
    """End of `enter`."""
    _CURRENT.pop()


def sent(collective: str, count: int) -> None:
    """Book one collective of `count` bytes on the current operator."""
    traffic = of(_CURRENT[-1])
    traffic.collectives[collective] = traffic.collectives.get(collective, 0) + 1
    traffic.bytes_sent += count


def snapshot() -> dict[str, OpTraffic]:
    """All records so far, by operator."""
    return dict(_TRAFFIC)


def reset() -> None:
    """Forget all records."""
    _TRAFFIC.clear()


def render() -> str:
    """A table of all records, most bytes first."""
    rows = sorted(_TRAFFIC.items(), key=lambda item: -item[1].bytes_sent)
    lines = [f"{'operator':<32}{'redistributed':>14}{'replicated':>12}{'bytes sent':>14}  collectives"]
    for name, traffic in rows:
        kinds = ", ".join(f"{kind} x{count}" for kind, count in sorted(traffic.collectives.items()))
        counts = f"{traffic.redistributions:>14}{traffic.replicated:>12}{traffic.bytes_sent:>14}"
        lines.append(f"{name:<32}{counts}  {kinds}")
    return "\n".join(lines)


if __name__ == "__main__":
    import sys

    from hyper_parallel.costs import main

    sys.exit(main())
