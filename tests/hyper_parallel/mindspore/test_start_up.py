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
"""Both ways to start a MindSpore job: a store (no launcher) and msrun."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).parent / "start_up_program.py"
EXPECTED = {"rank0.txt": "0 of 2: 20.0 (3,)", "rank1.txt": "1 of 2: 20.0 (2,)"}
TIMEOUT_S = 280


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    """The own environment with the interpreter's `bin` first (msrun starts `python`) and the repository importable."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "GLOG_v": "4", "OMP_NUM_THREADS": "1", **more}


def written(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.glob("rank*.txt"))}


def test_start_by_store(tmp_path: Path) -> None:
    port = str(free_port())
    started = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), str(tmp_path)],
            env=environment(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    told = [process.communicate(timeout=TIMEOUT_S)[1].decode() for process in started]
    assert [process.returncode for process in started] == [0, 0], told
    assert written(tmp_path) == EXPECTED


def test_start_by_msrun(tmp_path: Path) -> None:
    launcher = Path(sys.executable).parent / "msrun"
    command = [str(launcher), "--worker_num=2", "--local_worker_num=2", f"--master_port={free_port()}",
               f"--log_dir={tmp_path / 'logs'}", "--join=True", str(PROGRAM), str(tmp_path)]  # fmt: skip
    done = subprocess.run(command, env=environment(), cwd=tmp_path, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:]
    assert written(tmp_path) == EXPECTED
