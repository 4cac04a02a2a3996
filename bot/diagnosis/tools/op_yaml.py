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
"""Registration of operators that fails at import: an entry's class or module is not there, or a name stands twice.

Read are the sentences of this project's registry, and what Python itself says where a loader imports the named module
and asks it for the named class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from bot.diagnosis.tool import Tool, Window, at
from bot.gate.finding import Finding

_PAIR = re.compile(
    r"For (?P<name>[^\s,]{1,120}), (?:distributed_op_class should be a DistributedOp in (?P<module>[\w.]{1,200})"
    r"|distributed_op_file should be (?:a module name|an existing module)), but got (?P<got>'[^']{0,200}')\."
)
_FILE = re.compile(
    r"For (?:(?P<name>[^\s,]{1,120}) in )?(?P<file>[\w.-]{1,120}\.ya?ml), "
    r"(?:the name '(?P<twice>[^']{1,120})' should be registered once, but got it again"
    r"|keys should include \[[^\]]{1,200}\], but got \[[^\]]{0,400}\])\."
)
_NO_CLASS = re.compile(
    r"AttributeError: module '(?P<module>[\w.]{1,200}\.ops\.\w{1,80})' has no attribute "
    r"'(?P<name>\w{1,120}DistributedOp)'"
)
_NO_MODULE = re.compile(
    r"ModuleNotFoundError: No module named '(?P<module>[\w.]{1,200}\.ops\.(?P<name>parallel_\w{1,80}))'"
)
_LOADER = "import_module("
_FAR = 80  # lines between a loader's call and what Python says of it
_PATIENCE = 100  # looks back; a log made of such lines stays cheap
MISFIT = "op-yaml-without-class"


class _Reader:
    """One finding per operator, however many tests stumble over it: every test of a session prints it again."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Finding] = {}
        self._looks = 0

    def hit(self, window: Window) -> Iterable[Finding]:
        text = window.line.text[:2000]
        if match := _PAIR.search(text):
            self._note(window, MISFIT, match["name"], match[0])
        elif match := _FILE.search(text):
            rule = "op-yaml-duplicate" if match["twice"] else "op-yaml-incomplete"
            self._note(window, rule, match["twice"] or match["name"] or "", match[0], match["file"])
        elif match := _NO_CLASS.search(text) or self._missing(window, text):
            self._note(window, MISFIT, match["name"], match[0])
        return ()

    def _missing(self, window: Window, text: str) -> re.Match[str] | None:
        """A missing module that a loader asked for; any import may fail with the same words."""
        match = _NO_MODULE.search(text)
        if match is None or (MISFIT, match["name"]) in self._found:
            return match
        self._looks += 1
        asked = self._looks <= _PATIENCE and any(_LOADER in line.text for line in window.back(_FAR))
        return match if asked else None

    def _note(self, window: Window, rule: str, name: str, message: str, file: str = "") -> None:
        known = self._found.get((rule, name))
        if known is not None:
            self._found[rule, name] = replace(known, count=known.count + 1)
        elif len(self._found) < 1000:
            self._found[rule, name] = Finding(
                tool="op_yaml", rule=rule, file=file, function=name, message=message, **at(window.line)
            )

    def close(self) -> Iterable[Finding]:
        """What was found; Python's own words are left out where the registry has said the same of that module."""
        said = " ".join(one.message for one in self._found.values() if one.message.startswith("For "))
        return [
            one for one in self._found.values() if one.message.startswith("For ") or f"'{one.function}'" not in said
        ]


def yaml_of(finding: Finding, patches: Mapping[str, str]) -> str:
    """The changed YAML file that a finding of this tool is about; empty when none or several could be meant.

    Args:
        finding: A finding that names an operator, a class or a module, but no file.
        patches: Path to diff of every file the pull request changes.
    """
    changed = [path for path in patches if "/ops/yaml/" in f"/{path}"]
    word = re.compile(rf"\b{re.escape(finding.function)}\b")
    naming = [path for path in changed if word.search(patches[path])]
    found = naming or changed
    return found[0] if len(found) == 1 else ""


TOOL = Tool(
    "op_yaml",
    (
        "distributed_op_class should be a DistributedOp in ",
        "distributed_op_file should be an? ",
        r"\.ya?ml, the name '",
        r"\.ya?ml, keys should include \[",
        "AttributeError: module '",
        r"ModuleNotFoundError: No module named '[\w.]{1,200}\.ops\.parallel_",
    ),
    _Reader,
)
