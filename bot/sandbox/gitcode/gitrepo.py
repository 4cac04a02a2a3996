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
"""Real git, by its command line, on the sandbox's bare repositories."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


class GitFailure(Exception):
    """git ended with an error; the text is its own."""


@dataclass(frozen=True)
class Commit:
    """A commit as the API shows it."""

    sha: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    committer_name: str
    committer_email: str
    at: datetime
    message: str


def environment(home: Path) -> dict[str, str]:
    """An environment in which nobody's own git settings count."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }


async def git(cwd: Path, *args: str, stdin: bytes = b"") -> bytes:
    """Run git in a repository and return its output.

    Raises:
        GitFailure: It did not end well.
    """
    process = await asyncio.create_subprocess_exec(
        "git",
        "-c",
        "core.quotePath=false",
        *args,
        cwd=cwd,
        env=environment(cwd),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(stdin)
    if process.returncode:
        raise GitFailure(f"git {' '.join(args)}: {err.decode('utf-8', 'replace').strip()}")
    return out


async def init_bare(git_dir: Path, default_branch: str) -> None:
    """Make a bare repository whose ``refs/merge-requests`` only the forge may write."""
    await git(Path("/"), "init", "--quiet", "--bare", f"--initial-branch={default_branch}", str(git_dir))
    await asyncio.to_thread(_configure, git_dir)


async def fork(source: Path, git_dir: Path) -> None:
    """Copy branches and tags of a repository into a new one."""
    await git(source, "clone", "--quiet", "--bare", str(source), str(git_dir))
    await asyncio.to_thread(_configure, git_dir)


_SETTINGS = """
[http]
	receivepack = true
[receive]
	hideRefs = refs/merge-requests
	autogc = false
[gc]
	auto = 0
"""


def _configure(git_dir: Path) -> None:
    with (git_dir / "config").open("a", encoding="utf-8") as config:
        config.write(_SETTINGS)


async def commit_files(
    git_dir: Path,
    branch: str,
    files: Mapping[str, str | bytes | None],
    message: str,
    *,
    author: tuple[str, str],
    at: datetime,
    parent: str = "",
) -> str:
    """Commit changes of whole files to a branch and return the commit.

    Args:
        git_dir: The repository.
        branch: Branch to move; made when it is missing.
        files: Path → new content, or ``None`` to delete.
        message: The commit message.
        author: Name and address of author and committer.
        at: Time of the commit.
        parent: Commit or branch to start from; by default the branch itself, if there is one.
    """
    known = await refs(git_dir)
    start = parent or (f"refs/heads/{branch}" if f"refs/heads/{branch}" in known else "")
    start_sha = (await git(git_dir, "rev-parse", "--verify", f"{start}^{{commit}}")).decode().strip() if start else ""
    who = f"{author[0]} <{author[1]}> {int(at.timestamp())} +0800"
    stream = [f"commit refs/heads/{branch}\nauthor {who}\ncommitter {who}\n".encode(), _data(message.encode())]
    if start_sha:
        stream.append(f"from {start_sha}\n".encode())
    for path, content in files.items():
        if content is None:
            stream.append(f"D {path}\n".encode())
        else:
            raw = content.encode() if isinstance(content, str) else content
            stream += [f"M 100644 inline {path}\n".encode(), _data(raw)]
    await git(git_dir, "fast-import", "--quiet", "--force", stdin=b"".join(stream))
    return await resolve(git_dir, f"refs/heads/{branch}")


def _data(raw: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(raw), raw)


async def refs(git_dir: Path) -> dict[str, str]:
    """Every ref and the commit it points to."""
    out = await git(git_dir, "for-each-ref", "--format=%(objectname) %(refname)")
    pairs = (line.split(" ", 1) for line in out.decode().splitlines())
    return {name: sha for sha, name in pairs}


async def resolve(git_dir: Path, revision: str) -> str:
    """The commit that a branch, tag or (short) sha names; raises :class:`GitFailure`."""
    out = await git(git_dir, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    return out.decode().strip()


async def merge_base(git_dir: Path, one: str, other: str) -> str:
    """The best common ancestor; ``one`` itself where the histories have none."""
    try:
        return (await git(git_dir, "merge-base", one, other)).decode().strip()
    except GitFailure:
        return one


async def diff(git_dir: Path, old: str, new: str, context: int = 3) -> str:
    """The unified diff of two commits, renames found."""
    args = ("diff", "-M", "--no-color", "--no-ext-diff", "--full-index", f"-U{context}", old, new)
    return (await git(git_dir, *args)).decode("utf-8", "replace")


async def commits(git_dir: Path, revisions: str, limit: int = 250) -> list[Commit]:
    """Commits of a range, the newest first."""
    form = "%H%x1f%P%x1f%an%x1f%ae%x1f%cn%x1f%ce%x1f%cI%x1f%B%x1e"
    out = await git(git_dir, "log", f"--max-count={limit}", f"--format={form}", revisions, "--")
    found = []
    for record in out.decode("utf-8", "replace").split("\x1e"):
        fields = record.strip("\n").split("\x1f")
        if len(fields) == 8:
            sha, parents, name, email, committer, committer_email, moment, message = fields
            at = datetime.fromisoformat(moment)
            people = (name, email, committer, committer_email)
            found.append(Commit(sha, tuple(parents.split()), *people, at, message.strip("\n")))
    return found


async def read_file(git_dir: Path, revision: str, path: str) -> tuple[str, bytes] | None:
    """Blob id and content of a file; ``None`` when there is no such file."""
    try:
        sha = (await git(git_dir, "rev-parse", "--verify", "--end-of-options", f"{revision}:{path}")).decode().strip()
        if (await git(git_dir, "cat-file", "-t", sha)).strip() != b"blob":
            return None
        return sha, await git(git_dir, "cat-file", "blob", sha)
    except GitFailure:
        return None


async def list_tree(git_dir: Path, revision: str, path: str) -> list[tuple[str, str, str]]:
    """Kind, object id and name of what lies in a directory; empty when there is none."""
    try:
        out = await git(git_dir, "ls-tree", "-z", f"{revision}:{path.strip('/')}")
    except GitFailure:
        return []
    entries = (entry.split("\t", 1) for entry in out.decode("utf-8", "replace").split("\0") if entry)
    return [(meta.split()[1], meta.split()[2], name) for meta, name in entries]


async def take_head(target: Path, source: Path, branch: str, number: int) -> None:
    """Bring a pull request's head into the target repository as ``refs/merge-requests/N/head``."""
    spec = f"+refs/heads/{branch}:refs/merge-requests/{number}/head"
    await git(target, "fetch", "--quiet", "--no-tags", str(source), spec)


async def merge(git_dir: Path, base: str, head: str, message: str, author: tuple[str, str]) -> str:
    """A merge commit of two commits, not yet on any branch; raises :class:`GitFailure` on a conflict."""
    tree = (await git(git_dir, "merge-tree", "--write-tree", base, head)).decode().split()[0]
    identity = ("-c", f"user.name={author[0]}", "-c", f"user.email={author[1]}")
    out = await git(git_dir, *identity, "commit-tree", tree, "-p", base, "-p", head, stdin=message.encode())
    return out.decode().strip()
