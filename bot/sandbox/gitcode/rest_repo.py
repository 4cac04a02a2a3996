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
"""REST: a repository itself, its labels, issues, members, forks and hooks."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from bot.sandbox.gitcode import gitrepo, payloads
from bot.sandbox.gitcode.actions import Actions, refuse
from bot.sandbox.gitcode.deliver import EVENT_FLAGS
from bot.sandbox.gitcode.gate import body_of, fields_of, paged
from bot.sandbox.gitcode.repos import fork_repo
from bot.sandbox.gitcode.rest_pulls import login_of, repo_of
from bot.sandbox.gitcode.state import DEVELOPER, MAINTAINER, Hook, Repo

_ZERO = "0" * 40


class RepoRoutes:
    """Handlers of the repository itself, labels, issues, members, forks and hooks."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._shapes = actions.shapes

    def routes(self, root: str) -> list[web.RouteDef]:
        """The routes; ``root`` is the path of a repository."""
        return [
            web.get(root, self.get),
            web.get(f"{root}/labels", self.labels),
            web.post(f"{root}/labels", self.create_label),
            web.get(f"{root}/issues", self.issues),
            web.post(f"{root}/issues", self.create_issue),
            web.get(f"{root}/issues/{{number}}", self.issue),
            web.get(f"{root}/forks", self.forks),
            web.post(f"{root}/forks", self.fork),
            web.get(f"{root}/collaborators", self.members),
            web.get(f"{root}/collaborators/self-permission", self.self_permission),
            web.get(f"{root}/collaborators/{{login}}", self.member),
            web.get(f"{root}/collaborators/{{login}}/permission", self.permission),
            web.get(f"{root}/hooks", self.hooks),
            web.post(f"{root}/hooks", self.create_hook),
            web.get(f"{root}/hooks/{{id}}", self.hook),
            web.patch(f"{root}/hooks/{{id}}", self.patch_hook),
            web.delete(f"{root}/hooks/{{id}}", self.delete_hook),
            web.post(f"{root}/hooks/{{id}}/tests", self.test_hook),
        ]

    async def get(self, request: web.Request) -> web.Response:
        """``GET /repos/{owner}/{repo}``."""
        return web.json_response(self._shapes.repo(repo_of(self._actions, request)))

    async def labels(self, request: web.Request) -> web.Response:
        """``GET /labels``."""
        repo = repo_of(self._actions, request)
        shown = [self._shapes.label(repo, label) for label in repo.labels.values()]
        return paged(request, shown, self._actions.options, default=100)

    async def create_label(self, request: web.Request) -> web.Response:
        """``POST /labels``: form-encoded ``name`` and ``color``."""
        repo = repo_of(self._actions, request)
        if repo.level(login_of(request)) < DEVELOPER:
            raise refuse(403, "no permission to create a label", "FORBIDDEN")
        fields = await fields_of(request)
        name = str(fields.get("name") or "")
        if name in repo.labels:
            raise refuse(400, "Label already exists")
        label = self._actions.ensure_label(repo, name, str(fields.get("color") or ""))
        return web.json_response(self._shapes.label(repo, label, written=True), status=201)

    async def issues(self, request: web.Request) -> web.Response:
        """``GET /issues``."""
        repo = repo_of(self._actions, request)
        shown = [self._shapes.issue(repo, issue) for issue in repo.issues.values()]
        return paged(request, shown, self._actions.options)

    async def create_issue(self, request: web.Request) -> web.Response:
        """``POST /issues``; ``labels`` and ``assignee`` are refused with the misleading text about the token."""
        repo = repo_of(self._actions, request)
        fields = await fields_of(request)
        if fields.get("labels") or fields.get("assignee"):
            raise refuse(403, "CH.00000403 apig token has not permission to request url")
        title, body = str(fields.get("title") or ""), str(fields.get("body") or "")
        issue = self._actions.add_issue(repo, login_of(request), title, body)
        return web.json_response(self._shapes.issue(repo, issue), status=201)

    async def issue(self, request: web.Request) -> web.Response:
        """``GET /issues/{number}``: numbers are strings, and not those of pull requests."""
        repo = repo_of(self._actions, request)
        issue = repo.issues.get(request.match_info["number"])
        if issue is None:
            raise refuse(404, "Issue Not Found", "NOT_PATH")
        return web.json_response(self._shapes.issue(repo, issue))

    async def forks(self, request: web.Request) -> web.Response:
        """``GET /forks``."""
        repo = repo_of(self._actions, request)
        forks = [other for other in self._actions.world.repos.values() if other.fork_of == repo.full_name]
        return paged(request, [self._shapes.repo(fork) for fork in forks], self._actions.options)

    async def fork(self, request: web.Request) -> web.Response:
        """``POST /forks`` ``{organization, name, path}``."""
        repo = repo_of(self._actions, request)
        fields = await fields_of(request)
        owner = str(fields.get("organization") or login_of(request))
        if owner != login_of(request):
            raise refuse(403, "no permission for this organization", "FORBIDDEN")
        fork = await fork_repo(self._actions, repo, owner, path=str(fields.get("path") or repo.path))
        return web.json_response(self._shapes.repo(fork), status=201)

    async def members(self, request: web.Request) -> web.Response:
        """``GET /collaborators``."""
        repo = repo_of(self._actions, request)
        shown = [self._shapes.permission(repo, login) for login in (repo.owner, *repo.members)]
        return paged(request, shown, self._actions.options)

    async def member(self, request: web.Request) -> web.Response:
        """``GET /collaborators/{login}``: 204 or 404."""
        repo = repo_of(self._actions, request)
        if not repo.level(request.match_info["login"]):
            raise refuse(404, "404 Not Found", "NOT_PATH")
        return web.Response(status=204)

    async def permission(self, request: web.Request) -> web.Response:
        """``GET /collaborators/{login}/permission``."""
        repo = repo_of(self._actions, request)
        login = request.match_info["login"]
        if not repo.level(login):
            raise refuse(404, "404 Not Found", "NOT_PATH")
        return web.json_response(self._shapes.permission(repo, login))

    async def self_permission(self, request: web.Request) -> web.Response:
        """``GET /collaborators/self-permission``."""
        repo = repo_of(self._actions, request)
        return web.json_response(self._shapes.self_permission(repo, login_of(request)))

    async def hooks(self, request: web.Request) -> web.Response:
        """``GET /hooks``."""
        repo = self._owned(request)
        return paged(request, [self._shapes.hook(repo, hook) for hook in repo.hooks.values()], self._actions.options)

    async def create_hook(self, request: web.Request) -> web.Response:
        """``POST /hooks``."""
        repo = self._owned(request)
        hook = add_hook(self._actions, repo, await fields_of(request))
        return web.json_response(self._shapes.hook(repo, hook), status=201)

    async def hook(self, request: web.Request) -> web.Response:
        """``GET /hooks/{id}``."""
        repo, hook = self._hook(request)
        return web.json_response(self._shapes.hook(repo, hook))

    async def patch_hook(self, request: web.Request) -> web.Response:
        """``PATCH /hooks/{id}``; ``url`` is required."""
        repo, hook = self._hook(request)
        fields = await body_of(request)
        if not isinstance(fields, dict) or not fields.get("url"):
            raise refuse(400, "url is missing")
        hook.url = str(fields["url"])
        if fields.get("password") is not None:
            hook.password = str(fields["password"])
        if fields.get("encryption_type") is not None:
            hook.encryption_type = int(fields["encryption_type"])
        hook.events |= {name: bool(fields[name]) for name in EVENT_FLAGS if fields.get(name) is not None}
        return web.json_response(self._shapes.hook(repo, hook))

    async def delete_hook(self, request: web.Request) -> web.Response:
        """``DELETE /hooks/{id}``."""
        repo, hook = self._hook(request)
        del repo.hooks[hook.id]
        return web.Response(status=204)

    async def test_hook(self, request: web.Request) -> web.Response:
        """``POST /hooks/{id}/tests``: a sample of a real event; there is no ping."""
        repo, hook = self._hook(request)
        sha = await gitrepo.resolve(repo.git_dir, repo.default_branch)
        commits = await gitrepo.commits(repo.git_dir, sha, limit=1)
        payload = payloads.push(self._shapes, repo, login_of(request), repo.default_branch, _ZERO, sha, commits)
        await self._actions.hooks.send_now(hook, payloads.PUSH, payload)
        return web.Response(status=204)

    def _hook(self, request: web.Request) -> tuple[Repo, Hook]:
        repo = self._owned(request)
        raw = request.match_info["id"]
        hook = repo.hooks.get(int(raw)) if raw.isascii() and raw.isdigit() else None
        if hook is None:
            raise refuse(404, "Hook Not Found", "NOT_PATH")
        return repo, hook

    def _owned(self, request: web.Request) -> Repo:
        repo = repo_of(self._actions, request)
        if repo.level(login_of(request)) < MAINTAINER:
            raise refuse(403, "no permission for hooks", "FORBIDDEN")
        return repo


def add_hook(actions: Actions, repo: Repo, fields: dict[str, Any]) -> Hook:
    """Register a hook; registering it twice makes two."""
    url = str(fields.get("url") or "")
    if not url.startswith(("http://", "https://")):
        raise refuse(400, "url is missing")
    events = {name: bool(fields.get(name)) for name in EVENT_FLAGS}
    number, kind = actions.world.next_id("hook", 9529), int(fields.get("encryption_type") or 0)
    hook = Hook(number, url, str(fields.get("password") or ""), kind, actions.clock.now(), events)
    repo.hooks[number] = hook
    return hook
