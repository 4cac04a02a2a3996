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
"""Reads unified diffs: what the diff endpoints show, and which lines can carry a comment. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Row:
    """A line of a hunk. ``kind`` is ``match`` (hunk header), ``old``, ``new`` or empty (context)."""

    kind: str
    text: str
    old: int = 0
    new: int = 0


@dataclass
class FileDiff:
    """One file of a diff."""

    old_path: str
    new_path: str
    old_mode: str = "100644"
    new_mode: str = "100644"
    blob: str = ""
    added: bool = False
    deleted: bool = False
    binary: bool = False
    rows: list[Row] = field(default_factory=list)
    hunks: list[str] = field(default_factory=list)

    @property
    def renamed(self) -> bool:
        """Whether it has another path than before."""
        return self.old_path != self.new_path and not self.added and not self.deleted

    @property
    def additions(self) -> int:
        """Lines added."""
        return sum(row.kind == "new" for row in self.rows)

    @property
    def deletions(self) -> int:
        """Lines removed."""
        return sum(row.kind == "old" for row in self.rows)

    @property
    def text(self) -> str:
        """The hunks as git wrote them."""
        return "".join(f"{line}\n" for line in self.hunks)

    def added_lines(self) -> set[int]:
        """Numbers, in the new file, of lines that were added."""
        return {row.new for row in self.rows if row.kind == "new"}

    def shown_lines(self) -> set[int]:
        """Numbers, in the new file, of lines that a hunk shows."""
        return {row.new for row in self.rows if row.kind in ("new", "")}

    def removed_lines(self) -> set[int]:
        """Numbers, in the old file, of lines that were removed or replaced."""
        return {row.old for row in self.rows if row.kind == "old"}


def parse_diff(text: str) -> list[FileDiff]:
    """The files of ``git diff --full-index``."""
    files: list[FileDiff] = []
    old = new = old_left = new_left = 0
    for line in text.split("\n"):
        if old_left or new_left:
            row, old, new, old_left, new_left = _read_row(line, old, new, old_left, new_left)
            files[-1].hunks.append(line)
            if row is not None:
                files[-1].rows.append(row)
        elif line.startswith("diff --git "):
            files.append(FileDiff("", ""))
            _read_names(files[-1], line)
        elif files and (match := _HUNK.match(line)):
            old, new = int(match[1]), int(match[3])
            old_left, new_left = int(match[2] or 1), int(match[4] or 1)
            files[-1].hunks.append(line)
            files[-1].rows.append(Row("match", line))
        elif files and line.startswith("\\"):
            files[-1].hunks.append(line)
        elif files:
            _read_header(files[-1], line)
    return files


def _read_row(line: str, old: int, new: int, old_left: int, new_left: int) -> tuple[Row | None, int, int, int, int]:
    mark, rest = line[:1], line[1:]
    if mark == "+":
        return Row("new", rest, old, new), old, new + 1, old_left, new_left - 1
    if mark == "-":
        return Row("old", rest, old, new), old + 1, new, old_left - 1, new_left
    if mark == "\\":
        return None, old, new, old_left, new_left
    return Row("", line, old, new), old + 1, new + 1, old_left - 1, new_left - 1


def _read_names(file: FileDiff, line: str) -> None:
    """Names from ``diff --git a/x b/x``, where both are equal; other lines set them when they differ."""
    names = line.removeprefix("diff --git ").strip('"')
    half = len(names) // 2
    file.old_path = names[:half].strip().strip('"').removeprefix("a/")
    file.new_path = names[half + 1 :].strip().strip('"').removeprefix("b/")


def _read_header(file: FileDiff, line: str) -> None:
    word, _, rest = line.partition(" ")
    if line.startswith("new file mode "):
        file.added, file.old_mode, file.new_mode = True, "0", line.rpartition(" ")[2]
    elif line.startswith("deleted file mode "):
        file.deleted, file.new_mode, file.old_mode = True, "0", line.rpartition(" ")[2]
    elif line.startswith("old mode "):
        file.old_mode = line.rpartition(" ")[2]
    elif line.startswith("new mode "):
        file.new_mode = line.rpartition(" ")[2]
    elif line.startswith("rename from "):
        file.old_path = line.removeprefix("rename from ")
    elif line.startswith("rename to "):
        file.new_path = line.removeprefix("rename to ")
    elif word == "index":
        file.blob = rest.partition("..")[2].partition(" ")[0]
    elif word == "Binary":
        file.binary = True
    elif word == "---" and rest.startswith("a/"):
        file.old_path = rest.removeprefix("a/").rstrip("\t")
    elif word == "+++" and rest.startswith("b/"):
        file.new_path = rest.removeprefix("b/").rstrip("\t")


def file_item(file: FileDiff, head_sha: str, common: dict[str, Any], web: str, raw: str, limit: int) -> dict[str, Any]:
    """An item of ``/pulls/{n}/files``. ``patch`` is an object; ``status`` is there on new files only."""
    too_large = len(file.text) > limit
    patch = {
        "diff": file.text,
        "old_path": file.old_path,
        "new_path": file.new_path,
        "a_mode": file.old_mode,
        "b_mode": file.new_mode,
        "new_file": file.added,
        "renamed_file": file.renamed,
        "deleted_file": file.deleted,
        "too_large": too_large,
        "added_lines": file.additions,
        "removed_lines": file.deletions,
    }
    if too_large or file.binary:
        del patch["diff"]
    item = {
        "sha": head_sha,
        "filename": file.new_path,
        "additions": file.additions,
        "deletions": file.deletions,
        "blob_id": file.blob,
        "blob_url": f"{web}/blob/{head_sha}/{file.new_path}",
        "raw_url": f"{raw}/{head_sha}/{file.new_path}",
        "patch": patch,
        **common,
    }
    if file.added:
        item["status"] = "added"
    return item


def files_json(files: list[FileDiff], refs: dict[str, str], raw: str) -> dict[str, Any]:
    """The body of ``/pulls/{n}/files.json``. Note the key ``remove_lines``."""
    return {
        "code": 0,
        "added_lines": sum(file.additions for file in files),
        "remove_lines": sum(file.deletions for file in files),
        "count": len(files),
        "diff_refs": refs,
        "diffs": [_json_diff(file, refs["head_sha"], raw) for file in files],
    }


def _json_diff(file: FileDiff, head_sha: str, raw: str) -> dict[str, Any]:
    digest = hashlib.sha1(file.new_path.encode(), usedforsecurity=False).hexdigest()
    paths = {"path": file.new_path, "old_path": file.old_path, "new_path": file.new_path, "view": False}
    return {
        "new_blob_id": file.blob,
        "statistic": {"type": "binary_type" if file.binary else "text_type", **paths},
        "head": {"url": f"{raw}/{head_sha}/{file.new_path}", "commit_id": head_sha},
        "added_lines": file.additions,
        "remove_lines": file.deletions,
        "content": {"text": [_json_row(row, digest) for row in file.rows]},
    }


def _json_row(row: Row, digest: str) -> dict[str, Any]:
    if row.kind == "match":
        return {"line_content": row.text, "old_line": "...", "new_line": "...", "type": "match"}
    code = f"{digest}_{row.old}_{row.new}"
    shown: dict[str, Any] = {
        "line_content": row.text,
        "old_line": {"line_code": code, "line_num": "" if row.kind == "new" else row.old},
        "new_line": {"line_code": code, "line_num": "" if row.kind == "old" else row.new},
    }
    if row.kind:
        shown["type"] = row.kind
    return shown
