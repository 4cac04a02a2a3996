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
"""The answers to the three questions of triage, as sentences."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "triage.q1.yes": {
        "zh": "问题一：是，PR 改了构建或加载时的依赖 {detail}",
        "en": "Q1: yes, the change touches {detail}, which is used at build or load time",
    },
    "triage.q1.no": {
        "zh": "问题一：否，PR 没有改构建或加载时的依赖",
        "en": "Q1: no, nothing that is used at build or load time was changed",
    },
    "triage.q2.yes": {"zh": "问题二：是，测试会用到被改的代码（{detail}）", "en": "Q2: yes, the test reaches {detail}"},
    "triage.q2.maybe": {
        "zh": "问题二：可能，PR 改了产品代码，而导入关系无法查明",
        "en": "Q2: maybe, product code was changed and the imports could not be followed",
    },
    "triage.q2.no": {
        "zh": "问题二：否，测试的导入关系（含间接导入）不涉及被改的文件",
        "en": "Q2: no, the test's imports, direct and indirect, reach no changed file",
    },
    "triage.q2.in_diff": {"zh": "所报文件在本 PR 的改动里", "en": "the file is part of this change"},
    "triage.q2.not_in_diff": {"zh": "所报文件不在本 PR 的改动里", "en": "the file is not part of this change"},
    "triage.q3.passed": {
        "zh": "问题三：不含本 PR 时该测试通过（构建 {build}）",
        "en": "Q3: without this change the test passed (build {build})",
    },
    "triage.q3.failed": {
        "zh": "问题三：不含本 PR 时该测试同样失败（构建 {build}）",
        "en": "Q3: without this change the test fails as well (build {build})",
    },
    "triage.q3.unknown": {
        "zh": "问题三：未知，没有不含本 PR 的构建记录",
        "en": "Q3: unknown, there is no record of a build without this change",
    },
    "triage.infrastructure": {"zh": "环境故障，与代码无关", "en": "trouble of the infrastructure, not of the code"},
    "triage.process": {"zh": "流程问题，需要人处理", "en": "a matter of process, for a person"},
}
