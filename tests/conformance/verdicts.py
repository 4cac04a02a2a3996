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
"""From the ranks' answers to one verdict per entry, and from verdicts to the table of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

FORWARD_ORDER = ("ok", "notimpl", "error", "wrong", "desync")
_LEFT_ALONE = re.compile(r"pair closure|closed by peer|[Tt]imed out|[Tt]imeout|[Cc]onnection reset|broken pipe")


def classify(error: BaseException) -> str:
    """A collective that the other ranks did not meet is a desync, and its group must not be used again."""
    if isinstance(error, RuntimeError) and _LEFT_ALONE.search(str(error)):
        return "desync"
    return "notimpl" if isinstance(error, NotImplementedError) else "error"


def told(error: BaseException) -> str:
    """The error's type and first line."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def worst(words: Iterable[str]) -> str:
    """The verdict of all ranks together."""
    return max(words, key=FORWARD_ORDER.index)


def entry_verdict(answers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Merges the ranks (the worse counts) and names the entry's worst outcome.

    ``forward`` is one of ``ok notimpl error wrong desync untested``; a single wrong value outweighs errors.
    ``gradient`` is the same, judged only where the forward was right, and ``none`` where the operator has no gradient.
    """
    merged: Counter[str] = Counter()
    examples: list[str] = []
    for answer in answers:
        for key, count in answer["counts"].items():
            merged[key] = max(merged[key], count)
        if not examples:
            examples = list(answer["examples"])
    forward = _worst(merged, "forward")
    gradient = _worst(merged, "gradient")
    return {
        "forward": forward or "untested",
        "gradient": gradient or "none",
        "counts": dict(sorted(merged.items())),
        "examples": examples,
    }


def crashed_verdict(kind: str, detail: str) -> dict[str, Any]:
    """An entry that took a rank down or never came back."""
    last = detail.strip().splitlines()[-1] if detail.strip() else ""
    word = "error" if kind == "raised" else "desync"
    return {
        "forward": word,
        "gradient": "none",
        "counts": {f"forward.{word}": 1},
        "examples": [f"{kind}: {last}"[:500]],
    }


def _worst(counts: Counter[str], part: str) -> str:
    found = [word for word in FORWARD_ORDER if counts[f"{part}.{word}"]]
    return found[-1] if found else ""


def is_right(verdict: dict[str, Any]) -> bool:
    """Forward and gradient right for every combination tried."""
    return verdict["forward"] == "ok" and verdict["gradient"] in ("ok", "none")


def summary(verdicts: dict[str, dict[str, Any]]) -> dict[str, int]:
    """The figures of one subject's run, by entry and by combination."""
    tested = {name: verdict for name, verdict in verdicts.items() if verdict["forward"] != "untested"}
    forward = Counter(verdict["forward"] for verdict in tested.values())
    gradient = Counter(verdict["gradient"] for verdict in tested.values() if verdict["forward"] == "ok")
    combos: Counter[str] = Counter()
    for verdict in tested.values():
        combos.update(verdict["counts"])
    result = {
        "testable": len(tested),
        "forward right": forward["ok"],
        "forward and gradient right": sum(map(is_right, tested.values())),
        "silently wrong": forward["wrong"],
        "not implemented": forward["notimpl"],
        "other error": forward["error"],
        "desync or crash": forward["desync"],
        "gradient wrong": gradient["wrong"],
        "gradient not implemented": gradient["notimpl"],
        "gradient error": gradient["error"],
        "gradient desync": gradient["desync"],
    }
    for word in FORWARD_ORDER:
        result[f"combinations {word}"] = combos[f"forward.{word}"]
    for word in FORWARD_ORDER:
        result[f"gradient combinations {word}"] = combos[f"gradient.{word}"]
    return result


def names_by_class(verdicts: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Entries that are not right, by what is wrong with them."""
    classes: dict[str, list[str]] = {}
    for name, verdict in verdicts.items():
        if verdict["forward"] not in ("ok", "untested"):
            classes.setdefault(f"forward {verdict['forward']}", []).append(name)
        elif verdict["gradient"] not in ("ok", "none"):
            classes.setdefault(f"gradient {verdict['gradient']}", []).append(name)
    return {key: sorted(names) for key, names in sorted(classes.items())}
