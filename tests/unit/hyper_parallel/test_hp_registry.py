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
"""YAML registration: defaults, options, users' directories, and every malformed entry."""

import pytest

from hyper_parallel.dispatch.registry import Registry

ENTRY = "{dist_op_name: _x_dist_op, distributed_op_class: MyOp, distributed_op_file: parallel_mine}"
MODULE = """
from hyper_parallel.ops.parallel_elementwise import ElementWiseDistributedOp


class MyOp(ElementWiseDistributedOp):
    pass


class NoOp:
    pass
"""


@pytest.fixture
def user(tmp_path):
    (tmp_path / "yaml").mkdir()
    (tmp_path / "parallel_mine.py").write_text(MODULE)

    def build(text, **more):
        (tmp_path / "yaml" / "mine.yaml").write_text(text)
        return Registry(yaml_dirs=(str(tmp_path / "yaml"),), python_paths=(str(tmp_path),), **more)

    return build


def test_a_user_directory_adds_operators(user):
    rules = user(f"my_new_op: {ENTRY}")
    op = rules.find("my_new_op")
    assert type(op).__name__ == "MyOp"
    assert rules.find("my_new_op") is op
    assert rules.find("relu") is not None
    assert rules.find("no_such_operator") is None


def test_directories_can_come_from_the_environment(tmp_path, monkeypatch):
    (tmp_path / "a.yaml").write_text(f"from_env: {ENTRY}")
    (tmp_path / "parallel_mine.py").write_text(MODULE)
    monkeypatch.setenv("HYPER_PARALLEL_OPS_YAML_DIR", str(tmp_path))
    monkeypatch.setenv("HYPER_PARALLEL_OPS_PYTHON_PATH", str(tmp_path))
    assert type(Registry().find("from_env")).__name__ == "MyOp"


@pytest.mark.parametrize("variable", ["HYPER_PARALLEL_OPS_YAML_DIR", "HYPER_PARALLEL_OPS_PYTHON_PATH"])
def test_directories_that_are_not_there_are_refused(tmp_path, monkeypatch, variable):
    monkeypatch.setenv(variable, f"{tmp_path}:{tmp_path / 'absent'}")
    with pytest.raises(ValueError, match=f"{variable} should name existing directories, but got .*absent"):
        Registry()


def test_default_block_and_further_keys(user):
    rules = user(
        "__default__: {distributed_op_class: MyOp, distributed_op_file: parallel_mine, outputs: 2}\n"
        "a: {}\nb: {outputs: 3}"
    )
    assert rules.find("a").options == {"outputs": 2}
    assert rules.find("b").options == {"outputs": 3}


def test_a_name_that_occurs_twice_is_an_error(user):
    with pytest.raises(ValueError, match="the name 'relu' should be registered once"):
        user(f"relu: {ENTRY}").names()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {distributed_op_class: MyOp}", r"keys should include \['distributed_op_file'\]"),
        ("- a\n- b", "the content should be a mapping"),
    ],
)
def test_malformed_files_are_refused(user, text, message):
    with pytest.raises(ValueError, match=message):
        user(text).names()


@pytest.mark.parametrize(
    ("kind", "file", "message"),
    [
        ("NoOp", "parallel_mine", "distributed_op_class should be a DistributedOp"),
        ("Missing", "parallel_mine", "distributed_op_class should be a DistributedOp"),
        ("MyOp", "parallel_absent", "distributed_op_file should be an existing module"),
        ("MyOp", "../evil", "distributed_op_file should be a module name"),
    ],
)
def test_entries_that_name_no_rule_are_refused_on_use(user, kind, file, message):
    rules = user(f"a: {{distributed_op_class: {kind}, distributed_op_file: '{file}'}}")
    with pytest.raises(ValueError, match=message):
        rules.find("a")


def test_every_built_in_entry_loads():
    rules = Registry()
    assert len(rules.names()) > 200
    for name in rules.names():
        assert rules.find(name).op_name == name
