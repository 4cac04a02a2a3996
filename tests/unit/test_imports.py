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
"""The arrows of docs/architecture.md, read from the import statements themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FOUNDATION = {"bot.errors", "bot.forge", "bot.build_server", "bot.clock", "bot.gate.finding", "bot"}

SHELL = {"bot.runtime", "bot.web", "bot.app", "bot.cli", "bot.demo", "bot.config", "bot.sandbox"}
"""These put the rooms together and may import any."""


def _may_import() -> dict[str, set[str]]:
    """Room → rooms it may import beside the foundation, as the table of docs/architecture.md has it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `bot/(\w+)/`[^|]*\|[^|]*\| ([^|]*) \|$", text, re.MULTILINE)
    found = {f"bot.{room}": {f"bot.{word}" for word in re.findall(r"\w+", allowed)} for room, allowed in rows}
    return {room: allowed | {room} for room, allowed in found.items() if room not in SHELL}


MAY_IMPORT = _may_import()


def _modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def _under(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_the_architecture_names_every_room() -> None:
    rooms = {f"bot.{path.name}" for path in (ROOT / "bot").iterdir() if (path / "__init__.py").exists()}
    assert rooms - SHELL == set(MAY_IMPORT)


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_what_the_architecture_allows(room: str) -> None:
    wrong = []
    for module, path in _modules("bot"):
        if not _under(module, room):
            continue
        for name in _imports(path):
            if not _under(name, "bot"):
                continue
            allowed = MAY_IMPORT[room]
            on_foundation = any(name == base or name.startswith(base + ".") for base in FOUNDATION - {"bot"})
            if name == "bot" or on_foundation or any(_under(name, other) for other in allowed):
                continue
            wrong.append(f"{module} imports {name}")
    assert not wrong


def test_the_service_reaches_no_framework_and_not_the_library() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, path in _modules("bot")
        for name in _imports(path)
        if name.split(".")[0] in {"torch", "mindspore", "hyper_parallel"}
    ]
    assert not wrong


def test_the_library_never_imports_the_service() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, path in _modules("hyper_parallel")
        for name in _imports(path)
        if _under(name, "bot")
    ]
    assert not wrong


def test_only_the_platform_files_import_a_framework() -> None:
    wrong = []
    for module, path in _modules("hyper_parallel"):
        for name in _imports(path):
            framework = name.split(".")[0]
            if framework in {"torch", "mindspore"} and not _under(module, "hyper_parallel.platform"):
                wrong.append(f"{module} imports {name}")
    assert not wrong


def test_every_python_file_starts_with_the_licence_header() -> None:
    missing = [
        str(path.relative_to(ROOT))
        for package in ("bot", "hyper_parallel", "tests", "benchmarks", "skills", ".agent")
        for path in sorted((ROOT / package).rglob("*.py"))
        if "fixtures" not in path.parts
        and "corpus" not in path.parts
        and path.read_text(encoding="utf-8")
        and not re.match(r"(#!.*\n)?# Copyright 2026 The GateBot Authors\n", path.read_text(encoding="utf-8"))
    ]
    assert not missing
