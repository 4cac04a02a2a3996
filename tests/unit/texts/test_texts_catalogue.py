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
"""Every text exists in both languages with the same fields, and quoted words stay harmless."""

from __future__ import annotations

import ast
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot
from bot.gate.case import Case, Commit, Outcome, Phase, Unresolved
from bot.gate.policy import DEFAULT_ROLES, Policy
from bot.gate.report import duration, final_body, summary_body
from bot.texts import LANGUAGES, TextError, catalogue, code, fence, fields, inline, link, quote, ready, render
from bot.texts.commands import COMMANDS

ORDER = re.compile(r"(?m)^[\s\u3000]*[/／]")
HOSTILE = st.text(alphabet=st.sampled_from("/@`|<>*_[]()\\\r\n\u2028\u200b\u202e a重#-!~ret"), max_size=60)


@pytest.mark.parametrize("text_id", sorted(catalogue()))
def test_both_languages_want_the_same_fields(text_id: str) -> None:
    assert set(catalogue()[text_id]) == set(LANGUAGES)
    assert fields(text_id, "zh") == fields(text_id, "en")
    for lang in LANGUAGES:
        assert catalogue()[text_id][lang].strip()
        filled = render(text_id, lang, **dict.fromkeys(fields(text_id, lang), "x"))
        assert not ORDER.search(filled), "the gate robot would take it for a command"


def test_every_id_that_the_gate_names_exists_with_these_fields() -> None:
    named = set()
    for path in sorted((Path(bot.__file__).parent / "gate").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named |= set(re.findall(r"^(?:gate|report|commands)\.[a-z._-]*[a-z]$", node.value))
    assert len(named) > 80
    assert named - {"gate.phase", "gate.role"} <= set(catalogue())


def test_ids_built_from_enumerations_exist() -> None:
    wanted = {f"gate.phase.{phase.value}" for phase in Phase}
    wanted |= {f"report.next.phase.{phase.value}" for phase in Phase if phase is not Phase.ENDED}
    wanted |= {f"report.{kind}.{outcome.value}" for outcome in Outcome for kind in ("meaning", "next")}
    wanted |= {f"gate.role.{role}" for role in ("anyone", "author", "collaborator", "maintainer")}
    again = "check_silent followed stuck lost label bypass refused write_failed repair_failed"
    wanted |= {f"gate.event.again_{why}" for why in again.split()}
    wanted |= {command.text_id for command in COMMANDS}
    assert wanted <= set(catalogue())
    assert {command.name for command in COMMANDS} == set(DEFAULT_ROLES)


def test_mistakes_are_loud() -> None:
    with pytest.raises(TextError, match="no such id"):
        render("gate.nothing", "zh")
    with pytest.raises(TextError, match=r"should be \['build'\], but got \[\]"):
        render("gate.event.bypass", "zh")
    with pytest.raises(TextError, match="language should be one of"):
        render("gate.reason.passed", "fr")
    assert render("gate.reason.passed", "zh-CN") == render("gate.reason.passed", "zh")


@given(HOSTILE)
def test_quoted_words_cannot_order_notify_or_break_out(words: str) -> None:
    for shown in (
        inline(words),
        code(words),
        quote(words),
        fence(words),
        ready(words),
        link(words, "https://x.example/"),
    ):
        assert not ORDER.search(shown)
        assert not re.search(r"[@＠](?!\u200b)", shown)
        assert "\u202e" not in shown
    for single in (inline(words), code(words)):
        assert len(single.splitlines()) <= 1
    assert not re.search(r"(?<!\\)[|*_\[\]`~]", inline(words).replace("\\\\", ""))
    assert "<" not in inline(words)
    body, ticks = fence(words), re.match(r"`+", fence(words))
    assert ticks
    assert body.count(ticks.group()) == 2
    assert all(line.startswith(">") for line in quote(words).split("\n"))


def test_render_escapes_plain_values_once() -> None:
    assert render("gate.reason.stopped", "en", by="@a|b*") == "@\u200ba\\|b\\* stopped the work with `/stop`."
    assert render("gate.reply.unknown", "en", command=code("/x`y")) == (
        "The command `/x'y` is not known; `/help` lists all commands."
    )
    assert link("7", "javascript:alert(1)") == "7"
    assert fence("a\n```\n/retest", info="diff", exact=True) == "````diff\na\n```\n/retest\n````"


@pytest.mark.parametrize(
    ("seconds", "zh", "en"),
    [(0, "0 秒", "0 s"), (59.9, "59 秒", "59 s"), (61, "1 分 1 秒", "1 min 1 s"), (7260, "2 小时 1 分", "2 h 1 min")],
)
def test_duration(seconds: float, zh: str, en: str) -> None:
    assert (duration(seconds, "zh"), duration(seconds, "en")) == (zh, en)


CASE = Case(
    repo="org/lib",
    number=647,
    phase=Phase.OFFERED,
    head_sha="a" * 40,
    opened_at=datetime(2026, 6, 15, 8, tzinfo=UTC),
    phase_since=datetime(2026, 6, 15, 9, 1, tzinfo=UTC),
    build_number=41,
    build_result="FAILURE",
    build_url="https://ci.example.com/job/Gate/41/",
    patch_attempts=1,
    comments_posted=4,
    unresolved=(
        Unresolved(
            stage="Check_Pylint",
            rule="W0611",
            place="a.py:3",
            verdict="pr",
            message="Unused import os",
            repairable=True,
        ),
    ),
)


def test_summary_in_full() -> None:
    assert (
        summary_body(CASE, Policy())
        == """## GateBot：门禁进行中

- **状态**：可以自动修复，等待命令 `/autofix`
- **最近构建**：[41](https://ci.example.com/job/Gate/41/)，结果 FAILURE
- **提交**：`aaaaaaaaaaaa`

### 未解决的问题

| 阶段 | 规则 | 位置 | 判断 | 说明 |
|---|---|---|---|---|
| Check\\_Pylint | W0611 | `a.py:3` | 由本 PR 引起，可自动修复 | Unused import os |

### 计数

修复提交 1/2 · 重跑 0/5 · 评论 4 · 临时注释 0

### 下一步

评论 `/autofix`，GateBot 会修复上面可自动修复的问题；也可以自行修改后推送。"""
    )


def test_final_report_in_full() -> None:
    ended = CASE.model_copy(
        update={
            "phase": Phase.ENDED,
            "outcome": Outcome.PATCH_CEILING,
            "reason": "gate.reason.patches",
            "reason_values": {"count": "2"},
            "commits": (Commit(sha="f" * 40, subject="fix(gate): x", rules=("W0611",), places=("a.py:3",)),),
        }
    )
    assert (
        final_body(ended, Policy(language="en"))
        == """## GateBot: final report

- **Result**: `patch-ceiling` — no repair attempts left
- **Reason**: After 2 repair attempt(s) the build still fails.
- **Last build**: [41](https://ci.example.com/job/Gate/41/), result FAILURE
- **Commit**: `aaaaaaaaaaaa`
- **Wall time**: 1 h 1 min

### Timeline

none

### Fix commits

- `ffffffffffff` fix(gate): x (W0611; a.py:3)

### Unresolved

| stage | rule | place | verdict | message |
|---|---|---|---|---|
| Check\\_Pylint | W0611 | `a.py:3` | caused by this change, repairable | Unused import os |

### Counters

patches 1/2 · flake retests 0/5 · comments 4 · comment-outs 0

### What to do next

Please look at the unresolved findings above, mend them and push; the gate then starts again by itself."""
    )
