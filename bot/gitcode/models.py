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
"""Reads GitCode's JSON into the forge's values. Tolerant of everything the sources disagree on, strict about identity.

Missing dates are empty strings, states come in two spellings, people have three kinds of id (so only the login counts),
``patch`` is an object, a repository's display name may differ from its path. A field without which the value would be
wrong (a PR's head, a comment's id) raises :class:`Unreadable`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bot.errors import RetryLater
from bot.forge import ChangedFile, Comment, CommentRef, DirectoryEntry, PullRequest

Raw = Mapping[str, Any]

CHANGED_LINE = "changed this line on"
"""How the platform's own reply on an outdated line comment begins; it appears under the pusher's name."""

_PLATFORM_REPLY = (CHANGED_LINE + " [", CHANGED_LINE + " (")
_STATES = {"opened": "open", "open": "open", "reopened": "open", "locked": "closed", "closed": "closed"}
_EPOCH = datetime.fromtimestamp(0, UTC)


class Unreadable(RetryLater):
    """An answer lacks what its kind must have; perhaps a passing fault of the forge."""


def read_pull(raw: object, *, repo: str) -> PullRequest:
    """A pull request from a GET, a list item, or the GitLab-like answer to a creation.

    Args:
        raw: The JSON.
        repo: ``owner/name`` of the target repository, as it was asked for.
    """
    data = _object(raw, "pull request")
    head, base = _object_or_empty(data.get("head")), _object_or_empty(data.get("base"))
    refs = _object_or_empty(data.get("diff_refs"))
    number = _int(data.get("number")) or _int(data.get("iid"))
    head_sha = _text(head.get("sha")) or _text(refs.get("head_sha")) or _text(data.get("sha"))
    if not number or not head_sha:
        raise Unreadable(f"GitCode's pull request of {repo} has no number or no head: keys {sorted(data)[:30]}")
    head_repo = _object_or_empty(head.get("repo"))
    base_repo = _object_or_empty(base.get("repo"))
    return PullRequest(
        repo=repo,
        number=number,
        state=_state(data),
        title=_text(data.get("title")),
        body=_text(data.get("body")) or _text(data.get("description")),
        author=read_login(data.get("user")) or read_login(data.get("author")),
        head_sha=head_sha,
        head_ref=_text(head.get("ref")) or _text(data.get("source_branch")),
        head_repo=_full_name(head_repo),
        head_url=_clone_url(head_repo) or _text(data.get("source_git_url")),
        base_ref=_text(base.get("ref")) or _text(data.get("target_branch")),
        base_sha=_text(base.get("sha")) or _text(refs.get("base_sha")),
        base_url=_clone_url(base_repo),
        labels=read_labels(data.get("labels")),
        draft=bool(data.get("draft") or data.get("work_in_progress")),
        html_url=_text(data.get("html_url")) or _text(data.get("web_url")),
        created_at=read_time(data.get("created_at")),
        updated_at=read_time(data.get("updated_at")),
    )


def read_comment(raw: object) -> Comment:
    """A comment from the list or from the detail, which differ in nearly everything but the text."""
    data = _object(raw, "comment")
    note_id = _int(data.get("note_id")) or _int(data.get("id"))
    if not note_id:
        raise Unreadable(f"GitCode's comment has no numeric id: keys {sorted(data)[:30]}")
    position = _object_or_empty(data.get("position"))
    spot = _object_or_empty(data.get("diff_position"))
    replies = [reply for reply in _list(data.get("reply")) if isinstance(reply, Mapping)]
    platform = [reply for reply in replies if is_platform_reply(_text(reply.get("body")))]
    created = read_time(data.get("created_at")) or _EPOCH
    return Comment(
        note_id=note_id,
        discussion_id=_text(data.get("discussion_id")),
        author=read_login(data.get("user")),
        body=_text(data.get("body")),
        created_at=created,
        updated_at=read_time(data.get("updated_at")) or created,
        on_line=_text(data.get("comment_type")) in ("diff_comment", "DiffNote"),
        path=_text(position.get("new_path")) or _text(data.get("diff_file")) or _text(data.get("path")),
        line=_int(position.get("new_line")) or _int(spot.get("start_new_line")) or _int(spot.get("end_new_line")),
        resolved=data.get("resolved") is True,
        outdated=data.get("is_outdated") is True or bool(platform),
        reply_authors=tuple(read_login(reply.get("user")) for reply in replies if reply not in platform),
    )


def read_comment_ref(raw: object) -> CommentRef:
    """The two ids in the answer to a creation or a reply; ``note_id`` is 0 where the answer (of 2024) had none."""
    data = _object(raw, "new comment")
    discussion = _text(data.get("id"))
    return CommentRef(note_id=_int(data.get("note_id")), discussion_id=discussion)


def is_platform_reply(body: str) -> bool:
    """Whether a reply was written by the platform under a person's name when a push changed the commented line."""
    return body.startswith(_PLATFORM_REPLY)


