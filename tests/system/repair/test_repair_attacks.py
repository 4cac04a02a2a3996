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
"""Pull requests that mean harm, or merely are strange, and branches that move while a repair is at work."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.gate.finding import Finding
from bot.repair.service import repair

MODULE = b'"""Helpers."""\nimport os\n\nVALUE = 1\n'
MENDED = MODULE.replace(b"import os\n", b"")
UNUSED = Finding(tool="pylint", rule="W0611", file="src/mesh.py", line=2, message="Unused import os")
OPS = "hyper_parallel/ops"


@pytest.mark.parametrize("move", ["pushed", "forced", "put-back", "deleted"])
async def test_a_branch_that_moves_before_the_push_is_left_alone(tmp_path: Path, kit: Any, move: str) -> None:
    forge = kit.make_forge(tmp_path, {"a.txt": b"1\n"}, {"src/mesh.py": MODULE})
    before = forge.tip("dev")
    moved = []

    def secrets_asked_for() -> tuple[str, ...]:
        # The service asks for them when the edit is made and proved, right before it commits and pushes.
        if move == "put-back":
            kit.git(forge.clone, "reset", "--quiet", "--hard", "HEAD~1")
        elif move == "forced":
            kit.git(forge.clone, "commit", "--quiet", "--amend", "-m", "feat: other words")
        else:
            forge.commit({"b.txt": b"2\n"})
        if move == "deleted":
            kit.git(forge.clone, "push", "--quiet", "origin", ":refs/heads/dev")
        else:
            forge.push("dev", force=move != "pushed")
            moved.append(forge.tip("dev"))
        return ()

    outcome = await repair(forge.task((UNUSED,), ("src/mesh.py",), known_secrets=secrets_asked_for))
    assert (outcome.status, outcome.commit_sha) == ("head-moved", "")
    if move == "deleted":
        assert kit.git(forge.origin, "for-each-ref", "refs/heads/dev") == ""
    else:
        assert forge.tip("dev") == moved[0] != before


async def test_a_submodule_beside_the_edit_stays_as_it_is(tmp_path: Path, kit: Any) -> None:
    forge = kit.make_forge(tmp_path, {}, {"src/mesh.py": MODULE})
    (forge.clone / ".gitmodules").write_text(
        '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% canary\n', encoding="utf-8"
    )
    kit.git(forge.clone, "add", ".gitmodules")
    kit.git(forge.clone, "update-index", "--add", "--cacheinfo", f"160000,{forge.tip('dev')},x")
    kit.git(forge.clone, "commit", "--quiet", "-m", "feat: a submodule")
    forge.push("dev")
    outcome = await repair(forge.task((UNUSED,), ("src/mesh.py", ".gitmodules", "x")))
    assert outcome.status == "pushed"
    assert kit.git(forge.origin, "diff", "--name-only", "dev^", "dev") == "src/mesh.py"
    assert kit.git(forge.origin, "ls-tree", "dev", "x").startswith("160000 commit")


MENDABLE = (
    "src/mesh.py",
    "src/网格.py",
    "src/a b.py",
    "src/it's.py",
    'src/say "hi".py',
    "src/$(touch x);.py",
    "src/a:2.py",
)
REFUSED = ("-n.py", "@n.py", "src/a\nb.py", "src/\x1b[31m.py", "src\\a.py", "src/\u202eyp.a.py")


async def test_strange_names_are_mended_and_known_again_or_refused(tmp_path: Path, kit: Any) -> None:
    paths = (*MENDABLE, *REFUSED)
    forge = kit.make_forge(tmp_path, {}, dict.fromkeys(paths, MODULE))
    findings = tuple(replace(UNUSED, file=path) for path in paths)
    task = forge.task(findings, paths)
    outcome = await repair(task)
    assert outcome.status == "pushed"
    assert {finding.file for finding in outcome.fixed} == set(MENDABLE)
    assert {finding.file: reason.text_id for finding, reason in outcome.refused} == dict.fromkeys(REFUSED, "outside-pr")
    assert [forge.show("dev", path) for path in MENDABLE] == [MENDED] * len(MENDABLE)
    assert [forge.show("dev", path) for path in REFUSED] == [MODULE] * len(REFUSED)
    # After a crash the same commit is known again, with everything it mended.
    again = await repair(task)
    assert (again.commit_sha, set(again.fixed)) == (outcome.commit_sha, set(outcome.fixed))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("import os\n".encode("utf-16"), "binary"),
        (b"import os\n" + b"#" * 10_000_000, "too-large"),
        (b"import os\n\0", "binary"),
        (b"import os\nX = '\xff'\n", "unreadable"),
    ],
)
async def test_files_that_are_no_plain_text_are_refused(tmp_path: Path, kit: Any, content: bytes, reason: str) -> None:
    forge = kit.make_forge(tmp_path, {}, {"src/mesh.py": content})
    finding = Finding(tool="pylint", rule="W0611", file="src/mesh.py", line=1, message="Unused import os")
    outcome = await repair(forge.task((finding,), ("src/mesh.py",)))
    assert outcome.status == "refused"
    assert [said.text_id for _, said in outcome.refused] in ([reason], ["not-reproduced"])


def bomb(levels: int) -> str:
    """A YAML text of a few lines that means two to the power of ``levels`` values."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


