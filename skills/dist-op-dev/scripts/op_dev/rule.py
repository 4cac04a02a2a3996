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
"""The source text of a rule class, written from the schemas of a plan."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from op_analysis.document import class_name
from op_analysis.schemas import OutMap, Schema
from op_analysis.shapes import ShapeRule
from op_analysis.shards import Adjustment

Plan = dict[str, Any]
_PENDING = {"Psum": "P_SUM", "Pavg": "P_AVG", "Pmax": "P_MAX", "Pmin": "P_MIN"}


def schemas_of(plan: Plan) -> list[Schema]:
    """The plan's rules."""
    return [Schema.from_dict(data) for data in plan["schemas"]]


def shapes_of(plan: Plan) -> list[list[ShapeRule]] | None:
    """The plan's output shapes; None where they are open."""
    rules = plan["shapes"]
    return None if rules is None else [[ShapeRule.from_dict(data) for data in leaf] for leaf in rules]


def module(plan: Plan, licence: str) -> str:
    """The whole file `parallel_<op>.py`, to be put in order by a formatter."""
    schemas, shapes = schemas_of(plan), shapes_of(plan)
    body = [*_head(plan, schemas), *_output_shapes(shapes), *_axis_rules(plan, schemas, shapes)]
    single = _is_single(plan)
    body += ([] if single else _places(schemas)) + _make_impl(schemas)
    text = "\n".join(body)
    if single:
        text = text.replace("_shape(call, ", "call.shape(")
    helpers = _helpers(text)
    return licence + "\n".join([*_imports(plan, text + "\n".join(helpers)), "", "", text, *helpers]) + "\n"


def _is_single(plan: Plan) -> bool:
    """Whether every call has one tensor: then placements need not be told apart by parameter."""
    return all(sum(case["groups"].values()) == 1 and not case["lists"] for case in plan["cases"]) and not any(
        len(schema["roles"]) > (schema["domain"]["kind"] == "pending") for schema in plan["schemas"]
    )


def _imports(plan: Plan, text: str) -> list[str]:
    def used(*names: str) -> str:
        return ", ".join(name for name in names if _uses(text, name))

    lines = [f'"""{plan["name"]}: rules found by experiment on shards, see the class."""', ""]
    lines += ["from __future__ import annotations", ""]
    if _uses(text, "itertools"):
        lines.append("import itertools")
    abc = used("Callable", "Iterator", "Sequence")
    lines += [
        f"from collections.abc import {abc}",
        "from typing import Any, ClassVar" if _uses(text, "Any") else "from typing import ClassVar",
        "",
    ]
    lines.append(f"from hyper_parallel.dispatch.axis_rules import {used('AxisRule', 'AxisRuleOp')}")
    lines.append(f"from hyper_parallel.dispatch.call import {used('OpCall', 'Slot', 'parse_signature')}")
    for source, names in (
        ("hyper_parallel.errors", ("LayoutError", "explain")),
        ("hyper_parallel.layout", ("Layout",)),
        ("hyper_parallel.ops.shapes", ("Shape", "broadcast", "dims_of", "reduced")),
        ("hyper_parallel.placements", ("P_AVG", "P_MAX", "P_MIN", "P_SUM", "Placement", "R", "Shard")),
    ):
        if used(*names):
            lines.append(f"from {source} import {used(*names)}")
    return lines


