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
"""The registry of commands: one source for the ``/help`` reply, the documentation and the CLI."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandUsage:
    """One command as people use it; ``text_id`` says what it does."""

    name: str
    usage: str
    text_id: str


COMMANDS: tuple[CommandUsage, ...] = tuple(
    CommandUsage(name, f"/{name}", f"commands.{name}")
    for name in ("check-pr", "retest", "diagnose", "autofix", "review", "stop", "help")
)

TEXTS: dict[str, dict[str, str]] = {
    "commands.check-pr": {
        "zh": "检查 PR 描述，通过后继续运行门禁",
        "en": "check the description, then go on with the gate",
    },
    "commands.retest": {
        "zh": "重新检查描述并触发流水线",
        "en": "check the description again and start the pipeline",
    },
    "commands.diagnose": {
        "zh": "说明最近一次失败构建的原因",
        "en": "explain why the newest build failed",
    },
    "commands.autofix": {
        "zh": "修复最近一次失败构建中可以自动修复的问题",
        "en": "repair what can be repaired in the newest failed build",
    },
    "commands.review": {
        "zh": "不等构建，直接检查改动的行",
        "en": "check the changed lines without waiting for a build",
    },
    "commands.stop": {
        "zh": "停止处理这个 PR",
        "en": "stop working on this pull request",
    },
    "commands.help": {
        "zh": "显示这张表",
        "en": "show this table",
    },
}
