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
"""The small parts: texts, paths, messages, git's words, the checker's environment."""

from __future__ import annotations

import ast
import os
import re
import sys
import threading
from pathlib import Path

import pytest

import bot.repair
from bot.errors import GateBotError, NotFound, RetryLater, TellOperator
from bot.gate.finding import Finding
from bot.repair.checks.base import Observation
from bot.repair.checks.pylint import safe_rcfile
from bot.repair.checks.registry import CHECKS
from bot.repair.commit import message_of, subject_of
from bot.repair.hostgit import GitResult, NoRight, failure, login, redact, run
from bot.repair.paths import locate, match_path
from bot.repair.plan import steps_for
from bot.repair.reason import Reason, because, in_chinese
from bot.repair.recipes.registry import RECIPES, recipe_for
from bot.repair.task import Credentials, RepairTask
from bot.repair.tools import Cancelled, CancelToken, ToolMissing, find_tool, jail_works, run_tool
from bot.repair.verify import objection
from bot.repair.workspace import is_safe_path
from bot.texts import TextError
from bot.texts.repair import TEXTS

LINT = Finding(tool="pylint", rule="W0611", stage="Check_Pylint", file="src/m.py", line=2, message="Unused import os")


def task(**changes: object) -> RepairTask:
    values: dict[str, object] = {
        "repo": "mindspore/hyper-parallel",
        "number": 647,
        "head_sha": "a" * 40,
        "head_ref": "dev",
        "clone_url": "https://example.com/a.git",
        "push_url": "https://example.com/b.git",
        "base_ref": "master",
        "findings": (LINT,),
        "pr_files": ("src/m.py",),
        "mode": "push",
        "author_name": "gatebot",
        "author_email": "gatebot@example.com",
        "work_root": Path("/nonexistent"),
    }
    return RepairTask(**{**values, **changes})  # type: ignore[arg-type]


def test_a_reason_speaks_both_languages_and_defuses_hostile_values() -> None:
    reason = because("outside-pr", file="@all <script>/retest")
    assert reason.plain("zh") == "文件 @all <script>/retest 不在本次 PR 的修改范围内，不会改动它。"
    shown = reason.text("en")
    assert "<script>" not in shown
    assert "@all" not in shown


def test_every_reason_has_both_languages() -> None:
    assert all(set(texts) == {"zh", "en"} and all(texts.values()) for texts in TEXTS.values())


def test_an_unknown_reason_is_a_bug() -> None:
    with pytest.raises(TextError):
        Reason("no-such-reason").text()


def test_every_recipe_has_a_check_that_can_prove_it() -> None:
    assert {recipe.check for recipe in RECIPES} <= set(CHECKS)
    assert len({recipe.name for recipe in RECIPES}) == len(RECIPES)
    assert all(recipe.natures for recipe in RECIPES)


@pytest.mark.parametrize("rule", ["R0913", "R0902", "E1101", "W0613", "E0401", ""])
def test_rules_that_need_a_person_have_no_recipe(rule: str) -> None:
    assert recipe_for(Finding(tool="pylint", rule=rule, message="x")) is None


@pytest.mark.parametrize(
    ("reported", "meant"),
    [
        ("src/m.py", "src/m.py"),
        ("./src/m.py", "src/m.py"),
        ("hyper-parallel/src/m.py", "src/m.py"),
        ("/home/jenkins/workspace/gate/src/m.py", "src/m.py"),
        ("m.py", "src/m.py"),
        ("src\\m.py", "src/m.py"),
        ("other.py", ""),
        ("n.py", ""),
    ],
)
def test_reported_paths(reported: str, meant: str) -> None:
    assert match_path(reported, ("src/m.py", "a/n.py", "b/n.py")) == meant


@pytest.mark.parametrize("path", ["../m.py", "/m.py", "a/../m.py", ".git/config"])
def test_a_path_that_leads_elsewhere_is_not_located_though_the_pull_request_names_it(path: str) -> None:
    refusal = locate(Finding(tool="tab", message="tab", file=path), (path,), {path: b"\t"}.get)
    assert isinstance(refusal, Reason)
    assert refusal.text_id == "outside-pr"


def test_a_test_design_finding_is_located_by_its_name() -> None:
    files = {"tests/test_a.py": b"def test_x():\n    assert 1\n", "tests/test_b.py": b"def test_y():\n    assert 1\n"}
    finding = Finding(tool="dt_design", function="test_y", message="missing in the description of the test: Feature")
    located = locate(finding, tuple(files), files.get)
    assert isinstance(located, Finding)
    assert located.file == "tests/test_b.py"
    both = locate(finding, tuple(files), lambda path: b"def test_y():\n    assert 1\n")
    assert isinstance(both, Reason)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "../a",
        "a/../b",
        ".git/a",
        "a/.GIT/b",
        "a//b",
        "a\\b",
        "a\0b",
        "./a",
        "--init-hook=x.py",
        "@x.cc",
        "a\nb",
    ],
)
def test_unsafe_paths(path: str) -> None:
    assert not is_safe_path(path)


