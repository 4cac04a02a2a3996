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
"""Path-scoped rules: what each kind of check objects to, and what it must leave alone."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from bot.errors import TellUser
from bot.gate.finding import Finding
from bot.review.diffmap import read_hunks
from bot.review.globs import matches
from bot.review.rules import merged, packaged_rules, read_rules, run_rules
from bot.review.scene import Scene

OP = "hyper_parallel/core/shard/ops/parallel_sort.py"
YAML = "hyper_parallel/core/shard/ops/yaml/sort.yaml"
SORT = "class SortDistributedOp:\n    def infer_layout(self):\n        return 1\n"


def scene_of(base: dict[str, str], head: dict[str, str]) -> Scene:
    files = {}
    for path, text in head.items():
        if base.get(path) != text:
            before, after = base.get(path, "").splitlines(keepends=True), text.splitlines(keepends=True)
            files[path] = read_hunks("".join(list(difflib.unified_diff(before, after))[2:]))
    return Scene(files, head.get, base.get, frozenset(head))


def found(base: dict[str, str], head: dict[str, str], rule: str = "") -> list[tuple[str, str, int]]:
    findings = run_rules(packaged_rules(), scene_of(base, head), "zh")
    return [(f.rule, f.file, f.line) for f in findings if not rule or f.rule == rule]


@pytest.mark.parametrize(
    ("path", "glob", "fits"),
    [
        ("a/b/c.py", "a/**/c.py", True),
        ("a/c.py", "a/**/c.py", True),
        ("a/b/c.py", "a/*.py", False),
        ("tests/test_a.py", "**/test_*.py", True),
        ("test_a.py", "**/test_*.py", True),
        ("a.pyc", "*.py", False),
        ("a/b", "**", True),
        ("a+b.py", "a+b.py", True),
    ],
)
def test_globs(path: str, glob: str, fits: bool) -> None:
    assert matches(path, glob) is fits


def test_a_new_operator_class_wants_its_yaml_and_an_inner_change_does_not() -> None:
    entry = {YAML: "sort:\n  distributed_op_class: SortDistributedOp\n"}
    assert found({}, {OP: SORT}) == [("op-class-without-yaml", OP, 1)]
    assert found({}, {OP: SORT, **entry}) == []
    assert found({OP: SORT, **entry}, {OP: SORT.replace("return 1", "return 2"), **entry}) == []
    base_class = SORT + "\n\nclass StableSortDistributedOp(SortDistributedOp):\n    pass\n"
    assert [line for _, _, line in found({}, {OP: base_class})] == [6]  # the base itself need not be registered


def test_a_removed_class_that_is_still_registered_is_told() -> None:
    entry = {YAML: "sort:\n  distributed_op_class: SortDistributedOp\n"}
    assert found({OP: SORT, **entry}, {OP: "# gone\n", **entry}) == [("op-class-without-yaml", OP, 0)]


def test_a_yaml_that_names_no_class_is_told() -> None:
    line = "sort: {dist_op_name: _sort, distributed_op_class: SortDistributedOp}\n"
    assert found({}, {YAML: line}) == [("op-yaml-without-class", YAML, 1)]
    assert found({OP: SORT}, {OP: SORT, YAML: line}) == []


CLOSURE = """
class SortDistributedOp:
    def get_expand_impl(self, func, infer_result, cache_values):
        rank = get_rank()

        def expanded(*args):
            return func(*args, {inner})

        return expanded
