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
"""What is a command and what merely looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.intake.commands import MAX_COMMANDS, Command, NearMiss, parse_comment
from bot.intake.distance import edit_distance
from bot.intake.grammar import FOREIGN_COMMANDS, OUR_COMMANDS, Grammar


def names(text: str) -> list[str]:
    return [command.name for command in parse_comment(text).commands]


@pytest.mark.parametrize(
    "text",
    [
        "/retest",
        "／retest",
        "  /retest  ",
        "\u3000／retest\u3000",
        "\u200b/re\u200dtest\ufeff",
        "/ReTest",
        "／ｒｅｔｅｓｔ",
        "/重试",
        "好的\r\n/retest\r\n",
        "第一行\n/retest\n最后一行",
        "- 列表\n/retest",
        "# 标题\n/retest",
        "> 引用\n\n/retest",
        "```\ncode\n```\n/retest",
        "/retest\n---",
        "/retest <!-- 为什么 -->",
    ],
)
def test_read_as_retest(text: str) -> None:
    parsed = parse_comment(text)
    assert [(command.name, command.arguments) for command in parsed.commands] == [("retest", "")]
    assert parsed.near_misses == ()


@pytest.mark.parametrize(
    "text",
    [
        "请评论 /retest 重跑",
        "`/retest`",
        "`第一行\n/retest\n第三行`",
        "```\n/retest\n```",
        "~~~sh\n/retest\n~~~",
        "```\n/retest",
        "1. 列表\n   ```\n   /retest\n   ```",
        "    /retest",
        "\t/retest",
        "> /retest",
        ">/retest",
        "> 引用\n/retest",
        "> > 深\n/retest",
        "<!-- /retest -->",
        "<!--\n/retest\n-->",
        "<!--\n\n/retest\n\n-->",
        "文字 <!--\n/retest\n-->",
        "文字 <!--\n\n/retest\n\n--> 文字",
        "<!-- 没有结束\n/retest",
        "<div>\n/retest\n</div>",
        '文字 <a title="\n/retest\n">x</a>',
        "[链接](\n/retest)",
        "[链接\n/retest\n](http://example.com)",
        "![图\n/retest\n](http://example.com/a.png)",
        "[引用]:\n/retest",
        "~~划掉\n/retest 掉~~",
        "\\/retest",
        "- /retest",
        "/retest_ut",
        "/retest_ut_cpp",
        "/retest-foo",
        "/retest/foo",
        "/retest.sh",
        "//retest",
        "/lgtm",
        "/approve cancel",
        "/kind bug",
        "> /kind bug",
        "/check-cla",
        "/tmp",
        "/etc/hosts",
        "/home/user/x",
        "/",
        "",
    ],
)
def test_silence(text: str) -> None:
    parsed = parse_comment(text)
    assert (parsed.commands, parsed.near_misses) == ((), ())


@pytest.mark.parametrize(
    ("text", "typed", "meant"),
    [
        ("/retst", "/retst", "/retest"),
        ("/reetst", "/reetst", "/retest"),
        ("/check_pr", "/check_pr", "/check-pr"),
        ("/checkpr", "/checkpr", "/check-pr"),
        ("/check pr", "/check", "/check-pr"),
        ("/diag", "/diag", "/diagnose"),
        ("/hlep", "/hlep", "/help"),
        ("/retest。", "/retest。", "/retest"),
        ("/ retest", "/ retest", "/retest"),
        ("/auto-fix", "/auto-fix", "/autofix"),
    ],
)
def test_near_misses(text: str, typed: str, meant: str) -> None:
    parsed = parse_comment(text)
    assert parsed.commands == ()
    assert parsed.near_misses == (NearMiss(typed, meant),)


def test_several_commands_keep_their_order_and_arguments() -> None:
    parsed = parse_comment("/check-pr\n然后\n/diagnose  build　12\n/lgtm\n/help\n/retset")
    assert parsed.commands == (
        Command("check-pr", "", "/check-pr"),
        Command("diagnose", "build 12", "/diagnose"),
        Command("help", "", "/help"),
    )
    assert parsed.near_misses == (NearMiss("/retset", "/retest"),)


def test_the_number_of_commands_is_capped_and_the_rest_is_told() -> None:
    parsed = parse_comment("/retest\n" * 14)
    assert (len(parsed.commands), parsed.dropped) == (MAX_COMMANDS, 4)


def test_aliases_come_from_configuration() -> None:
    grammar = Grammar.build({"/再跑": "/retest", "ＦＩＸ": "autofix"})
    assert [c.name for c in parse_comment("/再跑\n/fix", grammar).commands] == ["retest", "autofix"]
    assert parse_comment("/重试 /再跑一下", grammar).commands == ()


@pytest.mark.parametrize(
    ("aliases", "message"),
    [
        ({"跑": "run"}, "alias '跑' stands for 'run', which is no command; known: autofix, check-pr"),
        ({"两 词": "retest"}, "alias '两 词' must be one word without blanks or slashes"),
        ({"": "retest"}, "alias '' must be one word without blanks or slashes"),
        ({"stop": "retest"}, "alias 'stop' already stands for 'stop'"),
    ],
)
def test_a_bad_alias_is_named(aliases: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        Grammar.build(aliases)


PIECES = st.sampled_from(
    ["/retest", "／重试", "/x", "\n", "\n\n", " ", "\u3000", "`", "```\n", "> ", "<!--", "-->", "[a](", ")"]
)
WRAPS = [("```\n{}\n```", "`"), ("> {}", "\n"), ("<!-- {} -->", "-"), ("<!--\n\n{}\n\n-->", "-"), ("    {}", "\n")]


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(WRAPS))
@settings(max_examples=300, deadline=None)
def test_nothing_inside_code_quotes_or_comments_ever_runs(text: str, wrap: tuple[str, str]) -> None:
    form, escape = wrap
    inner = text.replace(escape, " ")
    assert names(form.format(inner)) == []


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_is_borne_and_only_known_commands_come_out(text: str) -> None:
    parsed = parse_comment(text)
    assert {command.name for command in parsed.commands} <= set(OUR_COMMANDS)
    assert {miss.meant for miss in parsed.near_misses} <= {f"/{name}" for name in OUR_COMMANDS}


@given(st.sampled_from(sorted(FOREIGN_COMMANDS)))
def test_other_robots_commands_never_draw_a_suggestion(word: str) -> None:
    assert parse_comment(f"/{word} x").near_misses == ()


@pytest.mark.parametrize(
    "unit", ["[", "`", "![", "<!--\n\n", "- a\n", "> a\n", "a\n", "<a ", "~~a ", "/x\n\n", "/retest\n", "\u200b"]
)
def test_a_megabyte_of_anything_is_read(unit: str) -> None:
    parsed = parse_comment("/stop\n\n" + unit * (1_000_000 // len(unit)))
    assert parsed.commands[0] == Command("stop", "", "/stop")


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance_is_symmetric_and_zero_only_for_equal_words(left: str, right: str) -> None:
    assert edit_distance(left, right, 9) == edit_distance(right, left, 9)
    assert (edit_distance(left, right, 9) == 0) is (left == right)
    assert edit_distance(left, right, 1) == min(edit_distance(left, right, 9), 2)
