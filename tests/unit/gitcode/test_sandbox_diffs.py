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
from __future__ import annotations

import subprocess
from pathlib import Path

from bot.sandbox.gitcode.diffs import file_item, files_json, parse_diff

OLD = "".join(f"line {number}\n" for number in range(1, 31))


def real_diff(tmp_path: Path) -> str:
    """A diff made by git: a change, a new, a deleted, a renamed and a binary file, one without a last line end."""

    def git(*args: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.quotePath=false", *args]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q", ".")
    (tmp_path / "changed.txt").write_text(OLD)
    (tmp_path / "gone.txt").write_text("-- a\n++ b\n")
    (tmp_path / "old name.txt").write_text(OLD * 2)
    git("add", ".")
    git("commit", "-qm", "one")
    (tmp_path / "changed.txt").write_text(
        OLD.replace("line 3\n", "line three\nline more\n").replace("line 20\n", "") + "end"
    )
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "old name.txt").rename(tmp_path / "新 name.txt")
    (tmp_path / "new.txt").write_text("--- a/trap\n+++ b/trap\n@@ -1 +1 @@\ndiff --git a/x b/x\n")
    (tmp_path / "picture.bin").write_bytes(bytes(range(256)))
    git("add", "-A")
    return git("diff", "--cached", "-M", "--full-index")


def test_what_git_writes_is_read(tmp_path: Path) -> None:
    files = {file.new_path: file for file in parse_diff(real_diff(tmp_path))}
    assert set(files) == {"changed.txt", "gone.txt", "新 name.txt", "new.txt", "picture.bin"}
    changed = files["changed.txt"]
    assert changed.added_lines() == {3, 4, 31}
    assert changed.removed_lines() == {3, 20}
    assert 18 in changed.shown_lines()
    assert 12 not in changed.shown_lines()
    assert (changed.additions, changed.deletions) == (3, 2)
    assert files["gone.txt"].deleted
    assert files["gone.txt"].removed_lines() == {1, 2}
    assert files["new.txt"].added
    assert files["new.txt"].additions == 4
    assert files["新 name.txt"].renamed
    assert files["新 name.txt"].old_path == "old name.txt"
    assert files["picture.bin"].binary


def test_the_shapes_of_both_diff_endpoints(tmp_path: Path) -> None:
    files = parse_diff(real_diff(tmp_path))
    items = {item["filename"]: item for item in (file_item(file, "f" * 40, {}, "W", "R", 10**6) for file in files)}
    assert "status" not in items["changed.txt"]
    assert items["new.txt"]["status"] == "added"
    assert items["new.txt"]["patch"]["a_mode"] == "0"
    assert items["changed.txt"]["patch"]["diff"].startswith("@@ -1,6 +1,7 @@\n")
    assert "diff" not in items["picture.bin"]["patch"]
    refs = {"base_sha": "a" * 40, "start_sha": "a" * 40, "head_sha": "f" * 40}
    body = files_json(files, refs, "R")
    assert body["remove_lines"] == 4
    rows = next(diff for diff in body["diffs"] if diff["statistic"]["new_path"] == "changed.txt")["content"]["text"]
    assert rows[0]["old_line"] == "..."
    assert rows[1] == {**rows[1], "line_content": " line 1"}
    assert "type" not in rows[1]
    added = next(row for row in rows if row.get("type") == "new")
    assert added["line_content"] == "line three"
    assert added["old_line"]["line_num"] == ""
    assert added["new_line"]["line_num"] == 3


def test_a_large_file_has_no_text(tmp_path: Path) -> None:
    files = parse_diff(real_diff(tmp_path))
    item = file_item(files[0], "f" * 40, {}, "W", "R", limit=10)
    assert item["patch"]["too_large"]
    assert "diff" not in item["patch"]
