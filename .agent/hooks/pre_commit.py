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
"""All hooks on the staged files, or on the given ones.

As git's own hook: ln -s ../../.agent/hooks/pre_commit.py .git/hooks/pre-commit
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOOKS = ("licence_header.py", "lint.py", "op_yaml_pairs.py", "no_suppressions.py")


def staged() -> list[str]:
    """Files added or changed in the index, from the root of the repository."""
    command = ["git", "diff", "--cached", "--name-only", "--diff-filter=ACMR", "-z"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return [name for name in done.stdout.split("\0") if name]


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 when a hook refuses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="default: the staged files")
    options = parser.parse_args(argv)
    files = options.files or staged()
    if not files:
        return 0
    refused = []
    for hook in HOOKS:
        done = subprocess.run([sys.executable, str(HERE / hook), *files], check=False, timeout=300)
        if done.returncode:
            refused.append(hook)
    if refused:
        print(f"refused by {', '.join(refused)}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
