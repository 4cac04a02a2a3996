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
"""Makes repositories and forks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.actions import Actions, refuse
from bot.sandbox.gitcode.state import Repo, check_name


async def make_repo(
    actions: Actions,
    root: Path,
    full_name: str,
    *,
    name: str,
    default_branch: str,
    files: Mapping[str, str | bytes],
    first_pull: int,
) -> Repo:
    """A new repository with one commit that holds ``files``."""
    owner, _, path = full_name.partition("/")
    git_dir = root / check_name(owner) / f"{check_name(path)}.git"
    if full_name in actions.world.repos:
        raise ValueError(f"For create_repo, full_name should be new, but {full_name} exists.")
    await _parent(git_dir)
    await gitrepo.init_bare(git_dir, default_branch)
    user = actions.world.users.get(owner)
    who = (user.name, user.email) if user else (owner, f"{owner}@example.com")
    now = actions.clock.now()
    await gitrepo.commit_files(git_dir, default_branch, files, "init: first commit", author=who, at=now)
    number = actions.world.next_id("repo", 7_700_001)
    repo = Repo(number, owner, path, name or path, default_branch, git_dir, now, first_pull=first_pull)
    actions.world.repos[full_name] = repo
    return repo


async def fork_repo(actions: Actions, source: Repo, owner: str, *, path: str = "") -> Repo:
    """A fork with the branches and tags of ``source``."""
    path = path or source.path
    try:
        git_dir = source.git_dir.parent.parent / check_name(owner) / f"{check_name(path)}.git"
    except ValueError as error:
        raise refuse(400, "path is invalid") from error
    if f"{owner}/{path}" in actions.world.repos:
        raise refuse(400, "The project already exists")
    await _parent(git_dir)
    await gitrepo.fork(source.git_dir, git_dir)
    number = actions.world.next_id("repo", 7_700_001)
    now = actions.clock.now()
    fork = Repo(number, owner, path, source.name, source.default_branch, git_dir, now, fork_of=source.full_name)
    actions.world.repos[fork.full_name] = fork
    return fork


async def _parent(git_dir: Path) -> None:
    """Make the directory above; a repository of an earlier run is not taken over, for the rest of its state is gone."""
    if await asyncio.to_thread(git_dir.exists):
        raise FileExistsError(f"For the sandbox, state_dir should be empty, but it holds {git_dir}.")
    await asyncio.to_thread(git_dir.parent.mkdir, parents=True, exist_ok=True)
