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
"""Where a repository keeps its pull-request template, in the order in which GateBot looks."""

from __future__ import annotations

from collections.abc import Iterable

_DIRECTORIES = (".gitcode/", ".gitee/", ".atomgit/", "", ".github/", "docs/")
_NAMES = (
    "PULL_REQUEST_TEMPLATE.zh-CN.md",
    "PULL_REQUEST_TEMPLATE.md",
    "PULL_REQUEST_TEMPLATE.zh-cn.md",
    "PULL_REQUEST_TEMPLATE.zh_CN.md",
    "PULL_REQUEST_TEMPLATE.zh.md",
    "pull_request_template.zh-CN.md",
    "pull_request_template.md",
    "PULL_REQUEST_TEMPLATE.en.md",
)

TEMPLATE_PATHS: tuple[str, ...] = tuple(directory + name for directory in _DIRECTORIES for name in _NAMES)
"""Every known path on the base branch, best first."""


def template_directories() -> tuple[str, ...]:
    """Directories that may hold a template, best first; ``""`` is the root."""
    return tuple(directory.rstrip("/") for directory in _DIRECTORIES)


def choose_template(paths: Iterable[str]) -> str | None:
    """The template among the paths of a repository: the best directory, then Chinese before English.

    Args:
        paths: Paths relative to the root, in any order; letter case is ignored, so a rare spelling is found too.

    Returns:
        The path as given, or None when there is no template.
    """
    rank = {path.lower(): number for number, path in reversed(list(enumerate(TEMPLATE_PATHS)))}
    known = [path for path in paths if path.lower() in rank]
    return min(known, key=lambda path: (rank[path.lower()], path), default=None)
