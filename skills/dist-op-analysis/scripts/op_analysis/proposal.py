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
"""From findings to a proposal: which of the three ways of adding an operator, and what stays open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hyper_parallel.dispatch.registry import Registry
from op_analysis.cases import accepted, representative
from op_analysis.families import Family, fitting
from op_analysis.fitting import Fact, Findings, describe_trial, facts_of, investigate
from op_analysis.operators import Operator
from op_analysis.schemas import Schema
from op_analysis.shapes import ShapeRule, output_shapes
from op_analysis.shards import RANKS, Laboratory, chunks

ELEMENTWISE = "parallel_elementwise"
MAX_OPEN = 6


@dataclass(frozen=True)
class Proposal:
    """What a plan says.

    Attributes:
        kind: `yaml` (element-wise, an entry is enough), `family` (a class that exists fits), `axis_rules` (a class of
            its own), `none` (nothing may be cut without communication: the fallback is what there is).
        open: what a person has to decide or confirm.
        notes: what is worth knowing and needs nothing done.
    """

    operator: Operator
    findings: Findings
    kind: str
    family: Family | None
    others: tuple[Family, ...]
    shapes: list[list[ShapeRule]] | None
    cases: list[dict[str, Any]]
    open: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def registered(self) -> str:
        """Class under which the operator is registered already, or nothing."""
        entry = Registry().entries.get(self.operator.name)
        return str(entry["distributed_op_class"]) if entry else ""

    def data(self) -> dict[str, Any]:
        """The part of the plan that programs read."""
        entry: dict[str, Any] = {"kind": self.kind}
        if self.family is not None:
            entry |= {"class": self.family.name, "file": self.family.module, "options": self.family.options}
        return {
            "name": self.operator.name,
            "path": self.operator.path,
            "signature": self.operator.signature,
            "entry": self.operator.entry,
            "autograd": self.operator.supports_autograd,
            "proposal": entry,
            "schemas": [schema.to_dict() for schema in self.findings.schemas],
            "shapes": [[rule.to_dict() for rule in rules] for rules in self.shapes] if self.shapes else None,
            "cases": self.cases,
            "open": list(self.open),
            "notes": list(self.notes),
        }


def propose(operator: Operator) -> Proposal:
    """All experiments, then the first way of the three that explains what they found.

    Raises:
        ValueError: the operator draws random numbers.
    """
    lab = Laboratory(operator)
    if lab.random():
        raise ValueError(
            f"For analyse, {operator.name} should give the same result twice, but it draws random numbers: "
            "see hyper_parallel/platform/torch/random.py."
        )
    findings = investigate(lab)
    families = fitting(lab, without=operator.name)
    family = _best(lab, findings, families)
    shapes = output_shapes(lab)
    if family is not None:
        kind = "yaml" if family.module == ELEMENTWISE else "family"
    else:
        kind = "axis_rules" if any(schema.ref for schema in findings.schemas) else "none"
    cases = representative(lab, findings.schemas) if family is None else accepted(lab, family)
    open_points = _open(operator, findings, family, shapes, kind)
    others = tuple(other for other in families if other is not family)[:3]
    notes = _notes(operator, findings)
    return Proposal(operator, findings, kind, family, others, shapes, cases, open_points, notes)


def _best(lab: Laboratory, findings: Findings, families: Sequence[Family]) -> Family | None:
    """A class that proved all it accepts here, some cuts among it, and accepts as much as the rules found."""
    ours = {fact for schema in findings.schemas for fact in facts_of(lab, schema)}
    for family in families:
        if family.unproved or not any(_is_cut(fact) for fact in family.free):
            continue  # alike in pending inputs only is no kinship
        if not any(_is_cut(fact) for fact in family.refused & ours):
            return family
    return None


def _is_cut(fact: Fact) -> bool:
    return "P" not in "".join(fact[1])


def _open(operator: Operator, findings: Findings, family: Family | None, shapes: Any, kind: str) -> tuple[str, ...]:
    found: list[str] = []
    if family is None:
        for schema in findings.schemas:
            if schema.guard is not None:
                name, value, wanted = schema.guard
                sign = "等于" if wanted else "不等于"
                found.append(f"规则以 `{name}` {sign} `{value!r}` 为条件，由样例归纳得出，请确认：{say(schema)}")
        if shapes is None and kind == "axis_rules":
            found.append("输出形状没有归纳出来：请在生成的类里补写 `output_shapes`,补写之前它拒绝一切布局，UT 不过")
    missed = [schema for schema in findings.schemas if not schema.ref] if family is not None else []
    if family is not None and missed and not any("P" in "".join(words) for _, words in family.free):
        found.append(f"`{family.name}` 不接受待归约输入，而实验表明可以：{say(missed[0])};若需要，请另写一类")
    left = [fact for fact in findings.unexplained if _is_telling(operator, fact)]
    if family is not None:
        left = [fact for fact in left if fact in family.refused]
    for call, words in _by_call(operator, left):
        found.append(f"个别样例成立、但没有归入规则的布局：{call}:{words}")
    return tuple(found)


def _is_telling(operator: Operator, fact: Fact) -> bool:
    """Whether a cut was tried on uneven parts too: equal ones make an average of averages."""
    tensors = operator.trials[fact[0]].tensors()
    lengths = [t.shape[int(word[1:])] for t, word in zip(tensors, fact[1], strict=True) if word[0] == "S"]
    return all(any(min(parts) and len(set(parts)) > 1 for parts in (chunks(n, r) for r in RANKS)) for n in lengths)


def _by_call(operator: Operator, facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """A few calls in short, each with a few of its placements."""
    shown: dict[str, list[str]] = {}
    for number, places in facts:
        shown.setdefault(describe_trial(operator.trials[number]), []).append(" ".join(places))
    return [(call, " / ".join(list(dict.fromkeys(words))[:4])) for call, words in list(shown.items())[:MAX_OPEN]]


def _notes(operator: Operator, findings: Findings) -> tuple[str, ...]:
    refused = [fact for fact in findings.refused if sum(word != "R" for word in fact[1]) == 1]
    text = ";".join(f"{call}:{words}" for call, words in _by_call(operator, refused)[:2])
    told = f"有些切法需要通信(例：{text}):默认先重排布再计算，结果正确；只有字节数重要时才手写通信实现"
    return (told,) if refused else ()


def say(schema: Schema) -> str:
    """A rule in a sentence."""
    domain = schema.domain
    where = {
        "all": "任意一维",
        "other": f"`{domain.param}` 以外的任意一维",
        "in": f"`{domain.param}` 所指的维",
        "before": f"`{domain.param}` 所含维之前的任意一维",
        "leading": f"除最后 {domain.count} 维外的任意一维",
        "front": f"前 {domain.count} 维",
        "at": f"倒数第 {domain.count} 维",
        "pending": "",
    }[domain.kind]
    roles = {
        "same": "切同一维",
        "right": "切右对齐的同一维(广播维复制)",
        "R": "复制",
        "last1": "切最后一维",
        "last2": "切倒数第二维",
    }
    others = ",".join(f"`{name}` {roles.get(role, f'为 {role}')}" for name, role in schema.roles)
    outs = " / ".join(_say_out(out.kind, out.param) for out in schema.outs)
    text = f"`{schema.ref}` 的{where}可切" + (f",{others}" if others else "") if schema.ref else others
    text += f" → 输出{outs}"
    if schema.adjust is not None:
        sign = "+" if schema.adjust.sign > 0 else "-"
        words = {
            "offset": f"本地调用的 `{schema.adjust.param}` {sign} 本 rank 在该维的起点",
            "size": f"本地调用的 `{schema.adjust.param}` 换成本地长度",
            "share": "本地结果乘以本 rank 所占的份额",
        }
        text += ";" + words[schema.adjust.kind]
    if schema.guard is not None:
        text += f";仅当 `{schema.guard[0]}` {'==' if schema.guard[2] else '!='} `{schema.guard[1]!r}`"
    return text + ("" if schema.empty_ok else ";各 rank 的分片都不为空")


def _say_out(kind: str, param: str) -> str:
    return {
        "same": "切同一维",
        "right": "切右对齐的同一维",
        "drop": f"切去掉 `{param}` 之后的对应维",
        "insert": f"切插入 `{param}` 之后的对应维",
        "named": f"切 `{param}` 所指的维",
        "last": "切最后一维",
        "last2": "切倒数第二维",
        "swap": "切交换最后两维之后的对应维",
        "R": "复制",
    }.get(kind, f"为待归约 {kind}")