def test_subjects() -> None:
    typo = Finding(tool="codespell", rule="typo", file="src/m.py", line=3, message="teh ==> the")
    assert subject_of([LINT]) == "fix(gate): Check_Pylint W0611 in src/m.py"
    assert subject_of([LINT, typo]) == "fix(gate): Check_Pylint W0611; Check_Codespell typo in src/m.py"
    many = [Finding(tool="pylint", rule=f"W{number:04}", file=f"{number}.py", message="x") for number in range(40)]
    assert subject_of(many) == "fix(gate): Check_Pylint"


def test_the_message_names_rule_and_place_and_carries_the_trailer() -> None:
    message = message_of(task(), [("unused-import", LINT)])
    assert message == (
        "fix(gate): Check_Pylint W0611 in src/m.py\n\n"
        "- Check_Pylint W0611 src/m.py:2 (unused-import)\n\n"
        "GateBot-Case: mindspore/hyper-parallel#647\n"
    )
    assert task(case_id="x#1").trailer == "GateBot-Case: x#1"


@pytest.mark.parametrize(
    ("code", "words", "kind"),
    [
        (128, "fatal: unable to access 'https://x/': Could not resolve host: x", RetryLater),
        (128, "fatal: unable to access 'https://x/': The requested URL returned error: 502", RetryLater),
        (-9, "", RetryLater),
        (128, "remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://x/'", NoRight),
        (128, "fatal: unable to access 'https://x/': The requested URL returned error: 403", NoRight),
        (128, "fatal: couldn't find remote ref refs/heads/gone", NotFound),
        (128, "fatal: repository 'https://x/' not found", NotFound),
        (1, "error: something else", TellOperator),
    ],
)
def test_git_failures_by_remedy(code: int, words: str, kind: type[GateBotError]) -> None:
    assert type(failure(GitResult(code, b"", words), "fetch")) is kind


def test_a_login_never_shows() -> None:
    assert redact("fatal: https://bot:hunter2@x/y.git") == "fatal: https://***@x/y.git"
    credentials = Credentials("bot", lambda: "hunter2")
    assert "hunter2" not in repr(task(credentials=credentials))
    with login(credentials) as env:
        program = Path(env["GIT_ASKPASS"])
        assert "hunter2" not in program.read_text()
        assert program.stat().st_mode & 0o077 == 0
    assert not program.exists()


def test_host_git_sees_no_variable_of_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GITCODE_TOKEN", "hunter2")
    run(["init", "--quiet", str(tmp_path / "r")], cwd=tmp_path)
    shown = run(["-c", "alias.e=!env", "e"], cwd=tmp_path / "r").text
    assert "hunter2" not in shown
    assert "GIT_CONFIG_GLOBAL=/dev/null" in shown


