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
"""Writes the files of an operator from its plan: rule (if the plan proposes one), YAML entry, unit tests, system cases.

    python skills/dist-op-dev/scripts/new_op.py Tril_dist_op_plan.md

Exit code: 0 written, nothing open · 3 written, and told what is open · 1 not written · 2 wrong use.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OPEN = 3


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path, help="a plan document of dist-op-analysis")
    parser.add_argument("--root", type=Path, default=HERE.parents[2], help="the repository (default: this one)")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--outside", type=Path, help="a directory of your own for rule, YAML entry and unit tests")
    parser.add_argument("--stem", help="name of the files, where a family's file has the operator's name already")
    options = parser.parse_args(argv)
    if not (options.root / "hyper_parallel").is_dir():
        parser.error(f"--root should hold hyper_parallel, but got {options.root}")
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / "dist-op-analysis" / "scripts"), str(options.root.resolve())]
    from op_analysis.document import read

    try:
        plan = read(options.plan)
        files = files_of(plan, options.root, options.stem, options.outside)
    except (OSError, ValueError) as error:
        print(f"new_op: {error}", file=sys.stderr)
        return 1
    clash = [path for path in files if path.exists()]
    if clash and not options.force:
        print(
            f"new_op: {', '.join(map(str, clash))} exist; --force replaces them, --stem names others", file=sys.stderr
        )
        return 1
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    tidy([path for path in files if path.suffix == ".py"], options.root)
    for path in files:
        print(path)
    if not files:
        print("new_op: the plan proposes no rule; the operator keeps its fallback")
    for point in plan["open"]:
        print(f"open: {point}")
    for note in plan.get("notes", ()):
        print(f"note: {note}")
    return OPEN if plan["open"] else 0


def files_of(plan: dict[str, Any], root: Path, stem: str | None = None, outside: Path | None = None) -> dict[Path, str]:
    """Path → content of every file that the plan asks for; none in the repository if they belong `outside`.

    Raises:
        ValueError: the name is registered in another file already.
    """
    import yaml
    from op_analysis.document import class_name
    from op_dev.rule import module
    from op_dev.tests_text import system_cases, unit_tests

    proposal, name = plan["proposal"], plan["name"]
    if proposal["kind"] == "none":
        return {}
    plain = stem or name.replace(".", "_")
    yaml_dir = root / "hyper_parallel" / "ops" / "yaml"
    entry_file = (outside or yaml_dir) / f"{plain}.yaml"
    for other in sorted(yaml_dir.glob("*.yaml")):
        if other != entry_file and name in (yaml.safe_load(other.read_text(encoding="utf-8")) or {}):
            raise ValueError(f"For {name}, the name should not be registered yet, but it is in {other.name}.")
    licence = licence_of(root)
    entry = {
        "dist_op_name": f"_{plain}_dist_op",
        "distributed_op_class": proposal.get("class", class_name(name)),
        "distributed_op_file": proposal.get("file", f"parallel_{plain}"),
        **proposal.get("options", {}),
    }
    files = {entry_file: yaml.safe_dump({name: entry}, sort_keys=False)}
    if proposal["kind"] == "axis_rules":
        files[(outside or root / "hyper_parallel" / "ops") / f"parallel_{plain}.py"] = module(plan, licence)
    tests = root / "tests"
    files[(outside or tests / "unit" / "hyper_parallel") / f"test_parallel_{plain}.py"] = unit_tests(plan, licence)
    if outside is None:
        files[tests / "hyper_parallel" / "cases" / f"case_{plain}.py"] = system_cases(plan, licence)
    return files


def licence_of(root: Path) -> str:
    """The header that every file of the package carries."""
    text = (root / "hyper_parallel" / "__init__.py").read_text(encoding="utf-8")
    return "".join(line + "\n" for line in text.split('"""')[0].splitlines() if line.startswith("#"))


def tidy(paths: list[Path], root: Path) -> None:
    """Formats and sorts imports as the repository does."""
    for command in (["check", "--fix", "-s", "--exit-zero"], ["format", "-q"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *map(str, paths)], cwd=root, check=False, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
