#!/usr/bin/env python3
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
"""Every Python file begins with the licence header. Usage: licence_header.py [--fix] FILE…"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def header() -> str:
    """The header, as the package itself carries it."""
    lines = (ROOT / "hyper_parallel" / "__init__.py").read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[: lines.index(next(line for line in lines if not line.startswith("#")))]) + "\n"


def with_header(text: str) -> str:
    """The text with the header put in front, behind an interpreter line."""
    if not text.startswith("#!"):
        return header() + text
    first, _, rest = text.partition("\n")
    return f"{first}\n{header()}{rest}"


def lacks_header(text: str) -> bool:
    """Whether a file does not begin with the header; the year may be another. Empty files need none."""
    body = text.partition("\n")[2] if text.startswith("#!") else text
    return bool(text.strip()) and not body.partition("\n")[2].startswith(header().partition("\n")[2])


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 when a file lacks the header and was not mended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="put it in")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(argv)
    bad = [f for f in options.files if f.suffix == ".py" and f.exists() and lacks_header(f.read_text(encoding="utf-8"))]
    for path in bad:
        print(f"{path}: licence header {'added' if options.fix else 'missing'}")
        if options.fix:
            path.write_text(with_header(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 1 if bad and not options.fix else 0


if __name__ == "__main__":
    sys.exit(main())