def test_ext_transport_is_shut(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    with pytest.raises(GateBotError):
        run(["ls-remote", f"ext::touch {canary}"], cwd=tmp_path)
    assert not canary.exists()


def test_a_checker_gets_an_empty_environment_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITCODE_TOKEN", "hunter2")
    code = "import os; print(sorted(os.environ)); print(open('/proc/1/environ', 'rb').read())"
    result = run_tool([sys.executable, "-I", "-c", code], tree=tmp_path, cancel=CancelToken())
    assert result.code == 0
    assert b"hunter2" not in result.stdout
    assert b"GITCODE_TOKEN" not in result.stdout


def test_a_checker_that_never_ends_is_killed(tmp_path: Path) -> None:
    sleeper = [sys.executable, "-I", "-c", "import time; time.sleep(600)"]
    with pytest.raises(RetryLater, match="took longer"):
        run_tool(sleeper, tree=tmp_path, cancel=CancelToken(), timeout=0.2)


def test_a_checker_is_killed_on_cancel(tmp_path: Path) -> None:
    cancel = CancelToken()
    timer = threading.Timer(0.2, cancel.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        run_tool([sys.executable, "-I", "-c", "import time; time.sleep(600)"], tree=tmp_path, cancel=cancel)
    timer.join()


def test_a_missing_tool_is_named() -> None:
    with pytest.raises(ToolMissing, match="no-such-linter"):
        find_tool("no-such-linter")


def test_the_rcfile_cannot_run_code() -> None:
    hostile = (
        b"[MASTER]\ninit-hook='import os; os.system(\"x\")'\nload-plugins=evil,\n  pylint.extensions.mccabe\n"
        b"unsafe-load-any-extension=yes\nextension-pkg-allow-list=evil\n[FORMAT]\nmax-line-length=99\n"
    )
    kept = safe_rcfile(hostile)
    assert "init-hook" not in kept
    assert "evil" not in kept
    assert "pylint.extensions.mccabe" in kept
    assert "max-line-length = 99" in kept


def test_an_rcfile_that_cannot_be_read_is_for_the_operator() -> None:
    with pytest.raises(TellOperator):
        safe_rcfile(b"no section\n")


def test_steps_run_from_the_bottom_up_and_whole_file_ones_last() -> None:
    findings = [
        Finding(tool="pylint", rule="C0304", file="a.py", line=9, message="Final newline missing"),
        Finding(tool="pylint", rule="C0303", file="a.py", line=2, message="Trailing whitespace"),
        Finding(tool="pylint", rule="C0303", file="a.py", line=7, message="Trailing whitespace"),
        Finding(tool="pylint", rule="C0303", file="a.py", line=2, message="Trailing whitespace"),
    ]
    pairs = [(recipe, finding) for finding in findings if (recipe := recipe_for(finding)) is not None]
    steps = steps_for("a.py", pairs)
    assert [(step.findings[0].rule, step.findings[0].line, len(step.findings)) for step in steps] == [
        ("C0303", 7, 1),
        ("C0303", 2, 2),
        ("C0304", 9, 1),
    ]


def seen(rule: str, line: int, symbol: str = "", message: str = "") -> Observation:
    return Observation("Check_Pylint", rule, "a.py", line, symbol, message)


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ((seen("W0613", 8),), None),
        ((seen("W0611", 1), seen("W0613", 9)), "still-there"),
        ((seen("W0613", 8), seen("C0301", 3)), "new-finding"),
        ((seen("W0613", 8), seen("W0613", 9)), "new-finding"),
        ((), None),
    ],
)
def test_a_finding_must_go_and_none_may_come(after: tuple[Observation, ...], verdict: str | None) -> None:
    before = (seen("W0611", 2), seen("W0613", 9))
    said = objection("a.py", before, after, {before[0]})
    assert (said[0].text_id if said else None) == verdict


def test_the_environment_of_this_process_is_left_alone() -> None:
    before = dict(os.environ)
    with login(Credentials("bot", lambda: "hunter2")):
        assert dict(os.environ) == before


def test_without_bubblewrap_a_checker_still_gets_an_empty_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("GITCODE_TOKEN", "hunter2")
    jail_works.cache_clear()
    try:
        assert not jail_works()
        code = "import os; print(dict(os.environ))"
        result = run_tool([sys.executable, "-I", "-c", code], tree=tmp_path, cancel=CancelToken())
    finally:
        jail_works.cache_clear()
    assert result.code == 0
    assert b"hunter2" not in result.stdout
    assert b"GITCODE" not in result.stdout


def _parts_of_sentences() -> set[str]:
    """English parts that the code hands to ``because``, with what varies as ``{0}``, ``{1}``."""
    found = set()
    for path in sorted(Path(bot.repair.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"because", "line_at"}
            ):
                values = [item.value for item in node.keywords] + (node.args[2:] if node.func.id == "line_at" else [])
                found |= {text for value in values if (text := _template(value))}
    return found


def _template(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        numbers = iter(range(9))
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"{{{next(numbers)}}}" for part in node.values
        )
    return ""


def test_every_part_of_a_sentence_is_there_in_chinese() -> None:
    # What consists of signs and names only reads the same in both languages.
    prose = {text for text in _parts_of_sentences() if re.search(r"[a-z]{2,} [a-z]{2,}", text)}
    filled = {text.format("A", "B", "C") for text in prose} - {"import a, b"}
    assert {text for text in filled if in_chinese(text) == text} == set()
    assert len(prose) > 60


def test_a_reason_is_chinese_throughout() -> None:
    reason = because("unsafe", why="the function changes items, so calls may share it on purpose")
    assert reason.plain("zh") == "无法保证行为不变：函数会修改 items，可能有意在多次调用之间共享"
    acts = because("import-side-effect", name="src.ops", why="src/ops.py: line 3 registers Add")
    assert acts.plain("zh") == "导入 src.ops 可能有副作用（src/ops.py：第 3 行注册了 Add）。"
    assert acts.plain("en") == "Importing src.ops may have side effects (src/ops.py: line 3 registers Add)."
