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
"""One bare mirror per repository and one work tree per repair, at the pull request's exact head, always cleaned up."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from bot.errors import NotFound, RetryLater
from bot.repair import hostgit
from bot.repair.task import RepairTask

_FETCH_SECONDS: Final = 900.0
_PACK_LIMIT: Final = 50
# Highest precedence of all attribute sources: a .gitattributes in the pull request can neither convert line ends or
# encodings
# (we would commit more than we edited) nor name a filter or diff driver.
_ATTRIBUTES: Final = "* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"
PLAIN_MODES: Final = frozenset({"100644", "100755"})


class HeadMoved(Exception):
    """The source branch no longer is at the head the findings belong to; ``tip`` is empty when the branch is gone."""

    def __init__(self, tip: str) -> None:
        super().__init__(tip)
        self.tip = tip


class SourceGone(NotFound):
    """What the pull request comes from is gone or hidden from us, and its head is to be had nowhere else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One tracked path: git's mode and blob id."""

    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """A checked-out head. ``git_dir`` is the mirror's record of this work tree, never the tree's own ``.git`` file."""

    mirror: Path
    git_dir: Path
    root: Path
    head_sha: str
    base_commit: str
    year: int
    entries: Mapping[str, Entry]

    def is_plain(self, path: str) -> bool:
        """Whether ``path`` is tracked at the head as an ordinary file."""
        entry = self.entries.get(path)
        return entry is not None and entry.mode in PLAIN_MODES

    def read(self, path: str) -> bytes | None:
        """Bytes of a plain tracked file, ``None`` for anything else. Links never exist here as links."""
        return (self.root / path).read_bytes() if self.is_plain(path) else None

    def write(self, path: str, content: bytes) -> None:
        """Replace a plain tracked file.

        Raises:
            PermissionError: For any other path: a bug of ours that must not reach the disk.
        """
        if not self.is_plain(path):
            raise PermissionError(path)
        (self.root / path).write_bytes(content)

    def read_base(self, path: str) -> bytes | None:
        """Bytes of a file on the target branch, ``None`` when it is not there."""
        if not self.base_commit:
            return None
        shown = self.git("cat-file", "blob", f"{self.base_commit}:{path}", check=False)
        return shown.stdout if shown.code == 0 else None

    def grep(self, word: str) -> tuple[str, ...]:
        """Tracked files that hold ``word`` as a whole word."""
        found = self.git("grep", "-I", "-l", "-z", "-w", "-F", "-e", word, self.head_sha, check=False)
        names = found.stdout.decode("utf-8", "surrogateescape").split("\0")
        return tuple(name.partition(":")[2] for name in names if name)

    def git(self, *args: str, check: bool = True, env: Mapping[str, str] | None = None) -> hostgit.GitResult:
        """Run a hardened git command on this work tree."""
        return hostgit.run(args, cwd=self.root, git_dir=self.git_dir, work_tree=self.root, check=check, env=env)


