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
"""Looks in an edit for what must never be added: suppressions, skips, and secrets."""

from __future__ import annotations

import ast
import base64
import io
import re
import tokenize
import urllib.parse
from collections import Counter
from collections.abc import Iterable
from typing import Final

_SUPPRESSIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"#\s*noqa",
        r"#\s*type:\s*ignore",
        r"pylint:\s*(?:disable|skip-file)",
        r"\bNOLINT\w*",
        r"clang-format\s+off",
        r"cppcheck-suppress",
        r"#\s*pragma:\s*no\s*cover",
        r"shellcheck\s+disable",
        r"markdownlint-(?:disable|configure)",
        r"codespell:ignore",
        r"eslint-disable",
        r"fmt:\s*(?:off|skip)|isort:\s*(?:skip|off)|ruff:\s*noqa|mypy:\s*ignore|pyright:\s*ignore|lizard\s+forgives",
        r"#\s*nosec|gitleaks:allow|pragma:\s*allowlist",
        r"cmake-(?:lint|format):\s*(?:disable|off)|lint_cmake:",
        r"continue-on-error|allow_failure",
        r"\|\|\s*(?:true|:)(?:\s|;|$)|\bset\s+\+e\b",
        r"@Disabled\b|@Ignore\b|\bGTEST_SKIP\b|\bDISABLED_\w+|\bt\.Skip\w*\(|\b(?:it|describe|test)\.(?:skip|only|todo)\b|\bxit\(",
        r"#\[ignore\]",
    )
)
_PYTHON_SKIPS: Final = frozenset(
    {
        "skip",
        "skipif",
        "skipIf",
        "skipUnless",
        "xfail",
        "importorskip",
        "SkipTest",
        "skipTest",
        "expectedFailure",
        "_exit",
    }
    | {"exit", "quit", "filterwarnings", "simplefilter", "deselect", "collect_ignore", "__test__"}
)
_SECRETS: Final = {
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "cloud key id": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "forge token": re.compile(
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}|glpat-[\w-]{20,}|gitcode_\w{20,}|gitee_\w{20,})\b"
    ),
    "package token": re.compile(r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})\b"),
    "chat token": re.compile(r"\bxox[abpr]-[A-Za-z0-9-]{10,}"),
    "model key": re.compile(r"\bsk-[A-Za-z0-9_-]{20,}\b|\bAIza[0-9A-Za-z_-]{35}\b"),
    "JWT": re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    "URL with a password": re.compile(r"\b[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s:@]{3,}@"),
}
_FRAGMENT: Final = 12  # characters of a known secret that give it away


def _tokens(text: str) -> list[tokenize.TokenInfo] | None:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return None


def suppressions(text: str, path: str) -> Counter[str]:
    """What turns checks or tests off in a text, counted, so that an edit can be compared with what was there before."""
    found: Counter[str] = Counter()
    for pattern in _SUPPRESSIONS:
        for match in pattern.finditer(text):
            found[match[0].strip().lower()] += 1
    if path.endswith(".py"):
        for token in _tokens(text) or []:
            if token.type == tokenize.NAME and token.string in _PYTHON_SKIPS:
                found[token.string] += 1
    return found


def added_suppressions(old: str, new: str, path: str) -> tuple[str, ...]:
    """Suppressions that the new text has more of than the old one."""
    return tuple(sorted(suppressions(new, path) - suppressions(old, path)))


def test_weight(text: str) -> Counter[str] | None:
    """Tests, assertions and parameters of a Python module; ``None`` when it cannot be parsed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            found["tests"] += 1
        elif isinstance(node, ast.Assert):
            found["asserts"] += 1
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name.startswith("assert") or name == "raises":
                found["asserts"] += 1
            elif name == "parametrize":
                cases = node.args[1] if len(node.args) > 1 else None
                found["cases"] += len(cases.elts) if isinstance(cases, ast.List | ast.Tuple) else 1
    return found


def _guises(secret: str) -> Iterable[str]:
    yield secret
    yield urllib.parse.quote(secret, safe="")
    for shift in range(3):  # base64 of the secret at any offset of a longer text
        coded = base64.b64encode(b"\0" * shift + secret.encode()).decode().rstrip("=")
        yield coded[4 if shift else 0 : -2]
    yield secret[::-1]
    yield secret.encode().hex()


def secret_kinds(text: str, known: Iterable[str]) -> Counter[str]:
    """Kinds of secrets in a text; known ones also URL-encoded, base64, hex, reversed, and by long fragments."""
    found: Counter[str] = Counter()
    for kind, pattern in _SECRETS.items():
        found[kind] += len(pattern.findall(text))
    squeezed = re.sub(r"\s+", "", text)
    for secret in known:
        if len(secret) < 6:
            continue
        for guise in _guises(secret):
            size = min(_FRAGMENT, len(guise))
            pieces = {guise[at : at + size] for at in range(len(guise) - size + 1)}
            if any(piece in squeezed for piece in pieces):
                found["a secret of this service"] += max(1, squeezed.count(guise))
                break
    return +found


def added_secrets(old: str, new: str, known: Iterable[str]) -> tuple[str, ...]:
    """Kinds of secrets that the new text has more of than the old one."""
    held = tuple(known)
    return tuple(sorted(secret_kinds(new, held) - secret_kinds(old, held)))
