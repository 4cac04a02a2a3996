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
"""Bodies of web hooks. Only what captured payloads are known to carry: a bot must not learn to rely on more. Pure."""

from __future__ import annotations

from typing import Any

from bot.sandbox.gitcode.gitrepo import Commit
from bot.sandbox.gitcode.shapes import Shapes
from bot.sandbox.gitcode.state import Note, Pull, Repo, Thread, User, stamp, stamp_z

Json = dict[str, Any]

MERGE_REQUEST = "Merge Request Hook"
NOTE = "Note Hook"
PUSH = "Push Hook"


def merge_request(
    shapes: Shapes, repo: Repo, pull: Pull, actor: str, action: str, head: Commit, *, oldrev: str = "", changes: Json
) -> Json:
    """A Merge Request Hook. ``uuid`` is set on delivery."""
    attributes = _pull_attributes(shapes, repo, pull, head)
    attributes |= {
        "action": action,
        "act": action,
        "act_desc": action,
        "update_reason": "",
        "oldrev": oldrev,
        "source_project_id": _source_id(attributes),
        "target_project_id": repo.id,
        "need_review": False,
        "need_approve": False,
        "need_test": False,
        "approver_list": [],
        "tester_list": [],
        "author_id": shapes.number_user(pull.author)["id"],
        "merge_params": {"force_remove_source_branch": False},
        "created_at": stamp(pull.created_at),
        "updated_at": stamp(pull.updated_at),
    }
    return {
        "object_kind": "merge_request",
        "event_type": "merge_request",
        "uuid": "",
        "user": _person(shapes, actor),
        "project": _project(shapes, repo),
        "repository": _repository(shapes, repo),
        "labels": _labels(repo, pull),
        "enterprise_labels": [],
        "issues": [],
        "changes": changes,
        "object_attributes": attributes,
        "merge_request": attributes,
        "git_branch": "",
        "git_commit_no": "",
        "git_target_branch_commit_no": pull.base_sha,
        "virtual_merge_build": False,
        "manual_build": False,
        "produce_random_id": "",
    }


def opened(pull: Pull, author_id: int) -> Json:
    """``changes`` of a new pull request."""
    values: Json = {
        "iid": pull.number,
        "state": pull.state,
        "title": pull.title,
        "source_branch": pull.source_branch,
        "target_branch": pull.target_branch,
        "author_id": author_id,
    }
    return {key: {"current": value} for key, value in values.items()}


def label_change(before: list[str], after: list[str]) -> Json:
    """``changes`` of a label update (the shape is a guess: none was captured)."""
    sides = (("previous", before), ("current", after))
    return {"labels": {side: [{"name": name, "title": name} for name in names] for side, names in sides}}


def note(shapes: Shapes, repo: Repo, pull: Pull, thread: Thread, written: Note, head: Commit) -> Json:
    """A Note Hook on a pull request: no labels, and nothing that tells a new comment from an edited one."""
    attributes = {
        "id": written.id,
        "note": written.body,
        "description": written.body,
        "discussion_id": thread.id,
        "noteable_type": "MergeRequest",
        "noteable_id": pull.id,
        "type": "DiffNote" if thread.position else None,
        "system": False,
        "author_id": shapes.number_user(written.author)["id"],
        "project_id": repo.id,
        "commit_id": None,
        "line_code": None,
        "st_diff": None,
        "attachment": None,
        "position": _position(thread),
        "original_position": {},
        "change_position": {},
        "resolved_at": None,
        "resolved_by_id": None,
        "resolved_by_push": None,
        "updated_by_id": None,
        "created_at": stamp(written.created_at),
        "updated_at": stamp(written.updated_at),
        "url": f"{shapes.pull_url(repo, pull)}#note_{thread.id}",
    }
    merge_request_block = _pull_attributes(shapes, repo, pull, head)
    merge_request_block |= {"action": "open", "source_project_id": _source_id(merge_request_block)}
    return {
        "object_kind": "note",
        "event_type": "note",
        "uuid": "",
        "project_id": repo.id,
        "user": _person(shapes, written.author),
        "project": _project(shapes, repo),
        "repository": {"name": repo.name},
        "object_attributes": attributes,
        "merge_request": merge_request_block,
        "produce_random_id": "",
        "manual_build": False,
        "extend_attributes": None,
    }


