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
"""Runs the gate on a work tree and prints the console log: ``python -m bot.sandbox.jenkins.build DIR [--base REF]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bot.sandbox.jenkins.gate import gate_console


def main(arguments: list[str] | None = None) -> int:
    """Print the console log of a gate run on a directory; exit 1 when it is red."""
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox.jenkins.gate", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--base", default="", help="commit or branch to compare with; default: every file")
    chosen = parser.parse_args(arguments)
    console = gate_console(chosen.directory, base=chosen.base)
    sys.stdout.buffer.write(console)
    return 1 if console.rstrip().endswith(b"FAILURE") else 0


if __name__ == "__main__":
    raise SystemExit(main())
