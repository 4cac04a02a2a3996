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
"""The one place that uses a private part of DBOS: giving the wake-ups of dead processes to living ones.

Of what DBOS 3.4 offers publicly, ``resume_workflow`` comes nearest. It starts a workflow again whoever carries it, so
two replicas that look at once would both start the same one. Its own recovery moves a workflow only while it still
belongs to the process that is given up, in one statement; it is there for Conductor and the admin server alone.
"""

from __future__ import annotations

import importlib.metadata
import inspect

from dbos import DBOS

from bot.errors import TellOperator

_NAME = "_recover_pending_workflows"


def check_recovery() -> None:
    """Find out at the start, not when a replica dies, whether the installed DBOS has what take-over needs.

    Raises:
        TellOperator: It has not; the message says what to install.
    """
    found = getattr(DBOS, _NAME, None)
    try:
        inspect.signature(found).bind(["a replica"])  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        version = importlib.metadata.version("dbos")
        raise TellOperator(
            f"dbos {version} does not take over the work of replicas that died as GateBot asks it to (DBOS.{_NAME} is "
            "gone or takes other arguments). Install dbos 3.4: pip install 'dbos>=3.4,<3.5'",
            hint="cli.hint.dbos",
        ) from error


def recover(names: list[str]) -> None:
    """Put the unfinished workflows of these processes back into the queue; blocks, so call it in a thread.

    Args:
        names: Executor ids of processes that are gone.
    """
    getattr(DBOS, _NAME)(names)
