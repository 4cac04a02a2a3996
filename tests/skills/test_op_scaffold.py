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
"""From an empty plan to a proved operator, by the scripts alone, on a copy of the package."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from benchmarks.skills_new_op import OPS, scratch, strip

ANALYSE = "skills/dist-op-analysis/scripts/analyse.py"
NEW = "skills/dist-op-dev/scripts/new_op.py"
CHECK = "skills/dist-op-dev/scripts/check_op.py"
SCRIPTS = "skills/dist-op-dev/scripts"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    found = scratch(tmp_path_factory.mktemp("package") / "tree")
    for names in OPS.values():
        strip(found, names)
    return found


def planned(run, tree, tmp_path, *arguments):
    done = run(ANALYSE, *arguments, "--root", tree, "--out", tmp_path, "--no-ranks")
    assert done.returncode == 0, done.stderr
    (plan,) = tmp_path.glob("*_dist_op_plan.md")
    return plan


@pytest.mark.timeout(1500)
def test_a_triangle_is_found_written_and_proved(run, tree, tmp_path):
    plan = planned(run, tree, tmp_path, "tril")
    assert plan.name == "Tril_dist_op_plan.md"
    assert "[待确认]" not in plan.read_text(encoding="utf-8").split("## 5")[1].split("## 6")[0]
    new = run(NEW, plan, "--root", tree)
    assert new.returncode == 0, new.stdout + new.stderr
    source = (tree / "hyper_parallel/ops/parallel_tril.py").read_text(encoding="utf-8")
    assert "local_offset" in source
    assert "TODO" not in source
    files = [line for line in new.stdout.splitlines() if line.endswith(".py")]
    for command in (["check", "-q"], ["format", "-q", "--check"]):
        done = subprocess.run([sys.executable, "-m", "ruff", *command, *files], cwd=tree, check=False)
        assert done.returncode == 0
    again = run(NEW, plan, "--root", tree)
    assert again.returncode == 1
    assert "--force" in again.stderr
    proof = run(CHECK, plan, "--root", tree, "--quick", "--out", tmp_path)
    assert proof.returncode == 0, proof.stdout + proof.stderr
    assert (tmp_path / "Tril_report.md").read_text(encoding="utf-8").strip() in proof.stdout
    assert re.findall(r"^\| (UT|ST|bytes) \| 通过", proof.stdout, re.MULTILINE) == ["UT", "ST", "bytes"]
    assert "OpInfo 2 even | 通过" in proof.stdout


@pytest.mark.timeout(900)
def test_a_wrong_rule_does_not_pass(run, tree, tmp_path):
    plan = planned(run, tree, tmp_path, "cumsum")
    text = plan.read_text(encoding="utf-8")
    new = run(NEW, plan, "--root", tree)
    assert new.returncode == 0, new.stdout + new.stderr
    assert "note: 有些切法需要通信" in new.stdout
    assert "kind: other" in text
    plan.write_text(text.replace("kind: other", "kind: all"), encoding="utf-8")
    run(NEW, plan, "--root", tree, "--force")
    proof = run(CHECK, plan, "--root", tree, "--quick")
    assert proof.returncode == 1
    assert "| UT | 失败 |" in proof.stdout


@pytest.mark.timeout(600)
def test_an_element_wise_operator_is_an_entry_only(run, tree, tmp_path):
    plan = planned(run, tree, tmp_path, "logaddexp")
    assert run(NEW, plan, "--root", tree).returncode in (0, 3)
    entry = (tree / "hyper_parallel/ops/yaml/logaddexp.yaml").read_text(encoding="utf-8")
    assert "distributed_op_class: ElementWiseDistributedOp" in entry
    assert not (tree / "hyper_parallel/ops/parallel_logaddexp.py").exists()
    unit = tree / "tests/unit/hyper_parallel/test_parallel_logaddexp.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(unit)],
        cwd=tree, env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(600)
def test_a_name_that_is_registered_is_refused(run, tree, tmp_path):
    plan = planned(run, tree, tmp_path, "exp")
    done = run(NEW, plan, "--root", tree)
    assert done.returncode == 1
    assert "should not be registered yet" in done.stderr


@pytest.mark.timeout(600)
def test_a_rule_may_live_outside_the_package(run, tree, tmp_path):
    plan = planned(run, tree, tmp_path, "vander", *(f"--sample={text}" for text in ("randn(7), 3", "randn(6), 2")))
    before = sorted(tree.rglob("*vander*"))
    mine = tmp_path / "my_ops"
    assert run(NEW, plan, "--root", tree, "--outside", mine).returncode in (0, 3)
    assert sorted(path.name for path in mine.iterdir()) == [
        "parallel_vander.py", "test_parallel_vander.py", "vander.yaml"
    ]  # fmt: skip
    assert sorted(tree.rglob("*vander*")) == before
    proof = run(CHECK, plan, "--root", tree, "--outside", mine, "--quick")
    assert re.findall(r"^\| (\w+) \| 通过", proof.stdout, re.MULTILINE) == ["UT", "bytes"], proof.stdout
    assert proof.returncode == 0
    assert "[2/2] vander: bytes" in proof.stderr


DEAR = """
from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.placements import Shard


