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
"""Which file of a repository is the template."""

from __future__ import annotations

import pytest

from bot.template.find import TEMPLATE_PATHS, choose_template, template_directories


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [
        (
            [".gitee/PULL_REQUEST_TEMPLATE.zh-CN.md", ".gitcode/PULL_REQUEST_TEMPLATE.md"],
            ".gitcode/PULL_REQUEST_TEMPLATE.md",
        ),
        (
            [".gitcode/PULL_REQUEST_TEMPLATE.md", ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md"],
            ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md",
        ),
        (["README.md", "Pull_Request_Template.MD"], "Pull_Request_Template.MD"),
        ([".github/pull_request_template.md", "PULL_REQUEST_TEMPLATE.en.md"], "PULL_REQUEST_TEMPLATE.en.md"),
        (["src/PULL_REQUEST_TEMPLATE.md", "ISSUE_TEMPLATE.md"], None),
        ([], None),
    ],
)
def test_choice(paths: list[str], chosen: str | None) -> None:
    assert choose_template(paths) == chosen
    assert choose_template(reversed(paths)) == chosen


def test_every_path_lies_in_a_listed_directory_and_chinese_comes_first() -> None:
    directories = template_directories()
    assert TEMPLATE_PATHS[0] == ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md"
    assert {path.rpartition("/")[0] for path in TEMPLATE_PATHS} == set(directories)
    assert len(set(TEMPLATE_PATHS)) == len(TEMPLATE_PATHS)
