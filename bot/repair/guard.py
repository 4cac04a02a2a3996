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
"""Judges what is staged, not what is said of it: paths, modes, size, suppressions, secrets, tests left alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bot.repair.guard_paths import is_forbidden, is_read_only, is_test
from bot.repair.guard_proof import changed_lines, holds_for_read_only
from bot.repair.guard_scan import added_secrets, added_suppressions, test_weight
from bot.repair.reason import Reason, because
from bot.repair.workspace import PLAIN_MODES, Entry, Workspace, free_of_nested_git, is_safe_path

FILE_LIMIT: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Change:
    """One staged path against the head. ``old`` or ``new`` is ``None`` when the path is not a file on that side."""

    path: str
    old_mode: str
    new_mode: str
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class Caps:
    """Upper bounds of one repair."""

    files: int = 20
    lines: int = 600
    file_bytes: int = FILE_LIMIT


def judge(
    changes: Iterable[Change], allowed: frozenset[str], known_secrets: Iterable[str] = (), caps: Caps | None = None
) -> tuple[Reason, ...]:
    """Every objection to a staged change; an empty result means it may be committed.

    Args:
        changes: From ``staged``.
        allowed: Paths of the pull request.
        known_secrets: Secrets of the daemon.
        caps: Size limits.
    """
    caps = caps or Caps()
    changes = tuple(changes)
    secrets = tuple(known_secrets)
    found: list[Reason] = []
    if not changes:
        found.append(because("guard-empty"))
    if len(changes) > caps.files:
        found.append(because("guard-size", what=f"{len(changes)} files, at most {caps.files}"))
    total = 0
    for change in changes:
        found += _judge_path(change, allowed)
        if change.new is None:
            continue
        if len(change.new) > caps.file_bytes or len(change.old or b"") > caps.file_bytes:
            found.append(because("guard-size", what=change.path))
            continue
        found += _judge_content(change, secrets)
        total += changed_lines(change.old or b"", change.new)[0]
    if total > caps.lines:
        found.append(because("guard-size", what=f"{total} lines, at most {caps.lines}"))
    return tuple(found)


def _judge_path(change: Change, allowed: frozenset[str]) -> list[Reason]:
    found = []
    if change.path not in allowed or not is_safe_path(change.path) or is_forbidden(change.path):
        found.append(because("guard-path", file=change.path))
    if change.new_mode not in PLAIN_MODES or change.old_mode != change.new_mode or change.new is None:
        found.append(because("guard-mode", file=change.path))
    return found


def _judge_content(change: Change, secrets: tuple[str, ...]) -> list[Reason]:
    old, new = change.old or b"", change.new or b""
    if b"\0" in old or b"\0" in new:
        return [because("binary", file=change.path)]
    found = []
    before, after = old.decode("utf-8", "replace"), new.decode("utf-8", "replace")
    if is_read_only(change.path) and not holds_for_read_only(old, new, change.path):
        found.append(because("read-only", file=change.path))
    suppressed = added_suppressions(before, after, change.path)
    if suppressed:
        found.append(because("guard-suppression", file=change.path, what=", ".join(suppressed)))
    leaked = added_secrets(before, after, secrets)
    if leaked:
        found.append(because("guard-secret", file=change.path, what=", ".join(leaked)))
    if change.path.endswith(".py") and is_test(change.path):
        heavy, light = test_weight(before), test_weight(after)
        if light is None or (heavy is not None and heavy - light):
            found.append(because("guard-tests-removed", file=change.path))
    return found


def staged(workspace: Workspace) -> tuple[Change, ...]:
    """Stage everything and read the index against the head: new files, links and nested repositories all show there.

    Raises:
        TellOperator: When git fails.
    """
    if not free_of_nested_git(workspace.root):
        return (Change(".git", "000000", "160000", None, None),)
    workspace.git("add", "--all", "--force")
    raw = workspace.git(
        "diff",
        "--cached",
        "--raw",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--abbrev=40",
        workspace.head_sha,
    )
    fields = raw.stdout.decode("utf-8", "surrogateescape").split("\0")
    changes = []
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob = meta.lstrip(":").split(" ")[:4]
        changes.append(
            Change(path, old_mode, new_mode, _blob(workspace, old_mode, old_blob), _blob(workspace, new_mode, new_blob))
        )
    return tuple(changes)


def _blob(workspace: Workspace, mode: str, blob: str) -> bytes | None:
    if mode not in PLAIN_MODES:
        return None
    return workspace.git("cat-file", "blob", blob).stdout


def refuse_early(path: str, entries: Mapping[str, Entry], content: bytes | None) -> Reason | None:
    """What can be said before any work: not a plain file, forbidden, too large, binary."""
    entry = entries.get(path)
    if entry is None or entry.mode not in PLAIN_MODES or content is None:
        return because("not-a-plain-file", file=path)
    if is_forbidden(path):
        return because("guard-path", file=path)
    if len(content) > FILE_LIMIT:
        return because("too-large", file=path, limit=str(FILE_LIMIT))
    return because("binary", file=path) if b"\0" in content else None
