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
"""Skills, rules, commands and agents as documents: format, limits, links, nothing said twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from skills_ref import read_properties, validate

ROOT = Path(__file__).parents[2]
SKILLS = sorted(path.parent for path in (ROOT / "skills").glob("*/SKILL.md"))
AGENT = sorted(path for kind in ("rules", "commands", "agents") for path in (ROOT / ".agent" / kind).glob("*.md"))
DOCUMENTS = sorted([*(ROOT / "skills").rglob("*.md"), *AGENT, ROOT / "AGENTS.md"])
SCRIPTS = sorted([*(ROOT / "skills").glob("*/scripts/*.py"), *(ROOT / ".agent" / "hooks").glob("*.py")])
KEYS = {"rules": {"description", "paths"}, "commands": {"description", "argument"}}
KEYS["agents"] = {"name", "description", "tools", "skills"}


def told(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def front_matter(path: Path) -> tuple[dict[str, object], str]:
    found = re.match(r"---\n(.*?)\n---\n(.*)", path.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"{path.name} has no front matter"
    return yaml.safe_load(found[1]), found[2]


def test_all_four_skills_are_there():
    assert [path.name for path in SKILLS] == ["autogit", "dist-op-analysis", "dist-op-dev", "gate-doctor"]


@pytest.mark.parametrize("skill", SKILLS, ids=lambda path: path.name)
def test_a_skill_is_valid_and_short(skill):
    assert validate(skill) == []
    properties = read_properties(skill)
    assert len(properties.description) <= 1024
    assert re.search(r"[\u4e00-\u9fff]", properties.description)
    assert re.search(r"\bUse\b", properties.description)
    body = (skill / "SKILL.md").read_text(encoding="utf-8")
    assert len(body.splitlines()) < 150
    assert "<" not in properties.description


@pytest.mark.parametrize("path", AGENT, ids=told)
def test_front_matter_of_agent_files(path):
    head, body = front_matter(path)
    assert set(head) == KEYS[path.parent.name]
    assert head.get("name", path.stem) == path.stem
    assert 0 < len(str(head["description"])) <= 200
    assert 0 < len(body.strip().splitlines()) <= 20
    for skill in str(head.get("skills", "")).split():
        assert (ROOT / "skills" / skill / "SKILL.md").is_file()
    for pattern in head.get("paths", []):
        assert next(ROOT.glob(pattern.removesuffix("/**") if pattern != "**" else "*"), None) is not None, pattern


@pytest.mark.parametrize("path", DOCUMENTS, ids=told)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{told(path)} links to {target}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=told)
def test_scripts_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    for script in re.findall(r"(?:skills|\.agent)/[\w./-]+\.py", text):
        assert (ROOT / script).is_file(), f"{told(path)} names {script}"


def test_nothing_is_said_twice():
    seen: dict[str, str] = {}
    for path in DOCUMENTS:
        text = re.sub(r"^---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for line in text.splitlines():
            for sentence in re.split(r"[。;\uff1b]", re.sub(r"[*`|>-]|\[[^\]]*\]\([^)]*\)", "", line)):
                key = re.sub(r"\s+", "", sentence)
                if len(key) < 16:
                    continue
                assert key not in seen, f"{told(path)} repeats {seen[key]}: {sentence.strip()}"
                seen[key] = told(path)


def test_every_client_finds_the_skills():
    for link in (".agent/skills", ".agents/skills", ".claude/skills"):
        assert (ROOT / link).is_symlink()
        assert (ROOT / link).resolve() == (ROOT / "skills").resolve()


@pytest.mark.parametrize("script", SCRIPTS, ids=told)
def test_every_script_explains_itself(script, run):
    done = run(told(script), "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert script.stat().st_mode & 0o111
