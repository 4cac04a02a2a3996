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
"""The source text of an operator's tests: unit tests without processes, declarative cases for ranks."""

from __future__ import annotations

import re
from typing import Any

from hyper_parallel.dispatch.call import parse_signature

Plan = dict[str, Any]
Case = dict[str, Any]

_HEAD = '''{licence}"""{name} without processes: layouts, refusals, and parts that make up the result of one device."""

from __future__ import annotations

import pytest
import torch

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from tests.hyper_parallel.case import InputSpec

NAME = "{name}"
RULES = Registry()

CALLS = {{
{calls}
}}
"""Call: input specs, arguments (`Slot` stands for a tensor), keywords, the function that makes the call."""


def placement(word):
    return Replicate() if word == "R" else Shard(int(word[1:])) if word[0] == "S" else Partial(word[1:])


def inferred(call, words, rank=0):
    specs, args, kwargs, _ = CALLS[call]
    op = RULES.find(NAME)
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",), init_backend=False, rank=rank)
    layouts = [Layout(mesh, [placement(w)], spec.shape) for w, spec in zip(words, specs, strict=True)]
    values = [*layouts, op.bind(list(args), dict(kwargs))]
    return op, layouts, values, op.infer_layout(values)
'''

_ALLOWED = '''

ALLOWED = [
{rows}
]
"""(call, input placements on one mesh axis, per output the placements that its parts may be taken for)."""


def word_of(place):
    if isinstance(place, Partial):
        return f"P{{place.reduce_op}}"
    return f"S{{place.dim}}" if isinstance(place, Shard) else "R"


def part_of(tensor, layout):
    for dim, (start, length) in enumerate(zip(layout.local_offset, layout.local_shape, strict=True)):
        tensor = tensor.narrow(dim, start, length)
    return tensor


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [value]


REDUCTIONS = {{
    "sum": lambda parts: parts.sum(0).to(parts.dtype),
    "avg": lambda parts: parts.mean(0),
    "max": lambda parts: parts.amax(0),
    "min": lambda parts: parts.amin(0),
}}


@pytest.mark.parametrize(("call", "words", "expected"), ALLOWED)
def test_{plain}_layouts_and_shapes(call, words, expected):
    specs, _, _, run = CALLS[call]
    full = leaves(run({function}, *(spec.build(place) for place, spec in enumerate(specs))))
    outs = inferred(call, words)[3][0]
    assert [out.shape for out in outs] == [tuple(value.shape) for value in full]
    for out, fitting in zip(outs, expected, strict=True):
        assert word_of(out.placements[0]) in fitting


@pytest.mark.parametrize(("call", "words"), [(call, words) for call, words, _ in ALLOWED if "P" not in "".join(words)])
def test_{plain}_parts_make_up_the_result(call, words):
    specs, _, _, run = CALLS[call]
    tensors = [spec.build(place) for place, spec in enumerate(specs)]
    parts = []
    for rank in range(2):
        op, layouts, values, result = inferred(call, words, rank)
        impl = op.get_expand_impl({function}, result, values)
        own = [part_of(tensor, layout) for tensor, layout in zip(tensors, layouts, strict=True)]
        parts.append(leaves(run({function}, *own) if impl is None else impl(*own)))
    for index, want in enumerate(leaves(run({function}, *tensors))):
        mine = [part[index] for part in parts]
        place = result[0][index].placements[0]
        if isinstance(place, Shard):
            torch.testing.assert_close(torch.cat(mine, place.dim), want)
        elif isinstance(place, Partial):
            torch.testing.assert_close(REDUCTIONS[place.reduce_op](torch.stack(mine)), want)
        else:
            torch.testing.assert_close(mine[1], want)
'''

_REFUSED = """

REFUSED = [
{rows}
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_{plain}_refuses_other_placements(call, words):
    with pytest.raises(LayoutError, match=r"For {pattern}, .* should be .*, but got .*"):
        inferred(call, words)
"""

_CASES = '''{licence}"""{name} on ranks, under every placement, against one device."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import {names}

CASES = [
{cases}
]
'''


def unit_tests(plan: Plan, licence: str) -> str:
    """The whole file `test_parallel_<op>.py`; it fails while output shapes of the class are open."""
    calls: list[str] = []
    allowed: list[str] = []
    refused: list[str] = []
    own_class = plan["proposal"]["kind"] == "axis_rules"
    for number, case in enumerate(plan["cases"]):
        specs = ", ".join(_spec(spec) for spec in case["inputs"])
        args, kwargs = _bound(plan, case)
        calls.append(f'    "call {number}": (({specs},), {args}, {kwargs}, {_lambda(plan, case, "func")}),')
        allowed += [f'    ("call {number}", {tuple(row["in"])!r}, {row["out"]!r}),' for row in case["allowed"]]
        if own_class:
            refused += [f'    ("call {number}", {words!r}),' for words in _refused(case)]
    names = {
        "plain": plan["name"].replace(".", "_"),
        "pattern": plan["name"].replace(".", r"\."),
        "function": plan["path"],
    }
    text = _HEAD.format(licence=licence, name=plan["name"], calls="\n".join(calls))
    if allowed:
        text += _ALLOWED.format(rows="\n".join(allowed), **names)
    return text + (_REFUSED.format(rows="\n".join(refused), **names) if refused else "")


