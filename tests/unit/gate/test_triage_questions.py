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
"""The three questions of triage, and the import graph that answers the second."""

from __future__ import annotations

import pytest

from bot.gate.imports import Tree, reach
from bot.gate.triage import Evidence, Past, explain, judge_test, undecided

TEST = "tests/st/test_sort.py"
PASSED, FAILED = Past(passed_in=(7, 9)), Past(failed_in=(8,))


@pytest.mark.parametrize(
    ("changed", "chain", "past", "verdict", "broken"),
    [
        (("pkg/a.py",), (), PASSED, "unrelated", False),
        (("pkg/a.py",), (), FAILED, "unrelated", True),
        (("pkg/a.py",), (), Past(passed_in=(7,), failed_in=(8,)), "unrelated", False),
        (("pkg/a.py",), (), Past(), "pr", False),  # nobody knows: it leans to the change
        (("pkg/a.py",), (TEST, "pkg/a.py"), PASSED, "pr", False),
        (("pkg/a.py",), None, PASSED, "pr", False),  # no graph: product code counts as reached
        (("docs/a.md",), None, PASSED, "unrelated", False),
        ((TEST,), (), PASSED, "pr", False),
        (("CMakeLists.txt",), (), PASSED, "pr", False),
        ((".jenkins/test/config/dependent_packages.yaml",), (), PASSED, "pr", False),
        (("tests/conftest.py",), (), PASSED, "pr", False),
        (("other/conftest.py",), (), PASSED, "unrelated", False),  # not above this test
        (("conftest.py",), (), FAILED, "pr", False),
    ],
)
def test_unrelated_needs_three_answers(
    changed: tuple[str, ...], chain: tuple[str, ...] | None, past: Past, verdict: str, broken: bool
) -> None:
    found = judge_test(Evidence(changed, TEST, chain, past))
    assert (found.verdict, found.broken_on_base) == (verdict, broken)
    assert [reason[:3] for reason in found.reasons] == ["q1:", "q2:", "q3:"]


def test_the_reasons_are_sentences_in_both_languages() -> None:
    found = judge_test(Evidence(("pkg/a.py",), TEST, (TEST, "pkg/b.py", "pkg/a.py"), PASSED))
    assert [explain(reason, "zh") for reason in found.reasons] == [
        "问题一：否，PR 没有改构建或加载时的依赖",
        "问题二：是，测试会用到被改的代码（`tests/st/test_sort.py → pkg/b.py → pkg/a.py`）",
        "问题三：不含本 PR 时该测试通过（构建 9）",
    ]
    assert (
        explain("q1:yes build.sh", "en")
        == "Q1: yes, the change touches `build.sh`, which is used at build or load time"
    )
    assert explain("q2:yes", "en").startswith("Q2: maybe")
    assert explain("something else", "en") == "something else"


def test_the_graph_is_asked_only_where_it_decides() -> None:
    assert undecided(("pkg/a.py",), TEST)
    assert not undecided((TEST,), TEST)
    assert not undecided(("docs/a.md",), TEST)
    assert not undecided(("build.sh", "pkg/a.py"), TEST)
    assert not undecided(("pkg/a.py",), "")


FILES = {
    TEST: "from pkg.api import sort\nfrom tests.common.helper import run\n\ndef test_a():\n    run('worker_sort.py')\n",
    "tests/st/worker_sort.py": "import pkg.deep.leaf\n",
    "tests/common/helper.py": "def run(name): ...\n",
    "tests/conftest.py": "import pkg.fixtures\n",
    "pkg/__init__.py": "",
    "pkg/api.py": "from .inner import core as engine\nfrom . import loader\n",
    "pkg/inner/__init__.py": "from pkg.inner.hidden import x\n",
    "pkg/inner/core.py": "def f():\n    from pkg import lazy\n",
    "pkg/inner/hidden.py": "x = 1\n",
    "pkg/lazy.py": "",
    "pkg/fixtures.py": "",
    "pkg/deep/__init__.py": "",
    "pkg/deep/leaf.py": "",
    "pkg/loader.py": "def load(path):\n    return sorted(path.glob('*.yaml'))\n",
    "pkg/yaml/ops.yaml": "sort: {distributed_op_file: parallel_sort}\n",
    "pkg/ops/parallel_sort.py": "",
    "pkg/plugins/__init__.py": "import importlib\nimportlib.import_module(f'pkg.plugins.{n}')\n",
    "pkg/plugins/one.py": "",
    "pkg/alone.py": "import pkg.api\n",
    "pkg/broken.py": "def (:\n",
}
TREE = Tree(frozenset(FILES), FILES.get)


@pytest.mark.parametrize(
    ("changed", "way"),
    [
        ("pkg/api.py", (TEST, "pkg/api.py")),
        ("pkg/inner/core.py", (TEST, "pkg/api.py", "pkg/inner/core.py")),
        ("pkg/inner/hidden.py", (TEST, "pkg/api.py", "pkg/inner/__init__.py", "pkg/inner/hidden.py")),
        ("pkg/lazy.py", (TEST, "pkg/api.py", "pkg/inner/core.py", "pkg/lazy.py")),
        ("pkg/fixtures.py", (TEST, "tests/conftest.py", "pkg/fixtures.py")),
        ("pkg/deep/leaf.py", (TEST, "tests/st/worker_sort.py", "pkg/deep/leaf.py")),
        ("pkg/yaml/ops.yaml", (TEST, "pkg/api.py", "pkg/loader.py", "pkg/yaml/ops.yaml")),
        (
            "pkg/ops/parallel_sort.py",
            (TEST, "pkg/api.py", "pkg/loader.py", "pkg/yaml/ops.yaml", "pkg/ops/parallel_sort.py"),
        ),
        ("src/kernel.cc", (TEST, "src/kernel.cc")),
        ("pkg/alone.py", ()),  # it imports what the test imports, not the other way round
        ("pkg/plugins/one.py", ()),
        ("docs/a.md", ()),
    ],
)
def test_the_shortest_way_to_changed_code(changed: str, way: tuple[str, ...]) -> None:
    assert reach(TEST, {changed}, TREE) == way


def test_a_module_that_imports_by_computed_names_reaches_its_package() -> None:
    files = {**FILES, TEST: "import pkg.plugins\n"}
    tree = Tree(frozenset(files), files.get)
    assert reach(TEST, {"pkg/plugins/one.py"}, tree) == (TEST, "pkg/plugins/__init__.py", "pkg/plugins/one.py")


def test_a_deleted_module_that_is_still_imported_is_reached() -> None:
    files = {path: text for path, text in FILES.items() if path != "pkg/lazy.py"}
    tree = Tree(frozenset(files), files.get)
    assert reach(TEST, {"pkg/lazy.py"}, tree) == (TEST, "pkg/api.py", "pkg/inner/core.py", "pkg/lazy.py")
    assert reach(TEST, {"pkg/other.py"}, tree) == ()


def test_a_test_that_is_not_there_says_nothing() -> None:
    assert reach("tests/none.py", {"pkg/api.py"}, TREE) is None
    loop = {"a.py": "import b", "b.py": "import a"}
    assert reach("a.py", {"c.py"}, Tree(frozenset(loop), loop.get)) == ()
