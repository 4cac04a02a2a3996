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
"""PyTorch's declarative cases on MindSpore ranks, through ``mint``.

    python -m tests.hyper_parallel.mindspore.shared --case 'roll_*' --mesh 2x2
    python -m tests.hyper_parallel.mindspore.shared --write     # all cases on 2 ranks; renews absent.yaml

``absent.yaml`` names, under ``absent``, the cases that MindSpore itself cannot compute here on one device, with the
reason; under ``moved`` those whose result is right but placed otherwise than PyTorch's.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.sweep import write_section
from tests.hyper_parallel.case import chosen_cases
from tests.hyper_parallel.mindspore.pool import MindSporePool

KINDS = ("absent", "moved")
ABSENT = Path(__file__).with_name("absent.yaml")
_PROGRAM = ("tests.hyper_parallel.mindspore.shared_trial", "run_shared_case")
_TIMEOUT_S = 120.0


def listed(kind: str) -> dict[str, str]:
    """Case name → why MindSpore cannot do it on this device (``absent``), or how its result lies (``moved``)."""
    found: dict[str, dict[str, str]] = yaml.safe_load(ABSENT.read_text(encoding="utf-8"))
    return found[kind]


def unlike_the_list(answers: dict[str, dict[str, Any]]) -> list[str]:
    """Cases that are absent or moved and not listed so, or listed in vain."""
    told = []
    for kind in KINDS:
        known = listed(kind)
        for name, answer in answers.items():
            if bool(answer[kind]) != (name in known) and not answer["failures"]:
                told.append(f"{name} is {'' if answer[kind] else 'not '}{kind}, unlike {ABSENT.name}: {answer[kind]}")
    return told


def tried(pool: MindSporePool, names: dict[str, str], mesh: tuple[int, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each case (name → module) with rank 0's answer; ranks that hang or end say so among the failures."""
    for name, module in names.items():
        verdict = pool.attempt(*_PROGRAM, module, name, mesh, timeout_s=_TIMEOUT_S)
        if verdict.kind == "done":
            failures = [told for answer in verdict.answers for told in answer["failures"]]
            yield name, {**verdict.answers[0], "failures": failures}
        else:
            told = f"{name} on {mesh} {verdict.kind}: {verdict.detail[-1500:]}"
            yield name, {"absent": "", "moved": "", "combinations": 0, "gradients": False, "failures": [told]}


def names_for(mesh: tuple[int, ...], pattern: str = "*") -> dict[str, str]:
    """Cases that ask for this mesh, by name, with their modules; patterns are separated by commas."""
    chosen = {name: found for one in pattern.split(",") for name, found in chosen_cases(one).items()}
    return {name: module for name, (module, case) in chosen.items() if mesh in case.meshes()}


def render(title: str, command: str, answers: dict[str, dict[str, Any]]) -> str:
    """The Markdown section of one run of all cases: counts, then what is absent or moved, by reason."""
    counts = counted(answers)
    lines = [f"## {title}", "", f"`{command}`", "", "| | cases |", "|---|---|"]
    lines += [f"| {word} | {count} |" for word, count in counts.items()]
    headings = {"absent": "Absent: not on one CPU either", "moved": "Right, but placed otherwise than on PyTorch"}
    for kind, heading in headings.items():
        by_reason: dict[str, list[str]] = {}
        for name, answer in answers.items():
            if answer[kind]:
                by_reason.setdefault(answer[kind], []).append(name)
        lines += ["", f"### {heading}", ""]
        lines += [f"- {reason}: {', '.join(f'`{n}`' for n in names)}" for reason, names in by_reason.items()] or [
            "none"
        ]
    return "\n".join(lines)


def state_of(answer: dict[str, Any]) -> str:
    """wrong, absent or right."""
    return "wrong" if answer["failures"] else "absent" if answer["absent"] else "right"


def counted(answers: dict[str, dict[str, Any]]) -> dict[str, int]:
    """How many cases became what, and how many placements were tried."""
    states = [state_of(answer) for answer in answers.values()]
    return {
        "right": states.count("right"),
        "of these with gradients": sum(bool(a["gradients"]) for a in answers.values()),
        "of these placed otherwise": sum(bool(a["moved"]) for a in answers.values()),
        "absent": states.count("absent"),
        "wrong": states.count("wrong"),
        "placements tried": sum(a["combinations"] for a in answers.values()),
    }


def main() -> int:
    """Runs the chosen cases and says what became of them; 0 when nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--case", default="*", metavar="PATTERN,…")
    parser.add_argument("--mesh", default="2", help="2, 4 or 2x2")
    parser.add_argument("--write", action="store_true", help="renew what absent.yaml says of the chosen cases")
    parser.add_argument("--out", type=Path, help="Markdown document whose section of this run is replaced")
    options = parser.parse_args()
    mesh = tuple(int(part) for part in options.mesh.split("x"))
    answers: dict[str, dict[str, Any]] = {}
    with MindSporePool(math.prod(mesh)) as pool:
        for name, answer in tried(pool, names_for(mesh, options.case), mesh):
            answers[name] = answer
            print(name, state_of(answer), answer["absent"], answer["moved"], *answer["failures"], flush=True)
    print(counted(answers))
    if options.write:
        known = set(names_for((2,)))
        kept = {k: {n: r for n, r in listed(k).items() if n in known and n not in answers} for k in KINDS}
        found = {k: kept[k] | {n: a[k] for n, a in answers.items() if a[k]} for k in KINDS}
        ABSENT.write_text(yaml.safe_dump(found, width=120), encoding="utf-8")
    if options.out and options.case == "*":
        command = f"python -m tests.hyper_parallel.mindspore.shared --mesh {options.mesh}"
        title = f"PyTorch's declarative cases, mesh {options.mesh}"
        write_section(options.out, title, render(title, command, answers))
    surprises = unlike_the_list(answers) if mesh == (2,) else []
    print(*surprises, sep="\n")
    return 1 if surprises or "wrong" in map(state_of, answers.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
