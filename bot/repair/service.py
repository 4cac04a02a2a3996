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
"""``repair``: from a task to a pushed commit, a patch, or reasons. Blocking work runs in a thread."""

from __future__ import annotations

import asyncio

from bot.errors import NotFound
from bot.repair import hostgit
from bot.repair.commit import is_ours, make_commit, message_of, patch_of, subject_of, told_by
from bot.repair.guard import judge, staged
from bot.repair.mend import Mended, mend
from bot.repair.push import push
from bot.repair.reason import Reason, because
from bot.repair.task import RepairOutcome, RepairTask
from bot.repair.tools import CancelToken
from bot.repair.workspace import HeadMoved, SourceGone, Workspace, has_commit, open_workspace, remote_tip


async def repair(task: RepairTask) -> RepairOutcome:
    """Mend the task's findings as far as recipes go.

    Safe to call again after a crash: a commit of ours that is already on the branch is reported, not repeated. When the
    caller is cancelled, running checkers are killed, nothing is pushed any more (unless the push had begun), the work
    tree is
    removed, and only then does the cancellation go on.

    Raises:
        RetryLater: Network or checker trouble; the same call may succeed later.
        TellOperator: Configuration, permission or rule files need a person who runs the service.
    """
    cancel = CancelToken()
    worker = asyncio.get_running_loop().run_in_executor(None, _work, task, cancel)
    try:
        return await asyncio.shield(worker)
    except asyncio.CancelledError:
        cancel.cancel()
        await asyncio.wait([worker])
        worker.exception()
        raise


def _work(task: RepairTask, cancel: CancelToken) -> RepairOutcome:
    task.work_root.mkdir(parents=True, exist_ok=True)
    tip = _tip(task)
    try:
        with open_workspace(task) as workspace:
            if isinstance(tip, Reason):
                return _in_workspace(task, workspace, cancel, no_push=tip)
            if tip != task.head_sha:
                return _own_commit(task, workspace, tip) or _moved()
            return _in_workspace(task, workspace, cancel)
    except HeadMoved:
        return _moved()
    except SourceGone:
        return RepairOutcome(status="refused", detail=because("source-gone"))


def _moved() -> RepairOutcome:
    return RepairOutcome(status="head-moved", detail=because("head-moved"))


def _tip(task: RepairTask) -> str | Reason:
    """The source branch's sha, or why there is nothing to push to, which leaves only a proposal."""
    hostgit.refuse_login_in_url(task.push_url)
    if not task.push_url:
        return because("source-gone")
    try:
        return remote_tip(task, task.work_root) or because("source-gone")
    except hostgit.NoRight:
        return because("no-push-right")
    except NotFound:
        return because("source-gone")


def _own_commit(task: RepairTask, workspace: Workspace, tip: str) -> RepairOutcome | None:
    if not has_commit(workspace.mirror, tip) or not is_ours(task, workspace.mirror, tip):
        return None
    subject, fixed, patch = told_by(task, workspace.mirror, tip)
    return RepairOutcome(status="pushed", commit_sha=tip, subject=subject, patch=patch, fixed=fixed)


def _in_workspace(
    task: RepairTask, workspace: Workspace, cancel: CancelToken, *, no_push: Reason | None = None
) -> RepairOutcome:
    mended = mend(task, workspace, cancel)
    if not mended.fixed:
        return RepairOutcome(status="refused", refused=tuple(mended.refused), checks=mended.checks)
    objections = judge(staged(workspace), frozenset(task.pr_files), task.known_secrets())
    if objections:
        return _refuse_all(mended, objections)
    message = message_of(task, mended.fixes)
    proposal = RepairOutcome(
        status="proposed",
        subject=subject_of(finding for _, finding in mended.fixes),
        patch=patch_of(workspace),
        fixed=tuple(mended.fixed),
        refused=tuple(mended.refused),
        checks=mended.checks,
        detail=no_push or (because("no-push-right") if task.mode == "push" else None),
    )
    if no_push is not None or task.mode != "push":
        return proposal
    cancel.raise_if_cancelled()
    sha = make_commit(task, workspace, message)
    try:
        push(task, workspace, sha)
    except hostgit.NoRight:
        return proposal
    return RepairOutcome(
        status="pushed",
        commit_sha=sha,
        subject=proposal.subject,
        patch=proposal.patch,
        fixed=proposal.fixed,
        refused=proposal.refused,
        checks=proposal.checks,
    )


def _refuse_all(mended: Mended, objections: tuple[Reason, ...]) -> RepairOutcome:
    reason = objections[0]
    refused = (*mended.refused, *((finding, reason) for finding in mended.fixed))
    return RepairOutcome(status="refused", refused=refused, checks=mended.checks, detail=reason)
