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
"""Runs the sandbox Jenkins by hand: ``python -m bot.sandbox.jenkins --port 8080 --repository URL``."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress

from bot.sandbox.jenkins.model import Account, JobSettings
from bot.sandbox.jenkins.server import SandboxJenkins


async def serve(chosen: argparse.Namespace) -> None:
    """Serve until stopped."""
    job = JobSettings(
        name=chosen.job,
        repository_url=chosen.repository,
        target_branch=chosen.target_branch,
        reported_seconds=None,
        quiet_seconds=1.0,
    )
    accounts = [Account("gate", token=chosen.token)] if chosen.token else []
    async with SandboxJenkins(
        [job],
        port=chosen.port,
        context_path=chosen.context_path,
        accounts=accounts,
        csrf=bool(accounts),
        anonymous_build=not accounts,
    ) as jenkins:
        print(f"Jenkins: {jenkins.url}  job: {chosen.job}", flush=True)
        await asyncio.Event().wait()


def main(arguments: list[str] | None = None) -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox.jenkins", description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--job", default="Gate", help="full name of the job, folders separated by /")
    parser.add_argument("--repository", default="", help="clone URL of the repository whose requests are built")
    parser.add_argument("--target-branch", default="master")
    parser.add_argument("--context-path", default="")
    parser.add_argument(
        "--token", default="", help="API token of the user 'gate'; without one anybody may start builds"
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