def read_changed_file(raw: object) -> ChangedFile:
    """An item of ``/pulls/{n}/files``. ``status`` is missing on modified files."""
    data = _object(raw, "changed file")
    patch = _object_or_empty(data.get("patch"))
    plain = data.get("patch") if isinstance(data.get("patch"), str) else ""
    path = _text(patch.get("new_path")) or _text(data.get("filename"))
    old = _text(patch.get("old_path")) or path
    return ChangedFile(
        path=path,
        old_path=old,
        status=_file_status(data, patch, renamed=old != path),
        patch=_text(patch.get("diff")) or plain or "",
        additions=_int(data.get("additions")) or _int(patch.get("added_lines")),
        deletions=_int(data.get("deletions")) or _int(patch.get("removed_lines")),
        too_large=bool(patch.get("too_large")),
    )


def read_patches(raw: object) -> dict[str, str]:
    """``files.json`` as path → unified-diff hunks: context rows keep their blank, others get ``+`` or ``-`` back."""
    patches: dict[str, str] = {}
    for diff in _list(_object(raw, "files.json").get("diffs")):
        item = _object_or_empty(diff)
        path = _text(_object_or_empty(item.get("statistic")).get("new_path"))
        rows = _list(_object_or_empty(item.get("content")).get("text"))
        lines = [_patch_line(_object_or_empty(row)) for row in rows]
        if path and lines:
            patches[path] = "\n".join(lines) + "\n"
    return patches


def read_file(raw: object) -> bytes | None:
    """The content of a file from ``/contents``; ``None`` for a directory."""
    if not isinstance(raw, Mapping):
        return None
    try:
        return base64.b64decode(_text(raw.get("content")), validate=False)
    except binascii.Error as error:
        raise Unreadable(f"GitCode's content of {raw.get('path')!r} is not base64") from error


def read_directory(raw: object, directory: str) -> list[DirectoryEntry]:
    """The entries of a directory from ``/contents``; none where it answered with a file.

    Only the array is on record, not the words for its kinds: whatever is neither ``dir`` nor ``tree`` may be a file.
    """
    prefix = f"{directory.strip('/')}/".lstrip("/")
    entries: list[DirectoryEntry] = []
    for item in map(_object_or_empty, _list(raw)):
        name = _text(item.get("name"))
        path = _text(item.get("path")).strip("/") or (name and prefix + name)
        if path:
            entries.append(DirectoryEntry(path=path, is_directory=_text(item.get("type")) in {"dir", "tree"}))
    return entries


