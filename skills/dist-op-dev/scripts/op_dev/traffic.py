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
"""Bytes of a call under every placement on two ranks, with the operator's rule and without it.

    python -m op_dev.traffic tril 'torch.tril(x)' --shape 7x5

Exit code: 0 no placement costs more with the rule · 1 one does, or fails with the rule only.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

MESH = (2,)


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m op_dev.traffic", description=__doc__)
    parser.add_argument("name", help="as registered")
    parser.add_argument("call", help="an expression of x, y, z")
    parser.add_argument("--shape", action="append", default=[], help="shape of x, then of y, then of z")
    options = parser.parse_args(argv)
    rows = compared(options.name, options.call, [[int(n) for n in text.split("x")] for text in options.shape])
    worse = [told for told, before, after in rows if after is None or (before is not None and after > before)]
    for told, before, after in rows:
        print(f"  {told:<28} {_say(before):>10} -> {_say(after):>10}{'  <- worse' if told in worse else ''}")
    free = sum(after == 0 for _, _, after in rows)
    less = sum(after is not None and (before is None or after < before) for _, before, after in rows)
    print(f"{len(rows)} placements: {free} free, {less} cheaper than without the rule, {len(worse)} dearer or refused")
    return 1 if worse else 0


def _say(count: int | None) -> str:
    return "refused" if count is None else f"{count} B"


def compared(name: str, call: str, shapes: list[list[int]]) -> list[tuple[str, int | None, int | None]]:
    """(placements, bytes without the rule, bytes with it); None stands for a call that is refused.

    Raises:
        ValueError: the operator has no rule.
    """
    from hyper_parallel.costs import choices_of, spell
    from hyper_parallel.dispatch.registry import Registry
    from hyper_parallel.platform import get_platform
    from hyper_parallel.platform.torch import dry_run, intercept

    values = dry_run.inputs(shapes)
    used = dry_run.used_names(call, values)
    choices, _ = choices_of({one: dry_run.options_of(values[one], len(MESH)) for one in used})
    with_rule = dry_run.count(call, values, MESH, choices)
    rules = Registry(get_platform())
    if rules.entries.pop(name, None) is None:
        raise ValueError(f"For {name}, a rule should be registered, but got none.")
    intercept.set_registry(rules)
    without = dry_run.count(call, values, MESH, choices)
    intercept.set_registry(None)

    def sent(found: Any) -> int | None:
        return None if found["error"] else int(found["bytes"])

    told = ["  ".join(f"{one} {spell(places)}" for one, places in choice.items()) for choice in choices]
    rows = zip(told, map(sent, without), map(sent, with_rule), strict=True)
    return [row for row in rows if row[1:] != (None, None)]


if __name__ == "__main__":
    sys.exit(main())
