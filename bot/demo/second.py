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
"""The second act of the demo: a push that mends two of three findings resolves exactly those two comments.

The contributor's fork does not let GateBot in, so it proposes a patch in its sticky comment instead of pushing one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.demo import files
from bot.demo.story import LineComment, Onlooker, Stage, labels_are_on, line_comments, sticky_of
from bot.demo.watch import Happening
from bot.demo.world import REPO
from bot.gate.case import Outcome, Phase

AUTHOR, FORK = "dev-b", "dev-b/hyper-parallel"
BRANCH, TITLE = "feat-span", "feat: add span"


@dataclass(frozen=True, slots=True)
class Review:
    """What stood on the pull request.

    Attributes:
        number: The pull request.
        first: Line comments after the first red build.
        proposal: The sticky comment then.
        second: The same line comments after the push that mends two of three findings.
        last: After the push that mends the third.
        passed: Whether the gate is green at the end.
    """

    number: int
    first: tuple[LineComment, ...]
    proposal: str
    second: tuple[LineComment, ...]
    last: tuple[LineComment, ...]
    passed: bool

    @property
    def resolved(self) -> tuple[str, ...]:
        """Places whose comments the first of the two pushes resolved."""
        before = {comment.place for comment in self.first if comment.resolved}
        return tuple(comment.place for comment in self.second if comment.resolved and comment.place not in before)

    @property
    def left(self) -> tuple[str, ...]:
        """Places whose comments it left open."""
        return tuple(comment.place for comment in self.second if not comment.resolved)

    @property
    def wrong(self) -> str:
        """What is not as it should be, as the id of a text; empty when all is."""
        if len(self.first) != 3 or any(comment.resolved for comment in self.first):
            return "demo.second.wrong_first"
        exact = sorted(self.resolved) == sorted(files.SPAN_MENDED_PLACES) and self.left == (files.SPAN_LEFT_PLACE,)
        if not exact or len(self.second) != 3:
            return "demo.second.wrong_second"
        if len(self.last) != 3 or not all(comment.resolved for comment in self.last):
            return "demo.second.wrong_last"
        return "" if self.passed else "demo.second.wrong_gate"


async def play_review(stage: Stage, tell: Callable[[Happening], None], *, seconds: float = 240.0) -> Review:
    """Play the second act on a stage where the first one is over.

    Args:
        stage: The stage.
        tell: Told of everything that happens, as it happens.
        seconds: Real seconds after which it is given up.

    Raises:
        TimeoutError: It did not end in time; the message says where it stands.
    """
    forge = stage.world.forge

    async def push(text: str, message: str) -> str:
        return await forge.push(FORK, BRANCH, {files.SPAN_PATH: text}, author=AUTHOR, message=message)

    async with stage.clock.running():
        forge.add_user(AUTHOR)
        await forge.fork(REPO, AUTHOR)
        head = await push(files.SPAN_FAULTY, TITLE)
        pull = await forge.open_pull_request(
            REPO, author=AUTHOR, title=TITLE, body=files.SPAN_BODY, branch=BRANCH, head_repo=FORK
        )
        number = pull.number
        tell(Happening(stage.clock.now(), AUTHOR, "demo.second.opens", {"number": str(number)}))
        onlooker = Onlooker(stage, number, tell, seconds=seconds)

        async def ended_on(sha: str) -> tuple[LineComment, ...]:
            await onlooker.until(lambda case: case.phase is Phase.ENDED and case.head_sha == sha)
            return line_comments(stage, number)

        first = await ended_on(head)
        proposal = sticky_of(stage, number)
        tell(Happening(stage.clock.now(), AUTHOR, "demo.second.mends_two"))
        second = await ended_on(await push(files.SPAN_TWO_MENDED, "fix: two of three findings"))
        tell(Happening(stage.clock.now(), AUTHOR, "demo.second.mends_last"))
        last = await ended_on(await push(files.SPAN_GOOD, "fix: the last finding"))
        case = await stage.case(number)
    green = case is not None and case.outcome is Outcome.PASSED and labels_are_on(forge.labels(REPO, number))
    return Review(number, first, proposal, second, last, green)
