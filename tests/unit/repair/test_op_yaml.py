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
"""Registration of operators: what counts as an entry, what an edit may change, and words for what it leaves alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bot.diagnosis import diagnose
from bot.diagnosis.tools.op_yaml import yaml_of
from bot.gate.finding import Finding
from bot.repair.checks.base import CheckContext
from bot.repair.checks.op_yaml import CHECK
from bot.repair.guard_proof import proves
from bot.repair.op_registry import Ops, names_of, ops_directory, read_entries
from bot.repair.reason import in_chinese
from bot.repair.recipes.base import Nature
from bot.repair.recipes.registry import recipe_for
from bot.runtime.judge import judge

CORPUS = Path(__file__).parents[2] / "diagnosis" / "corpus"
ROOM = Path(__file__).parents[3] / "bot" / "repair"
OLD = b"""# Shifts.
__default__: {distributed_op_file: parallel_shift}
roll: {dist_op_name: _roll_dist_op, distributed_op_class: RollDistributedOp}  # one
pad: {distributed_op_class: PadDistributedOp, value: 0}
"""


@pytest.mark.parametrize(
    ("path", "directory"),
    [
        ("hyper_parallel/core/shard/ops/yaml/roll.yaml", "hyper_parallel/core/shard/ops"),
        ("hyper_parallel/ops/yaml/mindspore/primitives.yaml", "hyper_parallel/ops"),
        ("ops/yaml/a.yaml", "ops"),
        ("hyper_parallel/ops/yaml/a.yml", ""),
        ("shops/yaml/a.yaml", ""),
        ("hyper_parallel/ops/a.yaml", ""),
    ],
)
def test_whose_registration_a_yaml_file_is(path: str, directory: str) -> None:
    assert ops_directory(path) == directory


def test_the_yaml_files_of_a_directory_are_read_once_however_many_modules_are_asked_about() -> None:
    files = {f"ops/parallel_{name}.py": f"class {name.title()}DistributedOp: ...\n".encode() for name in "abcdef"}
    files["ops/yaml/a.yaml"] = b"a: {distributed_op_class: ADistributedOp}\n"
    asked: list[str] = []

    def read(path: str) -> bytes | None:
        asked.append(path)
        return files.get(path)

    modules = tuple(f"parallel_{name}" for name in "abcdef")
    ops = Ops("ops", modules, ("ops/yaml/a.yaml",), read)
    assert [ops.unregistered(module) for module in modules] == [[], *([f"{n}DistributedOp"] for n in "BCDEF")]
    assert max(asked.count(path) for path in set(asked)) == 1


def test_texts_and_lists_are_no_entries_and_an_empty_one_goes_by_the_default() -> None:
    file = read_entries("__default__: {distributed_op_class: A}\nAbs: abs(input)\nall: [1]\nroll:\n")
    assert [(entry.name, file.value(entry, "distributed_op_class")) for entry in file.entries] == [("roll", "A")]
    assert read_entries("").entries == ()
    with pytest.raises(ValueError, match="occurs twice"):
        read_entries("a: {}\na: {}\n")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("class A:\n    class Inner:\n        pass\n", {"A"}),
        ("if True:\n    class A:\n        pass\n", {"A"}),
        ("from x import A as B\nC = B\n", {"B", "C"}),
        ("def f():\n    class Hidden:\n        pass\n", {"f"}),
    ],
)
def test_what_a_module_binds(text: str, bound: set[str]) -> None:
    names = names_of(text.encode())
    assert (names.bound, names.open) == (bound, False)


@pytest.mark.parametrize(
    "text", ["from x import *\n", "def __getattr__(name):\n    return 1\n", "globals()['A'] = 1\n", "class (:\n"]
)
def test_a_module_that_may_bind_more_is_not_accused(text: str) -> None:
    assert names_of(text.encode()).has("Anything")


@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        (b"RollDistributedOp", b"RollingDistributedOp", True),
        (b"parallel_shift", b"parallel_roll", True),
        (b"PadDistributedOp,", b"PadDistributedOp, distributed_op_file: parallel_pad,", True),
        (b"value: 0}\n", b"value: 0}\nflip: {distributed_op_class: FlipDistributedOp}\n", True),
        (b"value: 0", b"value: 1", False),
        (b"value: 0", b"value: 0, more: 1", False),
        (b"_roll_dist_op", b"_rol_dist_op", False),
        (b"  # one", b"", False),
        (b"# Shifts.", b"# shifts.", False),
        (b"pad: {distributed_op_class: PadDistributedOp, value: 0}\n", b"", False),
        (b"pad:", b"pads:", False),
        (b"roll:", b"flip: {distributed_op_class: F}\nroll:", False),
        (b"value: 0}\n", b"value: 0}\nflip: {distributed_op_class: F, linear: any}\n", False),
        (b"RollDistributedOp", b"3", False),
        (b"RollDistributedOp", b"[", False),
        (b"roll:", b"\xff:", False),
    ],
)
def test_an_edit_of_entries_changes_nothing_else(old: bytes, new: bytes, holds: bool) -> None:
    assert OLD.count(old) == 1
    assert proves(Nature.OP_ENTRY, OLD, OLD.replace(old, new), "ops/yaml/a.yaml") is holds


def test_only_registrations_may_be_edited_so() -> None:
    assert not proves(Nature.OP_ENTRY, b"A = 1\n", b"A = 2\n", "a.py")


def test_the_check_tells_each_operator_and_an_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "ops" / "yaml").mkdir(parents=True)
    (tmp_path / "ops" / "parallel_a.py").write_text("class ADistributedOp:\n    pass\n", encoding="utf-8")
    entries = "a: {distributed_op_class: BDistributedOp, distributed_op_file: parallel_a}\n"
    (tmp_path / "ops" / "yaml" / "a.yaml").write_text(entries + entries.replace("a:", "a_:", 1), encoding="utf-8")
    (tmp_path / "ops" / "yaml" / "b.yaml").write_text("a: [\n", encoding="utf-8")
    paths = ("ops/yaml/a.yaml", "ops/yaml/b.yaml")
    seen = CHECK.run(paths, CheckContext(tmp_path, {}))
    told = [("op-yaml-without-class", 1, f"BDistributedOp@parallel_a {name}") for name in ("a", "a_")]
    assert [(one.rule, one.line, one.symbol) for one in seen] == [*told, ("op-yaml-unreadable", 0, "")]
    asked = Finding("rules", "", rule="op-class-without-yaml", file=paths[0], function="ADistributedOp@parallel_a")
    more = CHECK.run(paths[:1], CheckContext(tmp_path, {}, (asked,)))
    assert [one.rule for one in more if CHECK.shown(asked, one)] == ["op-class-without-yaml"]


def test_only_rules_of_registration_have_this_recipe() -> None:
    names = {rule: recipe_for(Finding("rules", "", rule=rule)) for rule in ("op-yaml-without-class", "test-weakened")}
    assert {rule: recipe.name if recipe else "" for rule, recipe in names.items()} == {
        "op-yaml-without-class": "op-yaml",
        "test-weakened": "",
    }


def _words(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "Name" for part in parts)


def test_what_is_left_to_a_person_is_said_in_chinese_too() -> None:
    raised = [
        _words(node.exc.args[0])
        for name in ("recipes/op_yaml.py", "op_entry_edits.py")
        for node in ast.walk(ast.parse((ROOM / name).read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    ]
    assert len(raised) >= 12
    assert [text for text in raised if in_chinese(text) == text] == []


@pytest.mark.parametrize(
    "log",
    [
        "operator-class-renamed",
        "operator-module-misspelt",
        "operator-class-gone-plain-loader",
        "operator-module-gone-plain-loader",
    ],
)
def test_a_red_build_whose_registration_fails_leads_to_this_recipe(log: str) -> None:
    yaml_path = "hyper_parallel/ops/yaml/roll.yaml"
    patches = {yaml_path: "@@ -1 +1 @@\n-roll: {}\n+roll: {…}\n", "tests/test_roll.py": "@@ -0,0 +1 @@\n+x = 1\n"}
    diagnosis = diagnose([(CORPUS / f"{log}.log").read_bytes()])
    # The tests that stumble over it are changed too, and nobody has a recipe for them: they must not be in the way.
    judged = judge(diagnosis, patches, {}, lambda finding: recipe_for(finding) is not None)
    assert [(one.finding.tool, one.finding.file, one.verdict, one.repairable) for one in judged] == [
        ("op_yaml", yaml_path, "pr", True)
    ]


def test_the_yaml_of_a_finding_is_certain_or_not_named() -> None:
    finding = Finding("op_yaml", "", rule="op-yaml-without-class", function="roll")
    a, b = "x/ops/yaml/a.yaml", "x/ops/yaml/b.yaml"
    assert yaml_of(finding, {a: "+roll: {}", b: "+rolling: {}", "c.py": "roll"}) == a
    assert yaml_of(finding, {a: "+flip: {}", "c.py": "roll"}) == a
    assert yaml_of(finding, {a: "+roll: {}", b: "+roll: {}"}) == ""
    assert yaml_of(finding, {"c.py": "roll"}) == ""


@pytest.mark.parametrize(
    "log",
    [
        "ModuleNotFoundError: No module named 'a.ops.parallel_x'\n",
        "E AttributeError: module 'a.b' has no attribute 'XDistributedOp'\n",
    ],
)
def test_other_failing_imports_are_not_taken_for_registration(log: str) -> None:
    assert [one for one in diagnose([log.encode()]).findings if one.tool == "op_yaml"] == []
