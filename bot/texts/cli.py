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
"""Sentences of the command line."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "cli.config_good": {"zh": "配置没有问题：{source}", "en": "The settings are good: {source}"},
    "cli.config_lacks": {
        "zh": "还缺 {name}（或 {name}_FILE）：没有它 gatebot serve 无法工作。",
        "en": "Still missing: {name} (or {name}_FILE); gatebot serve does not work without it.",
    },
    "cli.defaults": {"zh": "默认值", "en": "defaults"},
    "cli.listening": {"zh": "GateBot 已启动：{url}", "en": "GateBot listens on {url}"},
    "cli.no_repository": {
        "zh": "“{reference}” 没有写仓库。请写成 owner/repo#{number}，或在配置项 repositories 里只写一个仓库。",
        "en": "“{reference}” names no repository. Write owner/repo#{number}, or set exactly one in repositories.",
    },
    "cli.by_service": {"zh": "由正在运行的服务执行。", "en": "Carried out by the running service."},
    "cli.here": {
        "zh": "没有服务在运行，已在此处执行一步；后续请运行 gatebot serve，或加 --watch。",
        "en": "No service is running, so one step was done here; go on with gatebot serve, or use --watch.",
    },
    "cli.done": {"zh": "{case}：{phase}", "en": "{case}: {phase}"},
    "cli.effect": {"zh": "  {kind} → {state} {detail}", "en": "  {kind} → {state} {detail}"},
    "cli.nothing": {"zh": "  没有对外动作。", "en": "  Nothing left for the outside."},
    "cli.log_or_pull": {
        "zh": "diagnose：请给出 --log FILE 或一个合并请求，二者选一。",
        "en": "diagnose: give either --log FILE or a pull request.",
    },
    "cli.no_build": {"zh": "没有找到这个合并请求的失败构建。", "en": "No failed build of this pull request was found."},
}
