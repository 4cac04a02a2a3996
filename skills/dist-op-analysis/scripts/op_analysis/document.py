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
"""The plan document: Chinese for readers, with one YAML block for the scaffold."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from hyper_parallel.layout import Layout
from hyper_parallel.mesh import init_device_mesh
from hyper_parallel.placements import Partial, Placement, R, Shard
from op_analysis.operators import Operator
from op_analysis.primitives import function_of, heard, known_lines
from op_analysis.proposal import Proposal, say
from op_analysis.shards import Word

FENCE = "```yaml dist-op-plan"
_KINDS = {
    "yaml": "① 仅 YAML:纯逐元素",
    "family": "② 已有的类就适用",
    "axis_rules": "③ 新类，继承 `AxisRuleOp`",
    "none": "不写规则：没有归纳出切法，保留通用路径(先复制再计算，结果总是正确)",
}


def file_name(name: str) -> str:
    """`{OpName}_dist_op_plan.md`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[._]", name)) + "_dist_op_plan.md"


def read(path: Path) -> dict[str, Any]:
    """The data block of a plan.

    Raises:
        ValueError: the document has none.
    """
    text = path.read_text(encoding="utf-8")
    found = re.search(re.escape(FENCE) + r"\n(.*?)\n```", text, re.DOTALL)
    if found is None:
        raise ValueError(f"For {path.name}, the document should hold a block {FENCE!r}, but got none.")
    data: dict[str, Any] = yaml.safe_load(found[1])
    return data


def render(plan: Proposal, measured: str = "") -> str:
    """The whole document."""
    name = plan.operator.name
    sections = [
        f"# {name} 分布式算子方案",
        f"结论：**{_KINDS[plan.kind]}**" + (f"(`{plan.family.name}`)" if plan.family else "") + "。"
        f"实验：{len(plan.operator.trials)} 个调用，逐一试过各种切法,"
        f"{len(plan.findings.seen)} 种无需通信，其中 {len(plan.findings.explained)} 种已归入规则。"
        + ("第 5 节列出的切法不必通信，值得手写一类。" if plan.kind == "none" and plan.open else ""),
        "## 1 接口分析",
        _interface(plan),
        "## 2 分布式 Layout 推导规则",
        _rules(plan),
        "## 3 实现文件详情",
        _implementation(plan),
        "## 4 现状实测",
        measured or "未在 rank 上实测。",
        "## 5 待确认",
        "\n".join([*(f"- [待确认] {point}" for point in plan.open), *(f"- 说明：{note}" for note in plan.notes)])
        or "- 无。",
        "## 6 数据",
        "由脚手架读取，改规则请改这里。",
        FENCE + "\n" + yaml.safe_dump(_plain(plan.data()), allow_unicode=True, sort_keys=False, width=110) + "```",
    ]
    return "\n\n".join(sections) + "\n"


