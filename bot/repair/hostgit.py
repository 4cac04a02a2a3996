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
"""The only way this room talks to git: GitPython with every door shut that a pull request could open."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import git

from bot.errors import GateBotError, NotFound, RetryLater, TellOperator
from bot.repair.task import Credentials

# A work tree's content can name hooks, monitors, filters, submodules and helper programs; none of them may run on the
# host.
_HARDENED: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.autocrlf=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "diff.ignoreSubmodules=all",
    "credential.helper=",
    "commit.gpgSign=false",
    "push.recurseSubmodules=no",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
)
_KEPT_VARIABLES: Final = frozenset(
    {
        "PATH",
        "HOME",
        "TMPDIR",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
    }
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "LANGUAGE", "LC_ALL"}
)
_FIXED_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
_ASKPASS: Final = """#!/bin/sh
case "$1" in
  Username*) printf '%s\\n' "$GATEBOT_GIT_USERNAME" ;;
  *) printf '%s\\n' "$GATEBOT_GIT_PASSWORD" ;;
esac
"""
_PASSING: Final = re.compile(
    r"could not resolve host|failed to connect|couldn't connect|connection (?:timed out|reset|refused)"
    r"|timed out|timeout"
    r"|early eof|rpc failed|the remote end hung up|http (?:429|5\d\d)|returned error: (?:429|5\d\d)|gnutls|ssl_|tls"
    r"|temporarily unavailable|cannot lock ref|unable to create .*\.lock",
    re.IGNORECASE,
)
_NO_RIGHT: Final = re.compile(
    r"authentication failed|could not read (?:username|password)|returned error: 40[13]|permission(?: to .*)? denied"
    r"|not allowed to push|access denied|you are not allowed|pre-receive hook declined"
    r"|protected branch|terminal prompts disabled",
    re.IGNORECASE,
)
_MISSING: Final = re.compile(
    r"couldn't find remote ref|repository .*not found|not our ref|does not appear to be a git repository"
    r"|returned error: 404",
    re.IGNORECASE,
)
_USERINFO: Final = re.compile(r"(?<=://)[^/@\s]+@")


class NoRight(TellOperator):
    """The forge understood the log-in and refused it for this act."""


@dataclass(frozen=True, slots=True)
class GitResult:
    """Exit status and output of one git command."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Standard output, decoded and stripped."""
        return self.stdout.decode("utf-8", "replace").strip()


def redact(text: str, secret: str = "") -> str:
    """Take a log-in out of git's own words."""
    text = _USERINFO.sub("***@", text)
    return text.replace(secret, "***") if secret else text


def failure(result: GitResult, what: str, *, effect_unknown: bool = False) -> GateBotError:
    """Sort a failed git command by remedy. A timeout (code -9 and the like) is a passing trouble."""
    words = redact(result.stderr.strip()[-600:])
    message = f"git {what} failed ({result.code}): {words}"
    if _NO_RIGHT.search(words):
        return NoRight(message)
    if _MISSING.search(words):
        return NotFound(message)
    if result.code < 0 or _PASSING.search(words):
        return RetryLater(message, effect_unknown=effect_unknown)
    return TellOperator(message)


def run(
    args: Sequence[str],
    *,
    cwd: Path,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120.0,
    check: bool = True,
    effect_unknown: bool = False,
) -> GitResult:
    """Run one git command in hardened form.

    Args:
        args: Arguments after ``git``.
        cwd: Directory to run in.
        git_dir: Passed as ``--git-dir``, so that a ``.git`` file in a work tree is never trusted.
        work_tree: Passed as ``--work-tree``.
        env: More environment variables; values never show up in a command line.
        timeout: Seconds until the command is killed.
        check: Raise on a non-zero exit status.
        effect_unknown: Put into a ``RetryLater`` when a write may have arrived all the same.

    Raises:
        RetryLater, NotFound, NoRight, TellOperator: by remedy, when ``check`` is set.
    """
    full = {**_FIXED_ENVIRONMENT, **(env or {})}
    # GitPython hands on the whole environment; "env -u" takes out what the daemon holds, by name only.
    dropped = [name for name in os.environ if name not in _KEPT_VARIABLES and name not in full]
    command = ["env", *(part for name in dropped for part in ("-u", name)), "git"]
    command += [part for option in _HARDENED for part in ("-c", option)]
    if git_dir is not None:
        command.append(f"--git-dir={git_dir}")
    if work_tree is not None:
        command.append(f"--work-tree={work_tree}")
    code, stdout, stderr = git.cmd.Git(str(cwd)).execute(
        [*command, *args],
        with_extended_output=True,
        with_exceptions=False,
        stdout_as_string=False,
        strip_newline_in_stdout=False,
        kill_after_timeout=timeout,
        env=full,
    )
    result = GitResult(code, stdout if isinstance(stdout, bytes) else str(stdout).encode(), str(stderr))
    if check and result.code != 0:
        raise failure(result, args[0], effect_unknown=effect_unknown)
    return result


@contextmanager
def login(credentials: Credentials | None) -> Iterator[dict[str, str]]:
    """Environment for one fetch or push: an askpass program that reads the log-in from variables, gone afterwards."""
    if credentials is None:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="gatebot-askpass-") as directory:
        program = Path(directory) / "askpass"
        program.write_text(_ASKPASS, encoding="utf-8")
        program.chmod(0o700)
        yield {
            "GIT_ASKPASS": str(program),
            "GATEBOT_GIT_USERNAME": credentials.username,
            "GATEBOT_GIT_PASSWORD": credentials.password(),
        }


def refuse_login_in_url(url: str) -> None:
    """A log-in in a URL would end up in process lists and error texts.

    Raises:
        TellOperator: When ``url`` holds one.
    """
    if re.match(r"https?://[^/]*@", url):
        raise TellOperator(f"repository URL must not hold a log-in: {redact(url)}")
