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
"""``/review``: pylint, codespell, lizard and the review rules on changed lines, in a work tree of the exact head."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.errors import TellUser
from bot.forge import ChangedFile
from bot.gate.finding import Finding, Severity
from bot.repair.checks import codespell, pylint
from bot.repair.checks.base import Check, CheckContext
from bot.repair.mend import rules_of
from bot.repair.task import RepairTask
from bot.repair.tools import CancelToken, ToolMissing, run_tool, started
from bot.repair.workspace import HeadMoved, Workspace, is_safe_path, open_workspace
from bot.review.diffmap import FileLines, read_hunks
from bot.review.globs import matches
from bot.review.rules import REPOSITORY_RULES, Rule, merged, packaged_rules, read_rules, run_rules
from bot.review.scene import Scene

# The limits of the gate's lizard stage.
CCN_LIMIT: Final = 19
NLOC_LIMIT: Final = 100
_SOURCES: Final = (".py", ".pyi", ".c", ".cc", ".cpp", ".h", ".hpp", ".java", ".js", ".ts", ".go", ".rs")
_MOST_FILES: Final = 300
_STAGE: Final = {"pylint": "Check_Pylint", "codespell": "Check_Codespell", "lizard": "Check_Lizard"}


@dataclass(frozen=True, slots=True)
class CheapOutcome:
    """What was found on changed lines, and which tools or rule files could not be used."""

    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()


def check(head: RepairTask, files: Sequence[ChangedFile], language: str) -> CheapOutcome | None:
    """Check the changed lines; blocks, so call it in a thread.

    Args:
        head: Names the head and how to fetch it; nothing is mended or pushed.
        files: The diff.
        language: Of the rules' messages.

    Returns:
        The findings; ``None`` when the head is no longer to be had.

    Raises:
        RetryLater: Network or checker trouble.
        TellOperator: A checker refuses the target branch's own rule files, or we may not fetch.
    """
    head.work_root.mkdir(parents=True, exist_ok=True)
    changed = {
        file.path: read_hunks(file.patch)
        for file in files
        if file.status != "deleted" and file.patch and is_safe_path(file.path)
    }
    try:
        with open_workspace(head) as workspace:
            return check_tree(workspace, changed, _old_paths(files), language)
    except HeadMoved:
        return None


def check_tree(
    workspace: Workspace, changed: Mapping[str, FileLines], old_paths: Mapping[str, str], language: str
) -> CheapOutcome:
    """All checks on one work tree.

    Args:
        workspace: The checked-out head.
        changed: New path to lines of the files of the diff.
        old_paths: New path to old path, where they differ.
        language: Of the rules' messages.
    """
    lines = {path: changed[path] for path in sorted(changed)[:_MOST_FILES] if workspace.is_plain(path)}
    context = CheckContext(workspace.root, rules_of(workspace), cancel=CancelToken(), year=workspace.year)
    found: list[Finding] = []
    missing: list[str] = []
    for tool, run in (("pylint", pylint.CHECK), ("codespell", codespell.CHECK)):
        try:
            found += _linted(tool, run, lines, context)
        except ToolMissing as error:
            missing.append(str(error))
    try:
        found += _measured(lines, context)
    except ToolMissing as error:
        missing.append(str(error))
    rules, unreadable = _rules(workspace)
    scene = _scene(workspace, lines, old_paths)
    return CheapOutcome((*found, *run_rules(rules, scene, language)), (*missing, *unreadable))


def _linted(tool: str, run: Check, lines: Mapping[str, FileLines], context: CheckContext) -> Iterable[Finding]:
    paths = tuple(path for path in lines if run.wants(path))
    for seen in run.run(paths, context) if paths else ():
        if seen.line in lines[seen.file].added:
            yield Finding(
                tool=tool,
                rule=seen.rule,
                stage=_STAGE[tool],
                file=seen.file,
                line=seen.line,
                function=seen.symbol,
                message=seen.message,
                severity=Severity.ERROR if seen.rule[:1] in {"E", "F"} else Severity.WARNING,
            )


def _measured(lines: Mapping[str, FileLines], context: CheckContext) -> list[Finding]:
    """Functions beyond lizard's limits that the change touches, at the first line it touches."""
    paths = [path for path in lines if path.endswith(_SOURCES)]
    if not paths:
        return []
    # Without -W it would read a whitelizer.txt of the pull request.
    argv = [sys.executable, "-I", "-m", "lizard", "--csv", "-W", os.devnull, "--", *paths]
    result = started(run_tool(argv, tree=context.root, cancel=context.cancel), "lizard", 0, 1)
    found = []
    for row in csv.reader(io.StringIO(result.stdout.decode("utf-8", "replace"))):
        if len(row) < 11 or not (row[0] + row[1] + row[9] + row[10]).isdigit():
            continue
        nloc, ccn, start, end = int(row[0]), int(row[1]), int(row[9]), int(row[10])
        path = row[6].removeprefix("./")
        touched = [n for n in sorted(lines[path].added) if start <= n <= end] if path in lines else []
        if not touched or (ccn <= CCN_LIMIT and nloc <= NLOC_LIMIT):
            continue
        rule, said = ("CCN", f"cyclomatic complexity = {ccn} (threshold {CCN_LIMIT})")
        if ccn <= CCN_LIMIT:
            rule, said = ("NLOC", f"NLOC = {nloc} (threshold {NLOC_LIMIT})")
        found.append(
            Finding(
                tool="lizard",
                rule=rule,
                stage=_STAGE["lizard"],
                file=path,
                line=start if start in lines[path].added else touched[0],
                function=row[7],
                message=f"{row[7]}: {said}",
                severity=Severity.WARNING,
            )
        )
    return found


def _rules(workspace: Workspace) -> tuple[tuple[Rule, ...], list[str]]:
    """Packaged rules and those of the target branch; a file that cannot be read is told and left out."""
    own: list[Rule] = []
    unreadable = []
    for path in _base_paths(workspace):
        if matches(path, REPOSITORY_RULES):
            try:
                own += read_rules((workspace.read_base(path) or b"").decode("utf-8", "replace"), path)
            except TellUser as error:
                unreadable.append(str(error))
    return merged(packaged_rules(), own), unreadable


def _base_paths(workspace: Workspace) -> list[str]:
    if not workspace.base_commit:
        return []
    listed = workspace.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", workspace.base_commit, check=False)
    return sorted(name for name in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if name)


def _scene(workspace: Workspace, lines: Mapping[str, FileLines], old_paths: Mapping[str, str]) -> Scene:
    began = ""
    if workspace.base_commit:
        began = workspace.git("merge-base", workspace.base_commit, workspace.head_sha, check=False).text.strip()

    def head(path: str) -> str | None:
        content = workspace.read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def base(path: str) -> str | None:
        if not began:
            return None
        shown = workspace.git("cat-file", "blob", f"{began}:{path}", check=False)
        return shown.stdout.decode("utf-8", "replace") if shown.code == 0 else None

    return Scene(lines, head, base, frozenset(workspace.entries), old_paths)


def _old_paths(files: Iterable[ChangedFile]) -> dict[str, str]:
    return {file.path: file.old_path for file in files if file.status == "renamed" and file.old_path}
