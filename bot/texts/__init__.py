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
"""Every sentence that the bot says, as data: ``render("gate.event.pushed", "zh", sha="1a2b3c4")``.

How to add texts: create ``bot/texts/<room>.py`` with a constant ::

    TEXTS: dict[str, dict[str, str]] = {
        "<room>.<name>": {"zh": "……{field}……", "en": "… {field} …"},
    }

The file is found by itself. Ids start with the module's name. Both languages must exist and use the same named fields
(a test checks every id). Values are escaped for a single line of Markdown unless they are ``Markup`` (see
``bot.texts.escape`` for ``code``, ``quote``, ``fence``, ``link``). No text may start a line with a slash command: the
gate robot would take it for an order. Numbers of builds stand without ``#``: the forge would link them to an issue.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import string

from bot.texts.escape import Markup, code, fence, inline, link, quote, ready

__all__ = [
    "LANGUAGES",
    "Markup",
    "TextError",
    "catalogue",
    "code",
    "fence",
    "fields",
    "inline",
    "link",
    "plain",
    "quote",
    "ready",
    "render",
]

LANGUAGES = ("zh", "en")
_FORMATTER = string.Formatter()


class TextError(LookupError):
    """An id, a language or a field does not exist. Always a bug of the caller."""


@functools.cache
def catalogue() -> dict[str, dict[str, str]]:
    """All texts of all rooms by id.

    Raises:
        TextError: Two rooms define one id, or an id does not start with its module's name.
    """
    found: dict[str, dict[str, str]] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        texts: dict[str, dict[str, str]] = getattr(importlib.import_module(f"{__name__}.{module.name}"), "TEXTS", {})
        for text_id, variants in texts.items():
            if not text_id.startswith(f"{module.name}."):
                raise TextError(
                    f"For texts of {module.name}, id should start with the module's name, but got {text_id}."
                )
            if text_id in found:
                raise TextError(f"For texts, id {text_id} should be defined once, but got it twice.")
            found[text_id] = variants
    return found


@functools.cache
def fields(text_id: str, lang: str) -> frozenset[str]:
    """Names of the fields that a text wants."""
    return frozenset(name for _, name, _, _ in _FORMATTER.parse(_template(text_id, lang)) if name is not None)


def render(text_id: str, lang: str, **values: object) -> Markup:
    """Fill in a text.

    Args:
        text_id: ``<room>.<name>``.
        lang: ``zh`` or ``en``; ``zh-CN`` and the like are understood.
        values: One value per field, no more and no fewer; ``str`` is escaped for one line, ``Markup`` is not.

    Raises:
        TextError: Unknown id or language, a field without value, or a value without field.
    """
    short = lang.partition("-")[0]
    wanted = fields(text_id, short)
    if wanted != set(values):
        raise TextError(f"For text {text_id}, fields should be {sorted(wanted)}, but got {sorted(values)}.")
    safe = {name: value if isinstance(value, Markup) else inline(str(value)) for name, value in values.items()}
    return Markup(_FORMATTER.vformat(_template(text_id, short), (), safe))


def plain(text_id: str, lang: str, **values: object) -> str:
    """A text for a terminal, a log or a page: its values stand as they are, nothing is escaped for Markdown."""
    return str(render(text_id, lang, **{name: Markup(str(value)) for name, value in values.items()}))


def _template(text_id: str, lang: str) -> str:
    try:
        return catalogue()[text_id][lang]
    except KeyError:
        raise TextError(
            f"For text {text_id}, language should be one of {LANGUAGES}, but got {lang} (or no such id)."
        ) from None
