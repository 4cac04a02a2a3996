#!/usr/bin/env python3
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
"""Ruff's rules and format on the given Python files. Usage: lint.py FILE…"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Entry point; the worse exit code of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(argv)
    files = [str(path) for path in options.files if path.suffix == ".py" and path.exists()]
    if not files:
        return 0
    commands = (["check", "--quiet"], ["format", "--check", "--quiet"])
    codes = [
        subprocess.run([sys.executable, "-m", "ruff", *command, *files], check=False, timeout=120).returncode
        for command in commands
    ]
    if codes[1] == 1:
        print("ruff format would change files")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
