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
"""Requests to the GitCode REST API v5, as values. Nothing here does I/O.

The API pages are those of https://docs.gitcode.com/docs/apis/ ; each function names the endpoint it builds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One call.

    Attributes:
        method: HTTP method.
        path: Path below the API root, percent-encoded.
        route: The path with names in place of values, for metrics and logs.
        query: Query parameters.
        body: JSON body; ``None`` for none.
        form: Form fields, sent instead of a JSON body where GitCode wants that.
        repeatable: Whether sending it twice leaves the same state as sending it once.
    """

    method: str
    path: str
    route: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    form: Mapping[str, str] | None = None
    repeatable: bool = True

    @property
    def is_write(self) -> bool:
        """Whether it changes anything at the forge."""
        return self.method != "GET"

    def page(self, number: int, per_page: int) -> Request:
        """The same request for one page of a list, counted from 1."""
        return replace(self, query={**self.query, "page": str(number), "per_page": str(per_page)})

    def with_text(self, text: str) -> Request:
        """The same request with another ``body`` text in its JSON; unchanged where there is none."""
        if not isinstance(self.body, Mapping) or "body" not in self.body:
            return self
        return replace(self, body={**self.body, "body": text})

    @property
    def text(self) -> str:
        """The ``body`` text in the JSON, or an empty string."""
        text = self.body.get("body") if isinstance(self.body, Mapping) else None
        return text if isinstance(text, str) else ""


def current_user() -> Request:
    """``GET /user``: whose token this is."""
    return Request(method="GET", path="/user", route="/user")


def pull(repo: str, number: int) -> Request:
    """``GET /repos/{owner}/{repo}/pulls/{n}``."""
    return _repo("GET", repo, f"/pulls/{number}", "/pulls/{n}")


def pulls(repo: str, *, state: str, updated_after: str = "") -> Request:
    """``GET /repos/{owner}/{repo}/pulls``, the most recently updated first."""
    query = {"state": state, "sort": "updated", "direction": "desc"}
    if updated_after:
        query["updated_after"] = updated_after
    return _repo("GET", repo, "/pulls", "/pulls", query=query)


def create_pull(repo: str, *, title: str, head: str, base: str, body: str, fork_path: str = "") -> Request:
    """``POST /repos/{owner}/{repo}/pulls``."""
    fields = {"title": title, "head": head, "base": base, "body": body}
    if fork_path:
        fields["fork_path"] = fork_path
    return _repo("POST", repo, "/pulls", "/pulls", body=fields, repeatable=False)


def edit_pull(repo: str, number: int, *, title: str, body: str | None = None, state: str | None = None) -> Request:
    """``PATCH /repos/{owner}/{repo}/pulls/{n}``. The title always goes along: the docs demand it."""
    fields = {"title": title}
    if body is not None:
        fields["body"] = body
    if state is not None:
        fields["state"] = state
    return _repo("PATCH", repo, f"/pulls/{number}", "/pulls/{n}", body=fields)


def pull_files(repo: str, number: int) -> Request:
    """``GET /repos/{owner}/{repo}/pulls/{n}/files``."""
    return _repo("GET", repo, f"/pulls/{number}/files", "/pulls/{n}/files")


def pull_files_json(repo: str, number: int) -> Request:
    """``GET /repos/{owner}/{repo}/pulls/{n}/files.json``: the diff line by line."""
    return _repo("GET", repo, f"/pulls/{number}/files.json", "/pulls/{n}/files.json")


def comments(repo: str, number: int) -> Request:
    """``GET /repos/{owner}/{repo}/pulls/{n}/comments``; replies are nested in their threads."""
    return _repo("GET", repo, f"/pulls/{number}/comments", "/pulls/{n}/comments")


def comment(repo: str, note_id: int) -> Request:
    """``GET /repos/{owner}/{repo}/pulls/comments/{note_id}``: the only place that tells a line comment's path."""
    return _repo("GET", repo, f"/pulls/comments/{note_id}", "/pulls/comments/{id}")


