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
"""Runs the sandbox by hand: ``python -m bot.sandbox.gitcode --port 8700``."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import tempfile
from pathlib import Path

from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.sandbox import Sandbox
from bot.sandbox.gitcode.state import MAINTAINER

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"


async def serve(host: str, port: int, state_dir: Path, hook: str, secret: str) -> None:
    """Run with one repository, one pull request and three accounts until interrupted."""
    async with Sandbox(state_dir, host=host, port=port, options=Options()) as forge:
        for login in ("dev-a", "gate-bot", "micro-compass"):
            forge.add_user(login)
        members = {"gate-bot": MAINTAINER, "micro-compass": MAINTAINER}
        await forge.create_repo(REPO, files={"README.md": "# HyperParallel\n", "a.py": "x = 1\n"}, members=members)
        await forge.fork(REPO, "dev-a")
        if hook:
            forge.add_hook(REPO, hook, secret=secret)
        await forge.push(FORK, "feature", {"a.py": "x = 2\n"}, author="dev-a", message="feat: two")
        pull = await forge.open_pull_request(
            REPO, author="dev-a", title="feat: two", body="", branch="feature", head_repo=FORK
        )
        print(f"API    {forge.api_url}")
        print(f"PR     {forge.origin}/{REPO}/merge_requests/{pull.number}")
        print(f"git    {forge.clone_url(REPO)}")
        print("tokens " + "  ".join(user.token for user in forge.world.users.values()), flush=True)
        stop = asyncio.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
        await stop.wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox.gitcode", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8700)
    parser.add_argument("--state", type=Path, help="directory for the repositories (default: a temporary one)")
    parser.add_argument("--hook", default="", help="URL that gets the web hooks")
    parser.add_argument("--secret", default="sandbox-secret", help="signs the web hooks")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        state = args.state or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gitcode-sandbox-")))
        asyncio.run(serve(args.host, args.port, state, args.hook, args.secret))


if __name__ == "__main__":
    main()
