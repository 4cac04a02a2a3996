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
"""Every operator entry names a class that exists, once; every operator class is used. Usage: op_yaml_pairs.py [FILE…]

Files only decide whether there is anything to do: none of `hyper_parallel/ops` among them, nothing is checked.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def problems(root: Path) -> list[str]:
    """What does not pair, a line each."""
    from hyper_parallel.dispatch.registry import Registry

    rules = Registry()
    found: list[str] = []
    try:
        names = rules.names()
    except ValueError as error:
        return [str(error)]
    for name in names:
        try:
            rules.find(name)
        except ValueError as error:
            found.append(str(error))
    used = {str(entry["distributed_op_class"]) for entry in rules.entries.values()}
    return found + unused(root / "hyper_parallel" / "ops", used)


def unused(directory: Path, used: set[str]) -> list[str]:
    """Classes `*DistributedOp` of the operator files that no entry and no other class names."""
    defined: dict[str, Path] = {}
    named = set(used)
    for path in sorted(directory.glob("parallel_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                if node.name.endswith("DistributedOp"):
                    defined[node.name] = path
                named |= {base.id for base in node.bases if isinstance(base, ast.Name)}
    return [
        f"For {name}, the class should be named by an entry of ops/yaml or a subclass, but got none ({path.name})."
        for name, path in defined.items()
        if name not in named
    ]


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 when something does not pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(argv)
    if options.files and not any("hyper_parallel/ops" in path.as_posix() for path in options.files):
        return 0
    sys.path.insert(0, str(options.root.resolve()))
    found = problems(options.root.resolve())
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
