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
"""A real bare repository with a target branch and a pull request's branch, for the repair tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.gate.finding import Finding
from bot.repair.task import RepairTask

_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "dev-a",
    "GIT_AUTHOR_EMAIL": "dev-a@example.com",
    "GIT_COMMITTER_NAME": "dev-a",
    "GIT_COMMITTER_EMAIL": "dev-a@example.com",
}


def git(cwd: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=cwd, env=_ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@dataclass(frozen=True)
class Forge:
    """``origin.git`` plus the author's clone of it."""

    origin: Path
    clone: Path
    state: Path

    def commit(self, files: Mapping[str, bytes | None], message: str = "feat: change") -> str:
        for name, content in files.items():
            path = self.clone / name
            if content is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--allow-empty", "-m", message)
        return git(self.clone, "rev-parse", "HEAD")

    def push(self, branch: str, *, force: bool = False) -> None:
        git(self.clone, "push", "--quiet", *(["--force"] if force else []), "origin", f"HEAD:refs/heads/{branch}")

    def tip(self, branch: str) -> str:
        return git(self.origin, "rev-parse", f"refs/heads/{branch}")

    def show(self, revision: str, path: str) -> bytes:
        done = subprocess.run(
            ["git", "cat-file", "blob", f"{revision}:{path}"], cwd=self.origin, capture_output=True, check=True
        )
        return done.stdout

    def log(self, branch: str) -> list[str]:
        return git(self.origin, "log", "--format=%s", f"refs/heads/{branch}").splitlines()

    def task(self, findings: tuple[Finding, ...], files: tuple[str, ...], **changes: object) -> RepairTask:
        task = RepairTask(
            repo="mindspore/hyper-parallel",
            number=647,
            head_sha=self.tip("dev"),
            head_ref="dev",
            clone_url=self.origin.as_uri(),
            push_url=self.origin.as_uri(),
            base_ref="master",
            findings=findings,
            pr_files=files,
            mode="push",
            author_name="gatebot",
            author_email="gatebot@example.com",
            work_root=self.state,
        )
        return replace(task, **changes)  # type: ignore[arg-type]


def make_forge(root: Path, base: Mapping[str, bytes], change: Mapping[str, bytes]) -> Forge:
    origin, clone = root / "origin.git", root / "clone"
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet", "--bare", "--initial-branch=master", str(origin))
    git(root, "clone", "--quiet", origin.as_uri(), str(clone))
    forge = Forge(origin, clone, root / "state")
    git(clone, "checkout", "--quiet", "-B", "master")
    forge.commit({"README.md": b"# Hyper\n", **base}, "feat: base")
    forge.push("master")
    git(clone, "checkout", "--quiet", "-B", "dev")
    forge.commit(change)
    forge.push("dev")
    return forge


@pytest.fixture
def kit() -> SimpleNamespace:
    """``kit.git`` and ``kit.make_forge``."""
    return SimpleNamespace(git=git, make_forge=make_forge)
