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
"""Console log to findings, causes and the few lines worth showing."""

from __future__ import annotations

from bot.diagnosis.engine import Diagnoser, diagnose
from bot.diagnosis.model import Cause, Diagnosis, Excerpt
from bot.diagnosis.paths import match_path, repo_path
from bot.diagnosis.templates import GreenTemplates

__all__ = ["Cause", "Diagnoser", "Diagnosis", "Excerpt", "GreenTemplates", "diagnose", "match_path", "repo_path"]
