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
"""Addresses on a Jenkins server."""

from __future__ import annotations

import pytest

from bot.jenkins.urls import build_number_of, job_path, queue_id_of, tree_query


def test_folders_are_job_segments_and_each_is_encoded() -> None:
    assert job_path("A/B c/门禁") == "job/A/job/B%20c/job/%E9%97%A8%E7%A6%81"


@pytest.mark.parametrize("name", ["", "/", "//"])
def test_job_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name should be like"):
        job_path(name)


def test_tree_has_no_bare_bracket_or_brace() -> None:
    query = tree_query("builds[number,actions[causes[*]]]{0,100}")
    assert query == "tree=builds%5Bnumber,actions%5Bcauses%5B%2A%5D%5D%5D%7B0,100%7D"


@pytest.mark.parametrize(
    ("location", "number"),
    [
        ("http://other-host:1/jenkins/queue/item/668/", 668),
        ("/queue/item/668", 668),
        (".", 0),
        ("http://ci/job/Gate/", 0),
        ("", 0),
        ("http://ci/queue/item/x/", 0),
    ],
)
def test_only_the_id_of_a_location_counts(location: str, number: int) -> None:
    assert queue_id_of(location) == number


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://build.mindspore.cn/job/Hyper-Parallel_Atomgit_Gate/3903/", 3903),
        ("https://build.mindspore.cn/job/A/job/2/17/console", 17),
        ("https://ci/blue/organizations/jenkins/A%2FGate/detail/Gate/12/pipeline", 12),
        ("https://ci/job/Gate/", 0),
        ("not a url", 0),
    ],
)
def test_build_number_of_classic_and_blue_ocean_addresses(url: str, number: int) -> None:
    assert build_number_of(url) == number
