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
"""A commit of ours is known again after a crash: by its one parent, its trailer and its committer, not by less."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.repair.commit import is_ours
from bot.repair.task import RepairTask

TRAILER = "GateBot-Case: mindspore/hyper-parallel#647"
OURS = f"fix(gate): Check_Tab\n\n- Check_Tab a.py:3 (tab)\n\n{TRAILER}\n"


class History:
    """A repository whose head is the pull request's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "--quiet", ".")
        self.tree = self.git("mktree", "--missing")
        self.head = self.commit("feat: head\n")

    def git(self, *arguments: str, said: str = "", mail: str = "gatebot@example.com") -> str:
        names = {f"GIT_{role}_NAME": "n" for role in ("AUTHOR", "COMMITTER")}
        names |= {"GIT_AUTHOR_EMAIL": "gatebot@example.com", "GIT_COMMITTER_EMAIL": mail}
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.path), **names},
            input=said,
            check=True,
            capture_output=True,
            text=True,
        )
        return ran.stdout.strip()

    def commit(self, message: str, *parents: str, mail: str = "gatebot@example.com") -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", self.tree, *options, "-F", "-", said=message, mail=mail)

    def task(self) -> RepairTask:
        return RepairTask(
            repo="mindspore/hyper-parallel",
            number=647,
            head_sha=self.head,
            head_ref="dev",
            clone_url="",
            push_url="",
            base_ref="master",
            findings=(),
            pr_files=(),
            mode="push",
            author_name="gatebot",
            author_email="gatebot@example.com",
            work_root=self.path,
        )


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path)


def test_our_commit_on_this_head_is_ours(history: History) -> None:
    assert is_ours(history.task(), history.path, history.commit(OURS, history.head))


@pytest.mark.parametrize(
    "message",
    ["fix(gate): Check_Tab\n", OURS.replace("#647", "#64"), OURS.replace("#647", "#6470"), f"revert: of {TRAILER}\n"],
    ids=["no-trailer", "of-another-case", "of-a-longer-number", "quoted"],
)
def test_another_message_is_not(history: History, message: str) -> None:
    assert not is_ours(history.task(), history.path, history.commit(message, history.head))


def test_our_commit_of_another_head_is_not(history: History) -> None:
    other = history.commit("feat: another head\n", history.head)
    assert not is_ours(history.task(), history.path, history.commit(OURS, other))
    assert not is_ours(history.task(), history.path, history.commit(OURS, history.head, other))
    assert not is_ours(history.task(), history.path, history.commit(OURS))


def test_a_commit_that_somebody_else_made_with_our_words_is_not(history: History) -> None:
    assert not is_ours(history.task(), history.path, history.commit(OURS, history.head, mail="dev-a@example.com"))
