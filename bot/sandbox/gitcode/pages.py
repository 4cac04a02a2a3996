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
"""Pages to look at: a repository's pull requests, and one pull request with its labels and comments."""

from __future__ import annotations

from html import escape

from aiohttp import web

from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.actions import Actions
from bot.sandbox.gitcode.state import Note, Pull, Repo, Thread, stamp

_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f5f7;padding:.7rem;border-radius:6px}"
    ".label{background:#dff3e3;border-radius:9px;padding:0 .6rem;margin-right:.4rem}.meta{color:#57606a}"
)


class PageRoutes:
    """Read-only pages; the API is what counts."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions

    def routes(self) -> list[web.RouteDef]:
        """The routes."""
        return [
            web.get("/", self.index),
            web.get("/{owner}/{repo}/raw/{sha}/{path:.+}", self.raw),
            web.get("/{owner}/{repo}", self.repo),
            web.get("/{owner}/{repo}/{kind:merge_requests|pulls|pull}/{number:[0-9]+}", self.pull),
        ]

    async def index(self, request: web.Request) -> web.Response:
        """All repositories."""
        names = [escape(name) for name in self._actions.world.repos]
        return _page("GitCode (sandbox)", "".join(f'<p><a href="/{name}">{name}</a></p>' for name in names))

    async def repo(self, request: web.Request) -> web.Response:
        """A repository's pull requests."""
        repo = self._repo(request)
        root = f"/{escape(repo.full_name)}/merge_requests"
        items = (
            f'<p><a href="{root}/{pull.number}">!{pull.number} {escape(pull.title)}</a> {_labels(pull)} '
            f"<span class=meta>{pull.state}</span></p>"
            for pull in reversed(repo.pulls.values())
        )
        return _page(repo.full_name, "".join(items))

    async def pull(self, request: web.Request) -> web.Response:
        """One pull request."""
        repo = self._repo(request)
        pull = repo.pulls.get(int(request.match_info["number"]))
        if pull is None:
            raise web.HTTPNotFound
        source = f"{pull.source_repo}:{pull.source_branch} → {pull.target_branch} · {pull.head_sha[:8]}"
        head = (
            f"<p class=meta>{pull.state} · {escape(pull.author)} · {escape(source)}</p>"
            f"<p>{_labels(pull)}</p><pre>{escape(pull.body)}</pre>"
        )
        return _page(f"!{pull.number} {pull.title}", head + "".join(_thread(thread) for thread in pull.threads))

    async def raw(self, request: web.Request) -> web.Response:
        """A file at a commit, as plain text."""
        repo = self._repo(request)
        try:
            sha = await gitrepo.resolve(repo.git_dir, request.match_info["sha"])
        except gitrepo.GitFailure as error:
            raise web.HTTPNotFound from error
        found = await gitrepo.read_file(repo.git_dir, sha, request.match_info["path"])
        if found is None:
            raise web.HTTPNotFound
        return web.Response(body=found[1], content_type="text/plain", charset="utf-8")

    def _repo(self, request: web.Request) -> Repo:
        repo = self._actions.world.repos.get(f"{request.match_info['owner']}/{request.match_info['repo']}")
        if repo is None:
            raise web.HTTPNotFound
        return repo


def _page(title: str, body: str) -> web.Response:
    head = f"<!doctype html><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
    return web.Response(text=f"{head}<h1>{escape(title)}</h1>{body}", content_type="text/html")


def _labels(pull: Pull) -> str:
    return "".join(f"<span class=label>{escape(name)}</span>" for name in pull.labels)


def _thread(thread: Thread) -> str:
    place = f" · {escape(thread.position.path)}:{thread.position.line}" if thread.position else ""
    return "".join(_note(note, place) for note in thread.notes)


def _note(note: Note, place: str) -> str:
    head = f"{escape(note.author)} · {stamp(note.created_at)}{place}"
    return f"<h3 id=note_{note.id} class=meta>{head}</h3><pre>{escape(note.body)}</pre>"
