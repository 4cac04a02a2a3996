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
"""Scenarios of operators whose registration fails: the real registry on made-up entries."""

from __future__ import annotations

from pathlib import Path

from tests.diagnosis.scenario import Expected as E
from tests.diagnosis.scenario import Scenario as S
from tests.diagnosis.scenario import Step

UT = "UT"
_REGISTRY = (Path(__file__).parents[2] / "hyper_parallel" / "dispatch" / "registry.py").read_text(encoding="utf-8")
_OP = (
    "class DistributedOp:\n    def __init__(self, op_name, platform=None, **options):\n        self.op_name = op_name\n"
)
_ROLL = "from hyper_parallel.dispatch.op import DistributedOp\n\n\nclass RollDistributedOp(DistributedOp):\n    pass\n"
# A loader as others write it: no words of its own, so that only Python speaks.
_LOADER = (
    "import importlib\n\nimport yaml\n\n\ndef load(path):\n    with open(path, encoding='utf-8') as file:\n"
    "        entries = yaml.safe_load(file)\n    return {name: _rule(entry) for name, entry in entries.items()}\n\n\n"
    "def _rule(entry):\n    module = importlib.import_module('hyper_parallel.ops.' + entry['distributed_op_file'])\n"
    "    return getattr(module, entry['distributed_op_class'])\n"
)


def _tree(entries: str, test: str) -> dict[str, str | bytes]:
    return {
        "hyper_parallel/__init__.py": "",
        "hyper_parallel/dispatch/__init__.py": "",
        "hyper_parallel/dispatch/op.py": _OP,
        "hyper_parallel/dispatch/registry.py": _REGISTRY,
        "hyper_parallel/dispatch/loader.py": _LOADER,
        "hyper_parallel/ops/__init__.py": "",
        "hyper_parallel/ops/parallel_roll.py": _ROLL,
        "hyper_parallel/ops/yaml/roll.yaml": entries,
        "tests/test_roll.py": test,
    }


_ENTRY = "roll:\n  distributed_op_class: {kind}\n  distributed_op_file: {file}\n"
_FIND = "from hyper_parallel.dispatch.registry import Registry\n\n\n"
_TWO = (
    "def test_roll():\n    assert Registry().find('roll')\n\n\ndef test_again():\n    assert Registry().find('roll')\n"
)
_LOAD = "from hyper_parallel.dispatch.loader import load\n\nRULES = load('hyper_parallel/ops/yaml/roll.yaml')\n"
_RUN = (Step(UT, "python -m pytest tests/test_roll.py 2>&1"),)
_MISFIT = ("op_yaml", "op-yaml-without-class")

SCENARIOS = (
    S(
        "operator-class-renamed",
        _tree(_ENTRY.format(kind="RolDistributedOp", file="parallel_roll"), _FIND + _TWO),
        steps=_RUN,
        expected=(
            E(
                UT,
                *_MISFIT,
                function="roll",
                message="For roll, distributed_op_class should be a DistributedOp in hyper_parallel.ops.parallel_roll, "
                "but got 'RolDistributedOp'.",
            ),
            E(UT, "pytest", "ValueError", "tests/test_roll.py", 5, "tests/test_roll.py::test_roll"),
            E(UT, "pytest", "ValueError", "tests/test_roll.py", 9, "tests/test_roll.py::test_again"),
        ),
        cause=_MISFIT,
    ),
    S(
        "operator-module-misspelt",
        _tree(_ENTRY.format(kind="RollDistributedOp", file="parallel_rol"), _FIND + "ROLL = Registry().find('roll')\n"),
        steps=_RUN,
        expected=(
            E(
                UT,
                *_MISFIT,
                function="roll",
                message="For roll, distributed_op_file should be an existing module, but got 'parallel_rol'.",
            ),
            E(UT, "pytest", "collection", "tests/test_roll.py", 4, "tests/test_roll.py"),
        ),
        cause=_MISFIT,
    ),
    S(
        "operator-registered-twice",
        {
            **_tree(_ENTRY.format(kind="RollDistributedOp", file="parallel_roll"), _FIND + _TWO.partition("\n\n\n")[0]),
            "hyper_parallel/ops/yaml/more.yaml": "roll:\n  distributed_op_class: RollDistributedOp\n",
        },
        steps=_RUN,
        expected=(
            E(UT, "op_yaml", "op-yaml-incomplete", "more.yaml", function="roll"),
            E(UT, "pytest", "ValueError", "tests/test_roll.py", 5, "tests/test_roll.py::test_roll"),
        ),
        cause=("op_yaml", "op-yaml-incomplete"),
    ),
    S(
        "operator-class-gone-plain-loader",
        _tree(_ENTRY.format(kind="RolDistributedOp", file="parallel_roll"), _LOAD),
        steps=_RUN,
        expected=(
            E(UT, *_MISFIT, function="RolDistributedOp"),
            E(UT, "pytest", "collection", "tests/test_roll.py", 3, "tests/test_roll.py"),
        ),
        cause=_MISFIT,
    ),
    S(
        "operator-module-gone-plain-loader",
        _tree(_ENTRY.format(kind="RollDistributedOp", file="parallel_rol"), _LOAD),
        steps=_RUN,
        expected=(
            E(UT, *_MISFIT, function="parallel_rol"),
            E(UT, "pytest", "collection", "tests/test_roll.py", 3, "tests/test_roll.py"),
        ),
        cause=_MISFIT,
    ),
)
