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
"""Tolerant readers: raw webhook JSON to events. Nothing here raises on a strange payload.

The forge's payloads of 2024 and 2025 differ, updates and line notes were never published, and fields come as null,
``""`` or not at all. So every field is read on its own and what is missing stays empty; only without a repository and
a merge-request number is there nothing to do.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from bot.intake.events import DeliveryKeys, Event, Ignored, MergeRequestEvent, NoteEvent

_MAX_ID = 2**63 - 1  # what an SQL integer holds; a larger "id" is nonsense and must not make the store fail for ever
_ACTIONS = {"opened": "open", "reopened": "reopen", "merged": "merge", "closed": "close", "updated": "update"}
_STATES = {"opened": "open", "open": "open", "reopened": "open", "merged": "merged", "closed": "closed"}
_HEADER_EVENTS = {"merge request hook": "merge_request", "note hook": "note"}
_PLATFORM_REPLY = re.compile(r"\s*changed this line on \[[^\]\n]*\]\(", re.IGNORECASE)


def read_event(
    header_event: str,
    payload: Mapping[str, Any],
    *,
    own_logins: frozenset[str] = frozenset(),
    repos: frozenset[str] = frozenset(),
) -> Event | Ignored:
    """Classify one payload.

    Args:
        header_event: Value of the event header; only believed when the body names no kind (the body is signed).
        payload: The parsed body.
        own_logins: Logins GateBot writes under; its own comments are ignored (that would be a loop).
        repos: ``owner/name`` of the repositories served; empty means all.
    """
    kind = _text(payload, "object_kind") or _text(payload, "event_type") or _HEADER_EVENTS.get(header_event.lower(), "")
    event: Event | Ignored
    if kind == "merge_request":
        event = _merge_request(payload)
    elif kind == "note":
        event = _note(payload, {login.lower() for login in own_logins})
    else:
        return Ignored(event=_label(kind or header_event), reason="unknown-event")
    if not isinstance(event, Ignored) and repos and event.repo.lower() not in {name.lower() for name in repos}:
        return Ignored(event=kind, reason="other-repository")
    return event


def delivery_keys(event: Event, payload: Mapping[str, Any], delivery_id: str) -> DeliveryKeys:
    """The names under which this delivery is known, see :class:`DeliveryKeys`.

    The effect key of a merge request holds the content as well as (PR, head sha, action): two updates of one head,
    such as a label and then a new description, are two effects. Where the payload has no time of its own, a repeated
    state (label on, off, on) could not be told from a duplicate; then the body's uuid joins the key, since waking a
    case once too often is harmless and losing an event is not.
    """
    uuid = _text(payload, "uuid")[:200]
    place = f"{event.repo}#{event.number}"
    if isinstance(event, NoteEvent):
        subject = f"note:{place}:{event.note_id}"
        when = event.digest if event.note_id else f"{event.author}:{event.created_at}:{event.digest}"
        effect = f"{subject}:{when}"
    else:
        subject = f"pr:{place}"
        when = event.updated_at or uuid or delivery_id
        content: list[object] = [
            event.state,
            event.title,
            event.description,
            event.draft,
            event.old_sha,
            event.base_ref,
            when,
        ]
        content.append(None if event.labels is None else sorted(event.labels))
        effect = f"{subject}:{event.head_sha}:{event.action}:{_digest(json.dumps(content))[:32]}"
    return DeliveryKeys(delivery_id=_clean(delivery_id)[:200], body_uuid=uuid, effect=effect, subject=subject)


def _merge_request(payload: Mapping[str, Any]) -> MergeRequestEvent | Ignored:
    attributes = {**_block(payload, "merge_request"), **_present(_block(payload, "object_attributes"))}
    repo, number = _repo(payload, attributes), _number(attributes.get("iid"))
    if not repo or not number:
        return Ignored(event="merge_request", reason="no-repository" if not repo else "no-number")
    state = _STATES.get(_text(attributes, "state").lower(), "")
    action = _text(attributes, "action").lower()
    action = "merge" if state == "merged" else _ACTIONS.get(action, _label(action) if action else "update")
    source = _block(attributes, "source")
    return MergeRequestEvent(
        repo=repo,
        number=number,
        action=action,
        state=state,
        title=_text(attributes, "title"),
        description=_text(attributes, "description") if _carries(attributes, "description") else None,
        author=_login(attributes.get("author")),
        actor=_login(payload.get("user")),
        head_sha=_head_sha(payload, attributes),
        head_ref=_text(attributes, "source_branch"),
        head_repo=_text(source, "path_with_namespace"),
        head_url=_text(source, "git_http_url") or _text(source, "http_url"),
        base_ref=_text(attributes, "target_branch"),
        base_sha=_text(_block(attributes, "target_branch_commit"), "id"),
        labels=_labels(payload),
        draft=attributes.get("work_in_progress") is True or attributes.get("draft") is True,
        old_sha=_text(attributes, "oldrev"),
        updated_at=_text(attributes, "updated_at"),
        html_url=_text(attributes, "url"),
    )


def _note(payload: Mapping[str, Any], own_logins: set[str]) -> NoteEvent | Ignored:
    attributes, pull = _block(payload, "object_attributes"), _block(payload, "merge_request")
    on = _text(attributes, "noteable_type") or ("MergeRequest" if pull else "")
    if on.lower().replace("_", "") != "mergerequest":
        return Ignored(event="note", reason="not-a-pull-request")
    repo, number = _repo(payload, pull), _number(pull.get("iid"))
    if not repo or not number:
        return Ignored(event="note", reason="no-repository" if not repo else "no-number")
    body = _text(attributes, "note", strip=False) or _text(attributes, "description", strip=False)
    author = _login(payload.get("user")) or _login(attributes.get("author"))
    if attributes.get("system") is True:
        return Ignored(event="note", reason="system-note")
    if _PLATFORM_REPLY.match(body):
        # Written by the platform under the pushing person's own name and not flagged as a system note.
        return Ignored(event="note", reason="platform-reply")
    if author.lower() in own_logins:
        return Ignored(event="note", reason="own-note")
    return NoteEvent(
        repo=repo,
        number=number,
        note_id=_number(attributes.get("id")),
        discussion_id=_text(attributes, "discussion_id"),
        body=body,
        digest=_digest(body),
        author=author,
        pr_author=_login(pull.get("author")),
        pr_state=_STATES.get(_text(pull, "state").lower(), ""),
        head_sha=_text(_block(pull, "last_commit"), "id"),
        on_line=bool(_text(attributes, "line_code")) or _text(attributes, "type") == "DiffNote",
        created_at=_text(attributes, "created_at"),
    )


def _repo(payload: Mapping[str, Any], pull: Mapping[str, Any]) -> str:
    for block in (_block(payload, "project"), _block(pull, "target")):
        path = _text(block, "path_with_namespace").strip("/")
        if "/" in path:
            return path
    return ""


def _head_sha(payload: Mapping[str, Any], attributes: Mapping[str, Any]) -> str:
    # git_commit_no is "" on open and may be missing on updates; last_commit is the one both captures have.
    return _text(_block(attributes, "last_commit"), "id") or _text(payload, "git_commit_no")


def _labels(payload: Mapping[str, Any]) -> frozenset[str] | None:
    raw = payload.get("labels")
    if not isinstance(raw, list):
        return None
    names = (_text(item, "name") or _text(item, "title") if isinstance(item, Mapping) else _clean(item) for item in raw)
    return frozenset(name for name in names if name)


def _login(raw: object) -> str:
    """Login of a person block; ``username`` in hooks, ``login`` in copies taken from the REST API."""
    if not isinstance(raw, Mapping):
        return ""
    return _text(raw, "username") or _text(raw, "login")


def _number(raw: object) -> int:
    if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) < 20:
        raw = int(raw)
    if isinstance(raw, bool) or not isinstance(raw, int):
        return 0
    return raw if 0 < raw <= _MAX_ID else 0


def _block(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def _present(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if value is not None}


def _carries(raw: Mapping[str, Any], name: str) -> bool:
    return isinstance(raw.get(name), str)


def _text(raw: Mapping[str, Any], name: str, *, strip: bool = True) -> str:
    value = _clean(raw.get(name))
    return value.strip() if strip else value


def _clean(value: object) -> str:
    """Text that any store accepts: no lone surrogates (SQLite refuses them) and no NUL (PostgreSQL does)."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _label(text: str) -> str:
    """A foreign word made fit to be a metric label: short and plain, so that hostile input cannot flood a counter."""
    return re.sub(r"[^a-z0-9_]+", "_", text.lower())[:40].strip("_") or "none"
