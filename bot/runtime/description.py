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
"""Judges the description against the base branch's template; reads the template once per base commit."""

from __future__ import annotations

from bot.forge import PullRequest
from bot.gate.facts import TemplateVerdict
from bot.gate.tracking import body_digest
from bot.runtime.memory import Memory
from bot.runtime.outside import FoundTemplate, Outside
from bot.template.find import TEMPLATE_PATHS

_KEPT = 64
_BARE_SECONDS = 6 * 3600.0  # a repository without a template is not searched again for every base commit
# Every path tried costs a call, so only the places where this community keeps templates are tried.
_NAMES = ("PULL_REQUEST_TEMPLATE.zh-CN.md", "PULL_REQUEST_TEMPLATE.md")
_TRIED = tuple(path for path in TEMPLATE_PATHS if path.endswith(_NAMES))[:8]


async def judge_description(pull: PullRequest, memory: Memory, outside: Outside) -> Memory:
    """The memory with a verdict on the present description.

    Raises:
        RetryLater: The template could not be read; a description is never judged without it.
    """
    key = f"{pull.base_sha}:{body_digest(pull.body)}:{outside.settings.gate.language}"
    if memory.template is not None and memory.template_key == key:
        return memory
    template = await _template(pull, outside)
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


async def _template(pull: PullRequest, outside: Outside) -> FoundTemplate:
    known = outside.templates.get((pull.repo, pull.base_sha))
    if known is not None:
        return known
    if outside.bare_repos.get(pull.repo, 0.0) > outside.stamp():
        return FoundTemplate("", "")
    found = FoundTemplate("", "")
    for path in _paths_to_try(pull.repo, outside):
        text = await outside.forge.file_text(pull.repo, path, pull.base_sha or pull.base_ref)
        if text is not None:
            found = FoundTemplate(path, text)
            break
    if not found.path:
        outside.bare_repos[pull.repo] = outside.stamp() + _BARE_SECONDS
    while len(outside.templates) >= _KEPT:
        del outside.templates[next(iter(outside.templates))]
    outside.templates[pull.repo, pull.base_sha] = found
    return found


def _paths_to_try(repo: str, outside: Outside) -> list[str]:
    """Where an earlier base commit of the repository had it comes first."""
    before = [found.path for (other, _), found in outside.templates.items() if other == repo and found.path]
    return list(dict.fromkeys([*reversed(before), *_TRIED]))
