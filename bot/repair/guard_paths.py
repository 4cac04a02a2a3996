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
"""Which paths a repair may touch at all, and which only by an edit that cannot change what they test or run."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

_READ_ONLY_NAMES: Final = frozenset(
    {"conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "noxfile.py", "jenkinsfile", ".gitlab-ci.yml", ".travis.yml"}
    | {
        "azure-pipelines.yml",
        "sitecustomize.py",
        "usercustomize.py",
        ".pylintrc",
        "pylintrc",
        ".flake8",
        "ruff.toml",
        ".ruff.toml",
    }
    | {"mypy.ini", ".clang-format", ".clang-tidy", ".cmake-format.yaml", ".editorconfig", ".pre-commit-config.yaml"}
    | {
        ".codespellrc",
        ".markdownlint.json",
        ".markdownlint.yaml",
        ".markdownlint-cli2.yaml",
        ".shellcheckrc",
        "codeowners",
    }
    | {"agents.md", "claude.md", "gemini.md", ".mcp.json", "pyproject.toml", "cpplint.cfg", ".cmakelintrc"}
)
_READ_ONLY_PARTS: Final = frozenset(
    {"tests", "test", ".github", ".gitcode", ".gitee", ".gitlab", ".jenkins", ".ci", ".circleci", ".claude", ".agent"}
    | {".agents", "skills", ".husky", ".cursor", "issue_template", "pull_request_template"}
)
_LOCKS: Final = re.compile(
    r"(?:^|/)(?:[\w.-]*\.lock|package-lock\.json|pnpm-lock\.yaml|go\.sum|npm-shrinkwrap\.json)$", re.I
)
_TEST_NAME: Final = re.compile(
    r"^(?:test_.*|.*_test|.*_unittest|.*_ut|.*\.(?:test|spec))\.[A-Za-z]+$|^tests?\.py$", re.I
)
_TEMPLATE: Final = re.compile(r"(?:pull_request|merge_request|issue)_?template", re.I)


def is_forbidden(path: str) -> bool:
    """Git's own files, start-up hooks of Python, and lock files: no repair has business there."""
    parts = PurePosixPath(path.lower()).parts
    return any(
        part.startswith(".git") and part not in {".github", ".gitcode", ".gitee", ".gitlab", ".gitlab-ci.yml"}
        for part in parts
    ) or (path.lower().endswith(".pth") or bool(_LOCKS.search(path)))


def is_test(path: str) -> bool:
    """Whether a path holds tests by its directory or name."""
    pure = PurePosixPath(path)
    inside = {part.lower() for part in pure.parts[:-1]} & {"tests", "test", "ut", "st", "testing"}
    return bool(inside) or _TEST_NAME.match(pure.name) is not None or pure.name.lower() == "conftest.py"


def is_read_only(path: str) -> bool:
    """Tests, CI files, templates, test and linter configuration, files that steer agents."""
    pure = PurePosixPath(path.lower())
    return (
        is_test(path)
        or pure.name in _READ_ONLY_NAMES
        or bool(set(pure.parts[:-1]) & _READ_ONLY_PARTS)
        or _TEMPLATE.search(path) is not None
    )