def _plain(value: Any) -> Any:
    """Tuples as lists, which YAML can say."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)])


def _interface(plan: Proposal) -> str:
    operator = plan.operator
    tensors = {name for trial in operator.trials for name in trial.slots()}
    parsed = operator.parsed
    given = dict(zip(parsed.names, parsed.defaults, strict=True))
    rows = []
    for parameter, default in [*given.items(), *((parsed.rest, ()),), *parsed.keyword]:
        if parameter is None:
            continue
        keyword = "是" if parameter in dict(parsed.keyword) else "否"
        shown = "必填" if type(default) is object else f"`{default!r}`"
        rows.append([f"`{parameter}`", "张量" if parameter in tensors else "标量", shown, keyword])
    table = _table(["参数", "类型", "默认值", "仅关键字"], rows)
    samples = f"样例：OpInfo `{operator.entry}`。" if operator.entry else "样例：由使用者给出。"
    return "\n\n".join([f"`{operator.path}`，注册名 `{operator.name}`。{samples}", table, _mindspore(operator)])


def _mindspore(operator: Operator) -> str:
    """The same operator in MindSpore: its function, and its primitives with the lines that translate them."""
    found, known = function_of(operator.name), known_lines()
    if found is None:
        return "MindSpore:没有同名函数，或没有安装。"
    try:
        told = inspect.signature(found[1])
    except (TypeError, ValueError):
        told = "(签名未公开)"
    rows = []
    for primitive, words in heard(operator, found[1]).items():
        state = "已有" if primitive in known else "请加入" if words else "参数与 torch 不同，请对照后手写"
        rows.append([f"`{primitive}: {known.get(primitive, words) or '…'}`", state])
    table = _table(["`primitives.yaml` 的行", "状态"], rows) if rows else "没有听到原语。"
    return f"MindSpore:`{found[0]}{told}`。\n\n{table}"


def _rules(plan: Proposal) -> str:
    operator = plan.operator
    tensors = list(dict.fromkeys(name for trial in operator.trials for name in trial.slots()))
    scalars = [n for n in dict.fromkeys(n for t in operator.trials for n in t.scalars()) if n not in tensors]
    values = [[f"{i}", f"`{name}` 的 Layout(含全局形状)"] for i, name in enumerate(tensors)]
    values.append([f"{len(tensors)}", f"参数表：{'、'.join(f'`{n}`' for n in scalars) or '无标量'}"])
    lines = ["`cache_values`:", _table(["序号", "内容"], values), "允许的切法(单个 mesh 轴；全部复制总是允许):"]
    lines.append("\n".join(f"{i}. {say(schema)}。" for i, schema in enumerate(plan.findings.schemas, 1)) or "无。")
    constraint = [
        ["各输入在一个 mesh 轴上的布局", "须是上面的某一条", "`input placements on mesh axis`"],
        ["参数", "须能按签名绑定", "`positional arguments` / `keyword arguments`"],
    ]
    lines += ["约束:", _table(["对象", "检查", "报错片段"], constraint)]
    lines += [
        "实例(mesh `(2,)`，轴名 `dp`):",
        _table(["调用", "输入 tensor_map", "输入布局", "输出布局"], _instances(plan)),
    ]
    return "\n\n".join(lines)


def _instances(plan: Proposal) -> list[list[str]]:
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",), init_backend=False)
    rows = []
    for case in plan.cases:
        shapes = [tuple(spec["shape"]) for spec in case["inputs"]]
        call = ", ".join(map(str, shapes)) + "".join(f", {n}={v!r}" for n, v in case["scalars"].items())
        for row in case["allowed"][:4]:
            words = row["in"]
            layouts = [Layout(mesh, [placement(w)], shape) for w, shape in zip(words, shapes, strict=True)]
            maps = " ".join(str(layout.tensor_map) for layout in layouts)
            rows.append([f"`{call}`", f"`{maps}`", " ".join(words), " ".join(leaf[0] for leaf in row["out"])])
    return rows


def placement(word: Word) -> Placement:
    """The placement that a word means."""
    return R if word == "R" else Shard(int(word[1:])) if word[0] == "S" else Partial(word[1:])


def _implementation(plan: Proposal) -> str:
    name = plan.operator.name
    plain = name.replace(".", "_")
    if plan.family is not None:
        text = f"`{plan.family.name}`(`hyper_parallel/ops/{plan.family.module}.py`)在全部试验中与单卡一致。"
    elif plan.kind == "none":
        text = "不新增文件。"
    else:
        text = "没有已有的类能解释全部试验，新建 `AxisRuleOp` 子类，规则如第 2 节。"
    others = "、".join(f"`{f.name}`({len(f.free)} 种已证，{len(f.unproved)} 种需在 rank 上证)" for f in plan.others)
    files = [
        ["规则", f"`hyper_parallel/ops/parallel_{plain}.py`" if plan.kind == "axis_rules" else "无"],
        ["注册", f"`hyper_parallel/ops/yaml/{plain}.yaml`"],
        ["UT", f"`tests/unit/hyper_parallel/test_parallel_{plain}.py`"],
        ["ST", f"`tests/hyper_parallel/cases/case_{plain}.py`"],
    ]
    lines = [text + (f"另可考虑：{others}。" if others else ""), _table(["文件", "位置"], files)]
    if plan.kind != "none":
        options = {} if plan.family is None else plan.family.options
        entry = {
            name: {
                "dist_op_name": f"_{plain}_dist_op",
                "distributed_op_class": plan.family.name if plan.family else class_name(name),
                "distributed_op_file": plan.family.module if plan.family else f"parallel_{plain}",
                **options,
            }
        }
        lines.append("```yaml\n" + yaml.safe_dump(entry, sort_keys=False) + "```")
    ut = ["允许的布局逐条", "拒绝的布局(报错文本)", "形状", "本地调用拼起来等于单卡"]
    lines.append("UT:" + "、".join(ut) + "。ST(每个调用 × 全部布局 × 2、4 rank 与 2×2 mesh,含梯度):")
    lines.append(_table(["调用", "断言"], [[row[0], "与单卡一致"] for row in _unique_calls(plan)]))
    return "\n\n".join(lines)


def _unique_calls(plan: Proposal) -> list[list[str]]:
    return [list(row) for row in dict.fromkeys((row[0],) for row in _instances(plan))]


def class_name(name: str) -> str:
    """`linalg_inv` → `LinalgInvDistributedOp`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[._]", name) if part) + "DistributedOp"
