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
"""Rules the gate falls back to where the repository under test brings none of its own."""

from __future__ import annotations

# The limits the community's gate tool names; a repository's own rcfile wins.
DEFAULT_PYLINTRC = """\
[MAIN]
persistent=no
jobs=1

[MESSAGES CONTROL]
disable=missing-module-docstring,
        too-few-public-methods,
        duplicate-code,
        consider-using-f-string,
        too-many-positional-arguments

[FORMAT]
max-line-length=120

[DESIGN]
max-args=7
max-attributes=12

[BASIC]
good-names=i,j,k,x,y,z,e,f,n,_
no-docstring-rgx=^_
docstring-min-length=3
"""

PYLINTRC = ".jenkins/rules/pylint/pylintrc"
CODESPELL_ALLOW = ".jenkins/rules/codespell/codespell.allow"
LIZARD_CCN = 19
LIZARD_NLOC = 100
