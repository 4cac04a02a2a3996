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
"""Finds a repository's template on the base branch, with one call in the usual case and never more than six."""

from __future__ import annotations

from bot.forge import DirectoryEntry, PullRequest
from bot.runtime.outside import FoundTemplate, Outside
from bot.template.find import TEMPLATE_PATHS, choose_template, template_directories

_KEPT = 64
_BARE_SECONDS = 6 * 3600.0  # a repository without a template is not searched again for every base commit
_MOST_LISTED = 3  # directories beside the root: with the first guess, the root and the file itself six calls
_NOWHERE = FoundTemplate("", "")


async def find_template(pull: PullRequest, outside: Outside) -> FoundTemplate:
    """The template at the pull request's base commit, read once per base commit; an empty path: there is none.

    Raises:
        RetryLater: The forge does not answer.
        GateBotError: It refuses.
    """
    known = outside.templates.get((pull.repo, pull.base_sha))
    if known is not None:
        return known
    if outside.bare_repos.get(pull.repo, 0.0) > outside.stamp():
        return _NOWHERE
    guess = _best_known(pull.repo, outside)
    found = await _read(guess, pull, outside) or await _search(guess, pull, outside)
    if not found.path:
        outside.bare_repos[pull.repo] = outside.stamp() + _BARE_SECONDS
    while len(outside.templates) >= _KEPT:
        del outside.templates[next(iter(outside.templates))]
    outside.templates[pull.repo, pull.base_sha] = found
    return found


def _best_known(repo: str, outside: Outside) -> str:
    """Where the newest base commit we looked at had it, else where this community keeps it."""
    before = [found.path for (other, _), found in outside.templates.items() if other == repo and found.path]
    return before[-1] if before else TEMPLATE_PATHS[0]


async def _read(path: str, pull: PullRequest, outside: Outside) -> FoundTemplate | None:
    text = await outside.forge.file_text(pull.repo, path, pull.base_sha or pull.base_ref)
    return None if text is None else FoundTemplate(path, text)


async def _search(missing: str, pull: PullRequest, outside: Outside) -> FoundTemplate:
    """List the root and, in order of preference, those directories that it shows, as far as one can still win."""
    root = await _list("", pull, outside)
    shown = {entry.path.lower(): entry.path for entry in root if entry.is_directory}
    listed = 0
    for name in template_directories():
        entries = root
        if name:
            if name not in shown or listed == _MOST_LISTED:
                continue
            entries = await _list(shown[name], pull, outside)
            listed += 1
        path = choose_template(entry.path for entry in entries if not entry.is_directory and entry.path != missing)
        if path is not None:
            return await _read(path, pull, outside) or _NOWHERE
    return _NOWHERE


async def _list(path: str, pull: PullRequest, outside: Outside) -> list[DirectoryEntry]:
    return await outside.forge.directory(pull.repo, path, pull.base_sha or pull.base_ref)
