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
"""Text edits of a registration file: values replaced, keys put in, entries appended, in the file's own style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import yaml

from bot.repair.op_registry import CLASS_KEY, FILE_KEY, LABEL_KEY, Entry, OpFile, read_entries

_COMMENT: Final = re.compile(r"(?:^|\s)#.*", re.MULTILINE)
_PLAIN: Final = re.compile(r"[A-Za-z_][\w.]*")
_WORDS_OF_YAML: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"})


def replace_scalars(text: str, scalars: Iterable[yaml.ScalarNode], value: str) -> str:
    """The text with these scalars' values replaced; their quotes stay."""
    places = {(node.start_mark.index, node.end_mark.index, node.style or "") for node in scalars}
    for start, end, quote in sorted(places, reverse=True):
        text = f"{text[:start]}{quote}{value}{quote}{text[end:]}"
    return text


def put_file(text: str, entries: Sequence[Entry], module: str, newline: str) -> str:
    """``distributed_op_file`` behind the class of each entry, which names the class itself.

    Raises:
        ValueError: The class does not stand in the entry in a way that leaves room behind it.
    """
    for entry in sorted(entries, key=lambda item: item.line, reverse=True):
        kind = entry.own.get(CLASS_KEY)
        if kind is None or entry.node is None:
            raise ValueError(f"the entry {entry.name} does not name its class itself")
        end = kind.end_mark.index
        if entry.node.flow_style:
            text = f"{text[:end]}, {FILE_KEY}: {module}{text[end:]}"
            continue
        key = next(part for part, _ in entry.node.value if part.value == CLASS_KEY)
        stop = text.find("\n", end)
        lead = "" if stop >= 0 else newline
        stop = len(text) if stop < 0 else stop + 1
        line = f"{' ' * key.start_mark.column}{FILE_KEY}: {module}{newline}"
        text = f"{text[:stop]}{lead}{line}{text[stop:]}"
    return text


def appended(file: OpFile, name: str, kind: str, module: str, newline: str) -> tuple[str, str]:
    """The text with a new entry at its end, and that entry alone; written like the last entry of the same module.

    Raises:
        ValueError: There is no entry to go by, or it has a form of its own.
    """
    models = [entry for entry in file.entries if entry.node is not None and not entry.shared]
    alike = [entry for entry in models if file.value(entry, FILE_KEY) == module]
    if not models:
        raise ValueError("the file has no entry to go by")
    model = (alike or models)[-1]
    assert model.node is not None
    pairs = []
    for key in model.keys:
        if key == LABEL_KEY:
            pairs.append((key, _label(model, name)))
        elif key == CLASS_KEY:
            pairs.append((key, kind))
        elif key == FILE_KEY:
            pairs.append((key, module))
    keys = {key for key, _ in pairs}
    default = {key: node.value for key, node in file.default.own.items()} if file.default else {}
    for key, value in ((CLASS_KEY, kind), (FILE_KEY, module)):
        if key not in keys and default.get(key) != value:
            pairs.append((key, value))
    entry = _written(name, pairs, model, newline)
    gap = "" if not file.text or file.text.endswith(("\n", "\r")) else newline
    return f"{file.text}{gap}{entry}", entry


def _label(model: Entry, name: str) -> str:
    """The model's label with its operator's name exchanged; a label of another form is not copied."""
    scalar = model.own.get(LABEL_KEY)
    old = str(scalar.value) if scalar is not None else ""
    bare, new = model.name.strip("_"), name.strip("_")
    return old.replace(f"_{bare}_", f"_{new}_") if f"_{bare}_" in old else f"_{new}_dist_op"


def _written(name: str, pairs: Sequence[tuple[str, str]], model: Entry, newline: str) -> str:
    assert model.node is not None
    quotes = {key: node.style or "" for key, node in model.own.items()}
    cells = [f"{key}: {quotes.get(key, '')}{value}{quotes.get(key, '')}" for key, value in pairs]
    title = name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS_OF_YAML else f'"{name}"'
    if model.node.flow_style:
        return f"{title}: {{{', '.join(cells)}}}{newline}"
    indent = " " * model.node.value[0][0].start_mark.column
    return "".join([f"{title}:{newline}", *(f"{indent}{cell}{newline}" for cell in cells)])


def only_entries_changed(old: str, new: str) -> bool:
    """Whether an edit changes nothing but classes and files of entries, or adds whole entries behind the others.

    Comments, order, labels and every other key stay; what a new entry may hold is the three usual keys.
    """
    try:
        if any(read_entries(text).aliased for text in (old, new)):
            return False  # what an alias means is not looked into, and a few of them can mean billions of values
        before, after = yaml.safe_load(old), yaml.safe_load(new)
    except (ValueError, yaml.YAMLError, RecursionError):
        return False
    if not isinstance(before, dict) or not isinstance(after, dict) or list(after)[: len(before)] != list(before):
        return False
    if _COMMENT.findall(old) != _COMMENT.findall(new):
        return False
    return all(_same_but_pair(before.get(name), entry, name in before) for name, entry in after.items())


def _same_but_pair(old: object, new: object, known: bool) -> bool:
    if known and not isinstance(old, dict):
        return old == new
    if not isinstance(new, dict) or not all(isinstance(new.get(key, ""), str) for key in (CLASS_KEY, FILE_KEY)):
        return False
    if not isinstance(old, dict):
        return {LABEL_KEY, CLASS_KEY, FILE_KEY} >= set(new)
    return _rest(old) == _rest(new) and set(old) <= set(new) <= {*old, FILE_KEY}


def _rest(entry: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in entry.items() if key not in {CLASS_KEY, FILE_KEY}}
