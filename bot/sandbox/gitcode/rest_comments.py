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
"""REST: comments and threads of pull requests, and who reviews, tests and is assigned."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from bot.sandbox.gitcode.actions import BAD_POSITION, Actions, ApiError, refuse
from bot.sandbox.gitcode.gate import body_of, fields_of, paged
from bot.sandbox.gitcode.rest_pulls import login_of, pull_of, repo_of
from bot.sandbox.gitcode.state import Pull, Repo, Thread, find_note, find_thread

_OWN = {"error_code": 400, "error_message": "Merge request author cannot operate their own merge request"}


class CommentRoutes:
    """Handlers of comments, replies, resolving."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._shapes = actions.shapes

    def routes(self, root: str) -> list[web.RouteDef]:
        """The routes; ``root`` is the path of a repository."""
        one = f"{root}/pulls/{{number}}"
        return [
            web.get(f"{root}/pulls/comments/{{note_id}}", self.get),
            web.patch(f"{root}/pulls/comments/{{note_id}}", self.patch),
            web.delete(f"{root}/pulls/comments/{{note_id}}", self.delete),
            web.get(f"{root}/pulls/comment/{{note_id}}/modify_history", self.history),
            web.get(f"{root}/pulls/comment/{{note_id}}/user_reactions", self.reactions),
            web.get(f"{one}/user_reactions", self.pull_reactions),
            web.get(f"{one}/comments", self.list_comments),
            web.post(f"{one}/comments", self.create),
            web.put(f"{one}/comments/{{discussion_id}}", self.resolve),
            web.post(f"{one}/discussions/{{discussion_id}}/comments", self.reply),
        ]

    async def list_comments(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/comments``: the newest first by default; sort them yourself."""
        _, pull = pull_of(self._actions, request)
        kind = request.query.get("comment_type", "")
        threads = [thread for thread in pull.threads if not kind or _kind(thread) == kind]
        if request.query.get("direction", "desc") != "asc":
            threads.reverse()
        return paged(request, [self._shapes.thread(thread) for thread in threads], self._actions.options)

    async def get(self, request: web.Request) -> web.Response:
        """``GET /pulls/comments/{note_id}``."""
        repo = repo_of(self._actions, request)
        found = find_note(repo, _note_id(request))
        if found is None:
            raise refuse(404, "Note Not Found", "NOT_PATH")
        return web.json_response(self._shapes.note(found[1], found[2]))

    async def create(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/comments``: ``id`` of the answer is the discussion, ``note_id`` the comment."""
        repo, pull = pull_of(self._actions, request)
        fields = await fields_of(request)
        path = fields.get("path") or ""
        file_level = fields.get("position_type") == "binary"
        line = 0 if not path or file_level else _position(fields.get("position"))
        thread, note = await self._actions.comment(
            repo, pull, login_of(request), _text(fields.get("body")), path=str(path), line=line, file_level=file_level
        )
        return web.json_response({"id": thread.id, "body": note.body, "note_id": note.id}, status=201)

    async def patch(self, request: web.Request) -> web.Response:
        """``PATCH /pulls/comments/{note_id}``: own comments only."""
        repo = repo_of(self._actions, request)
        fields = await fields_of(request)
        actor = login_of(request)
        thread, note = await self._actions.edit_note(repo, _note_id(request), actor, _text(fields.get("body")))
        full = self._actions.options.full_comment_patch
        return web.json_response(self._shapes.note(thread, note) if full else {})

    async def delete(self, request: web.Request) -> web.Response:
        """``DELETE /pulls/comments/{note_id}``: own comments only."""
        self._actions.delete_note(repo_of(self._actions, request), _note_id(request), login_of(request))
        return web.Response(status=204)

    async def reply(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/discussions/{discussion_id}/comments``."""
        repo, pull = pull_of(self._actions, request)
        thread = _thread(request, pull)
        fields = await fields_of(request)
        note = await self._actions.reply(repo, pull, thread, login_of(request), _text(fields.get("body")))
        return web.json_response({"id": thread.id, "body": note.body, "note_id": note.id})

    async def resolve(self, request: web.Request) -> web.Response:
        """``PUT /pulls/{n}/comments/{discussion_id}`` ``{"resolved": …}`` → ``{}``."""
        _, pull = pull_of(self._actions, request)
        fields = await fields_of(request)
        if not isinstance(fields.get("resolved"), bool):
            raise refuse(400, "resolved is missing")
        _thread(request, pull).resolved = fields["resolved"]
        return web.json_response({})

    async def history(self, request: web.Request) -> web.Response:
        """``GET /pulls/comment/{id}/modify_history``."""
        found = find_note(repo_of(self._actions, request), _note_id(request))
        return web.json_response([{"content": text} for text in (found[2].history if found else [])])

    async def reactions(self, request: web.Request) -> web.Response:
        """``GET /pulls/comment/{id}/user_reactions``: nobody ever reacts here, and no call writes one."""
        repo_of(self._actions, request)
        _note_id(request)
        return web.json_response([])

    async def pull_reactions(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/user_reactions``: read-only, likewise."""
        pull_of(self._actions, request)
        return web.json_response([])


class PeopleRoutes:
    """Handlers of reviewers, assignees, testers, approval and linked issues."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._shapes = actions.shapes

    def routes(self, root: str) -> list[web.RouteDef]:
        """The routes; ``root`` is the path of a repository."""
        one = f"{root}/pulls/{{number}}"
        return [
            web.post(f"{one}/review", self.approve),
            web.post(f"{one}/test", self.test_passed),
            web.post(f"{one}/reviewers", self.add_reviewers),
            web.delete(f"{one}/reviewers", self.remove_reviewers),
            web.get(f"{one}/option_reviewers", self.candidates),
            web.post(f"{one}/testers", self.add_testers),
            web.post(f"{one}/assignees", self.add_assignees),
            web.delete(f"{one}/assignees", self.remove_assignees),
            web.get(f"{one}/issues", self.issues),
            web.post(f"{one}/issues", self.link_issues),
            web.post(f"{one}/linked_issues", self.link_issues),
            web.delete(f"{one}/issues", self.unlink_issues),
        ]

    async def approve(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/review``: an author cannot approve the own pull request."""
        _, pull = pull_of(self._actions, request)
        return self._vote(request, pull, pull.approved_by)

    async def test_passed(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/test``."""
        _, pull = pull_of(self._actions, request)
        return self._vote(request, pull, pull.tested_by)

    def _vote(self, request: web.Request, pull: Pull, voters: list[str]) -> web.Response:
        actor = login_of(request)
        if actor == pull.author:
            raise ApiError(400, _OWN)
        if actor not in voters:
            voters.append(actor)
        return web.json_response({})

    async def add_reviewers(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/reviewers`` ``{"reviewers": "a,b", "add": true}``; without ``add`` they replace all."""
        _, pull = pull_of(self._actions, request)
        fields = await fields_of(request)
        names = self._logins(fields.get("reviewers"))
        pull.reviewers = list(dict.fromkeys([*(pull.reviewers if fields.get("add") else []), *names]))
        return web.json_response([self._shapes.reviewer(login) for login in pull.reviewers], status=201)

    async def remove_reviewers(self, request: web.Request) -> web.Response:
        """``DELETE /pulls/{n}/reviewers`` with a JSON body."""
        _, pull = pull_of(self._actions, request)
        names = self._logins((await fields_of(request)).get("reviewers"))
        pull.reviewers = [login for login in pull.reviewers if login not in names]
        return web.json_response([self._shapes.reviewer(login) for login in pull.reviewers])

    async def candidates(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/option_reviewers``."""
        repo, _ = pull_of(self._actions, request)
        return web.json_response([self._shapes.reviewer(login) for login in (repo.owner, *repo.members)])

    async def add_testers(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/testers``."""
        _, pull = pull_of(self._actions, request)
        fields = await fields_of(request)
        names = self._logins(fields.get("testers"))
        pull.testers = list(dict.fromkeys([*(pull.testers if fields.get("add") else []), *names]))
        return web.json_response([self._shapes.reviewer(login) for login in pull.testers], status=201)

    async def add_assignees(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/assignees`` → a count."""
        _, pull = pull_of(self._actions, request)
        names = self._logins((await fields_of(request)).get("assignees"))
        pull.assignees = list(dict.fromkeys([*pull.assignees, *names]))
        return web.json_response({"assignees_number": len(pull.assignees)}, status=201)

    async def remove_assignees(self, request: web.Request) -> web.Response:
        """``DELETE /pulls/{n}/assignees?assignees=a,b``: by query."""
        _, pull = pull_of(self._actions, request)
        names = self._logins(request.query.get("assignees", ""))
        pull.assignees = [login for login in pull.assignees if login not in names]
        return web.json_response({"assignees_number": len(pull.assignees)})

    async def issues(self, request: web.Request) -> web.Response:
        """``GET /pulls/{n}/issues``."""
        repo, pull = pull_of(self._actions, request)
        return paged(request, self._linked(repo, pull), self._actions.options)

    async def link_issues(self, request: web.Request) -> web.Response:
        """``POST /pulls/{n}/issues`` with an array of numbers."""
        repo, pull = pull_of(self._actions, request)
        for number in await self._numbers(request):
            if number not in repo.issues:
                raise refuse(404, "Issue Not Found", "NOT_PATH")
            if number not in pull.issues:
                pull.issues.append(number)
                self._actions.log(pull, login_of(request), "add_mr_issue_link", f"add issue link #{number}")
        return web.json_response(self._linked(repo, pull), status=201)

    async def unlink_issues(self, request: web.Request) -> web.Response:
        """``DELETE /pulls/{n}/issues`` with an array of numbers."""
        repo, pull = pull_of(self._actions, request)
        numbers = await self._numbers(request)
        pull.issues = [number for number in pull.issues if number not in numbers]
        return web.json_response(self._linked(repo, pull))

    async def _numbers(self, request: web.Request) -> list[str]:
        body = await body_of(request)
        if not isinstance(body, list):
            raise refuse(400, "body should be an array of issue numbers")
        return [str(number) for number in body]

    def _linked(self, repo: Repo, pull: Pull) -> list[dict[str, Any]]:
        issues = (repo.issues[number] for number in pull.issues)
        return [{"id": issue.id, "number": issue.number, "title": issue.title} for issue in issues]

    def _logins(self, raw: Any) -> list[str]:
        names = [name.strip() for name in str(raw or "").split(",") if name.strip()]
        if not names or any(name not in self._actions.world.users for name in names):
            raise refuse(404, "User Not Found", "NOT_PATH")
        return names


def _kind(thread: Thread) -> str:
    return "diff_comment" if thread.position else "pr_comment"


def _thread(request: web.Request, pull: Pull) -> Thread:
    thread = find_thread(pull, request.match_info["discussion_id"])
    if thread is None:
        raise refuse(404, "Discussion Not Found", "NOT_PATH")
    return thread


def _note_id(request: web.Request) -> int:
    raw = request.match_info["note_id"]
    if not (raw.isascii() and raw.isdigit()):
        raise ApiError(400, {"error_message": "Orchestration error: Invalid path parameter: note_id, number required"})
    return int(raw)


def _position(raw: Any) -> int:
    text = str(raw)
    if isinstance(raw, bool) or not (text.isascii() and text.isdigit()):
        raise refuse(400, BAD_POSITION)
    return int(text)


def _text(raw: Any) -> str:
    return raw if isinstance(raw, str) else ""