def read_access_level(raw: object) -> int:
    """GitLab's scale: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner; 0 for none.

    Raises:
        Unreadable: The answer names neither a level nor a permission; "could not check" must not become "no".
    """
    data = _object(raw, "permission")
    role = _object_or_empty(data.get("role_info"))
    level = _int(data.get("access_level")) or _int(role.get("access_level"))
    if level:
        return level
    words = {"admin": 50, "owner": 50, "maintainer": 40, "maintain": 40, "push": 30, "write": 30, "developer": 30}
    words |= {"pull": 20, "read": 20, "reporter": 20, "triage": 20, "guest": 10, "none": 0}
    for key in ("permission", "role_name"):
        word = _text(data.get(key)).lower()
        if word in words:
            return words[word]
    raise Unreadable(f"GitCode's permission names no level: keys {sorted(data)[:30]}")


def read_may_push(raw: object) -> bool:
    """Whether self-permission lists the ``push`` action of code as selected; else the level decides."""
    data = _object(raw, "self-permission")
    for tree in _list(data.get("resource_trees")):
        for action in _list(_object_or_empty(tree).get("actions")):
            item = _object_or_empty(action)
            if _text(item.get("action")) == "push" and _text(_object_or_empty(tree).get("scope")) in ("code", ""):
                return bool(item.get("selected"))
    return read_access_level(data) >= 30


def read_login(raw: object) -> str:
    """The login of a person; ids are of three kinds and never compared."""
    user = _object_or_empty(raw)
    return _text(user.get("login")) or _text(user.get("username"))


def read_labels(raw: object) -> frozenset[str]:
    """Names of labels, from objects with ``name`` or ``title``, or bare strings."""
    names = (
        item
        if isinstance(item, str)
        else _text(_object_or_empty(item).get("name")) or _text(_object_or_empty(item).get("title"))
        for item in _list(raw)
    )
    return frozenset(name for name in names if name)


def read_time(raw: object) -> datetime | None:
    """ISO 8601 with an offset or ``Z``; the empty string and nonsense are ``None``; no offset means UTC."""
    if not isinstance(raw, str) or not raw.strip():
        return None
    try:
        moment = datetime.fromisoformat(raw.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _state(data: Raw) -> str:
    if data.get("merged") is True or _text(data.get("merged_at")) or _text(data.get("state")) == "merged":
        return "merged"
    state = _text(data.get("state"))
    if state not in _STATES:
        raise Unreadable(f"GitCode's pull request has the unknown state {state!r}")
    return _STATES[state]


def _file_status(data: Raw, patch: Raw, *, renamed: bool) -> str:
    status = _text(data.get("status"))
    if patch.get("deleted_file") or status in ("deleted", "removed"):
        return "deleted"
    if patch.get("new_file") or status == "added":
        return "added"
    return "renamed" if renamed or patch.get("renamed_file") or status == "renamed" else "modified"


def _patch_line(row: Raw) -> str:
    content = _text(row.get("line_content"))
    return {"new": "+", "old": "-"}.get(_text(row.get("type")), "") + content


def _full_name(repo: Raw) -> str:
    name = _text(repo.get("full_name"))
    if name:
        return name
    owner, path = _text(_object_or_empty(repo.get("namespace")).get("path")), _text(repo.get("path"))
    return f"{owner}/{path}" if owner and path else ""


def _clone_url(repo: Raw) -> str:
    url = _text(repo.get("html_url"))
    return url if not url or url.endswith(".git") else f"{url}.git"


def _object(raw: object, what: str) -> Raw:
    if not isinstance(raw, Mapping):
        raise Unreadable(f"GitCode's {what} should be an object, but got {type(raw).__name__}.")
    return raw


def _object_or_empty(raw: object) -> Raw:
    return raw if isinstance(raw, Mapping) else {}


def _list(raw: object) -> Sequence[Any]:
    return raw if isinstance(raw, list) else []


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _int(raw: object) -> int:
    """An int, also written as digits; 0 for anything else (a hex id is no number)."""
    if isinstance(raw, bool):
        return 0
    if isinstance(raw, int):
        return raw
    return int(raw) if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) < 19 else 0
