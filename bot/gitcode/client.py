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
"""GitCode as a forge: implements ``bot.forge.Forge``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from bot.clock import Clock, SystemClock
from bot.errors import NotFound, Refused, RetryLater
from bot.forge import ChangedFile, Comment, CommentRef, DirectoryEntry, Priority, PullRequest, Role
from bot.gitcode import models, requests
from bot.gitcode.comment_text import fit
from bot.gitcode.errors import Answer
from bot.gitcode.requests import Request
from bot.gitcode.settings import GitCodeSettings
from bot.gitcode.transport import Call, Transport

PER_PAGE = 100
MAX_PAGES = 200
_LABEL_COLOR = "#20c22e"


def make_client(
    settings: GitCodeSettings,
    *,
    clock: Clock | None = None,
    on_call: Callable[[Call], None] | None = None,
    show: Callable[[str], None] = print,
) -> GitCodeClient:
    """A client for one token; share it, since the call budget is counted in it.

    Args:
        settings: Where to, as whom, how fast.
        clock: The clock for waiting and measuring; the machine's own by default.
        on_call: Told of every call that was sent, for metrics.
        show: Shows a write in dry-run mode.
    """
    transport = Transport(settings, clock=clock or SystemClock(), on_call=on_call, show=show)
    return GitCodeClient(settings, transport)


class GitCodeClient:
    """The forge's methods, each of few calls. Use it in one event loop; :meth:`close` it at the end."""

    def __init__(self, settings: GitCodeSettings, transport: Transport) -> None:
        self._settings = settings
        self.transport = transport
        self._login = ""

    async def login(self) -> str:
        """Whose token this is (``GET /user``, asked once)."""
        if not self._login:
            login = models.read_login((await self.transport.send(requests.current_user(), Priority.OBSERVE)).data)
            if not login:
                raise models.Unreadable("GitCode's answer to GET /user has no login.")
            self._login = login
        return self._login

    async def pull_request(self, repo: str, number: int, *, priority: Priority = Priority.OBSERVE) -> PullRequest:
        """``GET /pulls/{n}``: one call."""
        answer = await self.transport.send(requests.pull(repo, number), priority)
        return models.read_pull(answer.data, repo=repo)

    async def open_pull_requests(
        self, repo: str, *, updated_after: datetime | None = None, priority: Priority = Priority.SYNC
    ) -> list[PullRequest]:
        """``GET /pulls?state=open``, the most recently updated first: one call per 100."""
        after = updated_after.isoformat(timespec="seconds") if updated_after else ""
        items = await self._all_pages(requests.pulls(repo, state="open", updated_after=after), priority)
        pulls = {pull.number: pull for pull in (models.read_pull(item, repo=repo) for item in items)}
        return [pull for pull in pulls.values() if pull.state == "open"]

    async def comments(self, repo: str, number: int, *, priority: Priority = Priority.OBSERVE) -> list[Comment]:
        """``GET /pulls/{n}/comments``, oldest first: one call per 100 threads. Line comments have no path here."""
        items = await self._all_pages(requests.comments(repo, number), priority)
        comments = {comment.note_id: comment for comment in map(models.read_comment, items)}
        return sorted(comments.values(), key=lambda comment: (comment.created_at, comment.note_id))

    async def comment(self, repo: str, note_id: int, *, priority: Priority = Priority.OBSERVE) -> Comment:
        """``GET /pulls/comments/{note_id}``: with path, line and whether it is outdated."""
        answer = await self.transport.send(requests.comment(repo, note_id), priority)
        return models.read_comment(answer.data)

    async def create_comment(
        self,
        repo: str,
        number: int,
        body: str,
        *,
        path: str = "",
        line: int = 0,
        file_level: bool = False,
        priority: Priority = Priority.ACT,
    ) -> CommentRef:
        """``POST /pulls/{n}/comments``: never sent twice; ``RetryLater.effect_unknown`` says "look first".

        Args:
            repo: ``owner/name``.
            number: The pull request.
            body: Markdown; cut to the limit with a notice, keeping a hidden marker at its end.
            path: New path of a file in the diff, for a line or file comment.
            line: Line in the new file. Only added lines are sure to be taken; a line outside of all hunks is detached.
            file_level: Comment on the whole file ``path``.
            priority: Place in the queue for the call budget.

        Raises:
            Refused: Among others for a path or line that the diff does not have.
        """
        if path and not file_level and line < 1:
            raise ValueError(f"For create_comment, line should be at least 1, but got {line}.")
        text = self._fit(body)
        request = requests.create_comment(repo, number, text, path=path, line=line, file_level=file_level)
        answer = await self.transport.send(request, priority)
        if answer.dry:
            return CommentRef(note_id=0, discussion_id="")
        ref = CommentRef(note_id=0, discussion_id="") if answer.unreadable else models.read_comment_ref(answer.data)
        return ref if ref.note_id else await self._find_written(repo, number, text, ref, priority)

    async def edit_comment(
        self, repo: str, note_id: int, body: str, *, read_back: bool = True, priority: Priority = Priority.ACT
    ) -> None:
        """``PATCH /pulls/comments/{note_id}`` and, unless the answer shows the new text, a GET that it took effect.

        Args:
            repo: ``owner/name``.
            note_id: The comment.
            body: Markdown.
            read_back: Without it a plain good answer that shows no text is believed for now. One that shows another
                text, or that GitCode itself could not write (``error_code`` 200), is read back all the same.
            priority: Place in the queue for the call budget.

        Raises:
            Refused: It is somebody else's comment.
            NotFound: It was deleted.
        """
        text = self._fit(body)
        answer = await self.transport.send(requests.edit_comment(repo, note_id, text), priority)
        shown = answer.data.get("body") if isinstance(answer.data, dict) else None
        if answer.dry or (shown is not None and same_text(str(shown), text)):
            return
        if shown is None and not answer.unreadable and not read_back:
            return
        if not same_text((await self.comment(repo, note_id, priority=priority)).body, text):
            raise RetryLater(
                f"Comment {note_id} of {repo} still shows the old text after a PATCH that was answered well."
            )

    async def delete_comment(self, repo: str, note_id: int, *, priority: Priority = Priority.ACT) -> None:
        """``DELETE /pulls/comments/{note_id}``; a comment that is gone already is fine."""
        try:
            await self.transport.send(requests.delete_comment(repo, note_id), priority)
        except NotFound:
            return

    async def reply(
        self, repo: str, number: int, discussion_id: str, body: str, *, priority: Priority = Priority.REPLY
    ) -> CommentRef:
        """``POST /pulls/{n}/discussions/{discussion_id}/comments``: never sent twice, as for a new comment.

        ``note_id`` of the result is 0 in the rare case that GitCode wrote the reply but could not write its answer.
        """
        answer = await self.transport.send(requests.reply(repo, number, discussion_id, self._fit(body)), priority)
        if answer.dry or answer.unreadable:
            return CommentRef(note_id=0, discussion_id=discussion_id)
        ref = models.read_comment_ref(answer.data)
        return ref.model_copy(update={"discussion_id": ref.discussion_id or discussion_id})

    async def resolve(self, repo: str, number: int, discussion_id: str, *, priority: Priority = Priority.ACT) -> None:
        """``PUT /pulls/{n}/comments/{discussion_id}`` with ``resolved``."""
        await self.transport.send(requests.resolve(repo, number, discussion_id), priority)

    async def add_labels(
        self, repo: str, number: int, labels: tuple[str, ...], *, priority: Priority = Priority.ACT
    ) -> None:
        """``POST /pulls/{n}/labels``; a label that the repository lacks is created where the forge refuses it."""
        if not labels:
            return
        try:
            await self.transport.send(requests.add_labels(repo, number, labels), priority)
        except NotFound as error:
            if "label" not in str(error).lower().partition(": ")[2]:
                raise
            for label in labels:
                await self._create_label(repo, label, priority)
            await self.transport.send(requests.add_labels(repo, number, labels), priority)

    async def remove_label(self, repo: str, number: int, label: str, *, priority: Priority = Priority.ACT) -> None:
        """``DELETE /pulls/{n}/labels/{name}``; a label that is not there is fine."""
        try:
            await self.transport.send(requests.remove_label(repo, number, label), priority)
        except NotFound as error:
            if "label not found" not in str(error).lower():
                raise

    async def changed_files(
        self, repo: str, number: int, *, priority: Priority = Priority.OBSERVE
    ) -> list[ChangedFile]:
        """``GET /pulls/{n}/files``, and ``files.json`` where a text diff came back empty."""
        items = await self._all_pages(requests.pull_files(repo, number), priority)
        files = [models.read_changed_file(item) for item in items]
        if not any(_lacks_patch(file) for file in files):
            return files
        patches = models.read_patches(
            (await self.transport.send(requests.pull_files_json(repo, number), priority)).data
        )
        return [
            file.model_copy(update={"patch": patches.get(file.path, "")}) if _lacks_patch(file) else file
            for file in files
        ]

    async def file_text(self, repo: str, path: str, ref: str, *, priority: Priority = Priority.OBSERVE) -> str | None:
        """``GET /contents/{path}?ref=``; ``None`` when there is no such file. Bytes not in UTF-8 become U+FFFD."""
        try:
            answer = await self.transport.send(requests.contents(repo, path, ref), priority)
        except NotFound:
            return None
        content = models.read_file(answer.data)
        return None if content is None else content.decode("utf-8", "replace")

    async def directory(
        self, repo: str, path: str, ref: str, *, priority: Priority = Priority.OBSERVE
    ) -> list[DirectoryEntry]:
        """``GET /contents/{path}?ref=``: one call; empty when there is no such directory, or a file in its place."""
        try:
            answer = await self.transport.send(requests.contents(repo, path, ref), priority)
        except NotFound:
            return []
        return models.read_directory(answer.data, path)

    async def role(self, repo: str, number: int, login: str, *, priority: Priority = Priority.OBSERVE) -> Role:
        """``GET /collaborators/{login}/permission``, then the PR for its author: the strongest standing counts."""
        try:
            answer = await self.transport.send(requests.permission(repo, login), priority)
            level = models.read_access_level(answer.data)
        except NotFound:
            level = 0
        if level >= 40:
            return Role.MAINTAINER
        if level >= 30:
            return Role.COLLABORATOR
        author = (await self.pull_request(repo, number, priority=priority)).author
        return Role.AUTHOR if author and author.lower() == login.lower() else Role.ANYONE

    async def may_push(self, repo: str, *, priority: Priority = Priority.OBSERVE) -> bool:
        """``GET /collaborators/self-permission``: whether this account may push to ``repo``."""
        try:
            return models.read_may_push((await self.transport.send(requests.self_permission(repo), priority)).data)
        except NotFound:
            return False

    async def create_pull_request(
        self,
        repo: str,
        *,
        title: str,
        body: str,
        head_repo: str,
        head_ref: str,
        base_ref: str,
        priority: Priority = Priority.ACT,
    ) -> PullRequest:
        """``POST /pulls``. From a fork the head is named in the configured form first, then in the other one."""
        error: Refused | NotFound | None = None
        for head in self._heads(repo, head_repo, head_ref):
            fork = head_repo if head_repo != repo else ""
            request = requests.create_pull(repo, title=title, head=head, base=base_ref, body=body, fork_path=fork)
            try:
                answer = await self.transport.send(request, priority)
            except (Refused, NotFound) as refusal:
                error = refusal
                continue
            number = answer.data.get("iid") or answer.data.get("number") if isinstance(answer.data, dict) else None
            if not isinstance(number, int):
                raise RetryLater(f"POST /pulls of {repo}: the answer has no number", effect_unknown=True)
            return await self.pull_request(repo, number, priority=priority)
        raise error or Refused(f"POST /pulls of {repo}: no head to try")

    async def edit_pull_request(
        self,
        repo: str,
        number: int,
        *,
        title: str,
        body: str | None = None,
        state: str | None = None,
        priority: Priority = Priority.ACT,
    ) -> PullRequest | None:
        """``PATCH /pulls/{n}`` with the current or a new ``title``, then a GET, for the answer is thin.

        Returns:
            The pull request as it is now; ``None`` in dry-run.
        """
        request = requests.edit_pull(repo, number, title=title, body=body, state=state)
        answer = await self.transport.send(request, priority)
        return None if answer.dry else await self.pull_request(repo, number, priority=priority)

    async def close(self) -> None:
        """Close the connections."""
        await self.transport.close()

    def _fit(self, body: str) -> str:
        return fit(body, self._settings.comment_limit, self._settings.cut_notice)

    def _heads(self, repo: str, head_repo: str, head_ref: str) -> list[str]:
        if head_repo == repo:
            return [head_ref]
        forms = [f"{head_repo}:{head_ref}", f"{head_repo.partition('/')[0]}:{head_ref}"]
        return forms if self._settings.head_form == "owner/repo:branch" else forms[::-1]

    async def _create_label(self, repo: str, label: str, priority: Priority) -> None:
        try:
            await self.transport.send(requests.create_label(repo, label, _LABEL_COLOR), priority)
        except Refused:
            return  # it exists

    async def _find_written(self, repo: str, number: int, text: str, ref: CommentRef, priority: Priority) -> CommentRef:
        """The ids of a comment that was just written but whose answer did not give them."""
        me = await self.login()
        for comment in reversed(await self.comments(repo, number, priority=priority)):
            by_id = bool(ref.discussion_id) and comment.discussion_id == ref.discussion_id
            if by_id or (comment.author == me and same_text(comment.body, text)):
                return CommentRef(note_id=comment.note_id, discussion_id=comment.discussion_id)
        raise RetryLater(f"The comment written to {repo}#{number} is not in its list yet.", effect_unknown=True)

    async def _all_pages(self, request: Request, priority: Priority) -> list[Any]:
        """Every item of a list: on to the last page by header, else to the first empty or repeated page."""
        items: list[Any] = []
        before: list[Any] = []
        for number in range(1, MAX_PAGES + 1):
            answer: Answer = await self.transport.send(request.page(number, PER_PAGE), priority)
            page = answer.data if answer.data is not None else []
            if not isinstance(page, list):
                raise models.Unreadable(f"GET {request.path}: a list was expected, but got {type(page).__name__}.")
            if not page or page == before:
                return items
            items += page
            before = page
            if 0 < answer.total_pages <= number:
                return items
        raise RetryLater(f"GET {request.path}: more than {MAX_PAGES} pages.")


def same_text(one: str, other: str) -> bool:
    """Equal but for line ends and blanks at the end, which a forge may change on its way."""
    return [line.rstrip() for line in one.strip().splitlines()] == [
        line.rstrip() for line in other.strip().splitlines()
    ]


def _lacks_patch(file: ChangedFile) -> bool:
    return not file.patch and not file.too_large and file.additions + file.deletions > 0
