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
"""Comments become commands, requests to the robot and what the robot said; each is taken in once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.gate.facts import RobotNote
from bot.gate.policy import Policy
from bot.intake.grammar import DEFAULT_GRAMMAR
from bot.runtime.memory import KEPT_SEEN, Memory
from bot.runtime.robot_notes import read_robot_note
from bot.runtime.said import Said, TakenIn, moment, take_in

START = datetime(2026, 6, 12, 1, 0, tzinfo=UTC)


def said(note_id: int, author: str, body: str, *, fresh: bool = True, minute: int | None = None) -> Said:
    return Said(note_id, author, body, START + timedelta(minutes=note_id if minute is None else minute), fresh)


def taken(*comments: Said, memory: Memory | None = None, on_edit: bool = False) -> TakenIn:
    return take_in(comments, memory or Memory(), Policy(), DEFAULT_GRAMMAR, bot_login="gate-bot", on_edit=on_edit)


def test_a_command_counts_once_by_whichever_way_it_comes() -> None:
    hook, listed = said(7, "dev-a", "/retest\r\n"), said(7, "dev-a", "/retest", fresh=False)
    first = taken(listed, hook)
    assert [(asked.command.name, asked.note_id) for asked in first.asked] == [("retest", 7)]
    assert [(request.name, request.by_bot) for request in first.memory.gate_requests] == [("retest", False)]
    again = taken(hook, listed, memory=first.memory)
    assert again.asked == ()
    assert again.memory == first.memory


def test_history_gives_no_commands_but_is_known_as_requests() -> None:
    old = taken(said(3, "dev-a", "/check-pr", fresh=False))
    assert old.asked == ()
    assert [request.note_id for request in old.memory.gate_requests] == [3]


def test_what_we_say_ourselves_is_a_request_and_never_a_command() -> None:
    ours = taken(said(4, "Gate-Bot", "/check-pr"))
    assert ours.asked == ()
    assert [(request.name, request.by_bot) for request in ours.memory.gate_requests] == [("check-pr", True)]


def test_an_alias_is_a_command_to_us_and_no_request_to_the_robot() -> None:
    alias = taken(said(5, "dev-a", "/重试"))
    assert [asked.command.name for asked in alias.asked] == ["retest"]
    assert alias.memory.gate_requests == ()


def test_an_edit_does_nothing_unless_it_is_allowed_and_then_only_what_is_new_counts() -> None:
    first = taken(said(6, "dev-a", "/diagnose"))
    edited = said(6, "dev-a", "/diagnose\n/autofix")
    assert taken(edited, memory=first.memory).asked == ()
    added = taken(edited, memory=first.memory, on_edit=True)
    assert [asked.command.name for asked in added.asked] == ["autofix"]


def test_comments_out_of_order_are_read_in_the_order_they_were_written() -> None:
    late = taken(said(9, "dev-a", "/retest", minute=1), said(8, "dev-a", "/stop", minute=5))
    assert [asked.command.name for asked in late.asked] == ["retest", "stop"]


def test_a_near_miss_is_suggested_once() -> None:
    miss = taken(said(10, "dev-a", "/retset"))
    assert [(one.typed, one.meant) for one in miss.suggestions] == [("/retset", "/retest")]
    assert taken(said(10, "dev-a", "/retset"), memory=miss.memory).suggestions == ()


def test_the_robot_edits_in_place_and_its_newest_text_counts() -> None:
    first = taken(said(11, "micro-compass", "The pipeline #3903 is running..."))
    table = "| | Check_Pylint | **FAILURE** | [3903](https://build.example.com/job/Gate/3903/) |"
    second = taken(said(11, "micro-compass", table), memory=first.memory)
    assert [(note.kind, note.build_number) for note in second.memory.robot_notes] == [("pipeline_result", 3903)]


def test_diaries_do_not_grow_without_end() -> None:
    memory = Memory()
    for start in range(0, 1000, 100):
        memory = taken(*(said(n, "dev-a", "/retest") for n in range(start + 1, start + 101)), memory=memory).memory
    assert len(memory.notes_seen) == 400
    assert len(memory.gate_requests) == 40
    assert memory.gate_requests[-1].note_id == 1000


@pytest.mark.parametrize(
    ("body", "kind", "build", "reasons"),
    [
        ("The pipeline #3903 is running...", "pipeline_running", 3903, ()),
        ("门禁触发失败，请通过/check-pr获取pr-check-pass", "trigger_refused", 0, None),
        (
            "当前/check-pr未通过，原因如下:\n以下Pull Request描述检查项未通过:\n- 模板中'设计说明' 信息为空，请补充\n",
            "check_failed",
            0,
            ("模板中'设计说明' 信息为空，请补充",),
        ),
        ("以下issue检查项未通过:\nPull Request未关联issue", "check_failed", 0, ("Pull Request未关联issue",)),
        (
            "| Project | Check Name | Result | Details |\n| --- | --- | --- | --- |\n"
            "|  | Check_Pylint | **FAILURE** | [3903](https://build.example.com/job/Gate/3903/console) |",
            "pipeline_result",
            3903,
            (),
        ),
    ],
)
def test_the_robots_sentences_are_understood(body: str, kind: str, build: int, reasons: tuple[str, ...] | None) -> None:
    note = read_robot_note(body, START, 5)
    assert isinstance(note, RobotNote)
    assert (note.kind, note.build_number) == (kind, build)
    if reasons is not None:
        assert note.reasons == reasons


QUIET = ("", "Welcome!", "CLA Signature Pass", "| a | b |\n| --- | --- |\n| 1 | 2 |", "/retest")


@pytest.mark.parametrize("body", QUIET)
def test_the_robots_other_sentences_mean_nothing_to_the_gate(body: str) -> None:
    assert read_robot_note(body, START, 5) is None


def test_the_html_table_of_the_other_gate_is_a_result() -> None:
    body = (
        "流水线 hyper-parallel #1706 [ commitID：121cc507 ] 已完成\n<table><tr><th>阶段</th><th>任务名</th></tr>"
        '<tr><td>门禁</td><td>UT</td><td>&#9989;</td><td><a href="https://ci.example.com/job/Gate/1706/console">&gt;</a>'
    )
    note = read_robot_note(body, START, 5)
    assert note is not None
    assert (note.kind, note.build_number) == ("pipeline_result", 1706)


HOSTILE = {
    "<" * 60_000: None,
    "<table>" * 9_000: None,
    "|**FAILURE" * 9_000: None,
    "pipeline #" * 9_000: None,
    "流水线" * 20_000: None,
    "流水线 #1" * 9_000: None,
    "\n" * 70_000: None,
    "| **FAILURE** |" + "/job/a" * 10_000: "pipeline_result",
    "检查项未通过" + "<a" * 30_000: "check_failed",
}


@pytest.mark.parametrize(("body", "kind"), HOSTILE.items(), ids=[body[:12] for body in HOSTILE])
def test_hostile_comments_of_a_robot_end(body: str, kind: str | None) -> None:
    note = read_robot_note(body, START, 5)
    assert (note.kind if note else None) == kind


def test_times_are_aware_whatever_the_forge_sends() -> None:
    assert moment("2026-06-17T16:13:09+08:00", 0.0) == datetime(2026, 6, 17, 8, 13, 9, tzinfo=UTC)
    assert moment("2026-06-17T16:13:09", 0.0).tzinfo is not None
    assert moment("", 60.0) == datetime(1970, 1, 1, 0, 1, tzinfo=UTC)
    assert moment("yesterday", 60.0) == datetime(1970, 1, 1, 0, 1, tzinfo=UTC)


def test_old_commands_do_not_come_to_life_again_when_the_diary_is_full() -> None:
    talk = [said(number, "dev-a", f"note {number}", minute=number) for number in range(2, KEPT_SEEN + 100)]
    page = [said(1, "dev-a", "/stop", minute=1), *talk]
    first = taken(*page)
    assert [asked.command.name for asked in first.asked] == ["stop"]
    assert len(first.memory.notes_seen) == KEPT_SEEN
    again = taken(*page, said(9000, "dev-a", "/help", minute=9000), memory=first.memory)
    assert [(asked.command.name, asked.note_id) for asked in again.asked] == [("help", 9000)]
    assert again.memory.gate_requests == first.memory.gate_requests
