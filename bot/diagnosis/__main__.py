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
"""``python -m bot.diagnosis --log FILE``: the same as ``gatebot diagnose``."""

from __future__ import annotations

import argparse
import sys

from bot.diagnosis.command import run


def main(arguments: list[str] | None = None) -> int:
    """Parses the arguments and runs the command."""
    parser = argparse.ArgumentParser(prog="python -m bot.diagnosis", description="日志诊断 / diagnose a console log")
    parser.add_argument(
        "--log", required=True, metavar="FILE", help="日志文件，- 表示标准输入 / log file, - for standard input"
    )
    parser.add_argument("--json", action="store_true", help="输出 JSON / print JSON")
    parser.add_argument("--lang", choices=("zh", "en"), default="zh", help="语言 / language")
    parser.add_argument(
        "--green",
        action="append",
        default=[],
        metavar="FILE",
        help="绿色构建的日志，可重复 / log of a green build, repeatable",
    )
    options = parser.parse_args(arguments)
    return run(options.log, as_json_text=options.json, language=options.lang, green=options.green)


if __name__ == "__main__":
    sys.exit(main())
