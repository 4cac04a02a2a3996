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
"""Hooks: each passes what is right and refuses what is not, on files of a repository of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOKS = ".agent/hooks"
HEADER = "".join(
    line + "\n"
    for line in (ROOT / "hyper_parallel/__init__.py").read_text(encoding="utf-8").split('"""')[0].splitlines()
)
GOOD = HEADER + '"""A module."""\n\nVALUE = 1\n'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    for command in (["init", "-q"], ["config", "user.email", "a@example.com"], ["config", "user.name", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "old.py").write_text(GOOD + "import os  # noqa: F401\n", encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-qm", "first"], cwd=tmp_path, check=True)
    return tmp_path


def test_the_licence_header_is_missed_and_added(run, repo):
    path = repo / "new.py"
    path.write_text('#!/usr/bin/env python3\n"""A module."""\n', encoding="utf-8")
    assert run(f"{HOOKS}/licence_header.py", path).returncode == 1
    assert run(f"{HOOKS}/licence_header.py", "--fix", path).returncode == 0
    assert path.read_text(encoding="utf-8") == f'#!/usr/bin/env python3\n{HEADER}"""A module."""\n'
    assert run(f"{HOOKS}/licence_header.py", path, repo / "absent.py").returncode == 0


def test_another_year_and_an_empty_file_are_fine(run, repo):
    (repo / "year.py").write_text(GOOD.replace("2026", "2031"), encoding="utf-8")
    (repo / "empty.py").write_text("", encoding="utf-8")
    assert run(f"{HOOKS}/licence_header.py", repo / "year.py", repo / "empty.py").returncode == 0


def test_lint_refuses_rules_and_format(run, repo):
    path = repo / "new.py"
    path.write_text(GOOD, encoding="utf-8")
    assert run(f"{HOOKS}/lint.py", path).returncode == 0
    path.write_text(GOOD + "import os\n", encoding="utf-8")
    assert run(f"{HOOKS}/lint.py", path).returncode == 1
    path.write_text(GOOD.replace("VALUE = 1", "VALUE  =  1"), encoding="utf-8")
    assert "format" in run(f"{HOOKS}/lint.py", path).stdout


def test_a_suppression_may_stay_but_not_come(run, repo):
    assert run(f"{HOOKS}/no_suppressions.py", repo / "old.py").returncode == 0
    (repo / "old.py").write_text(GOOD + "import os  # noqa: F401\nimport re  # noqa: F401\n", encoding="utf-8")
    done = run(f"{HOOKS}/no_suppressions.py", repo / "old.py")
    assert done.returncode == 1
    assert "noqa" in done.stdout
    fresh = repo / "test_new.py"
    fresh.write_text(GOOD + "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert VALUE\n", encoding="utf-8")
    assert "skip" in run(f"{HOOKS}/no_suppressions.py", fresh).stdout


@pytest.fixture
def package(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "hyper_parallel", tmp_path / "hyper_parallel", ignore=shutil.ignore_patterns("__pycache__"))
    ops = tmp_path / "hyper_parallel" / "ops"
    for path in [*ops.glob("yaml/*.yaml"), *ops.glob("parallel_*.py")]:
        if path.stem not in ("elementwise", "elementwise_partial", "parallel_elementwise"):
            path.unlink()
    (ops / "yaml/elementwise.yaml").write_text(
        "exp: {distributed_op_class: ElementWiseDistributedOp, distributed_op_file: parallel_elementwise}\n"
        "to: {distributed_op_class: CastDistributedOp, distributed_op_file: parallel_elementwise}\n",
        encoding="utf-8",
    )
    (ops / "yaml/elementwise_partial.yaml").write_text(
        "neg: {distributed_op_class: ElementWiseWithPartialDistributedOp, distributed_op_file: parallel_elementwise}\n",
        encoding="utf-8",
    )
    return tmp_path


def test_entries_and_classes_pair(run, package):
    hook = f"{HOOKS}/op_yaml_pairs.py"
    assert run(hook, "--root", package).stdout == ""
    ops = package / "hyper_parallel" / "ops"
    (ops / "yaml/new.yaml").write_text(
        "sin: {distributed_op_class: NoSuchOp, distributed_op_file: parallel_elementwise}\n", encoding="utf-8"
    )
    with (ops / "parallel_elementwise.py").open("a", encoding="utf-8") as file:
        file.write("\n\nclass LonelyDistributedOp(ElementWiseDistributedOp):\n    pass\n")
    done = run(hook, "--root", package)
    assert done.returncode == 1
    assert "NoSuchOp" in done.stdout
    assert "LonelyDistributedOp" in done.stdout
    (ops / "yaml/new.yaml").write_text((ops / "yaml/elementwise.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert "registered once" in run(hook, "--root", package).stdout
    assert run(hook, "--root", package, "bot/app.py").returncode == 0


def test_all_hooks_together_look_at_the_staged_files(run, repo):
    assert run(f"{HOOKS}/pre_commit.py", cwd=repo).returncode == 0
    (repo / "bad.py").write_text("x = 1\n", encoding="utf-8")
    assert run(f"{HOOKS}/pre_commit.py", cwd=repo).returncode == 0
    subprocess.run(["git", "add", "bad.py"], cwd=repo, check=True)
    done = run(f"{HOOKS}/pre_commit.py", cwd=repo)
    assert done.returncode == 1
    assert "refused by licence_header.py" in done.stdout
    inner = repo / "inner"
    inner.mkdir()
    assert run(f"{HOOKS}/pre_commit.py", cwd=inner).returncode == 1, "the same from any directory"


def test_what_is_staged_is_what_is_looked_at(run, repo):
    (repo / "new.py").write_text("x = 1\n", encoding="utf-8")
    subprocess.run(["git", "add", "new.py"], cwd=repo, check=True)
    (repo / "new.py").write_text(GOOD, encoding="utf-8")
    done = run(f"{HOOKS}/pre_commit.py", cwd=repo)
    assert done.returncode == 1
    assert "new.py should be as staged" in done.stdout
    subprocess.run(["git", "add", "new.py"], cwd=repo, check=True)
    assert run(f"{HOOKS}/pre_commit.py", cwd=repo).returncode == 0


def test_git_starts_the_hooks_itself_from_any_work_tree(repo):
    quiet = HEADER + '"""A module."""\n\nimport os  # noqa: F401\n'
    inner = repo / "inner"
    inner.mkdir()
    (inner / "old.py").write_text(quiet, encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-qm", "second"], cwd=repo, check=True)
    (repo / ".git/hooks").mkdir(exist_ok=True)
    (repo / ".git/hooks/pre-commit").symlink_to(ROOT / HOOKS / "pre_commit.py")
    other = repo / "other"
    subprocess.run(["git", "worktree", "add", "-q", str(other)], cwd=repo, check=True)
    for text, code in ((f"{quiet}import re\n\nVALUE = re\n", 0), (f"{quiet}import re  # noqa: F401\n", 1)):
        (other / "inner/old.py").write_text(text, encoding="utf-8")
        command = ["git", "commit", "-qam", "third"]
        done = subprocess.run(command, cwd=other, check=False, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
    assert "adds '# noqa'" in done.stdout + done.stderr


@pytest.fixture
def whole(repo: Path, package: Path) -> Path:
    """A repository that has hooks and operators of its own."""
    shutil.copytree(ROOT / HOOKS, repo / HOOKS)
    (repo / "bot").symlink_to(ROOT / "bot")
    subprocess.run(["git", "add", "hyper_parallel"], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-qm", "operators"], cwd=repo, check=True)
    return repo


def test_a_class_that_goes_without_its_entry_is_refused(run, whole):
    assert run(whole / HOOKS / "pre_commit.py", "hyper_parallel/ops/yaml/elementwise.yaml", cwd=whole).returncode == 0
    subprocess.run(["git", "rm", "-q", "hyper_parallel/ops/parallel_elementwise.py"], cwd=whole, check=True)
    done = run(whole / HOOKS / "pre_commit.py", cwd=whole)
    assert done.returncode == 1
    assert "refused by op_yaml_pairs.py" in done.stdout


def test_a_host_tells_of_an_edit_and_is_told_what_is_wrong(run, whole):
    def edited(path: object) -> subprocess.CompletedProcess[str]:
        text = json.dumps({"tool_name": "Edit", "tool_input": {"file_path": str(path)}})
        return run(whole / HOOKS / "pre_commit.py", "--host", stdin=text)

    (whole / "old.py").write_text(GOOD, encoding="utf-8")
    assert edited(whole / "old.py").returncode == 0
    (whole / "old.py").write_text("x = 1\n", encoding="utf-8")
    done = edited(whole / "old.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "licence header missing" in done.stderr
    assert edited(ROOT / "tests/skills/conftest.py").returncode == 0, "not of this repository"


@pytest.mark.parametrize("text", ["", "[]", "{}", "no JSON", '{"tool_input": {"file_path": 3}}'])
def test_what_a_host_does_not_say_is_told(run, text):
    done = run(f"{HOOKS}/pre_commit.py", "--host", stdin=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert "should be JSON" in done.stderr
