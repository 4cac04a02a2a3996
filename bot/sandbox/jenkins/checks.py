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
"""The gate's checks: each runs the real tool on the changed files and speaks in the gate's wrapper lines."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from bot.sandbox.jenkins import rules
from bot.sandbox.jenkins.dt_design import is_test_file, missing_fields
from bot.sandbox.jenkins.process import Ran, run

PYLINT_TEMPLATE = "{path}:{line}: [{msg_id}({symbol}), {obj}] {msg}"  # the form the community's gate prints
_CODE = {".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".java", ".js", ".py"}
_TAB_FREE = _CODE | {".cmake", ".json", ".md", ".rst", ".sh", ".txt", ".yaml", ".yml"}
_LIZARD = re.compile(r"^(?P<place>[^:]+:\d+): warning: (?P<function>.*) has (?P<nloc>\d+) NLOC, (?P<ccn>\d+) CCN")
_NOTHING_COLLECTED = 5


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a check may know.

    Attributes:
        workspace: Root of the checked-out tree.
        files: Changed files that exist, repository-relative, sorted.
        scratch: Directory outside the workspace for the check's own files.
        pytest_targets: What pytest is given; those that do not exist are left out.
        lizard_gate_form: Print complexity in the gate's recorded form instead of lizard's own.
        timeout: Real seconds for one tool.
    """

    workspace: Path
    files: tuple[str, ...]
    scratch: Path
    pytest_targets: tuple[str, ...] = ("tests",)
    lizard_gate_form: bool = False
    timeout: float = 300.0

    def of_kind(self, suffixes: set[str]) -> list[str]:
        """Changed files with one of these suffixes."""
        return [name for name in self.files if PurePosixPath(name).suffix.lower() in suffixes]


@dataclass(slots=True)
class Verdict:
    """Outcome of a check: its console lines and whether it failed; ``code`` is the exit code of the failed step."""

    lines: list[str] = field(default_factory=list)
    failed: bool = False
    code: int = 0
    junit: Path | None = None


Check = Callable[[Surroundings], Awaitable[Verdict]]


async def check_pylint(around: Surroundings) -> Verdict:
    """pylint on the changed Python files, with the repository's rcfile or the default one."""
    files = around.of_kind({".py"})
    if not files:
        return Verdict(["[INFO] Filter pylint."])
    own = around.workspace / rules.PYLINTRC
    if own.is_file():
        rcfile = rules.PYLINTRC
    else:
        fallback = around.scratch / "pylintrc"
        await asyncio.to_thread(fallback.write_text, rules.DEFAULT_PYLINTRC)
        rcfile = str(fallback)
    options = [f"--rcfile={rcfile}", f"--msg-template={PYLINT_TEMPLATE}", "--score=n", "--source-roots=."]
    # pylint reads its arguments twice and forgets about "--": a name like an option must not look like one.
    names = [f"./{name}" if name.startswith("-") else name for name in files]
    ran = await _python(around, ["-P", "-m", "pylint", *options, *names])
    lines = [line.removeprefix("./") for line in ran.lines]
    verdict = Verdict([f"+ pylint --rcfile={rcfile} {' '.join(files)}", *lines, "[INFO] Filter pylint."])
    if ran.code:
        verdict.lines.append("[ERROR] Filter pylint is failed, the actual value is 1.")
        verdict.failed, verdict.code = True, 1
    return verdict


async def check_codespell(around: Surroundings) -> Verdict:
    """codespell on every changed file, minus the words of the repository's allow list."""
    if not around.files:
        return Verdict()
    allow = ["-I", rules.CODESPELL_ALLOW] if (around.workspace / rules.CODESPELL_ALLOW).is_file() else []
    ran = await _python(around, ["-P", "-m", "codespell_lib", *allow, "--", *around.files])
    found = sum(" ==> " in line for line in ran.lines)
    return _counted("Codespell", [f"+ codespell {' '.join([*allow, *around.files])}", *ran.lines], found, ran)


