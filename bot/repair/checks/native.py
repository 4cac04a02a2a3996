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
"""Checks of C++, CMake and shell files: clang-format, cpplint, cmakelint, shellcheck."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any, Final

from bot.gate.finding import Finding
from bot.repair.checks.base import Check, CheckContext, Observation, same_place
from bot.repair.tools import CancelToken, find_tool, run_tool, started

CLANG_FORMAT_STYLE: Final = ".clang-format"
_CXX: Final = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".cu", ".cuh"})
_CLANG: Final = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: (?:error|warning): code should be clang-formatted", re.MULTILINE
)
_CPPLINT: Final = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+): {2}(?P<message>.*?) {2}\[(?P<rule>[\w/+-]+)\] \[\d\]$", re.MULTILINE
)
_CMAKE: Final = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+): (?P<message>.*) \[(?P<rule>[\w/]+)\]$", re.MULTILINE)


def wants_cxx(path: str) -> bool:
    """C, C++ and CUDA files."""
    return PurePosixPath(path).suffix.lower() in _CXX


def wants_cmake(path: str) -> bool:
    """CMake files."""
    return PurePosixPath(path).name == "CMakeLists.txt" or path.endswith(".cmake")


def wants_shell(path: str) -> bool:
    """Shell scripts by their suffix."""
    return path.endswith((".sh", ".bash"))


def _clang_format(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    style = context.rules.get(CLANG_FORMAT_STYLE)
    if style is None:
        return ()
    with tempfile.TemporaryDirectory(prefix="gatebot-style-") as directory:
        rules = Path(directory) / "style"
        rules.write_bytes(style)
        argv = [find_tool("clang-format"), f"--style=file:{rules}", "--dry-run", "--ferror-limit=0", "-Werror", *files]
        result = started(
            run_tool(argv, tree=context.root, cancel=context.cancel, visible=[directory]), "clang-format", 0, 1
        )
    found = {(match["file"], int(match["line"])) for match in _CLANG.finditer(result.stderr.decode("utf-8", "replace"))}
    text = "code does not match clang-format"
    return tuple(
        Observation("Check_ClangFormat", "clang-format", name, line, "", text)
        for name, line in sorted(found)
        if name in files
    )


def _cpplint(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    argv = [sys.executable, "-I", find_tool("cpplint"), "--quiet", "--linelength=120", *files]
    result = started(run_tool(argv, tree=context.root, cancel=context.cancel), "cpplint", 0, 1)
    return tuple(
        Observation("Check_Cpplint", match["rule"], match["file"], int(match["line"]), "", match["message"])
        for match in _CPPLINT.finditer(result.stderr.decode("utf-8", "replace"))
    )


def _cmakelint(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    argv = [sys.executable, "-I", find_tool("cmakelint"), "--config=None", "--linelength=120", *files]
    result = started(run_tool(argv, tree=context.root, cancel=context.cancel), "cmakelint", 0, 1)
    text = (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace")
    return tuple(
        Observation("Check_Cmakelint", match["rule"], match["file"], int(match["line"]), "", match["message"])
        for match in _CMAKE.finditer(text)
    )


def shellcheck_comments(content: bytes, cancel: CancelToken) -> list[dict[str, Any]]:
    """shellcheck's findings with its own fixes (the data behind ``-f diff``), for one script.

    Raises:
        ToolMissing: shellcheck is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="gatebot-shell-") as directory:
        argv = [find_tool("shellcheck"), "--norc", "--format=json1", "-"]
        result = started(run_tool(argv, tree=Path(directory), cancel=cancel, stdin=content), "shellcheck", 0, 1)
    comments: list[dict[str, Any]] = json.loads(result.stdout or b"{}").get("comments", [])
    return comments


def _shellcheck(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    return tuple(
        Observation("Check_ShellCheck", f"SC{item['code']}", name, item["line"], "", item["message"])
        for name in files
        for item in shellcheck_comments((context.root / name).read_bytes(), context.cancel)
    )


def _same_rule(finding: Finding, seen: Observation) -> bool:
    return finding.rule == seen.rule and same_place(finding, seen)


CLANG_FORMAT: Final = Check(
    "Check_ClangFormat",
    wants_cxx,
    _clang_format,
    same_place,
    "clang-format --style=file --dry-run -Werror",
    (CLANG_FORMAT_STYLE,),
)
CPPLINT: Final = Check("Check_Cpplint", wants_cxx, _cpplint, _same_rule, "cpplint --linelength=120")
CMAKELINT: Final = Check("Check_Cmakelint", wants_cmake, _cmakelint, _same_rule, "cmakelint --linelength=120")
SHELLCHECK: Final = Check("Check_ShellCheck", wants_shell, _shellcheck, _same_rule, "shellcheck --norc")
