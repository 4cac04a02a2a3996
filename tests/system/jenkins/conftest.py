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
"""A repository with pull requests, a sandbox Jenkins that builds them, and GateBot's own client of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from bot.jenkins import JenkinsClient, JenkinsSettings, make_client
from bot.sandbox.clock import VirtualClock
from bot.sandbox.jenkins import Account, JobSettings, SandboxJenkins

JOB = "Gate"
TOKEN = "11d2f0c3a4"


class Repository:
    """A git repository on disk in which pull requests are opened as the forge would keep them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "-q", "-b", "master", ".")
        self.commit("chore: begin", {"pkg/__init__.py": '"""Package."""\n'})

    @property
    def url(self) -> str:
        return str(self.path)

    def git(self, *arguments: str) -> str:
        names = {
            f"GIT_{role}_{what}": "dev-a@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.path), **names}
        ran = subprocess.run(
            ["git", *arguments], cwd=self.path, env=environment, check=True, capture_output=True, text=True
        )
        return ran.stdout.strip()

    def commit(self, message: str, files: Mapping[str, str]) -> str:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def push(self, number: int, files: Mapping[str, str]) -> str:
        """Add a commit to a pull request's branch, which begins at master."""
        branch = f"topic-{number}"
        exists = branch in self.git("branch", "--format=%(refname:short)").splitlines()
        self.git("checkout", "-q", *([] if exists else ["-b"]), branch)
        head = self.commit("feat: change", files)
        self.git("update-ref", f"refs/merge-requests/{number}/head", head)
        self.git("checkout", "-q", "master")
        return head


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    path = tmp_path / "upstream"
    path.mkdir()
    return Repository(path)


@pytest.fixture
async def clock() -> AsyncIterator[VirtualClock]:
    async with VirtualClock().running() as running:
        yield running


@pytest.fixture
async def jenkins(repository: Repository, clock: VirtualClock) -> AsyncIterator[SandboxJenkins]:
    job = JobSettings(name=JOB, repository_url=repository.url)
    accounts = [Account("gate", token=TOKEN, password="secret")]
    async with SandboxJenkins([job], clock=clock, accounts=accounts, strict_query=True) as server:
        yield server


@pytest.fixture
async def client(jenkins: SandboxJenkins, clock: VirtualClock) -> AsyncIterator[JenkinsClient]:
    made = make_client(JenkinsSettings(jenkins.url, JOB, "gate", TOKEN, timeout=5.0), clock=clock)
    yield made
    await made.close()


@pytest.fixture
async def client_of(clock: VirtualClock) -> AsyncIterator[Callable[..., JenkinsClient]]:
    """Makes clients with other settings; they are closed at the end."""
    made: list[JenkinsClient] = []

    def make(url: str, job: str = JOB, **settings: object) -> JenkinsClient:
        made.append(make_client(JenkinsSettings(url, job, **settings), clock=clock))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for client in made:
        await client.close()