def create_comment(
    repo: str, number: int, text: str, *, path: str = "", line: int = 0, file_level: bool = False
) -> Request:
    """``POST /repos/{owner}/{repo}/pulls/{n}/comments``.

    ``line`` is the line number in the new file (measured; the docs' "relative line in the diff" is a mistranslation).
    ``file_level`` sends ``position_type: binary``, which the docs define as a comment on the file as a whole.
    """
    fields: dict[str, Json] = {"body": text}
    if path:
        fields["path"] = path
        fields["position_type"] = "binary" if file_level else "text"
        fields["position"] = 1 if file_level else line
    return _repo("POST", repo, f"/pulls/{number}/comments", "/pulls/{n}/comments", body=fields, repeatable=False)


def edit_comment(repo: str, note_id: int, text: str) -> Request:
    """``PATCH /repos/{owner}/{repo}/pulls/comments/{note_id}``; one's own comments only."""
    return _repo("PATCH", repo, f"/pulls/comments/{note_id}", "/pulls/comments/{id}", body={"body": text})


def delete_comment(repo: str, note_id: int) -> Request:
    """``DELETE /repos/{owner}/{repo}/pulls/comments/{note_id}``; one's own comments only."""
    return _repo("DELETE", repo, f"/pulls/comments/{note_id}", "/pulls/comments/{id}")


def reply(repo: str, number: int, discussion_id: str, text: str) -> Request:
    """``POST /repos/{owner}/{repo}/pulls/{n}/discussions/{discussion_id}/comments``."""
    path = f"/pulls/{number}/discussions/{_quote(discussion_id)}/comments"
    return _repo("POST", repo, path, "/pulls/{n}/discussions/{id}/comments", body={"body": text}, repeatable=False)


def resolve(repo: str, number: int, discussion_id: str) -> Request:
    """``PUT /repos/{owner}/{repo}/pulls/{n}/comments/{discussion_id}``."""
    path = f"/pulls/{number}/comments/{_quote(discussion_id)}"
    return _repo("PUT", repo, path, "/pulls/{n}/comments/{id}", body={"resolved": True})


def add_labels(repo: str, number: int, labels: Sequence[str]) -> Request:
    """``POST /repos/{owner}/{repo}/pulls/{n}/labels`` with a bare array. Adding a label twice changes nothing."""
    return _repo("POST", repo, f"/pulls/{number}/labels", "/pulls/{n}/labels", body=list(labels))


def remove_label(repo: str, number: int, label: str) -> Request:
    """``DELETE /repos/{owner}/{repo}/pulls/{n}/labels/{name}``; names may hold a slash."""
    return _repo("DELETE", repo, f"/pulls/{number}/labels/{_quote(label)}", "/pulls/{n}/labels/{name}")


def create_label(repo: str, name: str, color: str) -> Request:
    """``POST /repos/{owner}/{repo}/labels``: the one call that is form-encoded."""
    return _repo("POST", repo, "/labels", "/labels", form={"name": name, "color": color})


def contents(repo: str, path: str, ref: str) -> Request:
    """``GET /repos/{owner}/{repo}/contents/{path}?ref=``."""
    return _repo("GET", repo, f"/contents/{quote(path.strip('/'))}", "/contents/{path}", query={"ref": ref})


def permission(repo: str, login: str) -> Request:
    """``GET /repos/{owner}/{repo}/collaborators/{login}/permission``."""
    path = f"/collaborators/{_quote(login)}/permission"
    return _repo("GET", repo, path, "/collaborators/{login}/permission")


def self_permission(repo: str) -> Request:
    """``GET /repos/{owner}/{repo}/collaborators/self-permission``."""
    return _repo("GET", repo, "/collaborators/self-permission", "/collaborators/self-permission")


def _repo(
    method: str,
    repo: str,
    path: str,
    route: str,
    *,
    query: Mapping[str, str] | None = None,
    body: Json = None,
    form: Mapping[str, str] | None = None,
    repeatable: bool = True,
) -> Request:
    owner, _, name = repo.partition("/")
    if not owner or not name or "/" in name:
        raise ValueError(f"For a GitCode request, repo should be 'owner/name', but got {repo!r}.")
    return Request(
        method=method,
        path=f"/repos/{_quote(owner)}/{_quote(name)}{path}",
        route=route,
        query=query or {},
        body=body,
        form=form,
        repeatable=repeatable,
    )


def _quote(segment: str) -> str:
    return quote(segment, safe="")
