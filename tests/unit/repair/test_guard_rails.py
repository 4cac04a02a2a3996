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
"""What may never be committed, judged on bytes."""

from __future__ import annotations

import base64
import urllib.parse

import pytest

from bot.repair.guard import Caps, Change, judge, refuse_early
from bot.repair.guard_paths import is_forbidden, is_read_only
from bot.repair.guard_proof import holds_for_read_only, proves, within
from bot.repair.guard_scan import added_secrets, added_suppressions
from bot.repair.recipes.base import Nature
from bot.repair.workspace import Entry

SECRET = "correct-horse-battery-staple"


def change(path: str, old: bytes, new: bytes, *, modes: tuple[str, str] = ("100644", "100644")) -> Change:
    return Change(path, modes[0], modes[1], old, new)


def objections(
    *changes: Change, allowed: tuple[str, ...] = ("src/m.py", "tests/test_m.py"), **more: object
) -> list[str]:
    return [reason.text_id for reason in judge(changes, frozenset(allowed), **more)]  # type: ignore[arg-type]


def test_an_ordinary_edit_passes() -> None:
    assert objections(change("src/m.py", b"X = 1 \n", b"X = 1\n")) == []


def test_nothing_staged_is_an_objection() -> None:
    assert objections() == ["guard-empty"]


@pytest.mark.parametrize("path", ["src/other.py", "../m.py", "/etc/passwd", ".git/config", "src//m.py", "a\\b.py", ""])
def test_paths_outside_the_pull_request(path: str) -> None:
    assert "guard-path" in objections(change(path, b"", b"X = 1\n"))


@pytest.mark.parametrize(
    "path",
    [".gitattributes", ".gitmodules", "src/.gitignore", "a.pth", "package-lock.json", "poetry.lock", ".git/hooks/x"],
)
def test_forbidden_even_when_the_pull_request_changes_them(path: str) -> None:
    assert is_forbidden(path)
    assert "guard-path" in objections(change(path, b"a \n", b"a\n"), allowed=(path,))


@pytest.mark.parametrize(
    "modes",
    [("100644", "120000"), ("100644", "160000"), ("100644", "100755"), ("000000", "100644"), ("120000", "120000")],
)
def test_modes_links_and_submodules(modes: tuple[str, str]) -> None:
    assert "guard-mode" in objections(change("src/m.py", b"X = 1\n", b"X = 2\n", modes=modes))


def test_a_deleted_file() -> None:
    assert "guard-mode" in objections(Change("src/m.py", "100644", "000000", b"X = 1\n", None))


@pytest.mark.parametrize("path", ["../m.py", "/etc/passwd", "src//m.py", "-m.py", "@m.py"])
def test_a_path_that_leads_elsewhere_is_refused_though_the_pull_request_names_it(path: str) -> None:
    assert objections(change(path, b"X = 1 \n", b"X = 1\n"), allowed=(path,)) == ["guard-path"]


def test_what_turns_a_check_off_is_refused() -> None:
    assert objections(change("src/m.py", b"import os\n", b"import os  # noqa\n")) == ["guard-suppression"]
    assert objections(change("src/m.py", b"import os  # noqa\n", b"import os  # noqa\nX = 1\n")) == []


def test_secrets_are_refused_known_ones_in_any_guise() -> None:
    for text in (SECRET, SECRET[::-1], base64.b64encode(SECRET.encode()).decode()):
        edit = change("src/m.py", b"X = 1\n", f"X = 1  # {text}\n".encode())
        assert objections(edit, known_secrets=(SECRET,)) == ["guard-secret"]
        assert objections(edit) == []
    assert objections(change("src/m.py", b"X = 1\n", b"X = 1  # AKIAABCDEFGHIJKLMNOP\n")) == ["guard-secret"]