def push(shapes: Shapes, repo: Repo, actor: str, branch: str, before: str, after: str, commits: list[Commit]) -> Json:
    """A Push Hook; ``user_id`` was -9999 in the capture."""
    return {
        "object_kind": "push",
        "event_name": "push",
        "before": before,
        "after": after,
        "ref": f"refs/heads/{branch}",
        "checkout_sha": after,
        "user_id": -9999,
        "user_username": actor,
        "project_id": repo.id,
        "project": _project(shapes, repo),
        "repository": _repository(shapes, repo),
        "commits": [_commit(shapes, repo, commit) for commit in commits[:20]],
        "total_commits_count": len(commits),
        "git_branch": branch,
        "git_commit_no": after,
        "uuid": "",
    }


def _source_id(attributes: Json) -> int:
    """Of the source repository; 0 when it was deleted."""
    return int(attributes["source"]["id"]) if attributes["source"] else 0


def _pull_attributes(shapes: Shapes, repo: Repo, pull: Pull, head: Commit) -> Json:
    source = shapes.world.repos.get(pull.source_repo)
    fork = None
    if source is not None:
        fork = {"id": source.id, "path_with_namespace": source.full_name, "git_http_url": shapes.clone_url(source)}
    return {
        "id": pull.id,
        "iid": pull.number,
        "title": pull.title,
        "description": pull.body,
        "state": pull.state,
        "source_branch": pull.source_branch,
        "target_branch": pull.target_branch,
        "source": fork,
        "target": {"id": repo.id, "path_with_namespace": repo.full_name},
        "last_commit": _commit(shapes, source or repo, head),
        "target_branch_commit": {"id": pull.base_sha},
        "author": _person(shapes, pull.author),
        "work_in_progress": pull.draft,
        "merge_status": "unchecked",
        "conflict": False,
        "reviewer_list": [],
        "assignee_list": [],
        "url": shapes.pull_url(repo, pull),
    }


def _commit(shapes: Shapes, repo: Repo, commit: Commit) -> Json:
    return {
        "id": commit.sha,
        "message": commit.message,
        "timestamp": stamp_z(commit.at),
        "url": f"{shapes.web(repo)}/commits/detail/{commit.sha}",
        "author": {"name": commit.author_name, "email": commit.author_email},
    }


def _person(shapes: Shapes, login: str) -> Json:
    user = shapes.world.users.get(login) or User(0, login, login, "")
    return {**shapes.number_user(login), "email": user.email, "avatar_url": ""}


def _project(shapes: Shapes, repo: Repo) -> Json:
    url, ssh = shapes.clone_url(repo), f"git@gitcode.com:{repo.full_name}.git"
    return {
        "id": repo.id,
        "name": repo.name,
        "namespace": repo.owner,
        "path_with_namespace": repo.full_name,
        "default_branch": repo.default_branch,
        "web_url": shapes.web(repo),
        "homepage": shapes.web(repo),
        "git_http_url": url,
        "http_url": url,
        "git_ssh_url": ssh,
        "ssh_url": ssh,
        "url": ssh,
        "visibility_level": 20,
    }


def _repository(shapes: Shapes, repo: Repo) -> Json:
    home = shapes.web(repo)
    return {"name": repo.name, "git_http_url": shapes.clone_url(repo), "homepage": home, "visibility_level": 20}


def _labels(repo: Repo, pull: Pull) -> list[Json]:
    return [{"id": repo.labels[name].id, "name": name, "title": name} for name in pull.labels]


def _position(thread: Thread) -> Json:
    position = thread.position
    if position is None:
        return {}
    shas = {"base_sha": position.base_sha, "start_sha": position.start_sha, "head_sha": position.head_sha}
    paths = {"old_path": position.path, "new_path": position.path, "position_type": "text"}
    return {**shas, **paths, "new_line": position.line}