async def check_lizard(around: Surroundings) -> Verdict:
    """lizard's complexity and length limits on changed code."""
    files = around.of_kind(_CODE)
    if not files:
        return Verdict()
    limits = ["-C", str(rules.LIZARD_CCN), "-T", f"nloc={rules.LIZARD_NLOC}"]
    ran = await _python(around, ["-P", "-m", "lizard", "-w", *limits, "--", *files])
    lines = ran.lines
    found = sum(bool(_LIZARD.match(line)) for line in lines)
    if around.lizard_gate_form:
        lines = [_gate_form(line) for line in lines]
    return _counted("Lizard", [f"+ lizard -w {' '.join([*limits, *files])}", *lines], found, ran)


async def check_dt_design(around: Surroundings) -> Verdict:
    """Docstring fields of the tests in changed test files."""
    verdict = Verdict(["+ check_dt_design"])
    for name in filter(is_test_file, around.files):
        source = await asyncio.to_thread((around.workspace / name).read_bytes)
        try:
            verdict.lines += [str(missing) for missing in missing_fields(source.decode("utf-8", "replace"))]
        except (SyntaxError, ValueError) as error:
            verdict.lines.append(f"[PYTHON] {name} could not be parsed: {error}")
    if len(verdict.lines) > 1:
        verdict.lines.append("[FAILURE] comment issues found in test cases")
        verdict.lines.append("[ERROR] Check DT design is failed, the actual value is 1.")
        verdict.failed, verdict.code = True, 1
    return verdict


async def check_tab(around: Surroundings) -> Verdict:
    """No tab characters in changed text files."""
    lines = []
    for name in around.of_kind(_TAB_FREE):
        content = await asyncio.to_thread((around.workspace / name).read_bytes)
        rows = enumerate(content.split(b"\n"), 1)
        lines += [f"{name}:{number}: tab character found" for number, row in rows if b"\t" in row]
    return _counted("Tab", ["+ check_tab", *lines], len(lines))


async def check_utf8(around: Surroundings) -> Verdict:
    """Changed text files are UTF-8; the first bad byte of each is named."""
    lines = []
    for name in around.of_kind(_TAB_FREE):
        content = await asyncio.to_thread((around.workspace / name).read_bytes)
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            lines.append(f"{name}: non-UTF-8 byte at offset {error.start}")
    return _counted("Utf8", ["+ check_utf8", *lines], len(lines))


async def run_pytest(around: Surroundings) -> Verdict:
    """The repository's own tests, with a JUnit report beside the log."""
    targets = [name for name in around.pytest_targets if (around.workspace / name).exists()]
    if not targets:
        return Verdict(["[INFO] no tests to run"])
    junit = around.scratch / "junit.xml"
    options = ["-p", "no:cacheprovider", f"--junitxml={junit}"]
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(around.workspace)}
    ran = await _python(around, ["-m", "pytest", *options, *targets], environment)
    verdict = Verdict([f"+ python -m pytest {' '.join(targets)}", *ran.lines])
    verdict.junit = junit if junit.is_file() else None
    verdict.failed = ran.code not in (0, _NOTHING_COLLECTED)
    verdict.code = ran.code if verdict.failed else 0
    return verdict


CHECKS: dict[str, Check] = {
    "Check_DT_Design": check_dt_design,
    "Check_Pylint": check_pylint,
    "Check_Codespell": check_codespell,
    "Check_Lizard": check_lizard,
    "Check_Tab": check_tab,
    "Check_Utf8": check_utf8,
    "UT": run_pytest,
}


async def _python(around: Surroundings, arguments: list[str], environment: dict[str, str] | None = None) -> Ran:
    return await run([sys.executable, *arguments], around.workspace, limit=around.timeout, environment=environment)


def _counted(tool: str, lines: list[str], found: int, ran: Ran | None = None) -> Verdict:
    broken = ran is not None and ran.code != 0 and not found  # the tool itself failed: never a silent pass
    if not found and not broken:
        return Verdict(lines)
    return Verdict([*lines, f"[ERROR] {tool} error number: {max(1, found)}"], failed=True, code=1)


def _gate_form(line: str) -> str:
    match = _LIZARD.match(line)
    if match is None:
        return line
    ccn, nloc = int(match["ccn"]), int(match["nloc"])
    if ccn > rules.LIZARD_CCN:
        said = f"cyclomatic complexity = {ccn} (threshold {rules.LIZARD_CCN})"
    else:
        said = f"NLOC = {nloc} (threshold {rules.LIZARD_NLOC})"
    return f"{match['place']}: {match['function']}: {said}"
