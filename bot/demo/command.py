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
"""``gatebot demo``: plays the story and prints it; the exit code tells the outcome."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from bot.demo import second
from bot.demo.second import Review, play_review
from bot.demo.story import Ending, LineComment, Stage, play
from bot.demo.watch import Happening
from bot.demo.world import AUTHOR, BOT, REPO, ROBOT, WorldOptions
from bot.texts import plain

_SECONDS = 240.0
_COLOURS = {AUTHOR: "cyan", second.AUTHOR: "cyan", BOT: "green", ROBOT: "magenta", "Jenkins": "yellow"}


def run(*, as_json: bool = False, keep: bool = False, language: str = "zh", verbose: bool = False) -> int:
    """Play the demo.

    Args:
        as_json: Print one JSON object instead of the story.
        keep: Leave the sandbox running afterwards, until Ctrl-C.
        language: ``zh`` or ``en``.
        verbose: Show log lines on standard error.

    Returns:
        0 when both pull requests went through the gate and the comments were resolved as they should, else 1.
    """
    level = logging.INFO if verbose else logging.ERROR
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="gatebot-demo-", ignore_cleanup_errors=True) as directory:
        teller = Teller(language, silent=as_json)
        try:
            return asyncio.run(_run(Path(directory), teller, as_json=as_json, keep=keep))
        except KeyboardInterrupt:
            return 130


class Teller:
    """Prints the story as it happens and keeps it for ``--json``."""

    def __init__(self, language: str, *, silent: bool) -> None:
        self.language = language
        self.console = Console(quiet=silent, highlight=False)
        self.told: list[dict[str, str]] = []

    def text(self, text_id: str, **values: object) -> str:
        """A sentence for the terminal."""
        return plain(text_id, self.language, **values)

    def tell(self, happening: Happening) -> None:
        """One line: the sandbox's time of day, who, what."""
        sentence = self.text(happening.text_id, **happening.values)
        self.told.append({"at": happening.at.isoformat(), "who": happening.who, "what": sentence})
        line = Text(f"{happening.at:%H:%M:%S}  ", style="dim")
        line.append(f"{happening.who:<14}", style=_COLOURS.get(happening.who, ""))
        line.append(sentence)
        self.console.print(line, soft_wrap=True)

    def heading(self, text_id: str, **values: object) -> None:
        """A heading."""
        self.console.print()
        self.console.print(Rule(self.text(text_id, **values), align="left", style="dim"))


async def _run(state: Path, teller: Teller, *, as_json: bool, keep: bool) -> int:
    options = WorldOptions(state=state, gate={"language": teller.language})
    began = time.monotonic()
    async with Stage(state, options=options) as stage:
        forge, jenkins = stage.world.forge.origin, stage.world.jenkins.url
        dashboard = f"http://127.0.0.1:{stage.server.port}/"
        teller.heading("demo.title")
        teller.console.print(teller.text("demo.where", forge=forge, jenkins=jenkins, dashboard=dashboard), style="dim")
        teller.console.print()
        why, ending, review = "", None, None
        try:
            ending = await play(stage, teller.tell, seconds=_SECONDS)
            _show_ending(teller, ending)
            teller.heading("demo.second.title")
            review = await play_review(stage, teller.tell, seconds=_SECONDS)
            _show_review(teller, review)
        except TimeoutError as error:
            why = teller.text("demo.timeout", seconds=round(_SECONDS), phase=error)
        why = why or _trouble(teller, ending, review)
        if why:
            teller.console.print(teller.text("demo.failed", why=why), style="bold red")
        else:
            passed = teller.text("demo.passed", wall=f"{time.monotonic() - began:.0f}")
            teller.console.print(passed, style="bold green")
        if as_json:
            print(json.dumps(_as_json(teller, ending, review, why), ensure_ascii=False, indent=2))
        if keep:
            pull = f"{forge}/{REPO}/merge_requests/{stage.world.options.first_pull}"
            shown = teller.text("demo.keep", pull=pull, jenkins=jenkins, dashboard=dashboard)
            print(shown, file=sys.stderr if as_json else sys.stdout, flush=True)
            async with stage.clock.running():
                await asyncio.Event().wait()
        return 1 if why else 0


def _trouble(teller: Teller, ending: Ending | None, review: Review | None) -> str:
    """What did not go as it should; empty when all did."""
    if ending is None or not ending.passed:
        return (ending.case.outcome or ending.case.phase).value if ending else "-"
    return teller.text(review.wrong) if review is not None and review.wrong else ""


def _show_ending(teller: Teller, ending: Ending) -> None:
    console = teller.console
    if ending.fix:
        teller.heading("demo.diff")
        console.print(Syntax(ending.fix, "diff", background_color="default", word_wrap=True))
    _show_lines(teller, ending.lines)
    teller.heading("demo.report")
    console.print(Markdown(_plain(ending.report)))
    console.print()
    counters = teller.text(
        "demo.counters",
        calls=ending.calls,
        comments=ending.comments,
        builds=ending.builds,
        commits=len(ending.case.commits),
        virtual=str(ending.virtual).partition(".")[0],
        wall=f"{ending.wall:.1f}",
    )
    console.print(counters, style="bold")


def _show_lines(teller: Teller, comments: Sequence[LineComment]) -> None:
    """The line comments, word for word."""
    teller.heading("demo.lines")
    for comment in comments:
        state = teller.text("demo.line_resolved" if comment.resolved else "demo.line_open")
        teller.console.print(Text(f"{comment.place}  {state}", style="bold"))
        teller.console.print(Padding(Markdown(_plain(comment.body)), (0, 0, 1, 4)))


def _show_review(teller: Teller, review: Review) -> None:
    _show_lines(teller, review.second)
    teller.heading("demo.second.sticky")
    teller.console.print(Markdown(_plain(review.proposal)))
    teller.console.print()
    right = not review.wrong
    said = {"resolved": ", ".join(review.resolved) or "-", "left": ", ".join(review.left) or "-"}
    teller.console.print(teller.text("demo.second.check", **said), style="bold green" if right else "bold red")


def _plain(body: str) -> str:
    return body.partition("<!-- gatebot:")[0].rstrip()


def _as_json(teller: Teller, ending: Ending | None, review: Review | None, why: str) -> dict[str, Any]:
    result: dict[str, Any] = {"passed": not why, "why": why, "story": teller.told}
    if ending is not None:
        result |= {
            "outcome": ending.case.outcome.value if ending.case.outcome else None,
            "labels": sorted(ending.labels),
            "report": ending.report,
            "line_comments": [asdict(comment) for comment in ending.lines],
            "fix": ending.fix,
            "counters": {
                "gitcode_calls": ending.calls,
                "comments": ending.comments,
                "builds": ending.builds,
                "fix_commits": len(ending.case.commits),
                "wall_seconds": round(ending.wall, 1),
                "sandbox_seconds": round(ending.virtual.total_seconds()),
            },
        }
    if review is not None:
        result["review"] = {
            "line_comments": [asdict(comment) for comment in review.first],
            "sticky": review.proposal,
            "resolved_by_the_first_push": list(review.resolved),
            "left_open_by_it": list(review.left),
            "passed": review.passed,
        }
    return result
