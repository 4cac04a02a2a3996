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
"""The exact head of a pull request as a task for a work tree that only reads."""

from __future__ import annotations

from bot.config import Settings
from bot.forge import PullRequest
from bot.repair.task import Credentials, RepairTask


def head_task(pull: PullRequest, settings: Settings) -> RepairTask:
    """A task that opens the head and changes nothing; its mirror is the one that repairs use."""
    token = settings.gitcode.token.get_secret_value
    return RepairTask(
        repo=pull.repo,
        number=pull.number,
        head_sha=pull.head_sha,
        head_ref=pull.head_ref,
        clone_url=pull.base_url,
        push_url=pull.head_url,
        base_ref=pull.base_ref,
        findings=(),
        pr_files=(),
        mode="propose",
        author_name=settings.repair.author_name,
        author_email=settings.repair.author_email,
        work_root=(settings.storage.work_dir / "repair").absolute(),
        credentials=Credentials(settings.gitcode.git_user, token) if token() else None,
    )
