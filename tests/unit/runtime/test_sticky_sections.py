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
"""The one comment that is edited in place: its text from its sections, and when it asks to be written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.gate.decision import UpsertSticky
from bot.runtime import ledger, sticky
from bot.runtime.database import Database
from bot.runtime.sticky import MARKER, SECTIONS, Section, Urge, digest, render_sticky

KEY = "mindspore/hyper-parallel#647"


def test_sections_stand_in_their_order_whatever_order_they_came_in() -> None:
    bodies = {"flake": "### 五\n", "review": "### 三", "summary": "## 一", "patch": "### 四", "template": "### 二"}
    assert render_sticky(bodies, "zh") == "## 一\n\n### 二\n\n### 三\n\n### 四\n\n### 五"


def test_without_the_gate_s_section_there_is_a_title_and_what_is_empty_or_unknown_is_left_out() -> None:
    assert render_sticky({"template": "### 二", "review": " \n", "other": "x"}, "zh") == "## GateBot：小结\n\n### 二"
    assert render_sticky({}, "en") == "## GateBot: summary"


def test_what_is_too_long_is_left_out_and_says_so_the_longest_first() -> None:
    patch = "### Fix\n\n" + "+x\n" * 1000
    text = render_sticky(
        {"summary": "## State", "review": "### Found\n\n" + "y" * 500, "patch": patch}, "en", longest=900
    )
    assert text == "## State\n\n### Found\n\n" + "y" * 500 + "\n\n### Fix\n\n(too long, left out)"


@given(st.dictionaries(st.sampled_from(SECTIONS), st.text(max_size=3000)), st.integers(1200, 9000))
def test_the_text_always_fits(bodies: dict[str, str], longest: int) -> None:
    assert len(render_sticky(bodies, "zh", longest=longest)) <= longest


def test_the_digest_passes_over_the_mark_line_ends_and_blanks() -> None:
    mark = "<!-- gatebot:sticky-summary:0123456789abcdef -->"
    assert digest(f"a \r\nb\r\n\r\n{mark}\r\n") == digest("a\nb")
    assert digest("a\nb") != digest("a\n b")


def section(name: str, body: str, **options: bool) -> UpsertSticky:
    return UpsertSticky(effect_key="k", marker=name, body=body, **options)


async def test_a_section_asks_until_it_is_settled_and_the_same_text_does_not_ask_again(database: Database) -> None:
    async def put(action: UpsertSticky) -> dict[str, Section]:
        await database.run(lambda c: sticky.put(c, KEY, action))
        return await database.run(lambda c: sticky.read(c, KEY))

    assert await put(section("summary", "a")) == {"summary": Section("a", Urge.WRITE)}
    assert await put(section("summary", "b", may_wait=True)) == {"summary": Section("b", Urge.WRITE)}
    await database.run(lambda c: sticky.settle(c, KEY))
    assert await put(section("summary", "b")) == {"summary": Section("b", Urge.NONE)}
    assert await put(section("summary", "c", may_wait=True)) == {"summary": Section("c", Urge.WAIT)}
    assert await put(section("summary", "c", only_if_exists=True)) == {"summary": Section("c", Urge.EDIT)}


async def test_a_section_that_only_follows_is_not_kept_without_a_comment(database: Database) -> None:
    action = section("review", "a", only_if_exists=True)
    assert not await database.run(lambda c: sticky.put(c, KEY, action))
    assert await database.run(lambda c: sticky.read(c, KEY)) == {}
    await database.run(lambda c: ledger.keep_sticky(c, KEY, MARKER, ledger.Sticky(7, "d", "x")))
    assert await database.run(lambda c: sticky.put(c, KEY, action))
