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
"""Hands a repair to its room: a decision's action becomes a task, the room's outcome becomes data for ``decide``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from bot.config import Settings
from bot.forge import Forge, PullRequest
from bot.gate.decision import Repair
from bot.gate.finding import Finding
from bot.runtime.masking import secrets_of
from bot.runtime.outside import Repairer, RepairFiles, RoomAnswer

_MAX_PATCH = 60_000  # a comment holds 65 535 characters


def repairable(finding: Finding) -> bool:
    """Whether a recipe exists for a finding."""
    from bot.repair.recipes.registry import recipe_for  # loads syntax-tree tools; only red builds need them

    return recipe_for(finding) is not None


def make_repairer(
    settings: Settings,
    forge: Forge,
    *,
    busy: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Repairer:
    """A repairer that works in ``storage.work_dir`` and logs in to git with the forge's token."""
    token = settings.gitcode.token.get_secret_value

    async def mend(action: Repair, pull: PullRequest, files: RepairFiles) -> RoomAnswer:
        from bot.repair.service import repair
        from bot.repair.task import Credentials, RepairTask

        paths = files(pull)
        if paths is None:
            listed = await forge.changed_files(pull.repo, pull.number)
            paths = tuple(file.path for file in listed if file.status != "deleted")
        task = RepairTask(
            repo=pull.repo,
            number=pull.number,
            head_sha=action.head_sha,
            head_ref=pull.head_ref,
            clone_url=pull.base_url,
            push_url=pull.head_url,
            base_ref=pull.base_ref,
            findings=action.findings,
            pr_files=paths,
            mode="push" if action.mode == "push" and not settings.dry_run else "propose",
            author_name=settings.repair.author_name,
            author_email=settings.repair.author_email,
            work_root=(settings.storage.work_dir / "repair").absolute(),
            credentials=Credentials(settings.gitcode.git_user, token) if token() else None,
            known_secrets=lambda: tuple(secrets_of(settings)),
        )
        with busy():
            outcome = await repair(task)
        language = settings.gate.language
        reasons = [reason.text(language) for _, reason in outcome.refused]
        if outcome.detail is not None:
            reasons.insert(0, outcome.detail.text(language))
        outside_pull = {reason.text_id for _, reason in outcome.refused} & {"outside-pr"}
        gone = outcome.status == "refused" and outcome.detail is not None and outcome.detail.text_id == "source-gone"
        return RoomAnswer(
            "done",
            data={
                "status": outcome.status,
                "sha": outcome.commit_sha,
                "subject": outcome.subject,
                "rules": "\n".join(dict.fromkeys(finding.rule or finding.tool for finding in outcome.fixed)),
                "places": "\n".join(dict.fromkeys(_place(finding) for finding in outcome.fixed)),
                "patch": outcome.patch[:_MAX_PATCH],
                "scope": "gone" if gone else "outside" if outside_pull and not outcome.fixed else "",
                "reason": "\n".join(dict.fromkeys(reasons)),
                "why": outcome.detail.text(language) if outcome.detail is not None else "",
            },
        )

    return mend


def _place(finding: Finding) -> str:
    return f"{finding.file}:{finding.line}" if finding.line else finding.file
