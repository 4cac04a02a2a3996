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
"""The gate's first stage: real git brings the pull request's head and its target branch into a fresh workspace."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from bot.sandbox.jenkins.process import Ran, run

_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")
_SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Source:
    """What is to be built.

    Attributes:
        pull_request: Number of the pull request.
        target_url: Clone URL of the repository it goes to.
        target_branch: Branch it goes to.
        head_sha: The commit to build; empty for whatever the pull request's ref holds.
        source_url: Clone URL of the contributor's repository, used where the target has no ref of the request.
        source_branch: Branch of the contributor.
    """

    pull_request: int
    target_url: str
    target_branch: str = "master"
    head_sha: str = ""
    source_url: str = ""
    source_branch: str = ""


@dataclass(slots=True)
class Tree:
    """A checked-out tree: its head, the changed files, and what git printed on the way."""

    head_sha: str = ""
    files: tuple[str, ...] = ()
    lines: list[str] = field(default_factory=list)
    code: int = 0


async def check_out(source: Source, workspace: Path) -> Tree:
    """Fetch and check out a pull request's head; ``code`` is git's own when it failed, and ``lines`` say why."""
    tree = Tree()
    pull_ref = f"refs/merge-requests/{source.pull_request}/head"
    target = f"+refs/heads/{source.target_branch}:refs/remotes/origin/{source.target_branch}"
    await _git(workspace, tree, "init", "-q")
    tree.lines.append(f"Fetching upstream changes from {_masked(source.target_url)}")
    await _git(workspace, tree, "fetch", "--no-tags", "--quiet", "--", source.target_url, target)
    where, ref = source.target_url, pull_ref
    fetched = await _git(workspace, tree, "fetch", "--no-tags", "--quiet", "--", where, f"+{ref}:refs/pr/head")
    if fetched.code and source.source_url and source.source_branch:
        tree.code = 0
        where, ref = source.source_url, f"refs/heads/{source.source_branch}"
        await _git(workspace, tree, "fetch", "--no-tags", "--quiet", "--", where, f"+{ref}:refs/pr/head")
    head = await _resolved(workspace, tree, source.head_sha)
    tree.lines.append(f"Checking out Revision {head or 'unknown'} ({pull_ref})")
    await _git(workspace, tree, "checkout", "-q", "-f", "--detach", head or "refs/pr/head")
    if tree.code:
        return tree
    tree.head_sha = head
    subject = await run(["git", "log", "-1", "--format=%s"], workspace)
    tree.lines.append(f'Commit message: "{" ".join(subject.lines)}"')
    await _try_merge(workspace, tree, source.target_branch)
    tree.files = await changed_files(workspace, f"origin/{source.target_branch}")
    return tree


async def changed_files(workspace: Path, base: str) -> tuple[str, ...]:
    """Files that differ from the merge base with ``base`` and still exist; every file when ``base`` is empty."""
    if base:
        argv = ["git", "diff", "--name-only", "-z", "--diff-filter=d", "--no-renames", f"{base}...HEAD"]
    else:
        argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    ran = await run(argv, workspace)
    if ran.code:
        return ()
    names = ran.output.decode("utf-8", "surrogateescape").split("\0")
    return tuple(sorted(name for name in names if name and _is_plain_file(workspace / name)))


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()  # a link may point anywhere on the machine


async def _resolved(workspace: Path, tree: Tree, wanted: str) -> str:
    if tree.code:
        return ""
    name = wanted if _SHA.fullmatch(wanted) else "refs/pr/head"
    ran = await run(["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], workspace)
    if ran.code:
        tree.code = ran.code
        tree.lines.append(f"fatal: reference is not a tree: {name}")
        return ""
    return ran.lines[0].strip()


async def _try_merge(workspace: Path, tree: Tree, target_branch: str) -> None:
    ran = await run(["git", "merge-tree", "--write-tree", "--messages", f"origin/{target_branch}", "HEAD"], workspace)
    if ran.code == 1:
        tree.lines += [line for line in ran.lines if line.startswith(("CONFLICT", "Auto-merging"))]
        tree.lines.append("Automatic merge failed; fix conflicts and then commit the result.")
        tree.code = 1


async def _git(workspace: Path, tree: Tree, *arguments: str) -> Ran:
    if tree.code:
        return Ran(tree.code, b"")
    tree.lines.append(f" > git {_masked(' '.join(arguments))} # timeout=10")
    ran = await run(["git", *arguments], workspace)
    tree.lines += [_masked(line) for line in ran.lines]
    tree.code = ran.code
    return ran


def _masked(text: str) -> str:
    return _USERINFO.sub("****@", text)
