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
"""Edits of one repair: each is proved, and they have to hold together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.gate.finding import Finding
from bot.repair.service import repair


async def test_an_edit_that_trades_one_finding_for_another_is_taken_back(tmp_path: Path, kit: Any) -> None:
    # The docstring made of this name would hold a typo of its own.
    forge = kit.make_forge(tmp_path, {}, {"src/mesh.py": b'"""Doc."""\n\n\ndef recieve_mesh():\n    return 1\n'})
    finding = Finding(
        tool="pylint", rule="C0116", file="src/mesh.py", line=4, message="Missing function or method docstring"
    )
    head = forge.tip("dev")
    outcome = await repair(forge.task((finding,), ("src/mesh.py",)))
    assert (outcome.status, outcome.fixed, outcome.patch) == ("refused", (), "")
    assert [(one, reason.text_id) for one, reason in outcome.refused] == [(finding, "new-finding")]
    assert forge.tip("dev") == head


async def test_an_edit_that_takes_another_finding_with_it(tmp_path: Path, kit: Any) -> None:
    module = b'"""Doc."""\nimport subprocess\nimport sys   \n\nRUN = subprocess.run(["true"], check=False)\n'
    rcfile = b"[MAIN]\nmin-public-methods=0\n[FORMAT]\nmax-module-lines=1000\n"
    forge = kit.make_forge(tmp_path, {".jenkins/rules/pylint/pylintrc": rcfile}, {"src/mesh.py": module})
    findings = (
        Finding(tool="pylint", rule="C0303", file="src/mesh.py", line=3, message="Trailing whitespace"),
        Finding(tool="pylint", rule="W0611", file="src/mesh.py", line=3, message="Unused import sys"),
    )
    outcome = await repair(forge.task(findings, ("src/mesh.py",)))
    assert outcome.status == "pushed"
    assert set(outcome.fixed) | {finding for finding, _ in outcome.refused} == set(findings)
    assert findings[1] in outcome.fixed
    assert forge.show("dev", "src/mesh.py") == module.replace(b"import sys   \n", b"")


async def test_when_edits_do_not_hold_together_each_is_tried_alone(tmp_path: Path, kit: Any) -> None:
    # The docstring made of this name would hold a typo of its own, so that one edit must go and the other stay.
    module = b'"""Doc."""\n\n\ndef recieve_mesh():\n    return 1\n\n\nX = 1  \n'
    forge = kit.make_forge(tmp_path, {}, {"src/mesh.py": module})
    findings = (
        Finding(
            tool="pylint", rule="C0116", file="src/mesh.py", line=4, message="Missing function or method docstring"
        ),
        Finding(tool="pylint", rule="C0303", file="src/mesh.py", line=8, message="Trailing whitespace"),
    )
    outcome = await repair(forge.task(findings, ("src/mesh.py",)))
    assert outcome.status == "pushed"
    assert outcome.fixed == findings[1:]
    assert [(finding, reason.text_id) for finding, reason in outcome.refused] == [(findings[0], "new-finding")]
    assert forge.show("dev", "src/mesh.py") == module.replace(b"X = 1  \n", b"X = 1\n")
    assert outcome.subject == "fix(gate): Check_Pylint C0303 in src/mesh.py"


async def test_many_kinds_of_files_in_one_repair(tmp_path: Path, kit: Any) -> None:
    base = {
        ".clang-format": b"BasedOnStyle: Google\nColumnLimit: 120\n",
        ".jenkins/rules/codespell/codespell.allow": b"fo\n",
        ".jenkins/rules/pylint/pylintrc": b"[FORMAT]\nmax-line-length=120\n",
    }
    change = {
        "src/a.cc": b"// Copyright 2026 A\nint f(int x){ return x; }\n",
        "src/b.cc": "// 设备网格\nint b;\n".encode("gbk"),
        "CMakeLists.txt": b"project(a) \n",
        "docs/a.md": b"# A\n\nfo teh text\n",
        "src/long.py": b'"""Doc."""\nX = dict(%s)\n' % b", ".join(b"name%d=%d" % (n, n) for n in range(16)),
    }
    forge = kit.make_forge(tmp_path, base, change)
    findings = (
        Finding(
            tool="clang-format",
            rule="clang-format",
            file="src/a.cc",
            line=2,
            message="code does not match clang-format",
        ),
        Finding(tool="utf8", rule="utf8", file="src/b.cc", message="non-UTF-8 byte at offset 3"),
        Finding(
            tool="cmakelint", rule="whitespace/eol", file="CMakeLists.txt", line=1, message="Line ends in whitespace"
        ),
        Finding(tool="codespell", rule="typo", file="docs/a.md", line=3, message="teh ==> the"),
        Finding(tool="codespell", rule="typo", file="docs/a.md", line=3, message="fo ==> of, for, to, do, go"),
        Finding(tool="pylint", rule="C0301", file="src/long.py", line=2, message="Line too long (130/120)"),
    )
    outcome = await repair(forge.task(findings, tuple(change)))
    assert outcome.status == "pushed"
    assert set(outcome.fixed) == {*findings[:4], findings[5]}
    assert [reason.text_id for _, reason in outcome.refused] == ["not-reproduced"]  # the allow list has that word
    assert forge.show("dev", "src/a.cc") == b"// Copyright 2026 A\nint f(int x) { return x; }\n"
    assert forge.show("dev", "src/b.cc") == "// 设备网格\nint b;\n".encode()
    assert forge.show("dev", "docs/a.md") == b"# A\n\nfo the text\n"


async def test_a_rule_that_the_rcfile_has_off_is_still_proved(tmp_path: Path, kit: Any) -> None:
    base = {".jenkins/rules/pylint/pylintrc": b"[MESSAGES CONTROL]\ndisable=unused-variable\n"}
    module = b'"""Doc."""\n\n\ndef run(step):\n    """Run."""\n    y = step()\n    return 2\n'
    forge = kit.make_forge(tmp_path, base, {"src/mesh.py": module})
    finding = Finding(tool="pylint", rule="W0612", file="src/mesh.py", line=6, message="Unused variable 'y'")
    outcome = await repair(forge.task((finding,), ("src/mesh.py",)))
    assert outcome.fixed == (finding,)
    assert forge.show("dev", "src/mesh.py") == module.replace(b"y = step()", b"step()")
