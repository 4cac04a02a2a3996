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
"""The JSON that the REST API answers with: ids, types and odd places as published captures show them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.sandbox.gitcode.gitrepo import Commit
from bot.sandbox.gitcode.state import Hook, Issue, Label, LogEntry, Note, Pull, Repo, Thread, User, World, stamp

Json = dict[str, Any]
_ROLES = {
    50: ("Owner", "管理员", "admin"),
    40: ("Maintainer", "维护者", "maintainer"),
    30: ("Developer", "开发者", "push"),
}


@dataclass
class Shapes:
    """Shapes need the users and the addresses of the server."""

    world: World
    origin: str  # http://127.0.0.1:port

    # -- people ---------------------------------------------------------------------------------------------

    def user(self, login: str) -> Json:
        """A person in a list: ``id`` is 24 hex digits."""
        user = self._user(login)
        return {
            "id": user.hex_id,
            "login": login,
            "name": user.name,
            "avatar_url": "",
            "html_url": f"{self.origin}/{login}",
        }

    def object_user(self, login: str) -> Json:
        """A person in the comment list: ``id`` and ``object_id`` are the hex id."""
        user = self._user(login)
        return {"id": user.hex_id, "object_id": user.hex_id, "login": login, "name": user.name}

    def detail_user(self, login: str) -> Json:
        """A person in the comment detail: ``id`` is a numeric string."""
        user = self._user(login)
        return {"id": str(user.number), "object_id": user.hex_id, "login": login, "name": user.name, "type": "User"}

    def number_user(self, login: str) -> Json:
        """A person in hooks and GitLab-like answers: ``id`` is an int and the login is ``username``."""
        user = self._user(login)
        return {"id": user.number, "name": user.name, "username": login}

    def reviewer(self, login: str) -> Json:
        """A person in the reviewers' answers: ``id`` is an int, next to ``object_id``."""
        user = self._user(login)
        return {"id": user.number, "login": login, "name": user.name, "object_id": user.hex_id}

    def me(self, user: User) -> Json:
        """``GET /user``."""
        return {"id": user.hex_id, "login": user.login, "name": user.name, "type": "User", "email": user.email}

    # -- repositories ---------------------------------------------------------------------------------------

    def web(self, repo: Repo) -> str:
        """A repository's page."""
        return f"{self.origin}/{repo.full_name}"

    def raw(self, repo: Repo) -> str:
        """Root of a repository's raw files."""
        return f"{self.origin}/{repo.full_name}/raw"

    def clone_url(self, repo: Repo) -> str:
        """Where git clones it from; the API calls this ``html_url``."""
        return f"{self.web(repo)}.git"

    def short_repo(self, repo: Repo) -> Json:
        """A repository inside a pull request; ``name`` is for display."""
        return {
            "path": repo.path,
            "name": repo.name,
            "namespace": {"path": repo.owner},
            "full_name": repo.full_name,
            "html_url": self.clone_url(repo),
        }

    def repo(self, repo: Repo) -> Json:
        """``GET /repos/{owner}/{repo}`` and the answer to a fork."""
        return {
            "id": repo.id,
            **self.short_repo(repo),
            "default_branch": repo.default_branch,
            "fork": bool(repo.fork_of),
            "parent": {"full_name": repo.fork_of} if repo.fork_of else None,
            "private": False,
            "created_at": stamp(repo.created_at),
        }

    def label(self, repo: Repo, label: Label, *, listed: bool = False, written: bool = False) -> Json:
        """A label; in PR lists it also has ``title``, in the answer to a write ``text_color``."""
        shown = {
            "id": label.id,
            "color": label.color,
            "name": label.name,
            "repository_id": repo.id,
            "created_at": stamp(label.created_at),
            "updated_at": stamp(label.updated_at),
        }
        if listed:
            shown["title"] = label.name
        if written:
            shown["text_color"] = "#FFFFFF"
        return shown

    def labels(self, repo: Repo, pull: Pull, *, listed: bool = False, written: bool = False) -> list[Json]:
        """The labels on a pull request."""
        return [self.label(repo, repo.labels[name], listed=listed, written=written) for name in pull.labels]

    def hook(self, repo: Repo, hook: Hook) -> Json:
        """A web hook; the secret comes back in clear."""
        return {
            "id": hook.id,
            "url": hook.url,
            "password": hook.password,
            "encryption_type": hook.encryption_type,
            "result": hook.result,
            "project_id": repo.id,
            "result_code": hook.result_code,
            **hook.events,
            "created_at": stamp(hook.created_at),
        }

    def issue(self, repo: Repo, issue: Issue) -> Json:
        """An issue; its number is a string."""
        return {
            "id": issue.id,
            "number": issue.number,
            "title": issue.title,
            "body": issue.body,
            "state": issue.state,
            "user": self.user(issue.author),
            "labels": [self.label(repo, repo.labels[name]) for name in issue.labels],
            "html_url": f"{self.web(repo)}/issues/{issue.number}",
            "created_at": stamp(issue.created_at),
        }

    def permission(self, repo: Repo, login: str) -> Json:
        """``GET /collaborators/{login}/permission``."""
        level = repo.level(login)
        role, _, word = _ROLES.get(level, ("Reporter", "", "pull"))
        return {**self.user(login), "permission": word, "role_name": role, "access_level": level}

    def self_permission(self, repo: Repo, login: str) -> Json:
        """``GET /collaborators/self-permission``."""
        level = repo.level(login)
        role, chinese, _ = _ROLES.get(level, ("Reporter", "报告者", "pull"))
        actions = [
            {"permission_id": 14, "action": "push", "name": "push", "selected": level >= 30},
            {"permission_id": 15, "action": "download", "name": "download", "selected": True},
        ]
        return {
            "role_info": {"name": role, "cn_name": chinese, "roles_type": 1, "access_level": level},
            "resource_trees": [{"resource_id": 4, "name": "code", "scope": "code", "actions": actions}],
        }

    # -- pull requests --------------------------------------------------------------------------------------

    def pull_url(self, repo: Repo, pull: Pull) -> str:
        """A pull request's page."""
        return f"{self.web(repo)}/merge_requests/{pull.number}"

    def pull(self, repo: Repo, pull: Pull, *, mergeable: bool, reasons: Json) -> Json:
        """``GET /pulls/{n}``: no ``iid``, no counts, ``open``, empty strings for dates that are not."""
        api = f"{self.origin}/api/v5/repos/{repo.full_name}/pulls/{pull.number}"
        source = self.world.repos.get(pull.source_repo)
        return {
            "id": pull.id,
            "number": pull.number,
            "state": "open" if pull.state == "opened" else pull.state,
            "title": pull.title,
            "body": pull.body,
            "html_url": self.pull_url(repo, pull),
            "url": api,
            "issue_url": f"{api}/issues",
            "assignees_number": len(pull.assignees),
            "assignees": [self.user(login) for login in pull.assignees],
            "testers": [self.user(login) for login in pull.testers],
            "approval_reviewers": [self.user(login) for login in pull.reviewers],
            "labels": self.labels(repo, pull),
            "created_at": stamp(pull.created_at),
            "updated_at": stamp(pull.updated_at),
            "closed_at": stamp(pull.closed_at),
            "merged_at": stamp(pull.merged_at),
            "merged": None,
            "draft": pull.draft,
            "can_merge_check": False,
            "prune_branch": False,
            "mergeable": mergeable,
            "user": self.user(pull.author),
            "head": self._end(pull.source_branch, pull.head_sha, source, pull.author),
            "base": self._end(pull.target_branch, pull.base_sha, repo, ""),
            "mergeable_state": self._mergeable_state(repo, pull, mergeable, reasons),
            "visibility_reason": "public",
            "close_related_issue": False,
        }

    def pull_item(
        self, repo: Repo, pull: Pull, refs: dict[str, str], lines: tuple[int, int], *, mergeable: bool
    ) -> Json:
        """An item of ``GET /pulls``: much more than the detail, and some of it differently."""
        source = self.world.repos.get(pull.source_repo)
        user = self._user(pull.author)
        return {
            **self.pull(repo, pull, mergeable=mergeable, reasons={}),
            "iid": pull.number,
            "project_id": repo.id,
            "source_branch": pull.source_branch,
            "target_branch": pull.target_branch,
            "source_project_id": source.id if source else 0,
            "diff_refs": refs,
            "added_lines": lines[0],
            "removed_lines": lines[1],
            "notes": sum(len(thread.notes) for thread in pull.threads),
            "web_url": self.pull_url(repo, pull),
            "source_git_url": self.clone_url(source) if source else "",
            "locked": False,
            "merge_request_type": "MergeRequest",
            "labels": self.labels(repo, pull, listed=True),
            "user": {**self.user(pull.author), "user_id": user.number, "object_id": user.hex_id},
            "close_related_issue": 0,
        }

    def created_pull(self, repo: Repo, pull: Pull) -> Json:
        """The GitLab-like answer to ``POST /pulls``."""
        source = self.world.repos.get(pull.source_repo)
        return {
            "id": pull.id,
            "iid": pull.number,
            "number": pull.number,
            "project_id": repo.id,
            "title": pull.title,
            "description": pull.body,
            "state": pull.state,
            "created_at": stamp(pull.created_at),
            "target_branch": pull.target_branch,
            "source_branch": pull.source_branch,
            "author": self.number_user(pull.author),
            "source_project_id": source.id if source else 0,
            "target_project_id": repo.id,
            "labels": self.labels(repo, pull),
            "work_in_progress": pull.draft,
            "merge_status": "unchecked",
            "sha": pull.head_sha,
            "web_url": self.pull_url(repo, pull),
        }

    def patched_pull(self, pull: Pull) -> Json:
        """The thin answer to ``PATCH /pulls/{n}``."""
        times = {"created_at": stamp(pull.created_at), "updated_at": stamp(pull.updated_at)}
        return {"title": pull.title, "body": pull.body, "state": pull.state, **times}

    def commit(self, repo: Repo, commit: Commit) -> Json:
        """An item of ``GET /pulls/{n}/commits``: ``parents`` is an object."""
        author = {"name": commit.author_name, "email": commit.author_email}
        committer = {"name": commit.committer_name, "email": commit.committer_email}
        first = commit.parents[0] if commit.parents else ""
        return {
            "sha": commit.sha,
            "html_url": f"{self.web(repo)}/commit/{commit.sha}",
            "commit": {"author": author, "committer": committer, "message": commit.message},
            "author": self._commit_user(commit.author_name, commit.author_email),
            "committer": self._commit_user(commit.committer_name, commit.committer_email),
            "parents": {"sha": first, "shas": list(commit.parents)},
        }

    def log(self, repo: Repo, pull: Pull, entry: LogEntry) -> Json:
        """An item of ``operate_logs``."""
        return {
            "id": entry.id,
            "action": entry.action,
            "action_type": entry.action,
            "content": entry.content,
            "merge_request_id": pull.id,
            "created_at": stamp(entry.at),
            "updated_at": stamp(entry.at),
            "discussion_id": f"{entry.id:040x}",
            "project": repo.full_name,
            "user": {**self.object_user(entry.author), "state": "active"},
        }

    # -- comments -------------------------------------------------------------------------------------------

    def thread(self, thread: Thread) -> Json:
        """An item of the comment list: neither path nor sha, replies nested."""
        note = thread.notes[0]
        shown: Json = {
            "id": note.id,
            "discussion_id": thread.id,
            **self._note(note),
            "user": self.object_user(note.author),
            "comment_type": "diff_comment" if thread.position else "pr_comment",
        }
        if thread.position:
            line, kind = thread.position.line, "text" if thread.position.line else "binary"
            shown["resolved"] = thread.resolved
            shown["diff_position"] = {"start_new_line": line, "end_new_line": line, "position_type": kind}
        if len(thread.notes) > 1:
            shown["reply"] = [
                {"id": reply.id, **self._note(reply), "user": self.object_user(reply.author)}
                for reply in thread.notes[1:]
            ]
        return shown

    def note(self, thread: Thread, note: Note) -> Json:
        """``GET /pulls/comments/{note_id}``."""
        shown: Json = {
            "id": note.id,
            "discussion_id": thread.id,
            **self._note(note),
            "comment_type": "DiffNote" if thread.position else "DiscussionNote",
            "user": self.detail_user(note.author),
        }
        position = thread.position
        if position:
            shown["is_outdated"] = thread.outdated
            shown["position"] = {
                "base_sha": position.base_sha,
                "start_sha": position.start_sha,
                "head_sha": position.head_sha,
                "old_path": position.path,
                "new_path": position.path,
                "position_type": "text" if position.line else "binary",
            }
            if position.line and not position.detached:
                shown["position"]["new_line"] = position.line
        return shown

    # -- parts ----------------------------------------------------------------------------------------------

    def _note(self, note: Note) -> Json:
        return {"body": note.body, "created_at": stamp(note.created_at), "updated_at": stamp(note.updated_at)}

    def _user(self, login: str) -> User:
        return self.world.users.get(login) or User(0, login, login, "")

    def _commit_user(self, name: str, email: str) -> Json:
        found = next((user.login for user in self.world.users.values() if user.email == email), "")
        return self.user(found) if found else {"id": "", "login": "", "name": name}

    def _end(self, branch: str, sha: str, repo: Repo | None, author: str) -> Json:
        end: Json = {"ref": branch, "sha": sha, "label": branch, "repo": self.short_repo(repo) if repo else None}
        if author:
            end["user"] = self.user(author)
        return end

    def _mergeable_state(self, repo: Repo, pull: Pull, mergeable: bool, reasons: Json) -> Json:
        resolved = all(thread.resolved for thread in pull.threads if thread.position)
        must_resolve = repo.only_allow_merge_if_all_discussions_are_resolved
        return {
            "merge_request_id": pull.id,
            "state": mergeable and not reasons,
            "conflict_passed": mergeable,
            "branch_missing_passed": pull.source_repo in self.world.repos,
            "mr_state_passed": pull.state == "opened",
            "merged_by_user_passed": "merged_by_user_passed" not in reasons,
            "work_in_progress_passed": not pull.draft,
            "resolve_discussion_passed": resolved or not must_resolve,
            "ci_state_passed": True,
            "merge_by_self_passed": "merge_by_self_passed" not in reasons,
            "can_force_merge": False,
            "merge_request_switch": {
                "review_mode": "approval",
                "merge_method": "merge",
                "only_allow_merge_if_all_discussions_are_resolved": must_resolve,
                "disable_merge_by_self": True,
                "only_allow_merge_if_pipeline_succeeds": False,
                "can_reopen": True,
            },
            "reason": reasons,
        }
