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
"""Made-up failing logs of many ecosystems: a hand-written report with its label, put into a realistic CI log."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Case:
    """A failure report.

    Attributes:
        name: Ecosystem and what goes wrong.
        ci: Which CI system prints the log.
        command: The failing command.
        noise: Pattern of the lines before the report; ``%d`` is a counter.
        count: How many of them.
        body: Lines of the report.
        first: Index in ``body`` of the first line that a person would copy.
        last: Index of the last one.
    """

    name: str
    ci: str
    command: str
    noise: str
    count: int
    body: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """A log with the 1-based lines that a person would copy."""

    name: str
    log: bytes
    first_line: int
    last_line: int


def read_cases() -> list[Case]:
    """All hand-written cases."""
    cases = []
    for path in sorted(HERE.glob("cases_*.txt")):
        for part in re.split(r"\n=== (?=\S+ \| )", path.read_text(encoding="utf-8")):
            head, _, text = part.removeprefix("=== ").partition("\n")
            name, ci, command, noise, count = head.replace("\\|", "\0").split(" | ")
            body, marks = [], []
            for line in text.rstrip("\n").split("\n"):
                if line == "@@":
                    marks.append(len(body))
                else:
                    body.append(line)
            if len(marks) != 2:
                raise ValueError(f"For {name}, label marks should be 2, but got {len(marks)}.")
            first, last = marks[0], marks[1] - 1
            while not body[first].strip():
                first += 1
            while not body[last].strip():
                last -= 1
            restored = [part.replace("\0", "|") for part in (command, noise)]
            cases.append(
                Case(name.strip(), ci.strip(), restored[0].strip(), restored[1], int(count), tuple(body), first, last)
            )
    return cases


def labelled(case: Case, seed: int, *, hard: bool = False) -> Labelled:
    """Puts a case into a log of its CI system.

    Args:
        case: The report.
        seed: Varies the surroundings.
        hard: Passing tests print errors and stack traces before, and a lot of output follows the telling lines.
    """
    chance = random.Random(f"{case.name}/{seed}/{hard}")
    before = list(_PRELUDES[case.ci](case, chance))
    noise = [_counted(case.noise, number + 1, chance) for number in range(case.count * (1 + seed % 3))]
    after = list(_TRAILERS[case.ci](case, chance))
    body = list(case.body)
    if hard:
        decoys = chance.sample(_DECOYS, 4)
        noise = _with_decoys(noise, decoys, chance)
        # a run of tests goes on behind a failure; a compiler, an installer or a script stops soon
        most = 220 if any(word in case.name for word in _GOES_ON) else 8
        later = [_counted(case.noise, 500 + number, chance) for number in range(chance.randint(0, most))]
        body[case.last + 1 : case.last + 1] = ["", *_with_decoys(later, decoys, chance)]
    lines = [*before, *noise, *body, *after]
    if case.ci == "actions":
        stamp = "2020-11-02T10:{:02d}:{:02d}.1234567Z "
        lines = [stamp.format(index // 60 % 60, index % 60) + line for index, line in enumerate(lines)]
    offset = len(before) + len(noise)
    text = "\r\n" if case.ci.startswith("travis") else "\n"
    return Labelled(case.name, (text.join(lines) + text).encode(), offset + case.first + 1, offset + case.last + 1)


_DECOYS = (
    ("ERROR [main] o.a.Pool - could not connect to localhost:5432, retrying in 100 ms",),
    ("WARN  Deprecated option --fail-fast is ignored",),
    (
        "java.lang.IllegalStateException: expected by the test",
        "\tat com.acme.Thing.run(Thing.java:12)",
        "\tat com.acme.ThingTest.copes(ThingTest.java:30)",
    ),
    ("[error] client disconnected (test of the error path)",),
    ("Error: Request failed with status code 404",),
    ("warning: unused variable: `x` [-Wunused-variable]", "   12 | int x = 3;", "      |     ^"),
    (
        "Traceback (most recent call last):",
        '  File "acme/worker.py", line 88, in run',
        "    self.step()",
        "ValueError: simulated failure of a worker",
    ),
    ("(node:4711) UnhandledPromiseRejectionWarning: Error: simulated",),
    ("rm: cannot remove 'tmp/cache': No such file or directory",),
)


_GOES_ON = (
    "test",
    "spec",
    "surefire",
    "pytest",
    "jest",
    "karma",
    "tap",
    "prove",
    "catch",
    "boost",
    "xunit",
    "pester",
    "ert",
)


def _with_decoys(lines: list[str], decoys: Sequence[tuple[str, ...]], chance: random.Random) -> list[str]:
    """Sprinkles what passing tests print when they test an error path."""
    mixed: list[str] = []
    for line in lines:
        if chance.random() < 0.06:
            mixed.extend(chance.choice(decoys))
        mixed.append(line)
    return mixed


def _counted(noise: str, number: int, chance: random.Random) -> str:
    while "%d" in noise:
        noise = noise.replace("%d", str(number if chance.random() < 0.7 else chance.randint(0, 99)), 1)
    return noise


def _travis_head(case: Case, chance: random.Random) -> Iterator[str]:
    yield "travis_fold:start:worker_info\r\x1b[0K\x1b[33;1mWorker information\x1b[0m"
    yield "hostname: abcd-efgh@1.production-2-worker-org-gce-x1"
    yield "version: v6.2.0 https://github.com/travis-ci/worker/tree/0000"
    yield "travis_fold:end:worker_info\r\x1b[0K"
    yield "travis_fold:start:system_info\r\x1b[0K\x1b[33;1mBuild system information\x1b[0m"
    yield f"Build language: {case.name.split('-')[0]}"
    for number in range(chance.randint(40, 120)):
        yield f"package-{number} version {number}.{chance.randint(0, 20)}.0"
    yield "travis_fold:end:system_info\r\x1b[0K"
    yield "W: http://ppa.launchpad.net/x/ubuntu/dists/trusty/Release.gpg: Signature uses weak digest algorithm (SHA1)"
    yield "E: Failed to fetch http://ppa.launchpad.net/old/dists/trusty/Release  404  Not Found"
    yield "$ git clone --depth=50 --branch=master https://github.com/acme/thing.git acme/thing"
    yield "Cloning into 'acme/thing'..."
    for percent in range(0, 101, 7):
        yield f"remote: Counting objects: {percent}% ({percent}/100)\rReceiving objects: {percent}%\x1b[K"
    yield "Setting environment variables from .travis.yml"
    yield "$ export CFLAGS=-Werror=format"


def _travis(case: Case, chance: random.Random) -> Iterator[str]:
    yield from _travis_head(case, chance)
    yield "travis_fold:start:install\r\x1b[0Ktravis_time:start:01ab\r\x1b[0K$ ./install-deps.sh"
    for number in range(chance.randint(60, 400)):
        kind = chance.random()
        if kind < 0.02:
            yield f"warning: dep-{number} is deprecated and will be removed"
        elif kind < 0.03:
            yield f"mkdir: cannot create directory '/opt/{number}': File exists"
        elif kind < 0.05:
            yield f"  Installing error-handling-lib-{number} (failsafe {number}.0)"
        else:
            yield f"  Downloading dep-{number} ({chance.randint(1, 900)} kB)"
    yield "travis_time:end:01ab:start=1,finish=2,duration=1\r\x1b[0Ktravis_fold:end:install\r\x1b[0K"
    if chance.random() < 0.5:
        yield "travis_time:start:02ab\r\x1b[0K$ ./before.sh"
        yield "prepared"
        yield 'The command "./before.sh" exited with 0.'
    yield f"travis_time:start:03ab\r\x1b[0K$ {case.command}"


def _travis_install(case: Case, chance: random.Random) -> Iterator[str]:
    yield from _travis_head(case, chance)
    yield f"travis_fold:start:install\r\x1b[0Ktravis_time:start:01ab\r\x1b[0K$ {case.command}"


def _travis_tail(case: Case, chance: random.Random) -> Iterator[str]:
    yield "travis_time:end:03ab:start=1,finish=2,duration=1\r\x1b[0K"
    yield f'\x1b[31;1mThe command "{case.command}" exited with {chance.choice((1, 1, 2))}.\x1b[0m'
    if chance.random() < 0.4:
        yield "travis_time:start:04ab\r\x1b[0K$ npm run docs"
        yield "docs built without errors"
        yield 'The command "npm run docs" exited with 0.'
    if chance.random() < 0.5:
        yield "travis_fold:start:after_failure\r\x1b[0K$ cat build/error.log"
        for number in range(chance.randint(1, 30)):
            yield f"log line {number}: upload failed, retrying"
        yield "travis_fold:end:after_failure\r\x1b[0K"
    yield ""
    yield "Done. Your build exited with 1."


def _travis_install_tail(case: Case, chance: random.Random) -> Iterator[str]:
    yield "travis_time:end:01ab:start=1,finish=2,duration=1\r\x1b[0K"
    yield f'\x1b[31;1mThe command "{case.command}" failed and exited with 1 during .\x1b[0m'
    yield ""
    yield "Your build has been stopped."


def _travis_timeout_tail(case: Case, chance: random.Random) -> Iterator[str]:
    yield ""


def _actions(case: Case, chance: random.Random) -> Iterator[str]:
    yield "##[section]Starting: Request a runner to run this job"
    yield "##[group]Operating System"
    yield "Ubuntu 18.04.5 LTS"
    yield "##[endgroup]"
    yield "##[group]Run actions/checkout@v2"
    for number in range(chance.randint(30, 90)):
        yield f"[command]/usr/bin/git step {number} --error-unmatch"
    yield "##[endgroup]"
    yield f"##[group]Run {case.command}"
    yield f"\x1b[36;1m{case.command}\x1b[0m"
    yield "shell: /bin/bash -e {0}"
    yield "##[endgroup]"


def _actions_tail(case: Case, chance: random.Random) -> Iterator[str]:
    yield "##[error]Process completed with exit code 1."
    yield "##[group]Run actions/upload-artifact@v2"
    for number in range(chance.randint(3, 20)):
        yield f"Uploaded file {number}"
    yield "Post job cleanup."
    yield "Cleaning up orphan processes"


def _gitlab(case: Case, chance: random.Random) -> Iterator[str]:
    yield "\x1b[0KRunning with gitlab-runner 12.9.0 (4c96e5ad)"
    yield "\x1b[0;m\x1b[0K  on docker-auto-scale 0277ea0f"
    yield "section_start:1586:prepare_executor\r\x1b[0K"
    yield "Using Docker executor with image node:12 ..."
    for number in range(chance.randint(20, 60)):
        yield f"Pulling layer {number}"
    yield "section_end:1586:prepare_executor\r\x1b[0Ksection_start:1587:build_script\r\x1b[0K"
    yield f"\x1b[32;1m$ {case.command}\x1b[0;m"


def _gitlab_tail(case: Case, chance: random.Random) -> Iterator[str]:
    yield "section_end:1588:build_script\r\x1b[0K\x1b[31;1mERROR: Job failed: exit code 1"
    yield "\x1b[0;m"


def _jenkins(case: Case, chance: random.Random) -> Iterator[str]:
    yield "Started by an SCM change"
    yield "Building on master in workspace /var/lib/jenkins/workspace/acme"
    for number in range(chance.randint(20, 90)):
        yield f" > git rev-parse {number}"
    yield f"+ {case.command}"


def _jenkins_tail(case: Case, chance: random.Random) -> Iterator[str]:
    yield "Build step 'Execute shell' marked build as failure"
    yield "Archiving artifacts"
    yield "Recording test results"
    yield "Finished: FAILURE"


_PRELUDES = {
    "travis": _travis,
    "travis-install": _travis_install,
    "travis-timeout": _travis,
    "actions": _actions,
    "gitlab": _gitlab,
    "jenkins": _jenkins,
}
_TRAILERS = {
    "travis": _travis_tail,
    "travis-install": _travis_install_tail,
    "travis-timeout": _travis_timeout_tail,
    "actions": _actions_tail,
    "gitlab": _gitlab_tail,
    "jenkins": _jenkins_tail,
}