def _refused(case: Case) -> list[tuple[str, ...]]:
    """Cuts of one input alone that the plan does not allow, a few of each call."""
    allowed = {tuple(row["in"]) for row in case["allowed"]}
    found = []
    for slot, spec in enumerate(case["inputs"]):
        for dim in range(len(spec["shape"])):
            words = tuple(f"S{dim}" if i == slot else "R" for i in range(len(case["inputs"])))
            if words not in allowed and spec["shape"][dim] > 1:
                found.append(words)
    return found[:3]


def _bound(plan: Plan, case: Case) -> tuple[str, str]:
    """Source of positional arguments and keywords of a call with `Slot`s for tensors."""
    parsed = parse_signature(plan["signature"])
    slots = _slots(case, "Slot({})")
    first = next(iter(slots))
    rest = {
        **{n: t for n, t in slots.items() if n != first},
        **{n: _source(v) for n, v in case["scalars"].items()},
    }
    if parsed.names[:1] != (first,):
        return "()", "{" + ", ".join(f"{n!r}: {t}" for n, t in {**slots, **rest}.items()) + "}"
    return f"({slots[first]},)", "{" + ", ".join(f"{name!r}: {text}" for name, text in rest.items()) + "}"


def _slots(case: Case, form: str) -> dict[str, str]:
    """Source of each tensor parameter; several tensors are a tuple."""
    found, count = {}, 0
    listed = case.get("lists", [])
    for name, size in case["groups"].items():
        items = [form.format(i) for i in range(count, count + size)]
        found[name] = f"({', '.join(items)},)" if size > 1 or name in listed else items[0]
        count += size
    return found


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _source(value: Any) -> str:
    """Source of a scalar argument; infinity has no literal of its own."""
    text = repr(_tupled(value))
    return text if isinstance(value, str) else re.sub(r"(?<![\w.'])(inf|nan)\b(?!')", r'float("\1")', text)


def _lambda(plan: Plan, case: Case, function: str) -> str:
    """Source of a function of the tensors that makes the call."""
    names = [f"x{i}" for i in range(len(case["inputs"]))]
    head = ["func", *names] if function == "func" else names
    return f"lambda {', '.join(head)}: {_call(plan, case, function, names)}"


def _call(plan: Plan, case: Case, function: str, names: list[str]) -> str:
    """Source of the call on tensors of these names."""
    slots = {name: text.format(*names) for name, text in _slots(case, "{{{}}}").items()}
    first = next(iter(slots))
    front = slots.pop(first)
    if parse_signature(plan["signature"]).names[:1] != (first,):
        front = f"{first}={front}"
    rest = [
        front,
        *(f"{n}={t}" for n, t in slots.items()),
        *(f"{n}={_source(v)}" for n, v in case["scalars"].items()),
    ]
    return f"{function}({', '.join(rest)})"


def report_arguments(plan: Plan) -> list[str]:
    """The first call of the plan in the words of `hyper_parallel.report`; nothing where its inputs do not fit them."""
    for case in plan["cases"]:
        if len(case["inputs"]) <= 3 and not any("dtype" in spec or "data" in spec for spec in case["inputs"]):
            shapes = [["--shape", "x".join(map(str, spec["shape"]))] for spec in case["inputs"] if spec["shape"]]
            if len(shapes) == len(case["inputs"]):
                return [_call(plan, case, plan["path"], ["x", "y", "z"]), *(word for pair in shapes for word in pair)]
    return []


def _spec(spec: dict[str, Any]) -> str:
    parts = [repr(tuple(spec["shape"]))]
    parts += [f"{key}={_tupled(value)!r}" for key, value in spec.items() if key != "shape"]
    return f"InputSpec({', '.join(parts)})"


def system_cases(plan: Plan, licence: str) -> str:
    """The whole file `case_<op>.py`."""
    plain = plan["name"].replace(".", "_")
    lines: list[str] = []
    kept: list[str] = []
    grad = "" if plan["autograd"] else ", grad=False"
    pending = any("P" in "".join(row["in"]) for case in plan["cases"] for row in case["allowed"])
    for number, case in enumerate(plan["cases"][:4]):
        specs = ", ".join(_spec(spec) for spec in case["inputs"])
        call = _lambda(plan, case, plan["path"])
        every = f"Every(30, partial={pending})"
        lines.append(f'    OpCase("{plain}_ops_{number}", {call}, ({specs},), {every}{grad}),')
        kept += _kept(case, f'    OpCase("{plain}_ops_{number}_', f"{call}, ({specs},)", grad)
    text = "\n".join([*lines, *kept[:4]])
    used = [name for name in ("S0", "S1", "S2", "S3") if f"({name},)" in text]
    used += ["Every", "InputSpec", "OpCase"] + (["R"] if "(R,)" in text else [])
    return _CASES.format(licence=licence, name=plan["name"], cases=text, names=", ".join(used))


def _kept(case: Case, head: str, middle: str, grad: str) -> list[str]:
    """Cases that say: this cut is kept, and not a byte is sent."""
    found = []
    for row in case["allowed"]:
        words = row["in"]
        if "P" in "".join(words) or any(w[0] == "S" and int(w[1:]) > 3 for w in words):
            continue
        places = ", ".join(f"({word},)" for word in words)
        name = "".join(words).lower()
        found.append(f'{head}{name}", {middle}, ({places},), mesh_shape=(2,), max_bytes=0{grad}),')
    return found[:2]
