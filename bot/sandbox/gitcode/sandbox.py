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
"""The sandbox as a whole: start it, arrange a world, look at what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiohttp import web

from bot.clock import Clock, SystemClock
from bot.sandbox.faults import FaultScript, fault_middleware
from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.actions import Actions
from bot.sandbox.gitcode.deliver import HookSender
from bot.sandbox.gitcode.gate import API, USER, Recorded, error_texts, gatekeeper, recorder
from bot.sandbox.gitcode.githttp import GitBridge
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.pages import PageRoutes
from bot.sandbox.gitcode.repos import fork_repo, make_repo
from bot.sandbox.gitcode.rest_comments import CommentRoutes, PeopleRoutes
from bot.sandbox.gitcode.rest_files import FileRoutes
from bot.sandbox.gitcode.rest_pulls import PullRoutes
from bot.sandbox.gitcode.rest_repo import RepoRoutes, add_hook
from bot.sandbox.gitcode.shapes import Shapes
from bot.sandbox.gitcode.state import (
    ALL_SCOPES,
    DEVELOPER,
    Delivery,
    Hook,
    Issue,
    Note,
    Pull,
    Repo,
    Thread,
    User,
    World,
)
from bot.sandbox.server import LocalServer

_ZERO = "0" * 40


class Sandbox(LocalServer):
    """A local GitCode. ``async with Sandbox(path) as forge:`` starts and stops it.

    Args:
        state_dir: Directory for the repositories; made when it is missing.
        clock: Stamps times, measures the rate limit, waits for late hooks; the machine's own by default.
        options: Switches of behaviour.
        host: Address to listen on.
        port: Port to listen on; 0 picks a free one.
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        clock: Clock | None = None,
        options: Options | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__(host, port)
        self.world = World()
        self.faults = FaultScript()
        self.requests: list[Recorded] = []
        self.clock: Clock = clock or SystemClock()
        self.options = options or Options()
        self._state_dir = state_dir.resolve()
        self._actions: Actions | None = None
        self.origin = ""

    # -- start and stop -------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen. Afterwards ``origin`` and ``api_url`` are set."""
        await asyncio.to_thread(self._state_dir.mkdir, parents=True, exist_ok=True)
        app = web.Application(
            middlewares=[
                recorder(self.requests, self.world, self.clock),
                fault_middleware(self.faults, self.clock),
                error_texts(),
                gatekeeper(self.world, self.options, self.clock),
            ],
            client_max_size=64 * 2**20,
        )
        hooks = HookSender(self.world, self.options, self.faults, self.clock)
        shapes = Shapes(self.world, "")
        self._actions = Actions(self.world, shapes, hooks, self.options, self.clock)
        self._add_routes(app, self._actions)
        await self._listen(app)
        self.origin = f"http://{self._host}:{self._port}"
        shapes.origin = self.origin

    async def stop(self) -> None:
        """Stop listening and sending hooks; repositories stay on disk."""
        self.faults.release()
        if self._actions is not None:
            await self._actions.hooks.close()
        await self._stop_listening()

    @property
    def actions(self) -> Actions:
        """The forge's rules; only while it runs."""
        if self._actions is None:
            raise RuntimeError("For Sandbox, start() should have been called.")
        return self._actions

    @property
    def api_url(self) -> str:
        """Root of the REST API."""
        return f"{self.origin}{API}"

    # -- arrange --------------------------------------------------------------------------------------------

    def add_user(self, login: str, *, token: str = "", name: str = "", scopes: frozenset[str] = ALL_SCOPES) -> User:
        """A person or robot; the token is ``token-<login>`` unless given."""
        if login in self.world.users:
            raise ValueError(f"For add_user, login should be new, but {login} exists.")
        number = self.world.next_id("user", 910_001)
        user = User(number, login, name or login, token or f"token-{login}", scopes)
        self.world.users[login] = user
        return user

    async def create_repo(
        self,
        full_name: str,
        *,
        files: Mapping[str, str | bytes],
        members: Mapping[str, int] | None = None,
        name: str = "",
        default_branch: str = "master",
        labels: Sequence[str] = (),
        first_pull: int = 1,
    ) -> Repo:
        """A repository ``owner/path`` with a first commit.

        Args:
            full_name: ``owner/path``; the owner needs not be a user.
            files: Path → content of the first commit.
            members: Login → access level (30 developer, 40 maintainer).
            name: Display name, which may differ from the path.
            default_branch: Its branch.
            labels: Labels that exist from the start.
            first_pull: Number of its first pull request.
        """
        root = self._state_dir / "repos"
        repo = await make_repo(
            self.actions, root, full_name, name=name, default_branch=default_branch, files=files, first_pull=first_pull
        )
        repo.members.update(members or {})
        for label in labels:
            self.actions.ensure_label(repo, label)
        return repo

    async def fork(self, full_name: str, owner: str) -> Repo:
        """A fork of a repository."""
        return await fork_repo(self.actions, self.world.repo(full_name), owner)

    def add_member(self, full_name: str, login: str, level: int = DEVELOPER) -> None:
        """Give a login an access level."""
        self.world.repo(full_name).members[login] = level

    def add_issue(self, full_name: str, author: str, title: str, body: str = "") -> Issue:
        """An issue."""
        return self.actions.add_issue(self.world.repo(full_name), author, title, body)

    def add_hook(
        self,
        full_name: str,
        url: str,
        *,
        secret: str,
        signed: bool = True,
        events: Sequence[str] = ("merge_requests_events", "note_events"),
    ) -> Hook:
        """Register a web hook: signed with ``secret``, or with it as the password in a header."""
        fields = {"url": url, "password": secret, "encryption_type": 1 if signed else 0, **dict.fromkeys(events, True)}
        return add_hook(self.actions, self.world.repo(full_name), fields)

    # -- act as somebody ------------------------------------------------------------------------------------

    async def push(
        self,
        full_name: str,
        branch: str,
        files: Mapping[str, str | bytes | None],
        *,
        author: str,
        message: str = "feat: change",
        parent: str = "",
    ) -> str:
        """Commit to a branch as somebody, as if pushed: heads move, hooks go out. Returns the commit.

        Args:
            full_name: The repository.
            branch: Branch to move; made from ``parent`` or the default branch when it is missing.
            files: Path → new content, or ``None`` to delete.
            author: Login.
            message: Commit message.
            parent: Commit or branch to start from.
        """
        repo, user = self.world.repo(full_name), self.world.users[author]
        async with self.actions.lock:
            before = (await gitrepo.refs(repo.git_dir)).get(f"refs/heads/{branch}")
            start = parent or ("" if before else repo.default_branch)
            who = (user.name, user.email)
            now = self.clock.now()
            sha = await gitrepo.commit_files(repo.git_dir, branch, files, message, author=who, at=now, parent=start)
        await self.actions.branch_moved(repo, author, branch, before or _ZERO, sha)
        return sha

    async def open_pull_request(
        self,
        full_name: str,
        *,
        author: str,
        title: str,
        body: str,
        branch: str,
        head_repo: str = "",
        target: str = "",
        labels: Sequence[str] = (),
    ) -> Pull:
        """Open a pull request from ``head_repo`` (by default the repository itself)."""
        repo = self.world.repo(full_name)
        source = self.world.repo(head_repo or full_name)
        base = target or repo.default_branch
        return await self.actions.open_pull(
            repo, author, title=title, body=body, source=source, branch=branch, target=base, labels=labels
        )

    async def edit_description(self, full_name: str, number: int, body: str, *, actor: str = "") -> None:
        """Change a description, as its author unless told otherwise."""
        repo, pull = self._pull(full_name, number)
        await self.actions.edit_pull(repo, pull, actor or pull.author, body=body)

    async def edit_title(self, full_name: str, number: int, title: str, *, actor: str = "") -> None:
        """Change a title."""
        repo, pull = self._pull(full_name, number)
        await self.actions.edit_pull(repo, pull, actor or pull.author, title=title)

    async def comment_as(
        self, full_name: str, number: int, login: str, body: str, *, path: str = "", line: int = 0
    ) -> Note:
        """Comment on a pull request or on a line of it."""
        repo, pull = self._pull(full_name, number)
        return (await self.actions.comment(repo, pull, login, body, path=path, line=line))[1]

    async def reply_as(self, full_name: str, number: int, discussion_id: str, login: str, body: str) -> Note:
        """Reply in a thread."""
        repo, pull = self._pull(full_name, number)
        thread = next(thread for thread in pull.threads if thread.id == discussion_id)
        return await self.actions.reply(repo, pull, thread, login, body)

    async def edit_comment_as(self, full_name: str, note_id: int, login: str, body: str) -> None:
        """Edit an own comment."""
        await self.actions.edit_note(self.world.repo(full_name), note_id, login, body)

    async def set_label(self, full_name: str, number: int, label: str, *, actor: str, on: bool = True) -> None:
        """Put a label on, or take it off."""
        repo, pull = self._pull(full_name, number)
        names = [name for name in pull.labels if name != label]
        await self.actions.set_labels(repo, pull, actor, [*names, label] if on else names)

    async def close_pull_request(self, full_name: str, number: int, *, actor: str) -> None:
        """Close a pull request."""
        repo, pull = self._pull(full_name, number)
        await self.actions.set_state(repo, pull, actor, "closed")

    async def reopen_pull_request(self, full_name: str, number: int, *, actor: str) -> None:
        """Reopen a closed pull request."""
        repo, pull = self._pull(full_name, number)
        await self.actions.set_state(repo, pull, actor, "opened")

    async def merge_pull_request(self, full_name: str, number: int, *, actor: str) -> str:
        """Merge a pull request and return the merge commit."""
        repo, pull = self._pull(full_name, number)
        return await self.actions.merge(repo, pull, actor)

    # -- look -----------------------------------------------------------------------------------------------

    def pull(self, full_name: str, number: int) -> Pull:
        """A pull request as it is."""
        return self._pull(full_name, number)[1]

    def labels(self, full_name: str, number: int) -> frozenset[str]:
        """The labels on a pull request."""
        return frozenset(self.pull(full_name, number).labels)

    def threads(self, full_name: str, number: int) -> list[Thread]:
        """The discussions of a pull request, oldest first."""
        return list(self.pull(full_name, number).threads)

    def notes_by(self, full_name: str, number: int, login: str) -> list[Note]:
        """What somebody wrote on a pull request, oldest first."""
        notes = (note for thread in self.threads(full_name, number) for note in thread.notes)
        return sorted((note for note in notes if note.author == login and not note.platform), key=lambda note: note.id)

    def calls(self, login: str = "", *, method: str = "", path: str = "") -> list[Recorded]:
        """REST calls that came in, by login, method and a part of the path."""
        return [
            request
            for request in self.requests
            if request.is_api
            and (not login or request.login == login)
            and (not method or request.method == method)
            and path in request.path
        ]

    def unknown_calls(self) -> list[Recorded]:
        """REST calls to endpoints that GitCode does not have; a test should find none."""
        return [request for request in self.requests if request.is_api and not request.known]

    @property
    def deliveries(self) -> list[Delivery]:
        """Every delivery of a hook, with its outcome."""
        return self.world.deliveries

    async def settle(self) -> None:
        """Wait until all hooks are delivered."""
        await self.actions.hooks.settle()

    def clone_url(self, full_name: str, *, token: str = "") -> str:
        """Where git clones from; with a token in it for tests."""
        origin = self.origin.replace("http://", f"http://oauth2:{token}@") if token else self.origin
        return f"{origin}/{full_name}.git"

    # -- parts ----------------------------------------------------------------------------------------------

    def _pull(self, full_name: str, number: int) -> tuple[Repo, Pull]:
        repo = self.world.repo(full_name)
        return repo, repo.pulls[number]

    def _add_routes(self, app: web.Application, actions: Actions) -> None:
        root = f"{API}/repos/{{owner}}/{{repo}}"
        bridge = GitBridge(actions, self._state_dir)

        async def me(request: web.Request) -> web.Response:
            return web.json_response(actions.shapes.me(request[USER]))

        app.router.add_get(f"{API}/user", me)
        # comments before pulls: "/pulls/comments/{id}" must not be read as "/pulls/{number}/…"
        for group in (CommentRoutes, PeopleRoutes, PullRoutes, FileRoutes, RepoRoutes):
            app.router.add_routes(group(actions).routes(root))
        app.router.add_route("*", "/{owner}/{repo}.git/{service:.+}", bridge.handle)
        app.router.add_routes(PageRoutes(actions).routes())
