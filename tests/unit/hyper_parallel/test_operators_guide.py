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
"""The worked example of docs/operators.md is run as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from hyper_parallel import Layout, LayoutError, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry

_GUIDE = Path(__file__).parents[3] / "docs" / "operators.md"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    blocks = dict(re.findall(r"`my_ops/([\w.]+)`:\n\n```\w+\n(.*?)```", _GUIDE.read_text(encoding="utf-8"), re.DOTALL))
    assert set(blocks) == {"parallel_vander.py", "vander.yaml"}
    for name, content in blocks.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_layouts_and_closure_of_the_example(example: Path) -> None:
    op = Registry(yaml_dirs=(str(example),), python_paths=(str(example),)).find("vander")
    mesh = init_device_mesh("cpu", (2,), init_backend=False)
    bound = op.bind([Slot(0)], {})
    values = [Layout(mesh, [Shard(0)], (7,)), bound]
    result = op.infer_layout(values)
    assert [(out.shape, out.placements) for out in result[0]] == [((7, 7), (Shard(0),))]
    full = torch.arange(7.0)
    assert torch.equal(op.get_expand_impl(torch.vander, result, values)(full[:4]), torch.vander(full)[:4])
    replicated = op.infer_layout([Layout(mesh, [Replicate()], (7,)), op.bind([Slot(0), 3], {})])
    assert (replicated[0][0].shape, replicated[0][0].placements) == ((7, 3), (Replicate(),))


def test_the_example_refuses_in_the_usual_form(example: Path) -> None:
    op = Registry(yaml_dirs=(str(example),), python_paths=(str(example),)).find("vander")
    layout = Layout(init_device_mesh("cpu", (2,), init_backend=False), [Replicate()], (7, 2))
    with pytest.raises(LayoutError, match=r"For vander, the input should be 1-D, but got 2-D\."):
        op.infer_layout([layout, op.bind([Slot(0)], {})])


def test_the_report_lists_the_example_as_free(example: Path) -> None:
    env = {
        **os.environ,
        "HYPER_PARALLEL_OPS_YAML_DIR": str(example),
        "HYPER_PARALLEL_OPS_PYTHON_PATH": str(example),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "hyper_parallel.report", "torch.vander(x)", "--shape", "7"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=280, cwd=_GUIDE.parents[1])
    assert done.returncode == 0, done.stderr
    free = done.stdout.split("communication-free:")[1].split("bytes sent")[0]
    assert re.search(r"x S\(0\) +-> S\(0\)", free), done.stdout
