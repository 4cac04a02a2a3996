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
"""Judges the description against the base branch's template."""

from __future__ import annotations

from bot.forge import PullRequest
from bot.gate.facts import TemplateVerdict
from bot.gate.tracking import body_digest
from bot.runtime.find_template import find_template
from bot.runtime.memory import Memory
from bot.runtime.outside import FoundTemplate, Outside


async def judge_description(pull: PullRequest, memory: Memory, outside: Outside) -> Memory:
    """The memory with a verdict on the present description.

    Raises:
        RetryLater: The template could not be read; a description is never judged without it.
    """
    key = f"{pull.base_sha}:{body_digest(pull.body)}:{outside.settings.gate.language}"
    if memory.template is not None and memory.template_key == key:
        return memory
    template = await find_template(pull, outside)
    return memory.with_(template=_verdict(template, pull.body, outside.settings.gate.language), template_key=key)


def _verdict(template: FoundTemplate, body: str, language: str) -> TemplateVerdict:
    from bot.template.check import check_description
    from bot.template.sticky import summaries

    digest = body_digest(body)
    if not template.path:
        return TemplateVerdict(complete=True, body_digest=digest)
    verdict = check_description(template.text, body)
    return TemplateVerdict(
        complete=verdict.passed,
        missing=tuple(summaries(verdict, language)),
        template_path=template.path,
        body_digest=digest,
    )
