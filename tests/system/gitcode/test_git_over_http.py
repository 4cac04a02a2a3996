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
from __future__ import annotations

import asyncio
import os
from pathlib import Path

import aiohttp
import pytest

from bot.gitcode.client import GitCodeClient
from bot.sandbox.gitcode.sandbox import Sandbox
from bot.sandbox.gitcode.state import DEVELOPER

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"


async def git(*args: str, cwd: Path, expect: int = 0) -> str:
    """Run git as a stranger would: no settings, no prompts. Output and errors come back together."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
    }
    identity = ("-c", "user.name=dev-a", "-c", "user.email=dev-a@example.com")
    process = await asyncio.create_subprocess_exec(
        "git",
        *identity,
        *args,
        cwd=cwd,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == expect, out.decode()
    return out.decode()


async def clone(forge: Sandbox, name: str, tmp_path: Path, token: str = "", *options: str) -> Path:
    await git("clone", "-q", *options, forge.clone_url(name, token=token), "work", cwd=tmp_path)
    return tmp_path / "work"


async def test_clone_and_fetch_the_head_of_a_pull_request(forge: Sandbox, tmp_path: Path) -> None:
    work = await clone(forge, REPO, tmp_path)
    assert (work / "README.md").read_text() == "# 你好\n"
    await git("fetch", "-q", "origin", "+refs/merge-requests/64/head:pr_64", cwd=work)
    assert (await git("rev-parse", "pr_64", cwd=work)).strip() == forge.pull(REPO, 64).head_sha


@pytest.mark.parametrize("protocol", ["0", "1", "2"])
@pytest.mark.parametrize("post_buffer", ["65536", "10485760"])
async def test_push_in_chunks_and_whole(forge: Sandbox, tmp_path: Path, protocol: str, post_buffer: str) -> None:
    settings = ("-c", f"protocol.version={protocol}", "-c", f"http.postBuffer={post_buffer}")
    work = await clone(forge, FORK, tmp_path, "token-dev-a", "--branch", "feature")
    (work / "big.bin").write_bytes(os.urandom(300_000))
    await git("add", ".", cwd=work)
    await git("commit", "-qm", "feat: a big file", cwd=work)
    await git(*settings, "push", "-q", "origin", "feature", cwd=work)
    head = (await git("rev-parse", "HEAD", cwd=work)).strip()
    assert forge.pull(REPO, 64).head_sha == head
    await git(*settings, "fetch", "-q", forge.clone_url(REPO), "refs/merge-requests/64/head", cwd=work)
    assert (await git("rev-parse", "FETCH_HEAD", cwd=work)).strip() == head


async def test_a_push_is_a_new_head_everywhere(forge: Sandbox, client: GitCodeClient, tmp_path: Path) -> None:
    before = await client.pull_request(REPO, 64)
    work = await clone(forge, FORK, tmp_path, "token-dev-a", "--branch", "feature")
    (work / "pkg/new.py").write_text("x = 2\n")
    await git("commit", "-qam", "fix: two", cwd=work)
    await git("push", "-q", "origin", "feature", cwd=work)
    after = await client.pull_request(REPO, 64)
    assert after.head_sha == (await git("rev-parse", "HEAD", cwd=work)).strip() != before.head_sha
    assert before.updated_at is not None
    assert after.updated_at is not None
    assert after.updated_at >= before.updated_at
    patches = {file.path: file.patch for file in await client.changed_files(REPO, 64)}
    assert patches["pkg/new.py"] == "@@ -0,0 +1 @@\n+x = 2\n"


async def test_who_may_push(forge: Sandbox, tmp_path: Path) -> None:
    url = forge.clone_url(FORK)
    work = await clone(forge, FORK, tmp_path)
    await git("commit", "-q", "--allow-empty", "-m", "x", cwd=work)
    port = url.partition("://")[2]
    anonymous = await git("push", url, "HEAD:refs/heads/x", cwd=work, expect=128)
    assert "could not read Username" in anonymous or "terminal prompts disabled" in anonymous
    wrong = await git("push", f"http://oauth2:wrong@{port}", "HEAD:refs/heads/x", cwd=work, expect=128)
    assert "HTTP Basic: Access denied" in wrong
    stranger = await git("push", f"http://oauth2:token-dev-b@{port}", "HEAD:refs/heads/x", cwd=work, expect=128)
    assert "403" in stranger
    forge.add_member(FORK, "dev-b", DEVELOPER)
    await git("push", "-q", f"http://oauth2:token-dev-b@{port}", "HEAD:refs/heads/x", cwd=work)
    await git("push", "-q", f"http://dev-a:token-dev-a@{port}", "HEAD:refs/heads/y", cwd=work)
    hidden = await git(
        "push", f"http://oauth2:token-dev-a@{port}", "HEAD:refs/merge-requests/9/head", cwd=work, expect=1
    )
    assert "hidden ref" in hidden
    assert "nothing" not in await git("ls-remote", "--heads", url, "x", "y", cwd=work)


async def test_a_narrow_token_may_not_push(forge: Sandbox, tmp_path: Path) -> None:
    forge.add_user("reader", scopes=frozenset({"api", "read_user", "read_repository"}))
    forge.add_member(FORK, "reader", DEVELOPER)
    work = await clone(forge, FORK, tmp_path, "token-reader")
    assert "403" in await git("push", "origin", "HEAD:refs/heads/x", cwd=work, expect=128)


async def test_an_old_lease_is_refused(forge: Sandbox, tmp_path: Path) -> None:
    work = await clone(forge, FORK, tmp_path, "token-dev-a", "--branch", "feature")
    expected = (await git("rev-parse", "HEAD", cwd=work)).strip()
    await git("commit", "-q", "--allow-empty", "-m", "mine", cwd=work)
    theirs = await forge.push(FORK, "feature", {"other.txt": "x"}, author="dev-a")
    lease = f"--force-with-lease=feature:{expected}"
    said = await git("push", lease, "origin", "HEAD:feature", cwd=work, expect=1)
    assert "stale info" in said
    said = await git("push", "origin", "HEAD:feature", cwd=work, expect=1)
    assert "rejected" in said
    assert forge.pull(REPO, 64).head_sha == theirs


async def test_lines_that_a_push_changed_are_noted_by_the_platform(forge: Sandbox, client: GitCodeClient) -> None:
    for line in (5, 6):
        await client.create_comment(REPO, 64, f"line {line}", path="pkg/core.py", line=line)
    content = (await client.file_text(FORK, "pkg/core.py", "feature") or "").replace("line_6 = 66", "line_6 = 67")
    sha = await forge.push(FORK, "feature", {"pkg/core.py": "# a new first line\n" + content}, author="dev-a")
    comments = {comment.body: comment for comment in await client.comments(REPO, 64)}
    assert (comments["line 5"].outdated, comments["line 6"].outdated) == (False, True)
    assert comments["line 6"].reply_authors == ()
    reply = forge.threads(REPO, 64)[1].notes[1]
    assert reply.author == "dev-a"
    assert reply.body == f"changed this line on [{sha[:8]}]({forge.origin}/{REPO}/commits/detail/{sha})"
    # line 5 is line 6 by now, but it is still followed by where it was put
    moved = ("# a new first line\n" + content).replace("line_5 = 55", "line_5 = 56")
    await forge.push(FORK, "feature", {"pkg/core.py": moved}, author="dev-a")
    detail = await client.comment(REPO, comments["line 5"].note_id)
    assert detail.outdated


async def test_strange_git_requests(forge: Sandbox) -> None:
    async with aiohttp.ClientSession() as session:
        for path, status in (
            ("/no/such.git/info/refs?service=git-upload-pack", 404),
            (f"/{REPO}.git/config", 404),
            (f"/{REPO}.git/../../etc/passwd", 404),
            (f"/{REPO}.git/objects/info/packs", 404),
            (f"/{REPO}.git/info/refs?service=git-receive-pack", 401),
            (f"/{REPO}.git/info/refs?service=git-upload-pack", 200),
        ):
            async with session.get(forge.origin + path) as answer:
                assert answer.status == status, path
        headers = {"Content-Type": "application/x-git-receive-pack-request"}
        async with session.post(f"{forge.origin}/{REPO}.git/git-receive-pack", data=b"x", headers=headers) as answer:
            assert answer.status == 401
