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
"""How the stand-in behaves where the real GitCode is not surely known, or may be set up differently."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Options:
    """Switches of the sandbox.

    Attributes:
        calls_per_minute: REST calls that a token may make in any 60 s; the next one gets 429. 0 = no limit.
        calls_per_hour: REST calls that a token may make in any 3,600 s. 0 = no limit.
        retry_after: Whether a 429 carries ``Retry-After``; the real one documents no such header.
        total_headers: Whether lists carry ``total_page`` and ``total_count``.
        short_pages: Whether every page but the last has one item less than asked for.
        refuse_context_lines: Whether a line comment on an unchanged line of a hunk is refused.
        post_creates_labels: Whether putting an unknown label on a pull request creates it; else 404.
        close_answers_200: Whether closing a pull request answers with the ``error_code`` 200 body.
        hidden_reads: Calls on a new pull request that still get ``404 project not found``.
        edits_fire_hooks: Whether an edited comment sends a Note Hook, which looks like that of a new one.
        labels_fire_hooks: Whether a label change sends a Merge Request Hook with ``update``.
        merge_as_update: Whether a merge arrives as ``action: update`` with ``state: merged``.
        full_comment_patch: Whether PATCH of a comment answers with the comment, or with an empty object.
        hook_prefix: ``GitCode`` or ``AtomGit``: the header names are ``X-{prefix}-Event`` and so on.
        hook_timeout_s: Real seconds that a receiver has to answer.
        disable_merge_by_self: Whether an author is kept from merging the own pull request.
    """

    calls_per_minute: int = 50
    calls_per_hour: int = 4_000
    retry_after: bool = False
    total_headers: bool = True
    short_pages: bool = False
    refuse_context_lines: bool = False
    post_creates_labels: bool = True
    close_answers_200: bool = False
    hidden_reads: int = 0
    edits_fire_hooks: bool = False
    labels_fire_hooks: bool = True
    merge_as_update: bool = False
    full_comment_patch: bool = False
    hook_prefix: str = "GitCode"
    hook_timeout_s: float = 10.0
    disable_merge_by_self: bool = True
