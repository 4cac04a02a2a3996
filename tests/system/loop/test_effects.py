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
"""``perform``, the one way out: each effect key once, whatever was interrupted before."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.demo.world import BOT, REPO
from bot.errors import RetryLater
from bot.forge import PullRequest
from bot.gate.decision import (
    AddLabel,
    AnyAction,
    LineComment,
    PostCommand,
    RemoveLabel,
    Reply,
    UpsertSticky,
    WriteSticky,
)
from bot.gate.facts import ActionResult
from bot.runtime import ledger, records, sticky
from bot.runtime.act import bring_up_to_date, perform
from bot.runtime.outside import Outside
from bot.sandbox.faults import Fault, Trouble
from tests.system.loop.conftest import Opener, Play

KEY = f"{REPO}#647"


class Desk:
    """A pull request that GateBot itself leaves alone, and actions carried out on it by hand."""

    def __init__(self, p: Play, outside: Outside, pull: PullRequest) -> None:
        self.p, self.outside, self.pull = p, outside, pull

    @classmethod
    async def at(cls, p: Play) -> Desk:
        await p.open()
        outside = p.stage.server.service.outside()
        return cls(p, outside, await outside.forge.pull_request(REPO, p.number))

    async def do(self, action: AnyAction) -> ActionResult:
        return await perform(action, self.pull, self.outside)

    async def say(self, section: str, body: str, key: str, **options: bool) -> ActionResult | None:
        """Set a section and write what is due, as the end of a wake-up does."""
        await self.do(UpsertSticky(effect_key=key, marker=section, body=body, **options))
        return await bring_up_to_date(self.pull, key, self.outside)

    async def interrupted(self, action: AnyAction) -> None:
        """The ledger as a crash leaves it that comes before anything was entered about the answer."""
        await self.outside.database.run(lambda c: ledger.begin(c, action.effect_key, KEY, action.kind, 0.0))


async def test_the_same_key_acts_once_and_tells_the_same_result(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        first = await desk.do(PostCommand(effect_key="k1", command="/check-pr"))
        second = await desk.do(PostCommand(effect_key="k1", command="/check-pr"))
        assert first == second
        assert first.outcome == "done"
        assert p.said() == ["/check-pr"]
        await desk.do(PostCommand(effect_key="k2", command="/check-pr"))
        assert p.said() == ["/check-pr", "/check-pr"]
        trail = await desk.outside.database.run(lambda c: records.trail(c, KEY))
        assert [(entry.who, entry.what, entry.result, entry.detail) for entry in trail] == [
            (BOT, "post_command", "done", "k2"),
            (BOT, "post_command", "done", "k1"),
        ]


async def test_after_an_interruption_the_comment_is_looked_for(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        earlier = await desk.do(PostCommand(effect_key="k1", command="/retest"))
        await p.say(BOT, "/retest")  # written by the life that died before it could enter it
        action = PostCommand(effect_key="k2", command="/retest")
        await desk.interrupted(action)
        found = await desk.do(action)
        assert found.data["note_id"] != earlier.data["note_id"]
        assert found.detail == "found after an interruption"
        assert p.said() == ["/retest", "/retest"]


async def test_after_an_interruption_what_others_wrote_is_not_taken_for_ours(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        await p.say("dev-a", "/retest")
        action = PostCommand(effect_key="k1", command="/retest")
        await desk.interrupted(action)
        assert (await desk.do(action)).outcome == "done"
        assert p.said() == ["/retest"]


@pytest.mark.parametrize("hidden", [True, False])
async def test_a_reply_is_known_again_with_and_without_its_mark(play: Opener, hidden: bool) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        settings = desk.outside.settings
        comments = settings.comments.model_copy(update={"hidden_markers": hidden})
        desk.outside = replace(desk.outside, settings=settings.model_copy(update={"comments": comments}))
        reply = Reply(effect_key="r1", to_note=5, body="好的。\n\n已经在做了。")
        p.forge.faults.add(Fault(trouble=Trouble.AFTER_CUT, method="POST", path="/comments$"))
        with pytest.raises(RetryLater):
            await desk.do(reply)
        assert (await desk.do(reply)).detail == "found after an interruption"
        assert len(p.said()) == 1
        assert ("<!-- gatebot:reply:" in p.said()[0]) is hidden


async def test_all_sections_are_one_comment_that_is_written_only_when_asked_and_changed(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        for number, body in enumerate(["一", "二", "二", "三"]):
            await desk.say("summary", body, f"s{number}")
        assert [body.partition("\n")[0] for body in p.said()] == ["三"]
        assert len(p.forge.calls(BOT, method="PATCH")) == 2  # equal text is not written again
        await desk.say("review", "五", "r1", may_wait=True)
        assert len(p.forge.calls(BOT, method="PATCH")) == 2
        await desk.say("template", "四", "t1", only_if_exists=True)
        assert p.said()[0].startswith("三\n\n四\n\n五\n\n<!-- gatebot:sticky-summary:")
        assert len(p.said()) == 1
        assert len(p.forge.calls(BOT, method="GET", path="/pulls/comments/")) == 0


async def test_a_section_alone_gets_a_title_and_an_empty_one_goes(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        await desk.say("patch", "补丁", "p1")
        await desk.say("template", "缺少", "t1")
        assert p.said()[0].startswith("## GateBot：小结\n\n缺少\n\n补丁\n\n<!--")
        await desk.say("patch", "", "p2")
        assert p.said()[0].startswith("## GateBot：小结\n\n缺少\n\n<!--")


async def test_a_sticky_comment_lost_between_writing_and_entering_is_found(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        p.forge.faults.add(Fault(trouble=Trouble.AFTER_CUT, method="POST", path="/comments$"))
        with pytest.raises(RetryLater):
            await desk.say("summary", "一", "s1")
        await desk.say("summary", "二", "s2")
        assert [body.partition("\n")[0] for body in p.said()] == ["二"]
        rows = await desk.outside.database.run(lambda c: ledger.of_case(c, KEY))
        assert {str(row["state"]) for row in rows} == {"done"}  # the attempt that failed is settled by the later one


async def test_a_sticky_comment_that_somebody_deleted_is_written_anew_unless_it_only_follows(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        assert await desk.say("template", "零", "s0", only_if_exists=True) is None
        made = await desk.say("template", "一", "s1")
        assert made is not None
        await desk.outside.forge.delete_comment(REPO, int(made.data["note_id"]))
        await desk.say("template", "二", "s2", only_if_exists=True)
        assert p.said() == []
        await desk.say("template", "三", "s3")
        assert len(p.said()) == 1


async def test_an_edit_that_did_not_stick_is_seen_in_the_next_list_and_made_again(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        await desk.say("summary", "一", "s1")
        p.forge.faults.add(Fault(trouble=Trouble.ANSWER, method="PATCH", path="/comments/", status=200, body="{}"))
        await desk.say("summary", "二", "s2")
        assert [body.partition("\n")[0] for body in p.said()] == ["一"]
        listed = await desk.outside.forge.comments(REPO, p.number)
        assert not await desk.outside.database.run(lambda c: sticky.compare(c, KEY, listed))
        await bring_up_to_date(desk.pull, "s3", desk.outside)
        assert [body.partition("\n")[0] for body in p.said()] == ["二"]
        listed = await desk.outside.forge.comments(REPO, p.number)
        assert await desk.outside.database.run(lambda c: sticky.compare(c, KEY, listed))
        assert await bring_up_to_date(desk.pull, "s4", desk.outside) is None


async def test_a_write_whose_life_died_before_entering_it_is_settled_without_another_edit(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        await desk.say("summary", "一", "s1")
        for key, name in (("5", "6"), ("7", "7")):  # of an earlier wake-up, and of this very one
            action = WriteSticky(effect_key=f"{KEY}:sticky:write:{key}", body="一")
            await desk.interrupted(action)
            assert (await bring_up_to_date(desk.pull, name, desk.outside)) is not None
            assert await bring_up_to_date(desk.pull, "8", desk.outside) is None
        rows = await desk.outside.database.run(lambda c: ledger.of_case(c, KEY))
        assert {str(row["state"]) for row in rows} == {"done"}
        assert p.forge.calls(BOT, method="PATCH") == []


async def test_a_refused_edit_is_not_tried_again_until_something_changes(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        await desk.say("summary", "一", "s1")
        p.forge.faults.add(Fault(trouble=Trouble.ANSWER, method="PATCH", path="/comments/", status=403,
                                 body='{"error_code":403,"error_message":"no right"}'))  # fmt: skip
        refused = await desk.say("summary", "二", "s2")
        assert refused is not None
        assert refused.outcome == "refused"
        assert await bring_up_to_date(desk.pull, "s3", desk.outside) is None
        await desk.say("template", "三", "t1")
        assert p.said()[0].startswith("二\n\n三\n\n<!--")


async def test_labels_may_be_repeated_and_an_absent_one_taken_off(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        on = AddLabel(effect_key="l1", label="ci-pipeline-running")
        await desk.interrupted(on)
        assert (await desk.do(on)).outcome == "done"
        assert p.labels == {"ci-pipeline-running"}
        for number in (1, 2):
            off = RemoveLabel(effect_key=f"l-{number}", label="ci-pipeline-running")
            assert (await desk.do(off)).outcome == "done"
        assert p.labels == frozenset()


async def test_a_call_that_surely_did_nothing_leaves_no_trace_and_a_refusal_is_final(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        p.forge.faults.add(
            Fault(trouble=Trouble.ANSWER, method="POST", path="/comments$", times=0, status=429,
                  headers={"Retry-After": "900"}),
        )  # fmt: skip
        action = PostCommand(effect_key="k1", command="/retest")
        with pytest.raises(RetryLater) as caught:
            await desk.do(action)
        assert caught.value.delay >= 900
        assert await desk.outside.database.run(lambda c: ledger.find(c, "k1")) is None
        p.forge.faults.clear()
        p.forge.faults.add(Fault(trouble=Trouble.ANSWER, method="POST", path="/labels$", status=403,
                                 body='{"error_code":403,"error_message":"no right"}'))  # fmt: skip
        await p.stage.clock.sleep(1000)
        refused = await desk.do(AddLabel(effect_key="l1", label="x"))
        assert refused.outcome == "refused"
        assert "no right" in refused.detail
        assert await desk.do(AddLabel(effect_key="l1", label="x")) == refused


async def test_no_secret_leaves_in_a_comment(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        secret = desk.outside.settings.gitcode.token.get_secret_value()
        await desk.say("summary", f"log says {secret} and more", "s1")
        await desk.say("summary", f"again: {secret}", "s2")
        assert p.said()[0].startswith("again: ***")
        await desk.do(Reply(effect_key="r1", to_note=1, body=f"you said {secret}"))
        await desk.do(LineComment(effect_key="c1", path="numeric/clamp.py", line=0, body=f"it holds {secret}"))
        assert [said.partition("***")[0] for said in p.said()[1:]] == ["you said ", "it holds "]


async def test_two_at_once_act_once(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        action = AddLabel(effect_key="l1", label="x")
        results = await asyncio.gather(*(desk.do(action) for _ in range(5)))
        assert {result.outcome for result in results} == {"done"}
        assert p.labels == {"x"}


async def test_an_answer_to_the_command_line_stays_there(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p)
        result = await desk.do(Reply(effect_key="r1", to_note=-17, body="用法：…"))
        assert (result.outcome, result.detail) == ("done", "用法：…")
        assert p.said() == []
