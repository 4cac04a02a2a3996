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
"""A local Jenkins with real builds, as a real HTTP server with state."""

from bot.sandbox.jenkins.checkout import Source
from bot.sandbox.jenkins.gate import GateOptions, gate_console
from bot.sandbox.jenkins.model import Account, DescriptionForm, JobSettings, PullRequestTrigger, Run
from bot.sandbox.jenkins.server import SandboxJenkins

__all__ = [
    "Account",
    "DescriptionForm",
    "GateOptions",
    "JobSettings",
    "PullRequestTrigger",
    "Run",
    "SandboxJenkins",
    "Source",
    "gate_console",
]