async def test_yaml_that_means_more_than_it_says_costs_nothing(tmp_path: Path, kit: Any) -> None:
    entry = "roll: {distributed_op_class: RolDistributedOp, distributed_op_file: parallel_rol}\n"
    files = {
        f"{OPS}/parallel_roll.py": b"class RolDistributedOp:\n    pass\n",
        f"{OPS}/yaml/roll.yaml": (bomb(60) + entry).encode(),
        f"{OPS}/yaml/large.yaml": (entry.replace("roll", "x") * 20_000).encode(),
        "conf/bomb.yaml": (bomb(60) + "b: 1\t# one\n").encode(),
    }
    forge = kit.make_forge(tmp_path, {}, files)
    findings = (
        Finding("rules", "", rule="op-yaml-without-class", file=f"{OPS}/yaml/roll.yaml", function="RolDistributedOp"),
        Finding("op_yaml", "", rule="op-yaml-without-class", function="roll"),
        Finding("tab", "tab character found", rule="tab", file="conf/bomb.yaml", line=61),
    )
    began = time.process_time()
    outcome = await repair(forge.task(findings, tuple(files)))
    assert outcome.status == "refused"
    assert {said.text_id for _, said in outcome.refused} == {"op-yaml-by-hand", "unproven"}
    assert time.process_time() - began < 60  # without the guard it would take longer than the universe is old


async def test_rule_files_of_the_pull_request_do_not_count(tmp_path: Path, kit: Any) -> None:
    canary = tmp_path / "canary"
    code = f"require('fs').writeFileSync({str(canary)!r}, '1'); module.exports = {{}};\n".encode()
    base = {".jenkins/rules/codespell/codespell.allow": b"numer\n"}
    change = {
        ".jenkins/rules/codespell/codespell.allow": b"numer\nteh\n",
        ".codespellrc": b"[codespell]\nignore-words-list = teh\n",
        "setup.cfg": b"[codespell]\nignore-words-list = teh\n",
        ".markdownlint-cli2.cjs": code,
        "docs/.markdownlint-cli2.mjs": code,
        "docs/a.md": b"# A\n\nMend teh mesh.\n",
    }
    forge = kit.make_forge(tmp_path, base, change)
    finding = Finding(tool="codespell", rule="typo", file="docs/a.md", line=3, message="teh ==> the")
    outcome = await repair(forge.task((finding,), tuple(change)))
    assert outcome.status == "pushed"
    assert kit.git(forge.origin, "diff", "--name-only", "dev^", "dev") == "docs/a.md"
    assert not canary.exists()


@pytest.mark.parametrize("left", ["nothing", "the-forges-own-ref", "the-branch-is-gone"])
@pytest.mark.parametrize("url", ["known", "unknown"])
async def test_a_deleted_fork_is_told_in_plain_words(tmp_path: Path, kit: Any, left: str, url: str) -> None:
    forge = kit.make_forge(tmp_path, {"a.txt": b"1\n"}, {"src/mesh.py": MODULE})
    gone = (tmp_path / "deleted.git").as_uri() if url == "known" else ""
    task = forge.task((UNUSED,), ("src/mesh.py",), push_url=gone)
    if left == "the-branch-is-gone":
        task = replace(task, push_url=task.clone_url)
    if left == "the-forges-own-ref":
        kit.git(forge.origin, "update-ref", f"refs/merge-requests/{task.number}/head", task.head_sha)
    kit.git(forge.origin, "update-ref", "-d", "refs/heads/dev")
    kit.git(forge.origin, "reflog", "expire", "--expire=now", "--all")
    outcome = await repair(task)
    assert outcome.detail is not None
    assert "源分支已被删除" in outcome.detail.text()
    assert "重新提交 PR" in outcome.detail.text()
    assert "git" not in outcome.detail.text().lower().replace("gatebot", "")
    assert outcome.status == ("proposed" if left == "the-forges-own-ref" else "refused")
