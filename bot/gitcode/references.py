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
"""Pull requests as people name them: ``647``, ``#647``, ``!647``, ``owner/repo#647`` and every form of URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from bot.errors import TellUser

_NUMBER = re.compile(r"[#!]?([1-9][0-9]{0,8})\Z", re.ASCII)
_SHORT = re.compile(r"([\w.-]+)/([\w.-]+)[#!]([1-9][0-9]{0,8})\Z", re.ASCII)
_NAME = re.compile(r"[\w.-]+\Z", re.ASCII)
_KINDS = ("pull", "pulls", "merge_requests", "merge_request")
_HOSTS = ("gitcode.com", "atomgit.com")


@dataclass(frozen=True)
class PullReference:
    """A pull request. ``repo`` is ``owner/name``, empty when the text named none and no default was given."""

    repo: str
    number: int

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"


def parse_reference(text: str, *, default_repo: str = "") -> PullReference:
    """Read a reference.

    Args:
        text: What was typed.
        default_repo: ``owner/name`` for references that name no repository.

    Raises:
        TellUser: It is no reference; the message shows the forms that are understood.
    """
    cleaned = text.strip().strip("<>").strip()
    if match := _NUMBER.match(cleaned):
        return PullReference(default_repo, int(match[1]))
    if match := _SHORT.match(cleaned):
        repo = _repo(match[1], match[2])
        found = PullReference(repo, int(match[3])) if repo else None
    else:
        found = _from_url(cleaned)
    if found is None:
        raise TellUser(
            f"看不懂的 PR 引用：{text.strip()[:200]!r}。可用写法：647、#647、owner/repo#647 或 PR 网址。\n"
            "Not a pull request. Forms understood: 647, #647, owner/repo#647, or the URL of a pull request."
        )
    return found


def _from_url(text: str) -> PullReference | None:
    """``[scheme://]host/owner/repo[.git]/[-/]{pull|pulls|merge_requests}/N[/tab][?query][#fragment]``, API URLs too."""
    if "://" not in text and not text.lower().startswith(_with_prefixes(_HOSTS)):
        return None
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https"):
        return None
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    if len(segments) > 3 and segments[0] == "api" and segments[2] == "repos":
        segments = segments[3:]
    for place, segment in enumerate(segments[:-1]):
        number = _NUMBER.match(segments[place + 1])
        if segment.lower() not in _KINDS or number is None:
            continue
        path = [name for name in segments[:place] if name != "-"]
        repo = _repo(*path) if len(path) == 2 else ""
        return PullReference(repo, int(number[1])) if repo else None
    return None


def _with_prefixes(hosts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{prefix}{host}/" for host in hosts for prefix in ("", "www.", "api."))


def _repo(owner: str, name: str) -> str:
    """``owner/name``, or an empty string where one of them is no name."""
    name = name.removesuffix(".git")
    if any(not _NAME.match(part) or not part.strip(".") for part in (owner, name)):
        return ""
    return f"{owner}/{name}"
