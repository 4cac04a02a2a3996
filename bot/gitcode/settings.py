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
"""What differs between GitCode installations, or is told differently by different sources."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr


class GitCodeSettings(BaseModel):
    """Settings of the GitCode client.

    Attributes:
        base_url: Root of the REST API. Also seen: ``https://gitcode.com/api/v5``, ``https://api.atomgit.com/api/v5``.
        token: Access token; wants the scopes ``api, read_user, read_repository, write_repository``.
        auth_header: ``bearer`` (``Authorization: Bearer``) or ``private-token`` (``PRIVATE-TOKEN``); one, never both.
        calls_per_minute: Calls in any 60 s. GitCode documents 50; fewer leaves room for clocks that differ.
        calls_per_hour: Calls in any 3,600 s. GitCode documents 4,000.
        timeout_s: Seconds for one call, from connecting to the last byte.
        attempts: How often a call that may be repeated is tried in all.
        longest_wait_s: A wait longer than this is not sat out: the call fails with ``RetryLater`` and its ``delay``.
        user_agent: A browser-like value is reported to please the web firewall.
        comment_limit: Characters of a comment; longer ones are cut with a notice.
        cut_notice: Stands at the end of a comment that was cut; Markdown.
        head_form: How the head of a pull request from a fork is named first; the other form is tried when refused.
        proxy_from_environment: Obey ``HTTPS_PROXY`` and its kind.
        dry_run: Print writes instead of sending them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: HttpUrl = HttpUrl("https://api.gitcode.com/api/v5")
    token: SecretStr
    auth_header: Literal["bearer", "private-token"] = "bearer"
    calls_per_minute: int = Field(default=45, ge=1, le=100_000)
    calls_per_hour: int = Field(default=3_800, ge=1, le=1_000_000)
    timeout_s: float = Field(default=30.0, gt=0)
    attempts: int = Field(default=4, ge=1, le=10)
    longest_wait_s: float = Field(default=90.0, ge=0)
    user_agent: str = "Mozilla/5.0 (compatible; GateBot)"
    comment_limit: int = Field(default=65_535, ge=1_000)
    cut_notice: str = "**……内容过长，已截断。** (Cut: the text is too long.)"
    head_form: Literal["owner/repo:branch", "owner:branch"] = "owner/repo:branch"
    proxy_from_environment: bool = False
    dry_run: bool = False
