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
"""Nobody needs torch or MindSpore to run the bot: every module of ``bot`` loads with both blocked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import importlib, json, pkgutil, sys

class Block:
    tried = []
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "mindspore", "hyper_parallel"):
            Block.tried.append(name)
            raise ModuleNotFoundError(f"{name} is blocked", name=name)

sys.meta_path.insert(0, Block())
import bot
names = [m.name for m in pkgutil.walk_packages(bot.__path__, "bot.") if not m.name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
print(json.dumps({"loaded": names, "tried": Block.tried}))
"""


def test_every_module_of_the_bot_loads_without_torch_and_mindspore() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout.splitlines()[-1])
    files = [path for path in (ROOT / "bot").rglob("*.py") if path.name not in ("__init__.py", "__main__.py")]
    assert len(said["loaded"]) >= len(files) > 100
    assert said["tried"] == [], "the bot asked for a framework"


def test_the_block_does_block() -> None:
    program = PROGRAM.replace("import bot\n", "import bot\nimport torch\n")
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.returncode != 0
    assert "torch is blocked" in ran.stderr
