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
"""pylint W0702: name the exception type, where letting KeyboardInterrupt pass changes nothing wanted."""

from __future__ import annotations

import sys
from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import Parsed, parse

_LEAVERS: Final = frozenset({"exit", "_exit", "quit", "SystemExit", "KeyboardInterrupt", "main", "cancel"})


def name_type(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """``except:`` to ``except ImportError:`` for imports of the standard library, else to ``except Exception:``."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    handlers = [node for node in parsed.on_line(cst.ExceptHandler, finding.line) if node.type is None]
    if len(handlers) != 1:
        return because("not-found-here", line=str(finding.line), what="except:")
    handler = handlers[0]
    guarded = parsed.parents[handler]
    assert isinstance(guarded, cst.Try)
    refusal = _refusal(parsed, guarded)
    if refusal is not None:
        return refusal
    kind = "ImportError" if _imports_only(parsed, guarded.body) else "Exception"
    named = handler.with_changes(type=cst.Name(kind), whitespace_after_except=cst.SimpleWhitespace(" "))
    return Edit(parsed.replace(handler, named), Nature.CODE, (finding.line, finding.line))


def _refusal(parsed: Parsed, guarded: cst.Try) -> Reason | None:
    for parent in parsed.ancestors(guarded):
        if isinstance(parent, cst.FunctionDef):
            if parent.asynchronous is not None:
                return because("unsafe", why="in a coroutine it also catches cancellation")
            if parent.name.value in {"__del__", "__exit__"}:
                return because("unsafe", why=f"{parent.name.value} must not let anything through")
            break
    names = {node.value for node in parsed.each(cst.Name) if guarded.body in parsed.ancestors(node)}
    found = sorted(names & _LEAVERS)
    if found:
        return because("unsafe", why=f"it may be meant to catch SystemExit or KeyboardInterrupt ({found[0]})")
    yields = [node for node in parsed.each(cst.Yield) if guarded in parsed.ancestors(node)]
    return because("unsafe", why="in a generator it also catches GeneratorExit") if yields else None


def _imports_only(parsed: Parsed, body: cst.BaseSuite) -> bool:
    if not isinstance(body, cst.IndentedBlock):
        return False
    for line in body.body:
        if not isinstance(line, cst.SimpleStatementLine):
            return False
        for part in line.body:
            if isinstance(part, cst.Import):
                modules = [parsed.code(alias.name) for alias in part.names]
            elif isinstance(part, cst.ImportFrom) and part.module is not None and not part.relative:
                modules = [parsed.code(part.module)]
            else:
                return False
            if any(module.partition(".")[0] not in sys.stdlib_module_names for module in modules):
                return False
    return True


RECIPES: Final = (
    Recipe(
        name="bare-except",
        tools=frozenset({"pylint"}),
        rules=frozenset({"W0702"}),
        apply=name_type,
        check="Check_Pylint",
        natures=frozenset({Nature.CODE}),
    ),
)
