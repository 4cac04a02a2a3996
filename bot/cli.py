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
"""``gatebot``: one command per thing to do. Only what a command needs is loaded, so that each starts quickly.

Exit codes: 0 done · 1 the answer is no (not passed, refused, the demo failed) · 2 wrong use, settings or an unreadable
file · 3 try again later.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import GateBotError, NotFound, RetryLater, TellOperator, TellUser
from bot.texts import plain

if TYPE_CHECKING:
    from bot.config import Settings
    from bot.gitcode.references import PullReference
    from bot.runtime.cases import StoredCase

EXIT_DONE, EXIT_NO, EXIT_WRONG, EXIT_LATER = 0, 1, 2, 3
_ORDERS = ("check-pr", "retest", "autofix")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        return code
    except GateBotError as error:
        print(f"gatebot: {told(error, _language(options))}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return EXIT_DONE


def exit_code(error: GateBotError) -> int:
    """The exit code that an error ends a command with."""
    if isinstance(error, TellOperator | TellUser):
        return EXIT_WRONG
    return EXIT_LATER if isinstance(error, RetryLater) else EXIT_NO


def told(error: GateBotError, language: str) -> str:
    """What to do about it in the operator's language, then the error's own words."""
    match error:
        case TellOperator(hint=hint) if hint:
            return f"{plain(hint, language)}\n  {error}"
        case RetryLater():
            return plain("cli.later", language, why=error)
        case NotFound():
            return plain("cli.not_found", language, why=error)
        case TellOperator() | TellUser():
            return str(error)
        case _:
            return plain("cli.refused", language, why=error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gatebot", description="把合并请求带过门禁 / pull requests through the gate")
    parser.add_argument("--config", type=Path, metavar="FILE", help="YAML 配置文件 / settings (default: gatebot.yaml)")
    parser.add_argument("--lang", choices=("zh", "en"), help="语言 / language (default: from the settings)")
    parser.add_argument("-v", "--verbose", action="store_true", help="更多日志 / more log lines")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    serve = _command(commands, "serve", "运行服务 / run the service", _serve)
    serve.add_argument("--host", help="覆盖 server.host / instead of server.host")
    serve.add_argument("--port", type=int, help="覆盖 server.port / instead of server.port")
    serve.add_argument("--dry-run", action="store_true", help="只判断，不对外写 / decide, change nothing outside")
    demo = _command(commands, "demo", "在本机演示整个过程 / show the whole loop on this machine", _demo)
    demo.add_argument("--json", action="store_true", help="输出 JSON / print JSON")
    demo.add_argument("--keep", action="store_true", help="结束后保留沙箱 / keep the sandbox running afterwards")
    diagnose = _command(commands, "diagnose", "解释失败日志 / explain a failed log", _diagnose)
    diagnose.add_argument("pull", nargs="?", metavar="PR", help="合并请求 / pull request: 647, owner/repo#647 or a URL")
    diagnose.add_argument("--log", metavar="FILE", help="日志文件，- 为标准输入 / log file, - for standard input")
    green = "成功构建的日志，可重复 / log of a green build, repeatable"
    diagnose.add_argument("--green", action="append", default=[], metavar="FILE", help=green)
    diagnose.add_argument("--json", action="store_true", help="输出 JSON / print JSON")
    for name, text in (
        ("check-pr", "检查 PR 描述 / check the description"),
        ("retest", "触发门禁 / start the gate"),
        ("autofix", "修复问题 / repair the findings"),
    ):
        order = _command(commands, name, text, _order)
        order.set_defaults(order=name)
        order.add_argument("pull", metavar="PR", help="合并请求 / pull request: 647, owner/repo#647 or a URL")
        order.add_argument("--json", action="store_true", help="输出 JSON / print JSON")
        order.add_argument("--dry-run", action="store_true", help="只显示会做的调用 / only show the calls")
        order.add_argument("--watch", action="store_true", help="一直等到结束 / go on until the case ends")
    template = _command(commands, "check-template", "按模板检查 PR 描述 / check a description", _check_template)
    template.add_argument("--template", required=True, metavar="FILE", help="模板，- 为标准输入 / - for stdin")
    template.add_argument("--body", required=True, metavar="FILE", help="描述，- 为标准输入 / - for stdin")
    template.add_argument("--json", action="store_true", help="输出 JSON / print JSON")
    config = _command(commands, "config", "配置 / settings", _config)
    config.add_argument("what", choices=("check", "schema", "show"))
    config.add_argument("--json", action="store_true", help="输出 JSON / print JSON")
    return parser


def _command(commands: Any, name: str, text: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    """A subcommand. The common options may also stand behind its name."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--config", type=Path, metavar="FILE", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--lang", choices=("zh", "en"), default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    from bot.config import load
    from bot.runtime.masking import MaskedFormatter, secrets_of

    settings = load(options.config, os.environ, options.lang or "")
    if options.lang:
        settings = settings.model_copy(update={"gate": settings.gate.model_copy(update={"language": options.lang})})
    options.lang = settings.gate.language  # errors from here on are told in it
    if getattr(options, "dry_run", False):
        settings = settings.model_copy(update={"dry_run": True})
    level = "debug" if options.verbose else settings.log_level
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(MaskedFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s", secrets_of(settings)))
    logging.basicConfig(level=level.upper(), handlers=[lines])
    for chatty in ("apscheduler", "dbos", "sqlalchemy", "markdown_it", "git"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    return settings


def _language(options: argparse.Namespace) -> str:
    return options.lang or "zh"


def _serve(options: argparse.Namespace) -> int:
    from bot.app import Server, serve

    settings = _settings(options)
    changes = {key: value for key in ("host", "port") if (value := getattr(options, key)) is not None}
    if changes:
        settings = settings.model_copy(update={"server": settings.server.model_copy(update=changes)})
    if settings.dry_run:
        settings = settings.model_copy(update={"storage": _beside(settings)})

    def started(server: Server) -> None:
        url = f"http://{settings.server.host}:{server.port}/"
        print(plain("cli.listening", settings.gate.language, url=url), flush=True)

    asyncio.run(serve(settings, on_start=started))
    return EXIT_DONE


def _beside(settings: Settings) -> Any:
    """A dry run keeps a store of its own: what was only decided must not count as done later."""
    url = settings.storage.url
    head, dot, tail = url.rpartition(".")
    if not url.startswith("sqlite:///") or not dot or "/" in tail:
        raise TellOperator(plain("cli.dry_run_store", settings.gate.language))
    return settings.storage.model_copy(update={"url": f"{head}-dry-run.{tail}"})


def _demo(options: argparse.Namespace) -> int:
    from bot.demo.command import run

    return run(as_json=options.json, keep=options.keep, language=_language(options), verbose=options.verbose)


def _diagnose(options: argparse.Namespace) -> int:
    from bot.diagnosis.command import run

    if bool(options.log) == bool(options.pull):
        raise TellUser(plain("cli.log_or_pull", _language(options)))
    if options.log:
        return run(options.log, as_json_text=options.json, language=_language(options), green=tuple(options.green))
    from bot.runtime.fetch_log import fetch_failed_log

    settings = _settings(options)
    reference = _reference(options.pull, settings)
    with asyncio.run(fetch_failed_log(settings, reference.number)) as file:
        if not file.name:
            print(plain("cli.no_build", settings.gate.language), file=sys.stderr)
            return EXIT_NO
        return run(file.name, as_json_text=options.json, language=settings.gate.language, green=tuple(options.green))


def _order(options: argparse.Namespace) -> int:
    from bot.runtime.orders import order

    settings = _settings(options)
    reference = _reference(options.pull, settings)
    language = settings.gate.language
    shown: list[str] = []

    def show(call: str) -> None:
        shown.append(call)
        if not options.json:
            print(call)

    with _progress(f"{options.order} {reference}", options.json) as status:

        def tell(word: str, stored: StoredCase) -> None:
            status(f"{stored.case.key}  {stored.case.phase.value}  {word}")

        done = asyncio.run(
            order(
                settings,
                reference.repo,
                reference.number,
                options.order,
                author=f"cli:{os.environ.get('USER') or 'operator'}",
                watch=options.watch,
                show=show,
                tell=tell,
            )
        )
    case = done.stored.case
    if options.json:
        print(
            json.dumps(
                {
                    "case": case.key,
                    "phase": case.phase.value,
                    "outcome": case.outcome.value if case.outcome else None,
                    "by_service": done.by_service,
                    "dry_run": settings.dry_run,
                    "calls": shown,
                    "effects": [{key: row[key] for key in ("key", "kind", "state", "detail")} for row in done.effects],
                    "wake_at": done.stored.wake_at,
                    "trouble": done.stored.last_error,
                },
                ensure_ascii=False,
                indent=2,
            )
        )
        return EXIT_DONE if done.ok else EXIT_NO
    print(plain("cli.done", language, case=case.key, phase=case.outcome.value if case.outcome else case.phase.value))
    for row in done.effects:
        print(plain("cli.effect", language, kind=row["kind"], state=row["state"], detail=row["detail"]))
    if not done.effects:
        print(plain("cli.nothing", language))
    print(plain("cli.by_service" if done.by_service else "cli.here", language), file=sys.stderr)
    return EXIT_DONE if done.ok else EXIT_NO


@contextmanager
def _progress(text: str, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line that moves while work goes on, on a terminal; each step as a line of its own elsewhere."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True, highlight=False, quiet=quiet)
    if not console.is_terminal:
        yield lambda step: console.print(step, markup=False)
        return
    with console.status(escape(text)) as status:
        yield lambda step: status.update(escape(step))


def _check_template(options: argparse.Namespace) -> int:
    from bot.template.command import run

    return run(options.template, options.body, options.json, _language(options))


def _config(options: argparse.Namespace) -> int:
    import yaml

    from bot.config import chosen_file, masked, missing_secrets, schema

    if options.what == "schema":
        print(json.dumps(schema(), ensure_ascii=False, indent=2, sort_keys=True))
        return EXIT_DONE
    try:
        settings = _settings(options)
    except TellOperator as error:
        if options.json:
            print(json.dumps({"good": False, "error": str(error)}, ensure_ascii=False, indent=2))
            return EXIT_WRONG
        raise
    if options.what == "show":
        shown = masked(settings)
        dumped = json.dumps(shown, ensure_ascii=False, indent=2)
        print(dumped if options.json else yaml.safe_dump(shown, allow_unicode=True, sort_keys=False), end="")
    elif options.json:
        print(json.dumps({"good": True, "missing": missing_secrets(settings)}))
    else:
        source = str(chosen_file(options.config, os.environ) or "")
        language = settings.gate.language
        print(plain("cli.config_good", language, source=source or plain("cli.defaults", language)))
        for name in missing_secrets(settings):
            print(plain("cli.config_lacks", language, name=name))
    return EXIT_DONE


def _reference(text: str, settings: Settings) -> PullReference:
    from bot.gitcode.references import parse_reference

    default = settings.repositories[0] if len(settings.repositories) == 1 else ""
    found = parse_reference(text, default_repo=default)
    if not found.repo:
        raise TellUser(plain("cli.no_repository", settings.gate.language, reference=text, number=found.number))
    return found


if __name__ == "__main__":
    sys.exit(main())
