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
"""Hands findings to the review room, which puts them on the lines of the pull request."""

from __future__ import annotations

from bot.forge import PullRequest
from bot.gate.decision import CheapReview, PublishReview
from bot.runtime.outside import Reviewer, RoomAnswer


def make_reviewer() -> Reviewer:
    """A reviewer; it says so where line comments are not part of this release."""

    async def review(_action: PublishReview | CheapReview, _pull: PullRequest) -> RoomAnswer:
        return RoomAnswer("refused", "line comments are not part of this release")

    return review
