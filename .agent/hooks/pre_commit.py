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

    as git's own hook:          ln -s ../../.agent/hooks/pre_commit.py .git/hooks/pre-commit
    after an agent's edit:      pre_commit.py --host, with the host's JSON on standard input

Exit code: 0 fine · 1 a hook refuses · 2 the same under --host, as hosts want it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOOKS = ("licence_header.py", "lint.py", "op_yaml_pairs.py", "no_suppressions.py")


def python() -> str:
    """The interpreter that has the tools: git starts a hook with any.

    Raises:
        ValueError: none has.
    """
    own = ROOT / ".venv" / "bin" / "python"
    if own.exists():
        return str(own)
    if importlib.util.find_spec("ruff") is None:
        raise ValueError(f"For pre_commit, {own} should be there (scripts/setup.sh test makes it), but got none.")
    return sys.executable


def git(*arguments: str) -> list[str]:
    """What a git command names, NUL by NUL."""
    done = subprocess.run(["git", *arguments, "-z"], capture_output=True, text=True, check=True, timeout=30)
    return [name for name in done.stdout.split("\0") if name]


def staged() -> list[str]:
    """Files added, changed or deleted in the index.

    Raises:
        ValueError: a file differs from what is staged, so that looking at it says nothing about the commit.
    """
    top = Path(subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True, timeout=30).strip())
    files = git("diff", "--cached", "--name-only", "--diff-filter=ACMRD")
    changed = set(git("diff", "--name-only")) & set(files)
    if changed:
        raise ValueError(f"For pre_commit, {', '.join(sorted(changed))} should be as staged, but got later changes.")
    return [str(top / name) for name in files]


def edited(text: str) -> list[str]:
    """The file of this repository that a host's JSON says was edited.

    Raises:
        ValueError: it is no such JSON.
    """
    try:
        told = json.loads(text)["tool_input"]
        path = Path(told.get("file_path") or told["path"]).resolve()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("For pre_commit, the input should be JSON with tool_input.file_path, but got none.") from error
    return [str(path)] if path.is_relative_to(ROOT) else []


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", action="store_true", help="the file that the JSON on standard input names")
    parser.add_argument("files", nargs="*", help="default: the staged files")
    options = parser.parse_args(argv)
    out = sys.stderr if options.host else sys.stdout
    try:
        files = edited(sys.stdin.read()) if options.host else options.files or staged()
        command = python()
    except ValueError as error:
        print(error, file=out)
        return 1
    refused = []
    for hook in HOOKS if files else ():
        done = subprocess.run([command, str(HERE / hook), *files], stdout=out, check=False, timeout=300)
        if done.returncode:
            refused.append(hook)
    if refused:
        print(f"refused by {', '.join(refused)}", file=out)
    return (2 if options.host else 1) if refused else 0


if __name__ == "__main__":
    sys.exit(main())