@pytest.mark.parametrize(
    ("entry", "content", "said"),
    [
        (Entry("100644", "b"), b"X = 1\n", None),
        (Entry("100755", "b"), b"X = 1\n", None),
        (Entry("120000", "b"), b"X = 1\n", "not-a-plain-file"),
        (Entry("160000", "b"), b"", "not-a-plain-file"),
        (Entry("100644", "b"), None, "not-a-plain-file"),
        (None, b"X = 1\n", "not-a-plain-file"),
        (Entry("100644", "b"), b"X" * 1_048_576, None),
        (Entry("100644", "b"), b"X" * 1_048_577, "too-large"),
        (Entry("100644", "b"), b"X\0", "binary"),
    ],
    ids=["plain", "executable", "link", "submodule", "gone", "untracked", "at-the-limit", "beyond-it", "binary"],
)
def test_what_is_refused_before_any_work(entry: Entry | None, content: bytes | None, said: str | None) -> None:
    refusal = refuse_early("src/m.py", {"src/m.py": entry} if entry else {}, content)
    assert (refusal and refusal.text_id) == said


def test_binary_content() -> None:
    assert "binary" in objections(change("src/m.py", b"X = 1\n", b"X = '\0'\n"))


def test_size_caps() -> None:
    many = b"".join(b"X = %d\n" % number for number in range(50))
    assert "guard-size" in objections(change("src/m.py", b"", many), caps=Caps(lines=49))
    assert "guard-size" in objections(change("src/m.py", b"", many), caps=Caps(file_bytes=10))
    two = [change("src/m.py", b"A = 1 \n", b"A = 1\n"), change("tests/test_m.py", b"A = 1 \n", b"A = 1\n")]
    assert "guard-size" in objections(*two, caps=Caps(files=1))


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_m.py",
        "src/test_m.py",
        "src/m_test.cc",
        "conftest.py",
        "a/conftest.py",
        "tests/ut/cpp/m.cc",
        ".jenkins/rules/pylint/pylintrc",
        ".github/workflows/a.yml",
        "Jenkinsfile",
        ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md",
        "pytest.ini",
        "setup.cfg",
        "pyproject.toml",
        ".clang-format",
        "AGENTS.md",
        "skills/a/SKILL.md",
        ".pre-commit-config.yaml",
    ],
)
def test_read_only_files(path: str) -> None:
    assert is_read_only(path)
    assert "read-only" in objections(change(path, b"a = 1\n", b"a = 2\n"), allowed=(path,))


@pytest.mark.parametrize("path", ["src/m.py", "hyper_parallel/latest.py", "docs/testing_guide.md", "src/contest.py"])
def test_ordinary_files_are_not_read_only(path: str) -> None:
    assert not is_read_only(path)


TEST_BEFORE = (
    b'import os\nimport pytest\n\n\n@pytest.mark.parametrize("a", [1, 2])\ndef test_a(a):\n    assert a < 3  \n'
)


@pytest.mark.parametrize(
    ("after", "allowed"),
    [
        (TEST_BEFORE.replace(b"  \n", b"\n"), True),
        (TEST_BEFORE.replace(b"import os\n", b""), True),
        (TEST_BEFORE.replace(b"import os\nimport pytest\n", b"import pytest\nimport os\n"), True),
        (TEST_BEFORE.replace(b"test_a(a):\n", b'test_a(a):\n    """Feature: A."""\n'), True),
        (TEST_BEFORE.replace(b"a < 3", b"a < 30"), False),
        (TEST_BEFORE.replace(b"[1, 2]", b"[1]"), False),
        (TEST_BEFORE.replace(b"    assert a < 3  \n", b"    pass\n"), False),
        (TEST_BEFORE.replace(b"@pytest", b"@pytest.mark.skip\n@pytest"), False),
        (TEST_BEFORE.replace(b"import os\n", b"import sys\n"), False),
        (TEST_BEFORE.replace(b"import os\n", b"import os as pytest\n"), False),
        (TEST_BEFORE + b"import evil\n", False),
        (TEST_BEFORE.replace(b"def test_a", b"def check_a"), False),
        (b"import os\n", False),
        (b"not python(", False),
    ],
)
def test_edits_of_a_test_file(after: bytes, allowed: bool) -> None:
    assert holds_for_read_only(TEST_BEFORE, after, "tests/test_m.py") is allowed
    assert (objections(change("tests/test_m.py", TEST_BEFORE, after)) == []) is allowed


