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
"""Every recipe against made-up violations: fixed and proved by the real check, refused rightly, or wrong (must be 0).

Run: ``python benchmarks/repair_table.py``. Writes ``benchmarks/results/repair_table.json`` and prints the table.

A case is *fixed* only when the result is byte for byte what a person wrote down beforehand, the guard proves the edit's
nature, and the real checker shows the violation before and neither it nor anything new afterwards. It is *refused* only
when the recipe refuses with exactly the reason that was written down. Everything else is *wrong*.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from bot.gate.finding import Finding
from bot.repair.checks.base import CheckContext, Observation
from bot.repair.checks.registry import CHECKS
from bot.repair.guard_paths import is_read_only
from bot.repair.plan import Step, take
from bot.repair.reason import Reason
from bot.repair.recipes.base import Recipe, Scene
from bot.repair.recipes.registry import recipe_for
from bot.repair.tools import ToolMissing
from bot.repair.verify import WATCHERS, objection

ROOT = Path(__file__).resolve().parent.parent
VIOLATIONS = ROOT / "tests" / "unit" / "repair" / "violations"
RESULTS = ROOT / "benchmarks" / "results" / "repair_table.json"
YEAR = 2026  # of the made-up head commits
# Between made-up files these say nothing about an edit.
RCFILE = b"[MESSAGES CONTROL]\ndisable=duplicate-code,cyclic-import,import-error,no-name-in-module\n"


@dataclass(frozen=True)
class Case:
    """One made-up violation and what must become of it."""

    group: str
    name: str
    finding: Finding
    before: bytes
    after: bytes | None
    refused: str
    files: dict[str, bytes]
    rules: dict[str, bytes]
    path: str = ""
    base: dict[str, bytes] = field(default_factory=dict)
    pr_files: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.group}: {self.finding.rule or self.finding.tool}: {self.name}"


@dataclass
class Verdict:
    case: Case
    recipe: str
    outcome: str = "wrong"
    detail: str = ""
    content: bytes | None = None
    extra: list[str] = field(default_factory=list)


class DictTree:
    """The made-up repository."""

    def __init__(self, files: dict[str, bytes], base: dict[str, bytes] | None = None) -> None:
        self.files = files
        self.base = base or {}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def grep(self, word: str) -> tuple[str, ...]:
        return tuple(path for path, content in self.files.items() if word.encode() in content)

    def read_base(self, path: str) -> bytes | None:
        return self.base.get(path)


def _expected(data: dict[str, Any], before: bytes, encoding: str) -> bytes | None:
    if "utf8" in data:
        return str(data["utf8"]).encode()
    if "after" in data:
        return str(data["after"]).encode(encoding)
    if "turns" not in data:
        return None
    text = before.decode(encoding)
    for old, new in data["turns"]:
        assert text.count(old) == 1, f"{data['name']}: {old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    return text.encode(encoding)


def load(path: Path) -> Iterable[Case]:
    """Cases of one data file; its top level gives defaults."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    defaults = {key: value for key, value in document.items() if key != "cases"}
    for entry in document["cases"]:
        data = {**defaults, **entry}
        encoding = data.get("encoding", "utf-8")
        before = str(data.get("binary", data.get("before"))).encode(encoding)
        name = data.get("path", "src/m.py")
        rules = {".jenkins/rules/pylint/pylintrc": RCFILE + str(data.get("rcfile", "")).encode()}
        rules |= {key: value.encode() for key, value in data.get("rules", {}).items()}
        finding = Finding(
            tool=data["tool"],
            rule=data.get("rule", ""),
            file=data.get("reported", name),
            line=data.get("also", {}).get("line", data.get("at", 0)),
            column=data.get("column", 0),
            function=data.get("function", ""),
            message=data.get("says", ""),
        )
        yield Case(
            group=path.stem,
            name=data["name"],
            finding=finding,
            before=before,
            after=_expected(data, before, encoding),
            refused=data.get("refused", ""),
            files={key: value.encode() for key, value in data.get("files", {}).items()},
            rules=rules,
            path=name,
            base={key: value.encode() for key, value in data.get("base", {}).items()},
            pr_files=tuple(data.get("pr_files", (name,))),
        )


def all_cases() -> list[Case]:
    return [case for path in sorted(VIOLATIONS.glob("*.yaml")) for case in load(path)]


def tree_of(case: Case) -> DictTree:
    return DictTree({**case.files, case.path: case.before}, case.base)


def found(case: Case, recipe: Recipe) -> Case | Reason:
    """The case with the file that has to change, where the finding may name another."""
    if recipe.find is None:
        return case
    located = recipe.find(case.finding, case.pr_files, tree_of(case))
    return located if isinstance(located, Reason) else replace(case, finding=located)


def attempt(case: Case, recipe: Recipe, root: Path) -> bytes | Reason:
    """The recipe on the case, exactly as a repair would apply it."""
    scene = Scene(case.finding.file, tree_of(case), case.rules, root, year=YEAR)
    return take(Step(recipe, case.finding.file, (case.finding,)), case.before, scene)


def write_tree(root: Path, verdicts: list[Verdict], *, after: bool) -> None:
    for number, verdict in enumerate(verdicts):
        folder = root / f"c{number:03}"
        content = verdict.content if after else verdict.case.before
        for name, text in {**verdict.case.files, verdict.case.finding.file: content or b""}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)


