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
from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from multidict import CIMultiDict

from bot.errors import GateBotError, NotFound, Refused, RetryLater, TellOperator
from bot.gitcode import requests
from bot.gitcode.errors import Firewalled, NotYetThere, RateLimited, read_answer

NOW = datetime(2026, 6, 12, 1, 0, 0, tzinfo=UTC)
GET = requests.pull("o/r", 1)
POST = requests.create_comment("o/r", 1, "text")
PATCH = requests.edit_comment("o/r", 1, "text")


def failure(status: int, body: object, request: requests.Request = GET, **headers: str) -> GateBotError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})
    with pytest.raises(GateBotError) as caught:
        read_answer(request, status, names, raw, NOW)
    return caught.value


@pytest.mark.parametrize(
    ("status", "body", "kind", "part"),
    [
        (401, {"message": "401 Unauthorized"}, TellOperator, "gitcode.token"),
        (400, {"error_message": "Invalid header parameter: private-token, required"}, TellOperator, "gitcode.token"),
        (403, {"error_message": "no scopes:read_user"}, TellOperator, "scopes"),
        (
            403,
            {"error_code": 403, "error_message": "CH.00000403 apig token has not permission to request url"},
            TellOperator,
            "scopes",
        ),
        (403, {"error_message": "not yours"}, Refused, "not yours"),
        (404, {"error_code": 404, "error_message": "Label Not Found", "trace_id": "0f1e"}, NotFound, "trace 0f1e"),
        (404, {"message": "404 project not found"}, NotYetThere, "project"),
        (
            400,
            {"error_message": "Orchestration error: Invalid path parameter: note_id, number required"},
            Refused,
            "id",
        ),
        (409, {"error_message": "Another open merge request already exists: !321"}, Refused, "!321"),
        (301, b"", TellOperator, "gitcode.api_url"),
        (500, b"<html>oops</html>", RetryLater, "oops"),
        (504, {"error": "gateway"}, RetryLater, "gateway"),
        (200, {"error_code": 400, "error_message": "in the body"}, Refused, "in the body"),
        (200, {"error_code": 404, "error_message": "Label Not Found"}, NotFound, "Label"),
        (201, {"error_code": "abc"}, RetryLater, "500"),
        (200, b"<html>login</html>", RetryLater, "not JSON"),
        (200, b"\xff\xfe", RetryLater, "not JSON"),
    ],
)
def test_errors_are_sorted_by_remedy(status: int, body: object, kind: type[GateBotError], part: str) -> None:
    error = failure(status, body)
    assert type(error) is kind
    assert part in str(error)


def test_a_lost_answer_leaves_the_effect_of_a_post_unknown() -> None:
    for status, body in ((500, b""), (502, b"bad gateway"), (200, b"<html>"), (408, b"")):
        for request, unknown in ((POST, True), (PATCH, False), (GET, False)):
            error = failure(status, body, request)
            assert isinstance(error, RetryLater)
            assert error.effect_unknown is unknown


@pytest.mark.parametrize(
    ("headers", "delay"),
    [
        ({}, 60.0),
        ({"Retry_After": "7"}, 7.0),
        ({"retry_after": "Fri, 12 Jun 2026 01:00:30 GMT"}, 30.0),
        ({"Retry_After": "Fri, 12 Jun 2026 00:00:00 GMT"}, 0.0),
        ({"Retry_After": "soon"}, 60.0),
        ({"Retry_After": "9" * 5000}, 60.0),
        ({"Retry_After": "99999999"}, 3600.0),
        ({"X_RateLimit_Reset": str(int(NOW.timestamp()) + 12)}, 12.0),
        ({"X_RateLimit_Reset": "5"}, 60.0),
    ],
)
def test_the_wait_asked_for_is_read(headers: dict[str, str], delay: float) -> None:
    for status in (429, 418):
        error = failure(status, {"message": "slow down"}, POST, **headers)
        assert isinstance(error, RateLimited)
        assert error.delay == delay
        assert not error.effect_unknown
    assert isinstance(failure(418, b"Request Rejected, Suspected Unsafe"), Firewalled)


def test_403_with_nothing_left_is_a_limit() -> None:
    assert isinstance(failure(403, {"message": "forbidden"}, X_RateLimit_Remaining="0"), RateLimited)
    assert isinstance(failure(403, {"message": "forbidden"}, X_RateLimit_Remaining="3"), Refused)


def test_good_answers() -> None:
    listed = read_answer(GET, 200, CIMultiDict({"total_page": "3"}), b"[1]", NOW)
    assert (listed.data, listed.total_pages, listed.unreadable) == ([1], 3, False)
    assert read_answer(GET, 204, CIMultiDict(), b"", NOW).data is None
    assert read_answer(GET, 200, CIMultiDict({"total_page": "x"}), b"{}", NOW).total_pages == 0
    done = read_answer(PATCH, 200, CIMultiDict(), b'{"error_code":200,"error_code_name":"OK"}', NOW)
    assert done.unreadable
    assert done.data is None