"""


@pytest.mark.parametrize(("inner", "lines"), [("platform.get_rank()", [7]), ("rank", [])])
def test_a_rank_asked_for_in_the_hot_closure(inner: str, lines: list[int]) -> None:
    head = {"hyper_parallel/ops/x.py": CLOSURE.replace("{inner}", inner)}
    assert [line for _, _, line in found({}, head, "rank-in-hot-closure")] == lines


def test_a_lambda_is_a_closure_too_and_an_inner_helper_that_is_not_returned_is_none() -> None:
    helper = "    def helper():\n        return get_rank()\n    helper()\n"
    text = f"def get_expand_impl(func):\n{helper}    return lambda x: func(x, dist.get_rank())\n"
    assert [line for _, _, line in found({}, {"hyper_parallel/a.py": text}, "rank-in-hot-closure")] == [5]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("dist.all_reduce(x, async_op=True)", True),
        ("h = dist.all_reduce(x, async_op=True)", True),
        ("h = dist.all_reduce(x, async_op=True)\n    h.wait()", False),
        ("dist.all_reduce(x, async_op=True).wait()", False),
        ("return dist.all_reduce(x, async_op=True)", False),
        ("handles.append(dist.all_reduce(x, async_op=True))", False),
        ("out, h = gather(x, async_op=True)\n    return out", True),
        ("out, h = gather(x, async_op=True)\n    return out, h", False),
        ("self.h = dist.all_reduce(x, async_op=True)", False),
        ("dist.all_reduce(x, async_op=False)", False),
        ("dist.isend(x, 1)", True),
        ("dist.all_reduce(\n        x,\n        async_op=True,\n    )", True),
    ],
)
def test_an_asynchronous_collective_needs_its_wait(statement: str, told: bool) -> None:
    head = {"hyper_parallel/a.py": f"def f(x, handles):\n    {statement}\n"}
    assert bool(found({}, head, "collective-not-awaited")) is told


def test_a_torch_function_without_its_twin() -> None:
    torch, twin = "hyper_parallel/platform/torch/wire.py", "hyper_parallel/platform/mindspore/wire.py"
    text = 'def send(x):\n    """Doc."""\n    return x\n\n\ndef only_torch(x):\n    return x\n'
    base = {torch: text, twin: "def send(x):\n    return x\n"}
    changed = {**base, torch: text.replace("return x", "return x + 1")}
    assert found(base, changed) == [("torch-without-mindspore-twin", torch, 3)]
    assert found(base, {**changed, twin: "def send(x):\n    return x + 1\n"}) == []
    assert found(base, {**base, torch: text.replace("Doc.", "Words.")}) == []
    assert (
        found(base, {**base, torch: text.replace("return x\n\n\ndef", "return x  \n\n\ndef").replace("  \n", "\n")})
        == []
    )


TEST = """import pytest


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a(n):
    assert_close(n, n, rtol=1e-5)
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("[1, 2, 3]", "[1, 2]", 4),
        ("1e-5", "1e-2", 6),
        ("@pytest.mark.param", '@pytest.mark.skip(reason="x")\n@pytest.mark.param', 4),
        ("@pytest.mark.param", "@pytest.mark.xfail\n@pytest.mark.param", 4),
        ("    assert_close", '    pytest.skip("later")\n    assert_close', 6),
        ("[1, 2, 3]", "[1, 2, 3, 4]", None),
        ("1e-5", "1e-6", None),
        ("test_a", "test_b", None),  # another test: nothing to compare with
    ],
)
def test_a_test_may_not_ask_for_less(old: str, new: str, line: int | None) -> None:
    path = "tests/test_x.py"
    expected = [] if line is None else [("test-weakened", path, line)]
    assert found({path: TEST}, {path: TEST.replace(old, new)}) == expected


def test_a_new_test_that_is_skipped_was_not_weakened() -> None:
    path = "tests/test_x.py"
    assert found({path: TEST}, {path: TEST + "\n\n@pytest.mark.skip\ndef test_new():\n    pass\n"}) == []


def test_broken_python_and_binary_rubbish_say_nothing() -> None:
    assert found({}, {OP: "class (:\n", "tests/test_x.py": "\0\0", YAML: "\t: ["}) == []


def test_the_message_names_what_it_is_about_in_both_languages() -> None:
    head = scene_of({}, {OP: SORT})
    zh, en = (run_rules(packaged_rules(), head, language)[0].message for language in ("zh", "en"))
    assert zh.startswith("算子类 SortDistributedOp 与")
    assert en.startswith("Operator class SortDistributedOp and")


def test_a_repository_adds_and_turns_off_rules_without_code() -> None:
    text = Path("config/rules/example.yaml").read_text("utf-8")
    rules = merged(packaged_rules(), read_rules(text, "example.yaml"))
    assert "torch-without-mindspore-twin" not in {rule.id for rule in rules}
    path = "hyper_parallel/a.py"
    head = scene_of({path: "x = 1\n"}, {path: "x = 1\nprint(x)\nprint(1)  # console output\n"})
    findings: tuple[Finding, ...] = run_rules(rules, head, "en")
    assert [(f.rule, f.line, f.message) for f in findings] == [
        ("no-print-in-library", 2, "No print in library code; use logging.")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rules: 3",
        "rules: [1]",
        "rules: [{id: x, paths: ['**'], check: nosuch, message: {zh: a, en: b}}]",
        "rules: [{id: x, paths: ['**'], check: pattern, parameters: {regexp: a}, message: {zh: a, en: b}}]",
        "rules: [{id: x, paths: ['**'], check: pattern, parameters: {regex: '('}, message: {zh: a, en: b}}]",
        "rules: [{id: x, paths: ['**'], check: pattern, parameters: {regex: 3}, message: {zh: a, en: b}}]",
        "rules: [{id: x, paths: [], check: pattern, message: {zh: a, en: b}}]",
        "rules: [{id: x, paths: ['**'], check: pattern, message: {zh: a}}]",
        "rules: !!python/object/apply:os.system [ls]",
        "rules: [",
    ],
)
def test_a_rule_file_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(TellUser, match=r"bad\.yaml"):
        read_rules(text, "bad.yaml")
