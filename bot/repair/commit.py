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
"""The commit message and the commit itself, and how our own commit is known again after a crash."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import git

from bot.gate.finding import Finding
from bot.repair import hostgit
from bot.repair.task import RepairTask
from bot.repair.workspace import Workspace

_STAGES: Final = {
    "pylint": "Check_Pylint",
    "codespell": "Check_Codespell",
    "dt_design": "Check_DT_Design",
    "tab": "Check_Tab",
    "utf8": "Check_Utf8",
    "markdownlint": "Check_Markdownlint",
    "clang-format": "Check_ClangFormat",
    "clang_format": "Check_ClangFormat",
    "cmakelint": "Check_Cmakelint",
    "cpplint": "Check_Cpplint",
    "shellcheck": "Check_ShellCheck",
    "rules": "Check_Op_Yaml",
    "op_yaml": "Check_Op_Yaml",
}
_SUBJECT_LIMIT: Final = 100


def stage_of(finding: Finding) -> str:
    """The gate stage of a finding, by its own word or by its tool."""
    return finding.stage or _STAGES.get(finding.tool, finding.tool)


def subject_of(findings: Iterable[Finding]) -> str:
    """``fix(gate): Check_Pylint W0611 W1510; Check_Codespell typo``; a single finding also names its file."""
    found = tuple(findings)
    rules: dict[str, list[str]] = {}
    for finding in found:
        names = rules.setdefault(stage_of(finding), [])
        if finding.rule and finding.rule not in names:
            names.append(finding.rule)
    parts = [" ".join([stage, *names]) for stage, names in rules.items()]
    subject = f"fix(gate): {'; '.join(parts)}"
    files = {finding.file for finding in found}
    with_file = f"{subject} in {next(iter(files))}" if len(files) == 1 else subject
    if len(with_file) <= _SUBJECT_LIMIT:
        return with_file
    return subject if len(subject) <= _SUBJECT_LIMIT else f"fix(gate): {' '.join(rules)}"[:_SUBJECT_LIMIT]


def _place(finding: Finding) -> str:
    where = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return " ".join(part for part in (stage_of(finding), finding.rule, where) if part)


def message_of(task: RepairTask, fixes: Iterable[tuple[str, Finding]]) -> str:
    """Subject, one line per finding with the recipe that mended it, and the neutral trailer."""
    found = tuple(fixes)
    rows = dict.fromkeys(f"- {_place(finding)} ({recipe})" for recipe, finding in found)
    body = "\n".join(rows)
    return f"{subject_of(finding for _, finding in found)}\n\n{body}\n\n{task.trailer}\n"


def make_commit(task: RepairTask, workspace: Workspace, message: str) -> str:
    """Write the staged tree as a commit on top of the head; returns its sha.

    Raises:
        TellOperator: When git fails.
    """
    tree = workspace.git("write-tree").text
    identity = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", task.author_name), ("EMAIL", task.author_email))
    }
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
        file.write(message)
        file.flush()
        made = workspace.git("commit-tree", tree, "-p", task.head_sha, "-F", file.name, env=identity)
    return made.text


def patch_of(workspace: Workspace) -> str:
    """The staged edits as a unified diff."""
    return workspace.git(
        "diff", "--cached", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv", workspace.head_sha
    ).stdout.decode("utf-8", "replace")


def is_ours(task: RepairTask, mirror: Path, sha: str) -> bool:
    """Whether a commit is this case's repair of exactly this head, by its one parent, its trailer and its committer."""
    commit = git.Repo(mirror).commit(sha)
    message = str(commit.message)
    return (
        [parent.hexsha for parent in commit.parents] == [task.head_sha]
        and task.trailer in message.splitlines()
        and commit.committer.email == task.author_email
    )


def told_by(task: RepairTask, mirror: Path, sha: str) -> tuple[str, tuple[Finding, ...], str]:
    """Subject, mended findings and patch of a commit of ours, read back from git."""
    commit = git.Repo(mirror).commit(sha)
    message = str(commit.message)
    places = re.findall(r"^- (.+) \([\w-]+\)$", message, re.MULTILINE)
    fixed = tuple(finding for finding in task.findings if any(_same_place(finding, place) for place in places))
    shown = hostgit.run(
        ["diff", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv", task.head_sha, sha],
        cwd=mirror,
        git_dir=mirror,
    )
    return message.partition("\n")[0], fixed, shown.stdout.decode("utf-8", "replace")


def _same_place(finding: Finding, place: str) -> bool:
    start = "".join(f"{part} " for part in (stage_of(finding), finding.rule) if part)
    where = place.removeprefix(start)
    path, _, line = where.rpartition(":") if re.search(r":\d+$", where) else (where, "", "0")
    return (
        place.startswith(start)
        and (not finding.file or f"/{finding.file}".endswith(f"/{path}") or path.endswith(f"/{finding.file}"))
        and finding.line in {0, int(line)}
    )
