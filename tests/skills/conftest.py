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
"""The skills' scripts are run as users run them; their packages are importable for unit tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "skills" / name / "scripts") for name in ("dist-op-analysis", "dist-op-dev")]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run() -> Run:
    """``run(script, *arguments)``: a script of the repository in a process of its own."""

    def call(script: str, *arguments: object, stdin: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / script), *map(str, arguments)]
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, cwd=cwd, env=env, timeout=1500, check=False
        )

    return call
