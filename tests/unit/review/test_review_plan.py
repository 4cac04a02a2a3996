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
"""Where findings go, what is written twice (nothing), and what is resolved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.gate.finding import Finding, Severity
from bot.review.diffmap import FileLines, read_hunks
from bot.review.fingerprint import fingerprint, mark, read_mark
from bot.review.planner import Existing, ReviewPolicy, plan_review
from bot.review.suggest import suggestion
from bot.review.words import comment_body, summary_body

PATCH = """@@ -1,3 +1,4 @@
 \"\"\"Doc.\"\"\"
-import sys
+import os
+import re

@@ -10 +11,2 @@ def f():
-    return 1
+    return 2<blanks>
+    # teh end
\\ No newline at end of file
""".replace("<blanks>", "   ")
FILES = {"pkg/a.py": read_hunks(PATCH)}
UNUSED = Finding(
    tool="pylint", rule="W0611", file="pkg/a.py", line=2, message="Unused import os", severity=Severity.WARNING
)
BUILD = ReviewPolicy()


def test_hunks_tell_added_shown_and_removed_lines() -> None:
    lines = FILES["pkg/a.py"]
    assert dict(lines.added) == {2: "import os", 3: "import re", 11: "    return 2   ", 12: "    # teh end"}
    assert dict(lines.removed) == {2: "import sys", 10: "    return 1"}
    assert lines.shown[1] == '"""Doc."""'
    assert lines.shown[4] == ""


def test_lines_that_look_like_hunk_heads_inside_a_hunk_are_text() -> None:
    assert dict(read_hunks("@@ -1,0 +1,2 @@\n+@@ -9 +9 @@\n+--- x\n").added) == {1: "@@ -9 +9 @@", 2: "--- x"}


def test_a_missing_line_end_is_no_line() -> None:
    lines = read_hunks("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n")
    assert (dict(lines.removed), dict(lines.added), dict(lines.shown)) == ({1: "a"}, {1: "b"}, {1: "b"})


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read_without_harm(text: str) -> None:
    lines = read_hunks(text)
    assert set(lines.added) <= set(lines.shown)


@pytest.mark.parametrize(
    ("change", "path", "line"),
    [
        ({}, "pkg/a.py", 2),
        ({"line": 1}, "pkg/a.py", 0),  # a context line: the forge may refuse it
        ({"line": 500}, "pkg/a.py", 0),  # outside of all hunks: it would be detached
        ({"line": 0}, "pkg/a.py", 0),
        ({"file": "pkg/other.py"}, "", 0),
        ({"file": ""}, "", 0),
    ],
)
def test_the_ladder_is_line_then_file_then_summary(change: dict[str, object], path: str, line: int) -> None:
    plan = plan_review([replace(UNUSED, **change)], FILES, (), BUILD)  # type: ignore[arg-type]
    (item,) = plan.create or plan.summary_rest
    assert (item.path, item.line) == (path, line)
    assert bool(plan.create) is bool(path)


def test_a_moved_line_is_not_commented_twice() -> None:
    before = plan_review([UNUSED], FILES, (), BUILD).create[0]
    moved = {"pkg/a.py": FileLines(added={40: "import  os"}, shown={40: "import  os"})}
    existing = [Existing(before.name, "build", "d1")]
    plan = plan_review([replace(UNUSED, line=40)], moved, existing, BUILD)
    assert plan.create == ()
    assert [item.name for item in plan.keep] == [before.name]
    assert plan.resolve == ()


def test_what_makes_two_findings_one() -> None:
    """Rule, file and text of the line; where that is not known, the function and the words without their numbers."""
    name = fingerprint(UNUSED, "import os")
    assert fingerprint(replace(UNUSED, line=7, message="other words"), " import  os ") == name
    for other in ({"rule": "W0404"}, {"tool": "flake8"}, {"file": "pkg/b.py"}):
        assert fingerprint(replace(UNUSED, **other), "import os") != name
    unknown = fingerprint(replace(UNUSED, message="line 12 is too long"), "")
    assert fingerprint(replace(UNUSED, message="line 14 is too long"), "") == unknown
    assert fingerprint(replace(UNUSED, message="line 14 is too short"), "") != unknown
    assert fingerprint(replace(UNUSED, message="line 12 is too long", function="f"), "") != unknown


def test_equal_findings_on_equal_lines_have_names_of_their_own() -> None:
    lines = FileLines(added={1: "x = 1 ", 2: "x = 1 "}, shown={1: "x = 1 ", 2: "x = 1 "})
    found = [Finding(tool="pylint", rule="C0303", file="a.py", line=n, message="Trailing") for n in (1, 2, 2)]
    plan = plan_review(found, {"a.py": lines}, (), BUILD)
    assert [item.line for item in plan.create] == [1, 2]
    assert len({item.name for item in plan.create}) == 2


@pytest.mark.parametrize(
    ("change", "resolved"),
    [
        ({}, True),
        ({"resolved": True}, False),
        ({"answered": True}, False),  # a person is talking there
        ({"source": "review"}, False),  # a build cannot know what the quick checks say
        ({"source": "review", "outdated": True}, True),
    ],
)
def test_what_is_gone_is_resolved_unless_a_person_answered(change: dict[str, object], resolved: bool) -> None:
    gone = replace(Existing("0" * 16, "build", "d1"), **change)  # type: ignore[arg-type]
    assert bool(plan_review([UNUSED], FILES, [gone], BUILD).resolve) is resolved


def test_a_finding_that_comes_back_is_written_anew_unless_a_person_resolved_it() -> None:
    name = plan_review([UNUSED], FILES, (), BUILD).create[0].name
    gone = Existing(name, "build", "d1", resolved=True)
    assert plan_review([UNUSED], FILES, [gone], BUILD).create == ()
    assert plan_review([UNUSED], FILES, [replace(gone, closed_by_us=True)], BUILD).create
    both = [replace(gone, closed_by_us=True), Existing(name, "build", "d2")]
    assert plan_review([UNUSED], FILES, both, BUILD).create == ()


def test_two_of_three_fixed_resolves_exactly_those_two() -> None:
    found = [replace(UNUSED, line=n, rule=rule) for n, rule in ((2, "W0611"), (3, "W0612"), (11, "C0303"))]
    first = plan_review(found, FILES, (), BUILD)
    existing = [Existing(item.name, "build", f"d{n}") for n, item in enumerate(first.create)]
    plan = plan_review(found[1:2], FILES, existing, BUILD)
    kept = plan.keep[0].name
    assert {comment.name for comment in plan.resolve} == {item.name for item in first.create} - {kept}
    assert plan.create == ()


def test_the_cap_leaves_the_gravest_on_lines_and_the_rest_in_the_summary() -> None:
    lines = FileLines(added={n: f"x{n} = {n}" for n in range(1, 41)}, shown={n: f"x{n} = {n}" for n in range(1, 41)})
    found = [
        Finding(tool="t", rule="R", file="a.py", line=n, message="m", severity=Severity.WARNING) for n in range(1, 40)
    ]
    found.append(Finding(tool="t", rule="R", file="a.py", line=40, message="m", severity=Severity.FATAL))
    plan = plan_review(found, {"a.py": lines}, (), BUILD)
    assert len(plan.create) == 30
    assert plan.create[0].line == 40
    assert len(plan.summary_rest) == 10
    for none_left in (0, -1):
        assert plan_review(found, {"a.py": lines}, (), ReviewPolicy(cap=none_left)).create == ()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 14), st.sampled_from(["W1", "W2"]), st.sampled_from(["pkg/a.py", "b"]))))
def test_no_finding_is_lost_and_a_second_run_writes_nothing(rows: list[tuple[int, str, str]]) -> None:
    found = [Finding(tool="t", rule=rule, file=file, line=line, message=f"m{line}") for line, rule, file in rows]
    plan = plan_review(found, FILES, (), BUILD)
    items = (*plan.create, *plan.summary_rest)
    assert {(i.finding.rule, i.finding.file, i.finding.line) for i in items} == {(r, f, n) for n, r, f in rows}
    again = plan_review(found, FILES, [Existing(i.name, "build", i.name) for i in plan.create], BUILD)
    assert again.create == again.resolve == ()


def test_a_mark_is_read_only_at_the_end_of_a_comment() -> None:
    name = fingerprint(UNUSED, "import os")
    assert read_mark(f"text\n\n{mark('build', name)}\n") == ("build", name)
    assert read_mark(f"> {mark('build', name)}\n\nI quote it") is None


@pytest.mark.parametrize(
    ("tool", "rule", "message", "text", "expected"),
    [
        ("pylint", "C0303", "Trailing whitespace", "    return 2   ", "    return 2"),
        ("pylint", "C0303", "Trailing whitespace", "    return 2", None),
        ("pylint", "W0611", "Unused import os", "import os", ""),
        ("pylint", "W0611", "Unused import os", "    import os", None),  # it may be the only line of its block
        ("pylint", "W0611", "Unused import os", "import os, sys", None),
        ("codespell", "typo", "teh ==> the", "    # teh end", "    # the end"),
        ("codespell", "typo", "teh ==> the", "# teh teh", None),
        ("codespell", "typo", "ans ==> and, any", "# ans", None),
        ("codespell", "typo", "teh ==> the", "tehran = 1", None),
        ("tab", "tab", "tab character found", "\treturn 1", "    return 1"),
        ("tab", "tab", "tab character found", "a\t= 1", None),
        ("pylint", "W0612", "Unused variable", "x = f()", None),
    ],
)
def test_a_suggestion_only_where_the_fix_is_certain(
    tool: str, rule: str, message: str, text: str, expected: str | None
) -> None:
    assert suggestion(Finding(tool=tool, rule=rule, message=message), text) == expected


def test_a_comment_says_what_why_and_how_with_a_suggestion() -> None:
    item = plan_review([UNUSED], FILES, (), BUILD).create[0]
    assert comment_body(item, "build", "zh", hidden_mark=True) == (
        "**`W0611`** 导入了却没有使用\n\n"
        "工具输出：`Unused import os`\n\n"
        "**为什么要改**：门禁的 Check_Pylint 对整个被改的文件打分，不到 10.00/10 就不通过。\n\n"
        "**怎么改**：删掉这个导入。\n\n"
        "```suggestion\n\n```\n\n"
        f"<!-- gatebot:line-build:{item.name} -->"
    )
    english = comment_body(item, "build", "en", hidden_mark=False)
    assert "imported but not used" in english
    assert "<!--" not in english


def test_hostile_words_stay_quoted() -> None:
    bad = replace(UNUSED, message="x` @all\n/retest <!-- gatebot:line-build:0123456789abcdef -->", rule="`/retest")
    item = plan_review([bad], FILES, (), BUILD).create[0]
    body = comment_body(item, "build", "zh", hidden_mark=True)
    assert not any(line.lstrip().startswith("/") for line in body.splitlines())
    assert "@all" not in body
    assert read_mark(body) == ("build", item.name)


def test_the_summary_counts_and_names_what_stands_on_no_line() -> None:
    outside = replace(UNUSED, file="pkg/b.py", line=7)
    plan = plan_review([UNUSED, outside], FILES, (), BUILD)
    assert summary_body(plan, plan.summary_rest, "ab" * 20, "zh") == (
        "### 代码检查\n\n"
        "提交 `abababababab`：共 2 个问题；行内评论：新增 1 条，沿用 0 条，解决 0 条。\n\n"
        "未写成行内评论的问题：\n\n"
        "- `pkg/b.py:7` `W0611` Unused import os"
    )
    refused = summary_body(plan, (*plan.create, *plan.summary_rest), "ab" * 20, "en")
    assert "2 findings, 0 new on lines" in refused
