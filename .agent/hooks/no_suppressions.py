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
"""No change may add a suppression (noqa, skip, xfail, || true …). Usage: no_suppressions.py [--base REV] FILE…

What counts as one is told by the guard of the repair service, so that both agree.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def before(path: Path, base: str) -> str:
    """The file's text at a revision; empty where it did not exist."""
    name = path.resolve()
    # Run by git itself, this would ask the repository of the commit, with paths from wherever it stands.
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = ["git", "show", f"{base}:./{name.name}"]
    done = subprocess.run(command, cwd=name.parent, env=env, capture_output=True, check=False, timeout=30)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 when a file has more suppressions than before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", help="revision to compare with (default: HEAD)")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(argv)
    sys.path.insert(0, str(ROOT))
    from bot.repair.guard_scan import added_suppressions

    bad = 0
    for path in options.files:
        if not path.is_file():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        for word in added_suppressions(before(path, options.base), text, path.as_posix()):
            print(f"{path}: adds {word!r}; mend the cause instead")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
