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
"""Readers of Jenkins' JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jenkins import models
from bot.sandbox.jenkins import DescriptionForm, PullRequestTrigger, Source
from bot.sandbox.jenkins.model import describe

SHA = "db336d3386067d09cb4cb115caa5e93e4a69cf5b"


@pytest.mark.parametrize(
    "text",
    [
        "Triggered by Gitee Pull Request #64: dev-a/sort-layout => master",
        "Triggered by dev-a Gitee Pull Request #64: dev-a/fix#647 => master",
        "由 Gitee Pull Request #64: dev-a/sort-layout => master 触发",
        "由 dev-a Gitee Pull Request #64: dev-a/sort-layout => master 触发",
        'Triggered by dev-a <a href="https://x.example/r/pulls/64" target="_blank">Gitee Pull Request #64</a>: a => b',
        "由 <a href='https://x.example/o/r/pulls/64'>Gitee Pull Request #64</a>: a =&gt; b 触发",
        '<a href="https://gitcode.com/mindspore/hyper-parallel/merge_requests/64">PR</a>',
        "Pull Request #64",
    ],
)
def test_pull_request_is_read_from_every_form_of_description(text: str) -> None:
    assert models.pull_request_of([text]) == 64


@pytest.mark.parametrize("text", ["", "Started by user dev-a", "fixes #64", "Pull Request 64", "issue/64/pull"])
def test_text_without_a_pull_request_gives_none(text: str) -> None:
    assert models.pull_request_of([text]) == 0


@given(
    number=st.integers(1, 10**9), form=st.sampled_from([f for f in DescriptionForm if f is not DescriptionForm.NONE])
)
def test_number_survives_the_description_digit_for_digit(number: int, form: DescriptionForm) -> None:
    trigger = PullRequestTrigger(
        source=Source(number, "", source_branch="fix#1"),
        user="dev-a",
        html_url=f"https://gitcode.com/mindspore/hyper-parallel/pulls/{number}",
    )
    text = describe(trigger, form)
    assert text is not None
    assert models.pull_request_of([text]) == number


def test_parameter_wins_over_description() -> None:
    assert models.pull_request_of(["Pull Request #64"], {"giteePullRequestIid": "647"}) == 647
    assert models.pull_request_of(["Pull Request #64"], {"giteePullRequestIid": ""}) == 64


def test_actions_with_empty_objects_null_description_and_password() -> None:
    build = models.read_build(
        {
            "number": 7,
            "url": "http://ci/job/Gate/7/",
            "result": "SUCCESS",
            "building": False,
            "inProgress": False,
            "queueId": 668,
            "timestamp": 1781500006000,
            "duration": 1000,
            "description": None,
            "actions": [
                {},
                {"causes": [{"shortDescription": "由 dev-a Gitee Pull Request #321: a => b 触发"}, {}]},
                {"parameters": [{"name": "password"}, {"name": "giteePullRequestLastCommit", "value": SHA}]},
                None,
            ],
        }
    )
    assert (build.pull_request, build.head_sha, build.queue_id, build.running) == (321, SHA, 668, False)
    assert build.started_at.isoformat() == "2026-06-15T05:06:46+00:00"


@pytest.mark.parametrize(
    ("building", "in_progress", "result", "running"),
    [
        (True, True, None, True),
        (True, True, "FAILURE", True),  # the result may be set while the build goes on
        (False, True, "FAILURE", True),  # the log may still grow
        (False, False, None, True),
        (False, False, "ABORTED", False),
        (False, False, "SUCCESS", False),
    ],
)
def test_build_is_over_only_when_both_flags_are_clear_and_the_result_is_set(
    building: bool, in_progress: bool, result: str | None, running: bool
) -> None:
    document = {"number": 1, "building": building, "inProgress": in_progress, "result": result, "timestamp": 0}
    assert models.read_build(document).running is running


def test_head_sha_needs_all_its_digits_and_no_rival() -> None:
    assert models.head_sha_of([f"commit {SHA}"]) == SHA
    assert models.head_sha_of([SHA[:12]]) == ""
    assert models.head_sha_of([SHA, "60a832502a2c571bec4ceaa636c6a213c2854f5a"]) == ""
    assert models.head_sha_of([SHA + "0"]) == ""


def test_queue_item_whose_executable_is_null_has_no_build_yet() -> None:
    left = {"id": 668, "cancelled": False, "executable": None, "why": None}
    assert models.read_queue_item(left).build_number == 0
    assert models.read_queue_item(left | {"executable": {"number": 2451}}).build_number == 2451
    assert models.read_queue_item({"id": 668, "cancelled": True}).cancelled


def test_stage_words_differ_from_build_words() -> None:
    stages = models.read_stages(
        {
            "stages": [
                {"name": "Check_Pylint", "status": "FAILED", "durationMillis": 4999},
                {"name": "UT", "status": "IN_PROGRESS"},
                {"name": "ST", "status": "NOT_EXECUTED"},
                {"name": "Smoke_CPU", "status": "UNSTABLE"},
            ]
        }
    )
    assert [(stage.name, stage.status) for stage in stages] == [
        ("Check_Pylint", "failed"),
        ("UT", "running"),
        ("ST", "skipped"),
        ("Smoke_CPU", "failed"),
    ]


def test_new_failure_is_a_regression_and_a_healed_one_passed() -> None:
    cases = [{"className": "t", "name": n, "status": s, "age": 1} for n, s in (("a", "REGRESSION"), ("b", "FIXED"))]
    tests = models.read_tests({"suites": [{"name": "pytest", "cases": cases}]})
    assert [(case.name, case.status) for case in tests] == [("a", "failed"), ("b", "passed")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text('a#1<"', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["number", "actions", "causes", "parameters", "name", "value", "stages", "suites", "cases"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(document=st.dictionaries(st.sampled_from(["builds", "actions", "stages", "suites", "executable"]), JSON))
def test_readers_survive_any_json(document: dict[str, object]) -> None:
    assert models.read_build(document).number == 0
    assert all(build.number > 0 for build in models.read_builds(document))
    assert models.read_queue_item(document).queue_id == 0
    assert len(models.read_stages(document)) >= 0
    assert all(case.status in ("passed", "failed", "skipped") for case in models.read_tests(document))
