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
"""The kinds of checks that a review rule can name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.review.kinds_closure import rank_in_closure, unawaited_collective
from bot.review.kinds_ops import class_in_yaml, twin, yaml_names_class
from bot.review.kinds_tests import test_weakened
from bot.review.scene import Hit, Scene

Settled = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of check: how it runs on one path, and its parameters with their defaults (which also give the types)."""

    run: Callable[[str, Scene, Settled], Iterable[Hit]]
    defaults: Mapping[str, Any]

    def settle(self, parameters: Mapping[str, Any]) -> Settled:
        """The parameters with defaults filled in.

        Raises:
            ValueError: An unknown parameter, or one of another type than its default.
        """
        for name, value in parameters.items():
            if name not in self.defaults:
                raise ValueError(f"parameter should be one of {', '.join(sorted(self.defaults))}, but got {name}")
            wanted = self.defaults[name]
            if not isinstance(value, type(wanted)) or (
                isinstance(value, list) and not all(isinstance(item, str) for item in value)
            ):
                raise ValueError(f"parameter {name} should be like {wanted!r}, but got {value!r}")
        settled = {**self.defaults, **parameters}
        for name in ("regex", "unless"):
            if settled.get(name):
                re.compile(settled[name])
        return settled


_LONGEST_LINE = 500  # a pattern sees no more of a line, which bounds what a careless one can cost


def pattern(path: str, scene: Scene, settled: Settled) -> Iterable[Hit]:
    """Added lines that a regular expression finds, unless another one excuses them."""
    wanted = re.compile(settled["regex"])
    excuse = re.compile(settled["unless"]) if settled["unless"] else None
    for number, text in sorted(scene.added(path).items()):
        found = wanted.search(text[:_LONGEST_LINE])
        if found and not (excuse and excuse.search(text[:_LONGEST_LINE])):
            yield Hit(path, number, {"text": found.group()})


KINDS: dict[str, Kind] = {
    "pattern": Kind(pattern, {"regex": "(?!)", "unless": ""}),
    "class_in_yaml": Kind(class_in_yaml, {"yaml": ["**/*.yaml"], "suffix": ""}),
    "yaml_names_class": Kind(yaml_names_class, {"keys": ["class"], "python": ["**/*.py"]}),
    "twin": Kind(twin, {"path": "", "twin": ""}),
    "rank_in_closure": Kind(rank_in_closure, {"factories": ["get_expand_impl"], "calls": ["get_rank"]}),
    "unawaited_collective": Kind(unawaited_collective, {"flag": "async_op", "always": []}),
    "test_weakened": Kind(test_weakened, {"tolerances": ["rtol", "atol"]}),
}
