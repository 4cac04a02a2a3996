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
"""REST: a repository's files, branches and comparisons."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from aiohttp import web

from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.actions import Actions, refuse
from bot.sandbox.gitcode.diffs import parse_diff
from bot.sandbox.gitcode.gate import USER, fields_of, paged
from bot.sandbox.gitcode.rest_pulls import login_of, repo_of
from bot.sandbox.gitcode.state import DEVELOPER, Repo

_ZERO = "0" * 40


class FileRoutes:
    """Handlers of files, branches and comparisons."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._shapes = actions.shapes

    def routes(self, root: str) -> list[web.RouteDef]:
        """The routes; ``root`` is the path of a repository."""
        return [
            web.get(f"{root}/contents", self.contents),
            web.get(f"{root}/contents/{{path:.*}}", self.contents),
            web.post(f"{root}/contents/{{path:.+}}", self.create),
            web.put(f"{root}/contents/{{path:.+}}", self.update),
            web.get(f"{root}/raw/{{path:.+}}", self.raw),
            web.get(f"{root}/git/blobs/{{sha}}", self.blob),
            web.get(f"{root}/compare/{{span:.+}}", self.compare),
            web.get(f"{root}/branches", self.branches),
            web.post(f"{root}/branches", self.create_branch),
            web.get(f"{root}/branches/{{branch:.+}}", self.branch),
            web.delete(f"{root}/branches/{{branch:.+}}", self.delete_branch),
        ]

    async def contents(self, request: web.Request) -> web.Response:
        """``GET /contents/{path}?ref=``: a file in base64, or an array for a directory."""
        repo, revision = await self._revision(request)
        path = request.match_info.get("path", "").strip("/")
        found = await gitrepo.read_file(repo.git_dir, revision, path) if path else None
        if found is not None:
            return web.json_response(self._file(path, *found))
        entries = await gitrepo.list_tree(repo.git_dir, revision, path)
        if not entries:
            raise refuse(404, "404 File Not Found", "NOT_PATH")
        kinds = {"blob": "file", "tree": "dir", "commit": "submodule"}
        prefix = f"{path}/" if path else ""
        shown = [{"type": kinds[kind], "sha": sha, "name": name, "path": prefix + name} for kind, sha, name in entries]
        return web.json_response(shown)

    async def create(self, request: web.Request) -> web.Response:
        """``POST /contents/{path}``: 400 for a path that exists."""
        return await self._write(request, exists=False)

    async def update(self, request: web.Request) -> web.Response:
        """``PUT /contents/{path}`` with the ``sha`` of the file it replaces."""
        return await self._write(request, exists=True)

    async def raw(self, request: web.Request) -> web.Response:
        """``GET /raw/{path}?ref=``."""
        repo, revision = await self._revision(request)
        found = await gitrepo.read_file(repo.git_dir, revision, request.match_info["path"])
        if found is None:
            raise refuse(404, "404 File Not Found", "NOT_PATH")
        return web.Response(body=found[1], content_type="text/plain", charset="utf-8")

    async def blob(self, request: web.Request) -> web.Response:
        """``GET /git/blobs/{sha}``."""
        repo = repo_of(self._actions, request)
        sha = request.match_info["sha"]
        if len(sha) != 40 or set(sha) - set("0123456789abcdef"):
            raise refuse(404, "404 Blob Not Found", "NOT_PATH")
        try:
            content = await gitrepo.git(repo.git_dir, "cat-file", "blob", sha)
        except gitrepo.GitFailure as error:
            raise refuse(404, "404 Blob Not Found", "NOT_PATH") from error
        encoded = base64.b64encode(content).decode()
        return web.json_response({"sha": sha, "size": len(content), "encoding": "base64", "content": encoded})

    async def compare(self, request: web.Request) -> web.Response:
        """``GET /compare/{base}...{head}``."""
        repo = repo_of(self._actions, request)
        base, dots, head = request.match_info["span"].partition("...")
        if not dots:
            raise refuse(400, "base...head is expected")
        old, new = await self._commit(repo, base), await self._commit(repo, head)
        start = await gitrepo.merge_base(repo.git_dir, old, new)
        commits = await gitrepo.commits(repo.git_dir, f"{old}..{new}")
        files = parse_diff(await gitrepo.diff(repo.git_dir, start, new))
        return web.json_response(
            {
                "base_commit": {"sha": old},
                "merge_base_commit": {"sha": start},
                "commits": [self._shapes.commit(repo, commit) for commit in reversed(commits)],
                "files": [
                    {
                        "filename": file.new_path,
                        "additions": file.additions,
                        "deletions": file.deletions,
                        "patch": file.text,
                    }
                    for file in files
                ],
            }
        )

    async def branches(self, request: web.Request) -> web.Response:
        """``GET /branches``."""
        repo = repo_of(self._actions, request)
        refs = await gitrepo.refs(repo.git_dir)
        heads = {ref.removeprefix("refs/heads/"): sha for ref, sha in refs.items() if ref.startswith("refs/heads/")}
        return paged(request, [_branch(name, sha) for name, sha in heads.items()], self._actions.options)

    async def branch(self, request: web.Request) -> web.Response:
        """``GET /branches/{b}``."""
        repo = repo_of(self._actions, request)
        name = request.match_info["branch"]
        sha = (await gitrepo.refs(repo.git_dir)).get(f"refs/heads/{name}")
        if sha is None:
            raise refuse(404, "404 Branch Not Found", "NOT_PATH")
        return web.json_response(_branch(name, sha))

    async def create_branch(self, request: web.Request) -> web.Response:
        """``POST /branches`` ``{refs, branch_name}``."""
        repo = self._writable(request)
        fields = await fields_of(request)
        sha = await self._commit(repo, str(fields.get("refs") or repo.default_branch))
        name = str(fields.get("branch_name") or "")
        try:
            await gitrepo.git(repo.git_dir, "check-ref-format", f"refs/heads/{name}")
        except gitrepo.GitFailure as error:
            raise refuse(400, "branch name is invalid") from error
        if f"refs/heads/{name}" in await gitrepo.refs(repo.git_dir):
            raise refuse(400, "Branch already exists")
        await gitrepo.git(repo.git_dir, "update-ref", f"refs/heads/{name}", sha)
        await self._actions.branch_moved(repo, login_of(request), name, _ZERO, sha)
        return web.json_response(_branch(name, sha), status=201)

    async def delete_branch(self, request: web.Request) -> web.Response:
        """``DELETE /branches/{name}``."""
        repo = self._writable(request)
        name = request.match_info["branch"]
        sha = (await gitrepo.refs(repo.git_dir)).get(f"refs/heads/{name}")
        if sha is None:
            raise refuse(404, "404 Branch Not Found", "NOT_PATH")
        await gitrepo.git(repo.git_dir, "update-ref", "-d", f"refs/heads/{name}", sha)
        await self._actions.branch_moved(repo, login_of(request), name, sha, _ZERO)
        return web.Response(status=204)

    async def _write(self, request: web.Request, *, exists: bool) -> web.Response:
        repo = self._writable(request)
        path = request.match_info["path"]
        if not path.isprintable() or set(path.split("/")) & {"", ".", "..", ".git"}:
            raise refuse(400, f"The path cannot be created: {path}")
        fields = await fields_of(request)
        branch = str(fields.get("branch") or repo.default_branch)
        refs = await gitrepo.refs(repo.git_dir)
        before = refs.get(f"refs/heads/{branch}")
        found = await gitrepo.read_file(repo.git_dir, before, path) if before else None
        if not exists and found is not None:
            raise refuse(400, f"The path cannot be created: {path} ,because {path} already exist.")
        if exists and (found is None or fields.get("sha") != found[0]):
            raise refuse(400, "sha is missing or does not match")
        try:
            content = base64.b64decode(str(fields.get("content") or ""), validate=True)
        except binascii.Error as error:
            raise refuse(400, "content is not base64") from error
        user = request[USER]
        message = str(fields.get("message") or f"update {path}")
        async with self._actions.lock:
            who, now = (user.name, user.email), self._actions.clock.now()
            sha = await gitrepo.commit_files(repo.git_dir, branch, {path: content}, message, author=who, at=now)
        await self._actions.branch_moved(repo, user.login, branch, before or _ZERO, sha)
        written = await gitrepo.read_file(repo.git_dir, sha, path)
        blob = written[0] if written else ""
        shown = {"content": {"path": path, "sha": blob}, "commit": {"sha": sha, "message": message}}
        return web.json_response(shown, status=200 if exists else 201)

    def _writable(self, request: web.Request) -> Repo:
        repo = repo_of(self._actions, request)
        if repo.level(login_of(request)) < DEVELOPER:
            raise refuse(403, "You are not allowed to push code to this project.", "FORBIDDEN")
        return repo

    async def _revision(self, request: web.Request) -> tuple[Repo, str]:
        repo = repo_of(self._actions, request)
        return repo, await self._commit(repo, request.query.get("ref") or repo.default_branch)

    async def _commit(self, repo: Repo, revision: str) -> str:
        try:
            return await gitrepo.resolve(repo.git_dir, revision)
        except gitrepo.GitFailure as error:
            raise refuse(404, f"404 {revision} Not Found", "NOT_PATH") from error

    def _file(self, path: str, sha: str, content: bytes) -> dict[str, Any]:
        encoded = base64.b64encode(content).decode()
        name = path.rpartition("/")[2]
        shown = {"type": "file", "encoding": "base64", "size": len(content), "name": name, "path": path}
        return {**shown, "content": encoded, "sha": sha}


def _branch(name: str, sha: str) -> dict[str, Any]:
    return {"name": name, "commit": {"id": sha, "sha": sha}, "protected": False}
