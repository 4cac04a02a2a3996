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
"""Addresses on a Jenkins server, as pure functions of names."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_QUEUE_ID = re.compile(r"/queue/item/(\d+)/?$")
_BUILD_URL = re.compile(r"/job/[^/]+/(\d+)(?:/|$)")
_BLUE_OCEAN = re.compile(r"/blue/organizations/[^/]+/(?P<job>[^/]+)/detail/[^/]+/(?P<number>\d+)(?:/|$)")


def job_path(full_name: str) -> str:
    """Path of a job below the server's root: ``A/B/C`` becomes ``job/A/job/B/job/C``, each segment percent-encoded.

    Raises:
        ValueError: The name has no segment.
    """
    segments = [segment for segment in full_name.split("/") if segment]
    if not segments:
        raise ValueError(f"For a Jenkins job, the name should be like 'folder/job', but got {full_name!r}.")
    return "/".join(f"job/{quote(segment, safe='')}" for segment in segments)


def tree_query(tree: str) -> str:
    """``tree=…`` with brackets and braces percent-encoded: a bare bracket is refused by the servlet container."""
    return f"tree={quote(tree, safe=',')}"


def queue_id_of(location: str) -> int:
    """Queue id out of a ``Location`` header, 0 when it is none.

    Only the id is taken: behind a proxy the host in it is whatever the server believes its own name to be.
    """
    match = _QUEUE_ID.search(urlsplit(location).path)
    return int(match.group(1)) if match else 0


def build_number_of(url: str) -> int:
    """Build number out of a build's URL, classic or Blue Ocean; 0 when there is none."""
    path = urlsplit(url).path
    if blue := _BLUE_OCEAN.search(path):
        return int(blue.group("number"))
    found = _BUILD_URL.findall(path)
    return int(found[-1]) if found else 0
