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
"""The words that are commands: ours, their aliases, and those of other robots."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

OUR_COMMANDS = ("check-pr", "retest", "diagnose", "autofix", "review", "stop", "help")
DEFAULT_ALIASES: Mapping[str, str] = {
    "检查": "check-pr",
    "重试": "retest",
    "诊断": "diagnose",
    "修复": "autofix",
    "评审": "review",
    "停止": "stop",
    "帮助": "help",
}
# Commands of the community's other robots: theirs to answer, ours to pass over in silence.
FOREIGN_COMMANDS = frozenset(
    {
        "lgtm",
        "approve",
        "kind",
        "remove-kind",
        "priority",
        "remove-priority",
        "sig",
        "remove-sig",
        "close",
        "reopen",
        "assign",
        "unassign",
        "check-cla",
        "cla",
        "hold",
        "unhold",
        "cc",
        "uncc",
        "label",
        "remove-label",
        "milestone",
        "rebase",
        "squash",
        "merge",
        "sync",
    }
)
FOREIGN_PREFIXES = ("retest_", "retest-")

MAX_WORD = 40


def fold(word: str) -> str:
    """Full-width letters and capitals made plain: input methods produce both."""
    return unicodedata.normalize("NFKC", word).lower()


@dataclass(frozen=True)
class Grammar:
    """The words that are commands: canonical names and aliases, each mapped to its canonical name."""

    words: Mapping[str, str]

    @classmethod
    def build(cls, aliases: Mapping[str, str] = DEFAULT_ALIASES, names: Iterable[str] = OUR_COMMANDS) -> Grammar:
        """Join names and aliases.

        Raises:
            ValueError: An alias names no command, hides one, or could never be typed; the message says which.
        """
        words = {name: name for name in names}
        for alias, target in aliases.items():
            word, name = fold(alias.strip().lstrip("/／")), target.strip().lstrip("/")
            if name not in words or words[name] != name:
                known = ", ".join(sorted(set(words.values())))
                raise ValueError(f"alias {alias!r} stands for {target!r}, which is no command; known: {known}")
            if not word or re.search(r"[\s/]", word) or len(word) > MAX_WORD:
                raise ValueError(f"alias {alias!r} must be one word without blanks or slashes, at most {MAX_WORD} long")
            if words.get(word, name) != name:
                raise ValueError(f"alias {alias!r} already stands for {words[word]!r}")
            words[word] = name
        return cls(words=words)


DEFAULT_GRAMMAR = Grammar.build()