def observe(root: Path, verdicts: list[Verdict]) -> tuple[Observation, ...]:
    """Real checks over all cases at once; cases with the same rules and rule files share one run of a tool."""
    batches: dict[tuple[str, tuple[tuple[str, bytes], ...], str], list[int]] = {}
    for number, verdict in enumerate(verdicts):
        recipe = recipe_for(verdict.case.finding)
        assert recipe is not None
        for name in {recipe.check, *WATCHERS}:
            if CHECKS[name].wants(verdict.case.finding.file):
                limit = verdict.case.finding.message.partition("/")[2] if verdict.case.finding.rule == "C0301" else ""
                key = (name, tuple(sorted(verdict.case.rules.items())), limit)
                batches.setdefault(key, []).append(number)
    found: list[Observation] = []
    for (name, rules, _), numbers in batches.items():
        files = tuple(f"c{number:03}/{verdicts[number].case.finding.file}" for number in numbers)
        findings = tuple(_moved(verdicts[number].case.finding, number) for number in numbers)
        found += CHECKS[name].run(files, CheckContext(root, dict(rules), findings, year=YEAR))
    return tuple(found)


def _moved(finding: Finding, number: int) -> Finding:
    return replace(finding, file=f"c{number:03}/{finding.file}")


def prove(verdicts: list[Verdict]) -> None:
    """Judge the edited cases by the real checkers, before and after."""
    with tempfile.TemporaryDirectory() as directory:
        roots = [Path(directory) / name for name in ("before", "after")]
        for root, after in zip(roots, (False, True), strict=True):
            write_tree(root, verdicts, after=after)
        before, after_seen = (observe(root, verdicts) for root in roots)
    for number, verdict in enumerate(verdicts):
        finding = _moved(verdict.case.finding, number)
        recipe = recipe_for(verdict.case.finding)
        assert recipe is not None
        check = CHECKS[recipe.check]
        shown = [seen for seen in before if seen.check == check.name and check.shown(finding, seen)]
        complaint = objection(finding.file, before, after_seen, set(shown))
        if not shown:
            verdict.detail = "the real check does not show the violation"
        elif complaint is not None:
            verdict.detail = complaint[0].plain("en")
            if verdict.case.refused == complaint[0].text_id:
                verdict.outcome, verdict.detail = "refused", ""
        elif verdict.case.refused:
            verdict.detail = f"edited, but should be refused: {verdict.case.refused}"
        else:
            verdict.outcome = "fixed"


def judge(cases: list[Case]) -> list[Verdict]:
    """Every case to its verdict; a missing tool is an outcome of its own and counts as nothing."""
    verdicts, edited = [], []
    with tempfile.TemporaryDirectory() as directory:
        for case in cases:
            recipe = recipe_for(case.finding)
            if recipe is None:
                verdicts.append(Verdict(case, "-", detail="no recipe"))
                continue
            placed = found(case, recipe)
            verdict = Verdict(case if isinstance(placed, Reason) else placed, recipe.name)
            verdicts.append(verdict)
            try:
                result = placed if isinstance(placed, Reason) else attempt(placed, recipe, Path(directory))
            except ToolMissing as error:
                verdict.outcome, verdict.detail = "tool missing", str(error)
                continue
            if isinstance(result, Reason):
                right = result.text_id == case.refused
                verdict.outcome = "refused" if right else "wrong"
                verdict.detail = "" if right else f"refused: {result.plain('en')}"
            elif case.after is not None and result != case.after:
                verdict.detail = f"wrote {result.decode('utf-8', 'replace')!r}"
            else:
                verdict.content = result
                edited.append(verdict)
    prove(edited)
    return verdicts


def table(verdicts: list[Verdict]) -> list[dict[str, Any]]:
    """Rows of recipe, rules, fixed, refused, wrong."""
    rows = []
    for name in sorted({verdict.recipe for verdict in verdicts}):
        mine = [verdict for verdict in verdicts if verdict.recipe == name]
        counts = Counter(verdict.outcome for verdict in mine)
        rules = sorted({verdict.case.finding.rule or verdict.case.finding.tool for verdict in mine})
        rows.append({"recipe": name, "rules": rules, **{key: counts[key] for key in ("fixed", "refused", "wrong")}})
        if counts["tool missing"]:
            rows[-1]["tool missing"] = counts["tool missing"]
    return rows


def main() -> int:
    verdicts = judge(all_cases())
    rows = table(verdicts)
    total = {key: sum(row[key] for row in rows) for key in ("fixed", "refused", "wrong")}
    print(f"{'recipe':28} {'rules':34} {'fixed':>6} {'refused':>8} {'wrong':>6}")
    for row in rows:
        print(
            f"{row['recipe']:28} {' '.join(row['rules'])[:34]:34} {row['fixed']:6} {row['refused']:8} {row['wrong']:6}"
        )
    print(f"{'all':28} {len(verdicts):<34} {total['fixed']:6} {total['refused']:8} {total['wrong']:6}")
    for verdict in verdicts:
        if verdict.outcome not in {"fixed", "refused"}:
            print(f"{verdict.outcome.upper()} {verdict.case.label}\n    {verdict.detail}")
    touched = [
        verdict for verdict in verdicts if verdict.outcome == "fixed" and is_read_only(verdict.case.finding.file)
    ]
    report = {"cases": len(verdicts), **total, "fixed in read-only files": len(touched), "recipes": rows}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