class DearDistributedOp(AxisRuleOp):
    signature = "input, p, dim, maxnorm"

    def output_shapes(self, call):
        return (call.shape("input"),)

    def axis_rules(self, call):
        yield AxisRule((Shard(call["dim"]),), (Shard(call["dim"]),))

    def make_impl(self, func, call, outs, rules):
        mesh, sizes = call.layouts[0].mesh, (4, 4)

        def local(x):
            for _ in range(3):
                self.platform.all_gather(x, mesh, 0, call["dim"], sizes)
            return func(x, call["p"], call["dim"], call["maxnorm"])

        return local
"""


def test_a_rule_that_sends_more_than_none_would_is_told(tmp_path, monkeypatch, run):
    (tmp_path / "parallel_dear.py").write_text(DEAR, encoding="utf-8")
    entry = "renorm: {distributed_op_class: DearDistributedOp, distributed_op_file: parallel_dear}\n"
    (tmp_path / "dear.yaml").write_text(entry, encoding="utf-8")
    monkeypatch.setenv("HYPER_PARALLEL_OPS_YAML_DIR", str(tmp_path))
    monkeypatch.setenv("HYPER_PARALLEL_OPS_PYTHON_PATH", str(tmp_path))
    done = run(f"{SCRIPTS}/op_dev/traffic.py", "renorm", "torch.renorm(x, 2, 0, 1.0)", "--shape", "8x3")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"x S\(0\) .*<- worse", done.stdout)
    done = run(f"{SCRIPTS}/op_dev/traffic.py", "tril", "torch.tril(x)", "--shape", "8x3")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_kernel_that_ends_its_process_ends_one_analysis_only(run, tmp_path):
    done = run(ANALYSE, "exp", "neg", "--sample", "os._exit(7)", "--out", tmp_path, "--no-ranks")
    assert done.returncode == 1
    assert done.stderr.count("ended the process (exit code 7)") == 2


@pytest.mark.parametrize(
    ("script", "arguments", "code", "told"),
    [
        (ANALYSE, ["no_such_op", "--no-ranks"], 1, "should be a function of torch"),
        (ANALYSE, ["tril", "--root", "no/such/tree"], 2, "--root should hold hyper_parallel"),
        (ANALYSE, ["fake_quantize_per_tensor_affine", "--no-ranks"], 1, "give calls by --sample"),
        (NEW, ["no-such-plan.md"], 1, "No such file"),
        (CHECK, ["README.md"], 1, "should hold a block"),
    ],
)
def test_wrong_use_is_told(run, tmp_path, script, arguments, code, told):
    done = run(script, *arguments, *(["--out", tmp_path] if script == ANALYSE else []))
    assert done.returncode == code
    assert told in done.stderr
