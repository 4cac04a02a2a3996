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
"""What the repository's own harness says about an operator today, on ranks over loopback."""

from __future__ import annotations

from typing import Any

SIZES = ("even", "uneven")


def measure(entry: str, mesh: tuple[int, ...] = (2,)) -> list[tuple[str, dict[str, Any]]]:
    """(sizes, verdict) of the conformance trial of one OpInfo entry: every placement, forward and gradient."""
    import math

    from tests.conformance.verdicts import crashed_verdict, entry_verdict
    from tests.ranks.pool import RankPool

    name, _, variant = entry.partition("@")
    found = []
    with RankPool(math.prod(mesh)) as pool:
        for sizes in SIZES:
            verdict = pool.attempt(
                "tests.conformance.trial", "run_entry", name, variant, "ours", sizes, mesh, 0, timeout_s=120.0
            )
            done = verdict.kind == "done"
            found.append(
                (sizes, entry_verdict(verdict.answers) if done else crashed_verdict(verdict.kind, verdict.detail))
            )
    return found


def table(found: list[tuple[str, dict[str, Any]]]) -> str:
    """The verdicts as a Markdown table."""
    lines = ["| 形状 | 前向 | 梯度 | 布局数 |", "|---|---|---|---|"]
    for sizes, verdict in found:
        count = sum(n for key, n in verdict["counts"].items() if key.startswith("forward."))
        lines.append(f"| {sizes} | {verdict['forward']} | {verdict['gradient']} | {count} |")
    return "\n".join(lines)
