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
"""Lists the repair recipes that exist: stage, tools, rules, name.

    python skills/gate-doctor/scripts/recipes.py
    python skills/gate-doctor/scripts/recipes.py W0702 shellcheck

Exit code: 0 something listed · 1 nothing names the word; those that take every rule (`*`) of their tool are shown.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="*", help="a stage, tool, rule or recipe; several are alternatives")
    options = parser.parse_args(argv)
    sys.path.insert(0, str(ROOT))
    from bot.repair.recipes.registry import RECIPES

    rows = [
        (recipe.check, ", ".join(sorted(recipe.tools)), ", ".join(sorted(recipe.rules)) or "*", recipe.name)
        for recipe in RECIPES
    ]
    wanted = [word.lower() for word in options.word or [""]]
    named = [row for row in rows if any(word in cell.lower() for word in wanted for cell in row)]
    if not named:
        print(
            f"no recipe names {', '.join(options.word)}: these take every rule of their tool; if the finding is of "
            "none of these tools, explain it and let a person decide",
            file=sys.stderr,
        )
    rows = named or [row for row in rows if row[2] == "*"]
    print("| 阶段 | 工具 | 规则 | 配方 |\n|---|---|---|---|")
    for row in sorted(rows):
        print("| " + " | ".join(row) + " |")
    return 0 if named else 1


if __name__ == "__main__":
    sys.exit(main())
