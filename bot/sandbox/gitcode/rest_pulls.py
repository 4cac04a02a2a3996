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
"""REST: pull requests, their labels, people and history."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aiohttp import web

from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.actions import Actions, ApiError, refuse
from bot.sandbox.gitcode.diffs import file_item, files_json
from bot.sandbox.gitcode.gate import USER, body_of, fields_of, paged
from bot.sandbox.gitcode.shapes import Json
from bot.sandbox.gitcode.state import DEVELOPER, Pull, Repo

_STATES = {"open": "opened", "closed": "closed", "merged": "merged", "locked": "locked"}
_PATCH_LIMIT = 500_000


def repo_of(actions: Actions, request: web.Request) -> Repo:
    """The repository in the path."""
    repo = actions.world.repos.get(f"{request.match_info['owner']}/{request.match_info['repo']}")
    if repo is None:
        raise ApiError(404, {"message": "404 project not found"})
    return repo


def pull_of(actions: Actions, request: web.Request) -> tuple[Repo, Pull]:
    """The pull request in the path; a new one may hide for a moment."""
    repo = repo_of(actions, request)
    number = request.match_info["number"]
    if not (number.isascii() and number.isdigit()):
        raise ApiError(400, {"error_message": "Orchestration error: Invalid path parameter: number, number required"})
    pull = repo.pulls.get(int(number))
    if pull is None:
        raise refuse(404, "Merge Request Not Found", "NOT_PATH")
    if pull.hidden_reads > 0:
        pull.hidden_reads -= 1
        raise ApiError(404, {"message": "404 project not found"})
    return repo, pull


def login_of(request: web.Request) -> str:
    """Who calls."""
    return request[USER].login


class PullRoutes:
    """Handlers below ``/pulls``, comments excepted."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._shapes = actions.shapes

    def routes(self, root: str) -> list[web.RouteDef]:
        """The routes; ``root`` is the path of a repository."""
        one = f"{root}/pulls/{{number}}"
        return [
            web.get(f"{root}/pulls", self.list_pulls),
            web.post(f"{root}/pulls", self.create),
            web.get(one, self.get),
            web.patch(one, self.patch),
            web.get(f"{one}/merge", self.merged),
            web.put(f"{one}/merge", self.merge),
            web.get(f"{one}/commits", self.commits),
            web.get(f"{one}/files", self.files),
            web.get(f"{one}/files.json", self.files_json),
            web.get(f"{one}/diff", self.diff),
            web.get(f"{one}/operate_logs", self.logs),
            web.get(f"{one}/modify_history", self.history),
            web.get(f"{one}/labels", self.labels),
            web.post(f"{one}/labels", self.add_labels),
            web.put(f"{one}/labels", self.replace_labels),
            web.delete(f"{one}/labels/{{name}}", self.remove_label),
        ]

    async def list_pulls(self, request: web.Request) -> web.Response:
        """``GET /pulls``: filters, order, counts."""
        repo = repo_of(self._actions, request)
        query = request.query
        if query.get("only_count") == "true":
            return web.json_response(_counts(repo))
        pulls = [pull for pull in repo.pulls.values() if _wanted(pull, query)]
        by_update = query.get("sort") == "updated"
        pulls.sort(key=lambda pull: (pull.updated_at if by_update else pull.created_at, pull.number))
        if query.get("direction", "desc") == "desc":
            pulls.reverse()
        return paged(request, [await self._item(repo, pull) for pull in pulls], self._actions.options)

    async def get(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}``."""
        repo, pull = pull_of(self._actions, request)
        reasons = {}
        if repo.level(login_of(request)) < DEVELOPER:
            text = "You are in project members list, but do not have PUSH permission, please check it."
            reasons["merged_by_user_passed"] = text
        mergeable = await self._actions.mergeable(repo, pull)
        return web.json_response(self._shapes.pull(repo, pull, mergeable=mergeable, reasons=reasons))

    async def create(self, request: web.Request) -> web.Response:
        """``POST /pulls``; ``head`` is ``branch``, ``user:branch`` or ``owner/repo:branch``."""
        repo = repo_of(self._actions, request)
        fields = await fields_of(request)
        source, branch = self._source(repo, str(fields.get("head") or ""), str(fields.get("fork_path") or ""))
        if source.level(login_of(request)) < DEVELOPER:
            raise refuse(403, "no permission for the source project")
        title = str(fields.get("title") or "")
        if fields.get("draft") and not title.startswith("[WIP]"):
            title = f"[WIP]{title}"
        labels = fields.get("labels") or ""
        pull = await self._actions.open_pull(
            repo,
            login_of(request),
            title=title,
            body=str(fields.get("body") or ""),
            source=source,
            branch=branch,
            target=str(fields.get("base") or repo.default_branch),
            labels=_comma_list(labels) if isinstance(labels, str) else [str(name) for name in labels],
        )
        return web.json_response(self._shapes.created_pull(repo, pull), status=201)

    async def patch(self, request: web.Request) -> web.Response:
        """``PATCH /pulls/{n}``: a thin answer, or the ``error_code`` 200 one."""
        repo, pull = pull_of(self._actions, request)
        actor = login_of(request)
        if actor != pull.author and repo.level(actor) < DEVELOPER:
            raise refuse(403, "no permission to update the merge request", "FORBIDDEN")
        fields = await fields_of(request)
        if "labels" in fields and fields["labels"] is not None:
            if fields["labels"] == "":
                raise refuse(400, "labels is empty")
            await self._actions.set_labels(repo, pull, actor, _comma_list(str(fields["labels"])))
        title = str(fields["title"]) if fields.get("title") else None
        body = str(fields["body"]) if fields.get("body") is not None else None
        await self._actions.edit_pull(repo, pull, actor, title=title, body=body)
        state = fields.get("state")
        if state in ("closed", "open"):
            await self._actions.set_state(repo, pull, actor, "closed" if state == "closed" else "opened")
        if state == "closed" and self._actions.options.close_answers_200:
            return web.json_response(_UNREADABLE)
        return web.json_response(self._shapes.patched_pull(pull))

    async def merged(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/merge``."""
        _, pull = pull_of(self._actions, request)
        if pull.state != "merged":
            raise refuse(404, "Pull Request has not been merged", "NOT_PATH")
        return web.json_response({"message": "Pull Request has been merged"})

    async def merge(self, request: web.Request) -> web.Response:
        """``PUT /pulls/{n}/merge``; always by a merge commit."""
        repo, pull = pull_of(self._actions, request)
        sha = await self._actions.merge(repo, pull, login_of(request))
        return web.json_response({"sha": sha, "merged": True, "message": "Pull Request 已成功合并"})

    async def commits(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/commits``."""
        repo, pull = pull_of(self._actions, request)
        found = await gitrepo.commits(repo.git_dir, f"{pull.base_sha}..{pull.head_sha}")
        return paged(request, [self._shapes.commit(repo, commit) for commit in found], self._actions.options)

    async def files(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/files``."""
        repo, pull = pull_of(self._actions, request)
        source = self._actions.world.repos.get(pull.source_repo)
        fork = {"id": source.id, "full_name": source.full_name, "path": source.path} if source else None
        common = {
            "target_branch": pull.target_branch,
            "source_branch": pull.source_branch,
            "source_project": fork,
            "target_project": {"id": repo.id, "full_name": repo.full_name, "path": repo.path},
        }
        web_url, raw = self._shapes.web(repo), self._shapes.raw(repo)
        files = await self._actions.diff(repo, pull)
        items = [file_item(file, pull.head_sha, common, web_url, raw, _PATCH_LIMIT) for file in files]
        return paged(request, items, self._actions.options, default=100)

    async def files_json(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/files.json``."""
        repo, pull = pull_of(self._actions, request)
        files = await self._actions.diff(repo, pull)
        return web.json_response(files_json(files, await self._refs(repo, pull), self._shapes.raw(repo)))

    async def diff(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/diff``: plain text."""
        repo, pull = pull_of(self._actions, request)
        start = await gitrepo.merge_base(repo.git_dir, pull.base_sha, pull.head_sha)
        return web.Response(text=await gitrepo.diff(repo.git_dir, start, pull.head_sha))

    async def logs(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/operate_logs``: the newest first."""
        repo, pull = pull_of(self._actions, request)
        entries = [self._shapes.log(repo, pull, entry) for entry in pull.log]
        if request.query.get("sort") != "asc":
            entries.reverse()
        return paged(request, entries, self._actions.options)

    async def history(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/modify_history``."""
        _, pull = pull_of(self._actions, request)
        return web.json_response([{"content": text} for text in pull.body_history])

    async def labels(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/labels``."""
        repo, pull = pull_of(self._actions, request)
        return paged(request, self._shapes.labels(repo, pull), self._actions.options, default=100)

    async def add_labels(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/labels``: a bare array goes in, an array comes out."""
        repo, pull = pull_of(self._actions, request)
        names = _names(await body_of(request))
        await self._set_labels(request, repo, pull, [*pull.labels, *names])
        return web.json_response(self._shapes.labels(repo, pull, written=True), status=201)

    async def replace_labels(self, request: web.Request) -> web.Response:
        """``PUT /pulls/{n}/labels``: the array replaces all."""
        repo, pull = pull_of(self._actions, request)
        await self._set_labels(request, repo, pull, _names(await body_of(request)))
        return web.json_response(self._shapes.labels(repo, pull, written=True))

    async def remove_label(self, request: web.Request) -> web.Response:
        """``DELETE /pulls/{n}/labels/{name}``: several joined by a comma; 404 for one that is not there."""
        repo, pull = pull_of(self._actions, request)
        names = _comma_list(request.match_info["name"])
        if not names or any(name not in pull.labels for name in names):
            raise refuse(404, "Label Not Found", "NOT_PATH")
        await self._set_labels(request, repo, pull, [name for name in pull.labels if name not in names])
        return web.Response(status=204)

    async def _set_labels(self, request: web.Request, repo: Repo, pull: Pull, names: list[str]) -> None:
        actor = login_of(request)
        if repo.level(actor) < DEVELOPER:
            raise refuse(403, "no permission to label the merge request", "FORBIDDEN")
        await self._actions.set_labels(repo, pull, actor, names)

    async def _item(self, repo: Repo, pull: Pull) -> Json:
        files = await self._actions.diff(repo, pull)
        lines = (sum(file.additions for file in files), sum(file.deletions for file in files))
        mergeable = await self._actions.mergeable(repo, pull)
        return self._shapes.pull_item(repo, pull, await self._refs(repo, pull), lines, mergeable=mergeable)

    async def _refs(self, repo: Repo, pull: Pull) -> dict[str, str]:
        start = await gitrepo.merge_base(repo.git_dir, pull.base_sha, pull.head_sha)
        return {"base_sha": pull.base_sha, "start_sha": start, "head_sha": pull.head_sha}

    def _source(self, repo: Repo, head: str, fork_path: str) -> tuple[Repo, str]:
        owner, colon, branch = head.rpartition(":")
        if not colon:
            return self._actions.world.repos.get(fork_path, repo), head
        name = owner if "/" in owner else fork_path or f"{owner}/{repo.path}"
        source = self._actions.world.repos.get(name)
        if source is None:
            raise refuse(404, "source project not found", "NOT_PATH")
        return source, branch


_UNREADABLE = {
    "error_code": 200,
    "error_code_name": "OK",
    "error_message": "Error while extracting response for type [class OpenApiPutMergeRequestResp] and content type "
    '[application/json] (through reference chain: ["closed_by"])',
    "trace_id": "2b3c4d5e6f708192a3b4c5d6e7f8091a",
}


def _counts(repo: Repo) -> dict[str, int]:
    counts = {"all": len(repo.pulls), "opened": 0, "closed": 0, "merged": 0, "locked": 0}
    for pull in repo.pulls.values():
        counts[pull.state] += 1
    return counts


def _wanted(pull: Pull, query: Any) -> bool:
    state = query.get("state", "all")
    labels = _comma_list(query.get("labels", ""))
    return (
        (state == "all" or pull.state == _STATES.get(state, state))
        and query.get("base", pull.target_branch) == pull.target_branch
        and query.get("author", pull.author) == pull.author
        and all(name in pull.labels for name in labels)
        and _between(pull.updated_at, query.get("updated_after") or query.get("since"), query.get("updated_before"))
        and _between(pull.created_at, query.get("created_after"), query.get("created_before"))
    )


def _between(moment: datetime, after: str | None, before: str | None) -> bool:
    return (not after or moment >= _time(after)) and (not before or moment <= _time(before))


def _time(raw: str) -> datetime:
    try:
        return datetime.fromisoformat(raw.replace(" ", "+")).astimezone()
    except ValueError as error:
        raise refuse(400, f"invalid time {raw}") from error


def _names(body: Any) -> list[str]:
    if not isinstance(body, list) or not all(isinstance(name, str) for name in body):
        raise refuse(400, "body should be an array of label names")
    return body


def _comma_list(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