def _uses(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\b", text) is not None


def _head(plan: Plan, schemas: Sequence[Schema]) -> list[str]:
    lines = [f"class {class_name(plan['name'])}(AxisRuleOp):", f'    """{plan["name"]}.', "", "    Rules:"]
    for number, schema in enumerate(schemas, 1):
        lines += textwrap.wrap(f"{number}. {say(schema)}", 116, initial_indent=" " * 8, subsequent_indent=" " * 11)
    lines += ['    """', "", f"    signature: ClassVar[str] = {plan['signature']!r}"]
    if any(schema.domain.kind == "pending" for schema in schemas):
        lines.append("    _allow_partial_inputs: ClassVar[bool] = True")
    return [*lines, ""]


def say(schema: Schema) -> str:
    """A rule in a sentence of the docstring."""
    domain = schema.domain
    where = {
        "all": "Any dim",
        "other": f"Any dim but those of `{domain.param}`",
        "in": f"The dims of `{domain.param}`",
        "before": f"Any dim before those of `{domain.param}`",
        "leading": f"Any dim but the last {domain.count}",
        "front": f"The first {domain.count} dims",
        "at": f"The dim -{domain.count}",
        "pending": "",
    }[domain.kind]
    roles = {
        "same": "cut alike",
        "right": "cut alike from the right",
        "R": "replicated",
        "last1": "cut at the last dim",
        "last2": "cut at the dim -2",
    }
    others = ", ".join(f"`{name}` {roles.get(role, _say_word(role))}" for name, role in schema.roles)
    text = f"{where} of `{schema.ref}` may be cut" + (f", with {others}" if others else "") if schema.ref else others
    outs = ", ".join(dict.fromkeys(_say_out(out) for out in schema.outs))
    text += f": the result is {outs}" + (
        f", if `{schema.guard[0]}` is {'' if schema.guard[2] else 'not '}{schema.guard[1]!r}" if schema.guard else ""
    )
    return text + "."


def _say_word(word: str) -> str:
    return f"a pending {word[1:]}" if word[0] == "P" else word


def _say_out(out: OutMap) -> str:
    if out.kind in _PENDING:
        return _say_word(out.kind)
    return (
        "replicated"
        if out.kind == "R"
        else "cut at the same place"
        if out.kind in ("same", "right")
        else "cut accordingly"
    )


def _output_shapes(shapes: list[list[ShapeRule]] | None) -> list[str]:
    lines = ["    def output_shapes(self, call: OpCall) -> Sequence[Shape]:", '        """See the base class."""']
    if shapes is None:
        refusal = 'raise LayoutError(explain(self.op_name, "the call", "one whose output shapes are known", "another"))'
        return [
            *lines,
            "        # Open: say how the global shapes follow from the call; until then the fallback is used.",
            f"        {refusal}",
            "",
        ]
    names = []
    for index, rules in enumerate(shapes):
        if len(rules) == 1 and rules[0].guard is None:
            names.append(_shape(rules[0]))
            continue
        name = f"shape_{index}"
        names.append(name)
        for number, rule in enumerate(rules):
            head = (
                "else:"
                if number and number == len(rules) - 1
                else f"{'elif' if number else 'if'} {_guard(rule.guard)}:"
            )
            lines += [
                f"        {head}",
                f"            {name}: Shape = {_shape(rule)}" if not number else f"            {name} = {_shape(rule)}",
            ]
    return [*lines, f"        return ({', '.join(names)},)", ""]


def _shape(rule: ShapeRule) -> str:
    tail = "".join(f"{_length(entry)}, " for entry in rule.tail)
    if rule.kind == "scalar":
        return "()"
    if rule.kind == "fixed":
        return f"({tail})"
    if rule.kind == "broadcast":
        return "broadcast(self.op_name, call.shapes)"
    shape = f"_shape(call, {rule.ref!r})"
    if rule.kind == "like":
        return shape
    if rule.kind == "edges":
        front = f"{shape}[:-{rule.cut}]" if rule.cut else shape
        return f"(*{front}, {tail})"
    if rule.kind == "reduced":
        dims = f"dims_of(self.op_name, call[{rule.param!r}], len({shape}))"
        return f"reduced({shape}, {dims}, bool(call.get('keepdim')))"
    return f"_{rule.kind}(self.op_name, {shape}, call[{rule.param!r}], {_length(rule.tail[0])})"


def _length(entry: str) -> str:
    if entry.startswith("#"):
        return entry[1:]
    name, _, place = entry.partition(".")
    if not place:
        return f"int(call[{name!r}])"
    return f"len(_slots(call, {name!r}))" if place == "count" else f"_shape(call, {name!r})[{place}]"


def _guard(guard: tuple[str, Any, bool] | None) -> str:
    assert guard is not None
    name, value, wanted = guard
    if value is None or isinstance(value, bool):
        return f"call[{name!r}] is {'' if wanted else 'not '}{value!r}"
    return f"call[{name!r}] {'==' if wanted else '!='} {value!r}"


def _axis_rules(plan: Plan, schemas: Sequence[Schema], shapes: Any) -> list[str]:
    lines = ["    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:", '        """See the base class."""']
    if any(out.kind in ("right", "named", "last", "last2") for schema in schemas for out in schema.outs):
        lines.append("        outs = self.output_shapes(call)")
    if not schemas:
        lines.append("        yield from ()")
    for schema in schemas:
        lines += list(_one_rule(schema, 1 if shapes is None else len(shapes), _is_single(plan)))
    return [*lines, ""]


def _one_rule(schema: Schema, outputs: int, single: bool) -> Iterator[str]:
    pad = "        "
    if schema.guard is not None:
        yield f"{pad}if {_guard(schema.guard)}:"
        pad += "    "
    tag = f", {tag_of(schema)!r}" if tag_of(schema) else ""
    if schema.domain.kind == "pending":
        pending = {name: _PENDING[role] for name, role in schema.roles if role != "R"}
        words = ", ".join(_PENDING.get(out.kind, "R") for out in schema.outs)
        arguments = ", ".join(f"{name}={word}" for name, word in pending.items())
        places = f"({next(iter(pending.values()))},)" if single else f"_pending(call, {arguments})"
        yield f"{pad}yield AxisRule({places}, ({words},){tag})"
        return
    yield f"{pad}ndim = len(_shape(call, {schema.ref!r}))"
    yield f"{pad}for dim in {_dims(schema)}:"
    roles = "".join(f", {name}={role!r}" for name, role in schema.roles if role != "R")
    words = ", ".join(_out(out, index) for index, out in enumerate(schema.outs))
    many = f" * {outputs}" if len(schema.outs) == 1 and outputs > 1 else ""
    if single:
        yield f"{pad}    yield AxisRule((Shard(dim),), ({words},){many}{tag})"
        return
    yield f"{pad}    places = self.places(call, {schema.ref!r}, dim{roles})"
    yield f"{pad}    if places is not None:"
    yield f"{pad}        yield AxisRule(places, ({words},){many}{tag})"


def tag_of(schema: Schema) -> str:
    """What `make_impl` has to do about a rule."""
    adjust = schema.adjust
    if adjust is None:
        return "" if schema.empty_ok else "whole"
    if adjust.kind == "offset":
        return f"{'+' if adjust.sign > 0 else '-'}{adjust.param}"
    return "share" if adjust.kind == "share" else f"size {adjust.param} {adjust.index}"


def _dims(schema: Schema) -> str:
    domain = schema.domain
    match domain.kind:
        case "all":
            return "range(ndim)"
        case "leading":
            return f"range(ndim - {domain.count})"
        case "front":
            return f"range(min({domain.count}, ndim))"
        case "at":
            return f"range(ndim - {domain.count}, ndim - {domain.count - 1}) if ndim >= {domain.count} else ()"
        case "before":
            return f"range(ndim - len(call[{domain.param!r}]))"
    named = f"dims_of(self.op_name, call[{domain.param!r}], ndim)"
    return named if domain.kind == "in" else f"sorted(set(range(ndim)) - set({named}))"


def _out(out: OutMap, index: int) -> str:
    named = f"dims_of(self.op_name, call[{out.param!r}], ndim{' + 1' if out.kind == 'insert' else ''})"
    match out.kind:
        case "same":
            return "Shard(dim)"
        case "right":
            return f"Shard(len(outs[{index}]) - ndim + dim)"
        case "drop":
            return f"Shard(dim if call.get('keepdim') else dim - sum(d < dim for d in {named}))"
        case "insert":
            return f"Shard(dim + sum(d <= dim for d in {named}))"
        case "named":
            return f"Shard(call.dim({out.param!r}, len(outs[{index}])))"
        case "last" | "last2":
            return f"Shard(len(outs[{index}]) - {1 if out.kind == 'last' else 2})"
        case "swap":
            return "Shard({ndim - 1: ndim - 2, ndim - 2: ndim - 1}.get(dim, dim))"
    return _PENDING.get(out.kind, "R")


_PLACES = '''
    def places(self, call: OpCall, ref: str, dim: int, **roles: str) -> tuple[Placement, ...] | None:
        """Placements by slot when dim `dim` of `ref` is cut; None where an input cannot take part."""
        found: list[Placement] = [R] * len(call.layouts)
        size, ndim = _shape(call, ref)[dim], len(_shape(call, ref))
        for name, role in {ref: "same", **roles}.items():
            for slot in _slots(call, name):
                shape = call.layouts[slot].shape
                from_end = {"right": ndim - dim, "last1": 1, "last2": 2}.get(role)
                own = dim if from_end is None else len(shape) - from_end
                if role == "right" and (own < 0 or (shape[own] == 1 and size != 1)):
                    continue
                if not 0 <= own < len(shape) or shape[own] != size:
                    return None
                found[slot] = Shard(own)
        return tuple(found)
'''


def _places(schemas: Sequence[Schema]) -> list[str]:
    return [_PLACES.strip("\n"), ""] if any(schema.ref for schema in schemas) else []


def _make_impl(schemas: Sequence[Schema]) -> list[str]:
    adjusts = [schema.adjust for schema in schemas if schema.adjust is not None]
    whole = not all(schema.empty_ok for schema in schemas)
    if not adjusts and not whole:
        return []
    lines = [
        "    def make_impl(",
        "        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]",
        "    ) -> Callable[..., Any] | None:",
        '        """The operator as the own part has to call it."""',
    ]
    if whole:
        lines += [
            "        if _some_part_is_empty(call):",
            '            raise LayoutError(explain(self.op_name, "every part", "not empty", "an empty one"))',
        ]
    if not adjusts:
        return [*lines, "        return None", ""]
    ref = next(schema.ref for schema in schemas if schema.adjust is not None)
    lines += [
        f"        slot = _slots(call, {ref!r})[0]",
        "        layout = call.layouts[slot]",
        '        cuts = [(rule.inputs[slot], rule.tag) for rule in rules if rule.tag not in ("", "whole")]',
        "        tagged = {place.dim: tag for place, tag in cuts if isinstance(place, Shard)}",
        "        if not tagged:",
        "            return None",
        "        changed: dict[str, Any] = {}",
    ]
    lines += _changes(adjusts)
    if not any(adjust.kind == "share" for adjust in adjusts):
        return [*lines, "        return _local_call(func, self.signature, call, changed)", ""]
    return [
        *lines,
        "        share = 1.0",
        '        for dim in (dim for dim, tag in tagged.items() if tag == "share"):',
        "            share *= layout.local_shape[dim] / layout.shape[dim]",
        "        local = _local_call(func, self.signature, call, changed)",
        "        return lambda *tensors: local(*tensors) * share",
        "",
    ]


def _changes(adjusts: Sequence[Adjustment]) -> list[str]:
    """Statements that put the arguments of the local call into `changed`."""
    lines: list[str] = []
    for param in dict.fromkeys(adjust.param for adjust in adjusts if adjust.kind == "offset"):
        signs = f'{{"+{param}": 1, "-{param}": -1}}'
        lines += [
            f"        signs = {signs}",
            "        moved = sum(signs.get(tag, 0) * layout.local_offset[dim] for dim, tag in tagged.items())",
            f"        changed[{param!r}] = int(call[{param!r}]) + moved",
        ]
    for adjust in (adjust for adjust in adjusts if adjust.kind == "size"):
        lines += [
            f'        for dim in (dim for dim, tag in tagged.items() if tag == "size {adjust.param} {adjust.index}"):'
        ]
        value = "layout.local_shape[dim]"
        if adjust.index >= 0:
            lines.append(f"            entries = [*call[{adjust.param!r}]]")
            lines.append(f"            entries[{adjust.index}] = {value}")
            value = "tuple(entries)"
        lines.append(f"            changed[{adjust.param!r}] = {value}")
    return lines


def _helpers(text: str) -> list[str]:
    """Module functions that the class uses, and those they use."""
    from op_dev.helpers import HELPERS

    wanted: list[str] = []
    while True:
        seen = text + "".join(HELPERS[name] for name in wanted)
        fresh = [name for name in HELPERS if name not in wanted and f"{name}(" in seen]
        if not fresh:
            return [HELPERS[name] for name in HELPERS if name in wanted]
        wanted += fresh