@pytest.mark.parametrize(
    ("added", "path"),
    [
        ("x = 1  # noqa", "a.py"),
        ("x = 1  # type: ignore[arg-type]", "a.py"),
        ("# pylint: disable=W0611", "a.py"),
        ("# pylint:skip-file", "a.py"),
        ("@pytest.mark.skip", "a.py"),
        ("@pytest.mark.xfail(strict=False)", "a.py"),
        ("pytest.importorskip('x')", "a.py"),
        ("raise unittest.SkipTest('x')", "a.py"),
        ("sys.exit(0)", "a.py"),
        ("os._exit(0)", "a.py"),
        ("int a;  // NOLINT", "a.cc"),
        ("// clang-format off", "a.cc"),
        ("GTEST_SKIP();", "a.cc"),
        ("TEST(A, DISABLED_B) {}", "a.cc"),
        ("make || true", "a.sh"),
        ("set +e", "a.sh"),
        ("# shellcheck disable=SC2086", "a.sh"),
        ("continue-on-error: true", "a.yml"),
        ("<!-- markdownlint-disable -->", "a.md"),
        ("it.skip('x', () => {})", "a.ts"),
        ("# fmt: off", "a.py"),
        ("# lizard forgives", "a.py"),
    ],
)
def test_new_suppressions(added: str, path: str) -> None:
    assert added_suppressions("x\n", f"x\n{added}\n", path) != ()
    assert added_suppressions(f"{added}\nx  \n", f"{added}\nx\n", path) == ()


@pytest.mark.parametrize(
    ("added", "path"),
    [
        ("x = 'skip connection'", "a.py"),
        ('"""Test exit of the loop."""', "a.py"),
        ("# skip the header", "a.py"),
        ("int skip;", "a.cc"),
    ],
)
def test_words_that_only_look_like_suppressions(added: str, path: str) -> None:
    assert added_suppressions("", f"{added}\n", path) == ()


def _base64(secret: str, lead: str) -> str:
    return base64.b64encode(f"{lead}{secret}{lead}".encode()).decode()


@pytest.mark.parametrize(
    "leak",
    [
        SECRET,
        f"x{SECRET[7:]}",
        SECRET[:14],
        urllib.parse.quote(SECRET + "/", safe=""),
        _base64(SECRET, ""),
        _base64(SECRET, "a"),
        _base64(SECRET, "ab"),
        SECRET.encode().hex(),
        SECRET[::-1],
        f"{SECRET[:9]}\n{SECRET[9:]}",
        "glpat-" + "a1B2" * 6,
        "ghp_" + "a1B2" * 9,
        "AKIA" + "A1B2" * 4,
        "-----BEGIN RSA PRIVATE KEY-----",
        "https://bot:hunter22@example.com/x.git",
    ],
)
def test_secrets_that_an_edit_would_add(leak: str) -> None:
    assert added_secrets("a = 1\n", f"a = 1\n# {leak}\n", [SECRET]) != ()
    assert added_secrets(f"# {leak} \n", f"# {leak}\n", [SECRET]) == ()


def test_harmless_text_is_no_secret() -> None:
    assert added_secrets("", "The horse of https://example.com:8080/x has a battery.\n", [SECRET, "short"]) == ()


def test_removed_assertions_are_seen_even_if_the_edit_claims_a_docstring() -> None:
    before = b"def test_a():\n    assert f()\n"
    after = b'def test_a():\n    """Feature: A.\n    assert f()"""\n'
    assert "guard-tests-removed" in objections(change("tests/test_m.py", before, after))


