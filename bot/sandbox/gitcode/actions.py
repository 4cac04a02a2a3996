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
"""What can happen at the forge, whether the REST API, a git push or a test asks for it: rules, history and hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from bot.clock import Clock
from bot.sandbox.gitcode import gitrepo, payloads
from bot.sandbox.gitcode.deliver import HookSender
from bot.sandbox.gitcode.diffs import FileDiff, parse_diff
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.shapes import Json, Shapes
from bot.sandbox.gitcode.state import (
    DEVELOPER,
    Issue,
    Label,
    LogEntry,
    Note,
    Position,
    Pull,
    Repo,
    Thread,
    World,
    find_note,
)

BAD_POSITION = "diff failed to be generated due to invalid params under position param"
_ZERO = "0" * 40
_COLORS = ("#20c22e", "#d73a4a", "#0366d6", "#fbca04", "#5319e7")


class ApiError(Exception):
    """A refusal as the REST API words it."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"{status} {body}")
        self.status = status
        self.body = body


def refuse(status: int, message: str, name: str = "UN_KNOW") -> ApiError:
    """The usual error body."""
    return ApiError(status, {"error_code": status, "error_code_name": name, "error_message": message})


class Actions:
    """The forge's rules. One change of a repository's branches at a time (``lock``)."""

    def __init__(self, world: World, shapes: Shapes, hooks: HookSender, options: Options, clock: Clock) -> None:
        self.world = world
        self.shapes = shapes
        self.hooks = hooks
        self.options = options
        self.clock = clock
        self.lock = asyncio.Lock()
        self._diffs: dict[tuple[str, str, str], list[FileDiff]] = {}
        self._merges: dict[tuple[str, str, str], bool] = {}

    # -- reading --------------------------------------------------------------------------------------------

    async def diff(self, repo: Repo, pull: Pull) -> list[FileDiff]:
        """The pull request's files, against the point where it left its target."""
        key = (repo.full_name, pull.base_sha, pull.head_sha)
        if key not in self._diffs:
            start = await gitrepo.merge_base(repo.git_dir, pull.base_sha, pull.head_sha)
            self._diffs[key] = parse_diff(await gitrepo.diff(repo.git_dir, start, pull.head_sha))
        return self._diffs[key]

    async def mergeable(self, repo: Repo, pull: Pull) -> bool:
        """Whether git can merge it without a conflict."""
        if pull.state != "opened":
            return False
        key = (repo.full_name, pull.base_sha, pull.head_sha)
        if key not in self._merges:
            try:
                await gitrepo.git(repo.git_dir, "merge-tree", "--write-tree", pull.base_sha, pull.head_sha)
                self._merges[key] = True
            except gitrepo.GitFailure:
                self._merges[key] = False
        return self._merges[key]

    # -- pull requests --------------------------------------------------------------------------------------

    async def open_pull(
        self,
        repo: Repo,
        author: str,
        *,
        title: str,
        body: str,
        source: Repo,
        branch: str,
        target: str,
        labels: Sequence[str] = (),
    ) -> Pull:
        """Open a pull request; refused (409) while another one of this branch is open."""
        if not title.strip():
            raise refuse(400, "title is missing")
        for other in repo.pulls.values():
            if other.state == "opened" and (other.source_repo, other.source_branch) == (source.full_name, branch):
                raise refuse(409, f"Another open merge request already exists for this source branch: !{other.number}")
        base = (await gitrepo.refs(repo.git_dir)).get(f"refs/heads/{target}")
        head = (await gitrepo.refs(source.git_dir)).get(f"refs/heads/{branch}")
        if base is None or head is None:
            missing = target if base is None else branch
            raise refuse(400, f"branch {missing} does not exist")
        async with self.lock:
            number = max(repo.pulls, default=repo.first_pull - 1) + 1
            await gitrepo.take_head(repo.git_dir, source.git_dir, branch, number)
            now = self.clock.now()
            pull = Pull(
                id=self.world.next_id("pull", 8_800_321),
                number=number,
                title=title,
                body=body,
                author=author,
                source_repo=source.full_name,
                source_branch=branch,
                target_branch=target,
                head_sha=head,
                base_sha=base,
                created_at=now,
                updated_at=now,
                hidden_reads=self.options.hidden_reads,
            )
            repo.pulls[number] = pull
        for name in labels:
            self.ensure_label(repo, name)
            pull.labels.append(name)
        self.log(pull, author, "opened", "opened merge request")
        changes = payloads.opened(pull, self.shapes.number_user(author)["id"])
        await self.tell_pull(repo, pull, author, "open", changes=changes)
        return pull

    async def edit_pull(
        self, repo: Repo, pull: Pull, actor: str, *, title: str | None = None, body: str | None = None
    ) -> None:
        """Change title and description."""
        changes: Json = {}
        if title is not None and title != pull.title:
            changes["title"] = {"previous": pull.title, "current": title}
            pull.title = title
        if body is not None and body != pull.body:
            changes["description"] = {"previous": pull.body, "current": body}
            pull.body_history.append(pull.body)
            pull.body = body
        if changes:
            self.touch(pull)
            await self.tell_pull(repo, pull, actor, "update", changes=changes)

    async def set_state(self, repo: Repo, pull: Pull, actor: str, state: str) -> None:
        """Close (``closed``) or reopen (``opened``)."""
        if pull.state == "merged":
            raise refuse(400, "merge request is merged")
        if state == pull.state:
            return
        before, pull.state = pull.state, state
        pull.closed_at = self.clock.now() if state == "closed" else None
        self.touch(pull)
        self.log(pull, actor, state, f"{state} merge request")
        action = "close" if state == "closed" else "reopen"
        await self.tell_pull(repo, pull, actor, action, changes={"state": {"previous": before, "current": state}})

    async def merge(self, repo: Repo, pull: Pull, actor: str) -> str:
        """Merge into the target branch and return the merge commit."""
        if pull.state != "opened":
            raise refuse(405, "merge request is not open")
        if repo.level(actor) < DEVELOPER:
            raise refuse(403, "You are in project members list, but do not have PUSH permission, please check it.")
        if self.options.disable_merge_by_self and actor == pull.author:
            raise refuse(400, "Merge request author cannot operate their own merge request")
        if repo.only_allow_merge_if_all_discussions_are_resolved and any(
            thread.position and not thread.resolved for thread in pull.threads
        ):
            raise refuse(405, "resolve all discussions first")
        user = self.world.users[actor]
        message = f"!{pull.number} {pull.title}\n\nMerge pull request !{pull.number} from {pull.source_branch}\n"
        async with self.lock:
            base = await gitrepo.resolve(repo.git_dir, f"refs/heads/{pull.target_branch}")
            try:
                sha = await gitrepo.merge(repo.git_dir, base, pull.head_sha, message, (user.name, user.email))
            except gitrepo.GitFailure as error:
                raise refuse(405, "merge conflict") from error
            await gitrepo.git(repo.git_dir, "update-ref", f"refs/heads/{pull.target_branch}", sha, base)
        pull.state, pull.merged_at = "merged", self.clock.now()
        self.touch(pull)
        self.log(pull, actor, "merged", "merged merge request")
        action = "update" if self.options.merge_as_update else "merge"
        await self.tell_pull(repo, pull, actor, action, changes={"state": {"previous": "opened", "current": "merged"}})
        await self.branch_moved(repo, actor, pull.target_branch, base, sha)
        return sha

    # -- pushes ---------------------------------------------------------------------------------------------

    async def branch_moved(self, repo: Repo, actor: str, branch: str, before: str, after: str) -> None:
        """A branch has another commit: tell push hooks, and move every pull request that comes from it."""
        commits = []
        if after != _ZERO:
            span = after if before == _ZERO else f"{before}..{after}"
            commits = await gitrepo.commits(repo.git_dir, span)
        payload = payloads.push(self.shapes, repo, actor, branch, before, after, commits)
        self.hooks.emit(repo, payloads.PUSH, payload)
        if after == _ZERO:
            return
        for pull in repo.pulls.values():
            if pull.state == "opened" and pull.target_branch == branch:
                pull.base_sha = after
        for target, pull in self.world.pulls_from(repo.full_name, branch):
            if pull.head_sha != after:
                await self._move_head(target, pull, repo, actor, after)

    async def _move_head(self, repo: Repo, pull: Pull, source: Repo, actor: str, after: str) -> None:
        before = pull.head_sha
        await gitrepo.take_head(repo.git_dir, source.git_dir, pull.source_branch, pull.number)
        pull.head_sha = after
        self.touch(pull)
        await self._note_changed_lines(repo, pull, actor, after)
        await self.tell_pull(repo, pull, actor, "update", oldrev=before, changes={})

    async def _note_changed_lines(self, repo: Repo, pull: Pull, actor: str, after: str) -> None:
        """The platform's own replies: under the pusher's name, without any flag, on threads whose line changed."""
        open_threads = [thread for thread in pull.threads if thread.position and not thread.outdated]
        if not open_threads:
            return
        removed: dict[str, dict[str, set[int]]] = {}  # by the head that a thread's line counts in, then by path
        for thread in open_threads:
            position = thread.position
            if position is None:
                continue
            if position.head_sha not in removed:
                files = parse_diff(await gitrepo.diff(repo.git_dir, position.head_sha, after, context=0))
                removed[position.head_sha] = {file.old_path: file.removed_lines() for file in files}
            if position.line not in removed[position.head_sha].get(position.path, set()):
                continue
            thread.outdated = True
            link = f"{self.shapes.web(repo)}/commits/detail/{after}"
            thread.notes.append(self._new_note(actor, f"changed this line on [{after[:8]}]({link})", platform=True))

    # -- comments -------------------------------------------------------------------------------------------

    async def comment(
        self, repo: Repo, pull: Pull, author: str, body: str, *, path: str = "", line: int = 0, file_level: bool = False
    ) -> tuple[Thread, Note]:
        """A new thread: plain, on a line of the new file, or on a file."""
        check_body(body)
        position = await self._position(repo, pull, path, line, file_level) if path else None
        note = self._new_note(author, body)
        thread = Thread(self.world.next_hex("thread"), [note], position)
        pull.threads.append(thread)
        self.touch(pull)
        self.log(pull, author, "discussion", "add comment")
        await self._tell_note(repo, pull, thread, note)
        return thread, note

    async def reply(self, repo: Repo, pull: Pull, thread: Thread, author: str, body: str) -> Note:
        """A reply in a thread."""
        check_body(body)
        note = self._new_note(author, body)
        thread.notes.append(note)
        self.touch(pull)
        await self._tell_note(repo, pull, thread, note)
        return note

    async def edit_note(self, repo: Repo, note_id: int, actor: str, body: str) -> tuple[Thread, Note]:
        """Change an own comment."""
        pull, thread, note = self.own_note(repo, note_id, actor)
        check_body(body)
        note.history.append(note.body)
        note.body, note.updated_at = body, self.clock.now()
        if self.options.edits_fire_hooks:
            await self._tell_note(repo, pull, thread, note)
        return thread, note

    def delete_note(self, repo: Repo, note_id: int, actor: str) -> None:
        """Remove an own comment; with the first one of a thread goes the thread."""
        pull, thread, note = self.own_note(repo, note_id, actor)
        if note is thread.notes[0]:
            pull.threads.remove(thread)
        else:
            thread.notes.remove(note)
        self.touch(pull)

    def own_note(self, repo: Repo, note_id: int, actor: str) -> tuple[Pull, Thread, Note]:
        """A comment that ``actor`` may change."""
        found = find_note(repo, note_id)
        if found is None:
            raise refuse(404, "Note Not Found", "NOT_PATH")
        if found[2].author != actor or found[2].platform:
            raise refuse(403, "you can only operate your own comment", "FORBIDDEN")
        return found

    async def _position(self, repo: Repo, pull: Pull, path: str, line: int, file_level: bool) -> Position:
        file = next((file for file in await self.diff(repo, pull) if file.new_path == path), None)
        if file is None:
            raise refuse(400, BAD_POSITION)
        detached = False
        if not file_level:
            content = await gitrepo.read_file(repo.git_dir, pull.head_sha, path)
            if content is None or not 1 <= line <= max(1, len(content[1].splitlines())):
                raise refuse(400, BAD_POSITION)
            detached = line not in file.shown_lines()
            if self.options.refuse_context_lines and line not in file.added_lines():
                raise refuse(400, BAD_POSITION)
        start = await gitrepo.merge_base(repo.git_dir, pull.base_sha, pull.head_sha)
        return Position(path, 0 if file_level else line, pull.base_sha, start, pull.head_sha, detached)

    def _new_note(self, author: str, body: str, *, platform: bool = False) -> Note:
        now = self.clock.now()
        return Note(self.world.next_id("note", 176_109_963), author, body, now, now, platform)

    # -- labels ---------------------------------------------------------------------------------------------

    async def set_labels(self, repo: Repo, pull: Pull, actor: str, names: Sequence[str]) -> None:
        """Make ``names`` the labels of a pull request, creating those the repository lacks where that is allowed."""
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            if name not in repo.labels and not self.options.post_creates_labels:
                raise refuse(404, "Label Not Found", "NOT_PATH")
        before = list(pull.labels)
        if set(before) == set(wanted):
            return
        for name in wanted:
            self.ensure_label(repo, name)
        pull.labels = wanted
        self.touch(pull)
        for name in wanted:
            if name not in before:
                self.log(pull, actor, "label", f"add label {name}")
        for name in before:
            if name not in wanted:
                self.log(pull, actor, "label", f"delete label {name}")
        if self.options.labels_fire_hooks:
            await self.tell_pull(repo, pull, actor, "update", changes=payloads.label_change(before, wanted))

    def ensure_label(self, repo: Repo, name: str, color: str = "") -> Label:
        """A label of the repository, made when it is missing."""
        if not name.strip():
            raise refuse(400, "label name is empty")
        if name not in repo.labels:
            now, number = self.clock.now(), self.world.next_id("label", 4169)
            repo.labels[name] = Label(number, name, color or _COLORS[number % len(_COLORS)], now, now)
        return repo.labels[name]

    # -- parts ----------------------------------------------------------------------------------------------

    def add_issue(self, repo: Repo, author: str, title: str, body: str) -> Issue:
        """A new issue."""
        number = str(max((int(number) for number in repo.issues), default=0) + 1)
        issue = Issue(self.world.next_id("issue", 3_300_001), number, title, body, author, "open", self.clock.now())
        repo.issues[number] = issue
        return issue

    def log(self, pull: Pull, actor: str, action: str, content: str) -> None:
        """Add to the history."""
        number = self.world.next_id("log", 177_934_270)
        pull.log.append(LogEntry(number, action, content, actor, self.clock.now()))

    def touch(self, pull: Pull) -> None:
        """It was updated now, and later than before even where a clock stands still."""
        pull.updated_at = max(self.clock.now(), pull.updated_at + timedelta(microseconds=1))

    async def tell_pull(
        self, repo: Repo, pull: Pull, actor: str, action: str, *, oldrev: str = "", changes: Json
    ) -> None:
        """Send a Merge Request Hook."""
        if repo.hooks:
            head = (await gitrepo.commits(repo.git_dir, pull.head_sha, limit=1))[0]
            body = payloads.merge_request(self.shapes, repo, pull, actor, action, head, oldrev=oldrev, changes=changes)
            self.hooks.emit(repo, payloads.MERGE_REQUEST, body)

    async def _tell_note(self, repo: Repo, pull: Pull, thread: Thread, note: Note) -> None:
        if repo.hooks:
            head = (await gitrepo.commits(repo.git_dir, pull.head_sha, limit=1))[0]
            body = payloads.note(self.shapes, repo, pull, thread, note, head)
            self.hooks.emit(repo, payloads.NOTE, body)


def check_body(body: str) -> None:
    """A comment's text is neither empty nor too long."""
    if not body.strip():
        raise refuse(400, "body is missing")
    if len(body) > 65_535:
        raise refuse(400, "body is too long (maximum is 65535 characters)")
