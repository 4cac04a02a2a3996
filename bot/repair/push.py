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
"""Pushes a fast-forward to the source branch, once, and only while the branch is at the head that was mended."""

from __future__ import annotations

import re
from typing import Final

from bot.errors import RetryLater
from bot.repair import hostgit
from bot.repair.task import RepairTask
from bot.repair.workspace import HeadMoved, Workspace

_REJECTED: Final = re.compile(
    r"stale info|non-fast-forward|fetch first|\[rejected\]|cannot lock ref|failed to update ref", re.IGNORECASE
)


def push(task: RepairTask, workspace: Workspace, sha: str) -> None:
    """Push ``sha`` to the source branch.

    The commit's parent is the head, so this is a fast-forward and never rewrites anything. The lease makes git check,
    within the push itself, that the branch still is at that head: a plain push would also "fast-forward" a branch that
    its author has meanwhile put back to an older commit.

    Raises:
        HeadMoved: The branch is elsewhere by now.
        NoRight: We may not write to that branch.
        RetryLater: The network failed; ``effect_unknown`` is set, the next try looks at the branch first.
    """
    ref = f"refs/heads/{task.head_ref}"
    with hostgit.login(task.credentials) as env:
        result = hostgit.run(
            [
                "push",
                "--porcelain",
                "--no-verify",
                f"--force-with-lease={ref}:{task.head_sha}",
                "--",
                task.push_url,
                f"{sha}:{ref}",
            ],
            cwd=workspace.mirror,
            git_dir=workspace.mirror,
            env=env,
            timeout=300.0,
            check=False,
        )
    if result.code == 0:
        return
    said = result.stderr + result.text
    if _REJECTED.search(said) and "remote rejected" not in said:
        raise HeadMoved("")
    failed = hostgit.GitResult(result.code, b"", said)
    error = hostgit.failure(failed, "push", effect_unknown=True)
    if isinstance(error, hostgit.NoRight | RetryLater):
        raise error
    # "remote rejected" by a hook or a protected branch: it understood and said no.
    raise hostgit.NoRight(str(error)) if "remote rejected" in said else error