def is_safe_path(path: str) -> bool:
    """Whether a reported path can be a tracked path: relative, normal, outside ``.git``.

    Nor may it look like an option or a response file: pylint forgets about ``--``, and clang-format reads ``@file``.
    """
    parts = PurePosixPath(path).parts
    return bool(
        path
        and "\\" not in path
        and "\0" not in path
        and not path.startswith(("/", "-", "@"))
        and path.isprintable()
        and str(PurePosixPath(path)) == path
        and not any(part in {"..", "."} or part.lower() == ".git" for part in parts)
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def _take(guard: Path, lock: Path) -> Iterator[None]:
    """Hold the work tree's own lock; made under the guard, so that nobody prunes between its birth and its locking."""
    with _locked(guard):
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = lock.open("w")
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        handle.close()


def _slug(url: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "-", url.rstrip("/").removesuffix(".git")).strip("-")[-60:]
    return f"{words}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"


def mirror_path(task: RepairTask) -> Path:
    """Where the bare mirror of the task's repository lies."""
    return task.work_root / "mirrors" / f"{_slug(task.clone_url)}.git"


def _ensure_mirror(mirror: Path) -> None:
    if not (mirror / "HEAD").exists():
        mirror.mkdir(parents=True, exist_ok=True)
        hostgit.run(["init", "--bare", "--quiet", str(mirror)], cwd=mirror)
    (mirror / "info").mkdir(exist_ok=True)
    (mirror / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")


def remote_tip(task: RepairTask, cwd: Path) -> str:
    """Sha of the source branch as the forge has it now; empty when the branch is gone.

    Raises:
        RetryLater, NoRight, NotFound, TellOperator: by remedy.
    """
    ref = f"refs/heads/{task.head_ref}"
    with hostgit.login(task.credentials) as env:
        listed = hostgit.run(["ls-remote", "--", task.push_url, ref], cwd=cwd, env=env, timeout=60.0)
    for line in listed.text.splitlines():
        sha, _, name = line.partition("\t")
        if name == ref:
            return sha
    return ""


def _fetch(task: RepairTask, mirror: Path, url: str, source: str, target: str) -> None:
    with hostgit.login(task.credentials) as env:
        hostgit.run(
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", url, f"+{source}:{target}"],
            cwd=mirror,
            git_dir=mirror,
            env=env,
            timeout=_FETCH_SECONDS,
        )


def has_commit(mirror: Path, sha: str) -> bool:
    """Whether the mirror holds the commit."""
    return hostgit.run(["cat-file", "-e", f"{sha}^{{commit}}"], cwd=mirror, git_dir=mirror, check=False).code == 0


def _head_ref(task: RepairTask) -> str:
    key = hashlib.sha256(f"{task.push_url}\0{task.head_ref}".encode()).hexdigest()[:16]
    return f"refs/gatebot/heads/{key}"


def _forget_head(task: RepairTask, mirror: Path) -> None:
    """Drop the source branch's ref, so that closed pull requests do not pile up, and pack what many fetches left."""
    hostgit.run(["update-ref", "-d", _head_ref(task)], cwd=mirror, git_dir=mirror, check=False)
    if len(list((mirror / "objects" / "pack").glob("*.pack"))) > _PACK_LIMIT:
        # Prunes only what has been unreachable for two weeks: work trees that are open now lose nothing.
        hostgit.run(["gc", "--quiet"], cwd=mirror, git_dir=mirror, check=False, timeout=_FETCH_SECONDS)


def fetch_head(task: RepairTask, mirror: Path) -> None:
    """Bring the source branch and the target branch into the mirror.

    The source branch is tried first, then the forge's ref of the pull request (the source may be private to us).

    Raises:
        HeadMoved: The head is no longer to be had.
        SourceGone: Nor is the source branch, nor its repository.
        RetryLater, NoRight, TellOperator: by remedy.
    """
    sources = (
        (task.push_url, f"refs/heads/{task.head_ref}"),
        (task.clone_url, f"refs/merge-requests/{task.number}/head"),
        (task.clone_url, f"refs/pull/{task.number}/head"),
    )
    trouble: Exception | None = None
    gone = not task.push_url  # the forge knows no source repository any more
    for url, ref in sources:
        if has_commit(mirror, task.head_sha):
            break
        if not url:
            continue
        try:
            _fetch(task, mirror, url, ref, _head_ref(task))
        except (NotFound, hostgit.NoRight) as error:
            trouble = error
            gone = gone or (ref == f"refs/heads/{task.head_ref}" and isinstance(error, NotFound))
    if not has_commit(mirror, task.head_sha):
        if isinstance(trouble, hostgit.NoRight):
            raise trouble
        if gone:
            raise SourceGone(f"the source branch of pull request {task.number} is gone")
        raise HeadMoved("")
    _fetch(task, mirror, task.clone_url, f"refs/heads/{task.base_ref}", f"refs/gatebot/base/{task.base_ref}")


def prune_stale(task: RepairTask, mirror: Path) -> int:
    """Remove work trees whose process has died: nobody holds their lock. Returns how many."""
    trees = task.work_root / "trees" / mirror.stem
    removed = 0
    for lock in sorted(trees.glob("*.lock")) if trees.is_dir() else []:
        with lock.open("r+") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
            removed += 1
    if removed:
        hostgit.run(["worktree", "prune", "--expire=now"], cwd=mirror, git_dir=mirror)
    return removed


def _entries(mirror: Path, sha: str) -> dict[str, Entry]:
    listed = hostgit.run(["ls-tree", "-r", "-z", "--full-tree", sha], cwd=mirror, git_dir=mirror).stdout
    entries = {}
    for record in listed.decode("utf-8", "surrogateescape").split("\0"):
        if record:
            meta, _, path = record.partition("\t")
            mode, _, blob = meta.split(" ")
            entries[path] = Entry(mode, blob)
    return entries


@contextmanager
def open_workspace(task: RepairTask) -> Iterator[Workspace]:
    """Check the head out into a fresh work tree; remove it on the way out, whatever happens.

    Raises:
        HeadMoved: The head cannot be fetched any more.
        SourceGone: Because what it was pushed to is gone.
        RetryLater, NoRight, TellOperator: by remedy.
    """
    for url in (task.clone_url, task.push_url):
        hostgit.refuse_login_in_url(url)
    mirror = mirror_path(task)
    guard = mirror.with_suffix(".lock")
    name = f"{task.number}-{task.head_sha[:12]}-{uuid.uuid4().hex[:8]}"
    root = task.work_root / "trees" / mirror.stem / name
    lock = root.with_suffix(".lock")
    with _take(guard, lock):
        try:
            with _locked(guard):
                _ensure_mirror(mirror)
                prune_stale(task, mirror)
                fetch_head(task, mirror)
                hostgit.run(
                    ["worktree", "add", "--quiet", "--detach", "--no-checkout", str(root), task.head_sha],
                    cwd=mirror,
                    git_dir=mirror,
                )
            git_dir = mirror / "worktrees" / name
            if not git_dir.is_dir():
                raise RetryLater(f"git made no record of work tree {name}")
            hostgit.run(["read-tree", "--reset", "-u", task.head_sha], cwd=root, git_dir=git_dir, work_tree=root)
            base = hostgit.run(
                ["rev-parse", "--verify", "--quiet", f"refs/gatebot/base/{task.base_ref}"],
                cwd=mirror,
                git_dir=mirror,
                check=False,
            ).text
            dated = hostgit.run(
                ["log", "-1", "--format=%ad", "--date=format:%Y", task.head_sha], cwd=mirror, git_dir=mirror
            ).text
            entries = _entries(mirror, task.head_sha)
            yield Workspace(mirror, git_dir, root, task.head_sha, base, int(dated or 0), entries)
        finally:
            shutil.rmtree(root, ignore_errors=True)
            with _locked(guard):
                if (mirror / "HEAD").exists():
                    _forget_head(task, mirror)
                    hostgit.run(["worktree", "prune", "--expire=now"], cwd=mirror, git_dir=mirror, check=False)


def free_of_nested_git(root: Path) -> bool:
    """Whether no ``.git`` lies below the root: a planted repository could make host git run its filters."""
    for directory, names, files in os.walk(root):
        if Path(directory) != root and (".git" in names or ".git" in files):
            return False
    return True
