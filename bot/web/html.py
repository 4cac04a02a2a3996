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
"""Building HTML so that text can never become markup: whatever is not an :class:`Html` is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = frozenset({"meta", "link", "br"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = object


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """One element. Attribute names lose a trailing underscore (``class_``); ``None`` values are left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Html:
    """Children in a row; lists are flattened, ``None`` is nothing, text is escaped."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            parts.append(child)
        elif isinstance(child, list | tuple):
            parts.append(join(child))
        else:
            parts.append(html.escape(str(child)))
    return Html("".join(parts))


def link(url: str, *children: Child) -> Html:
    """A link, but only to the web or to a page of ours: ``javascript:`` and the like stay text."""
    if not (url.startswith(("https://", "http://")) or (url.startswith("/") and not url.startswith("//"))):
        return join(children)
    return tag("a", *children, href=url, rel="noopener noreferrer")


def table(headings: Iterable[Child], rows: Iterable[Iterable[Child]]) -> Html:
    """A table with one heading row."""
    head = tag("tr", [tag("th", heading, scope="col") for heading in headings])
    body = [tag("tr", [tag("td", cell) for cell in row]) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll")