@pytest.mark.parametrize(
    ("nature", "old", "new", "path", "proved"),
    [
        (Nature.WHITESPACE, b"X = 1 \n", b"X = 1\n", "a.py", True),
        (Nature.WHITESPACE, b"X = 'a '\n", b"X = 'a'\n", "a.py", False),
        (Nature.WHITESPACE, b"X = 1  # a b\n", b"X = 1  # ab\n", "a.py", False),
        (Nature.WHITESPACE, b"if a:\n    b\nc\n", b"if a:\n    b\n    c\n", "a.py", False),
        (Nature.WHITESPACE, b"a: |\n  x \n", b"a: |\n  x\n", "a.yaml", False),
        (Nature.WHITESPACE, b"a: 1 \n", b"a: 1\n", "a.yaml", True),
        (Nature.WHITESPACE, b"all:\n\tx\n", b"all:\n    x\n", "Makefile", False),
        (Nature.WHITESPACE, b"text   \nmore\n", b"text\nmore\n", "a.md", False),
        (Nature.COMMENT, b"X = 1  # teh\n", b"X = 1  # the\n", "a.py", True),
        (Nature.COMMENT, b"X = '# teh'\n", b"X = '# the'\n", "a.py", False),
        (Nature.COMMENT, b"int a;  // teh\n", b"int a;  // the\n", "a.cc", True),
        (Nature.COMMENT, b'auto a = "// teh";\n', b'auto a = "// the";\n', "a.cc", False),
        (Nature.COMMENT, b"int a;\n", b"int a; /* x */ b;\n", "a.cc", False),
        (Nature.DOCSTRING, b'"""Teh."""\nX = 1\n', b'"""The."""\nX = 1\n', "a.py", True),
        (Nature.DOCSTRING, b'X = """Teh."""\n', b'X = """The."""\n', "a.py", False),
        (Nature.DOCSTRING, b"def f():\n    pass\n", b'def f():\n    """F."""\n    pass\n', "a.py", True),
        (Nature.UNUSED_IMPORT, b"import a\nimport b\nb\n", b"import b\nb\n", "a.py", True),
        (Nature.UNUSED_IMPORT, b"import a\nb\n", b"import c\nb\n", "a.py", False),
        (Nature.IMPORT_ORDER, b"import b\nimport a\n", b"import a\nimport b\n", "a.py", True),
        (Nature.IMPORT_ORDER, b"import b\nimport a\n", b"import a\n", "a.py", False),
        (Nature.ENCODING, "网格".encode("gbk"), "网格".encode(), "a.md", True),
        (Nature.ENCODING, "网格".encode("gbk"), "网络".encode(), "a.md", False),
        (Nature.CODE, b"X = 1\n", b"X = (\n", "a.py", False),
        (Nature.PROSE, b"teh\n", b"the\n", "a.md", True),
        (Nature.PROSE, b"X = 1\n", b"X = 2\n", "a.py", False),
    ],
)
def test_natures_are_proved_on_the_bytes(nature: Nature, old: bytes, new: bytes, path: str, proved: bool) -> None:
    assert proves(nature, old, new, path) is proved


@pytest.mark.parametrize(
    ("span", "new", "inside"),
    [
        ((2, 2), b"a\nB\nc\nd\n", True),
        ((2, 2), b"a\nb\nC\nd\n", True),  # one line behind, where insertions land
        ((1, 1), b"a\nb\nC\nd\n", False),
        ((3, 3), b"a\nB\nc\nd\n", False),
        ((2, 3), b"a\nd\n", True),
        ((0, 0), b"x\n", True),
    ],
)
def test_an_edit_stays_on_its_lines(span: tuple[int, int], new: bytes, inside: bool) -> None:
    assert within(span, b"a\nb\nc\nd\n", new) is inside
