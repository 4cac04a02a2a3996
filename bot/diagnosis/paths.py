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
"""Turns the paths that tools print into paths inside the repository."""

from __future__ import annotations

import re
from collections.abc import Collection

# A build's workspace: everything up to and including the job's directory.
_WORKSPACE = re.compile(
    r"^(?:/[\w.@%~+-]{1,100}){0,6}?/(?:workspace|jenkins_home/jobs|builds|runner/work|_work)/[\w.@%~+-]{1,120}/(?:(?:repo|code|src_repo)/)?"
)
_REPO_DIRS = ("hyper-parallel/", "mindspore/hyper-parallel/", "hyper_parallel_repo/")


def repo_path(path: str) -> str:
    """Strips workspace and repository directory, keeps paths outside the workspace as they are.

    Args:
        path: A path as a tool printed it.

    Returns:
        The repository-relative path with forward slashes, or the absolute path of a file outside the workspace.
    """
    path = path.strip().replace("\\", "/")
    if path.startswith("/"):
        path = _WORKSPACE.sub("", path)
    while path.startswith("./"):
        path = path[2:]
    for prefix in _REPO_DIRS:
        path = path.removeprefix(prefix)
    return path


def match_path(path: str, known: Collection[str]) -> str:
    """Finds the file of a pull request that a tool meant.

    Args:
        path: A path as a tool printed it.
        known: Repository-relative paths of the pull request.

    Returns:
        The path as it is in ``known``: the same, the same without its first part, or the only one with that ending;
        empty when none fits or more than one does.
    """
    path = repo_path(path)
    if path in known:
        return path
    without_first = path.partition("/")[2]
    if without_first and without_first in known:
        return without_first
    ends = [one for one in known if one.endswith("/" + path) or path.endswith("/" + one)]
    return ends[0] if len(ends) == 1 else ""
