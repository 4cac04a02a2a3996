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
from __future__ import annotations

import gzip
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from bot.diagnosis.__main__ import main
from bot.diagnosis.command import run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tool_output"


def test_json_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(FIXTURES / "pytest_fail.txt"), as_json_text=True) == 0
    data = json.loads(capsys.readouterr().out)
    assert {"findings", "causes", "excerpt", "failed_stages", "lines", "confidence"} <= set(data)
    first = data["findings"][1]
    assert (first["function"], first["first_line"], first["last_line"]) == ("test_a.py::test_fail", 19, 27)
    assert first["failure_class"] == "code"
    assert all(part["first_line"] <= part["last_line"] and part["why"] for part in data["excerpt"])
    assert [part["score"] for part in data["excerpt"]] == sorted(
        (part["score"] for part in data["excerpt"]), reverse=True
    )


def test_report_in_chinese_and_english(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(FIXTURES / "pytest_os_system_wrapper.txt")
    assert run(path) == 0
    chinese = capsys.readouterr().out
    assert "控制台日志中没有真正的错误" in chinese
    assert run(path, language="en") == 0
    english = capsys.readouterr().out
    assert "The console does not hold the real error" in english
    assert "test_os.py:4" in english


def test_log_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"a.py:1: teh ==> the\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert main(["--log", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["tool"] == "codespell"


def test_green_log_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    log.write_text("all is well\n" * 3)
    assert main(["--log", str(log), "--lang", "en", "--green", str(log)]) == 0
    assert "0 findings" in capsys.readouterr().out


def test_unreadable_log_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--log", str(tmp_path / "gone")]) == 2
    assert "无法读取" in capsys.readouterr().err
    assert main(["--log", str(tmp_path), "--lang", "en"]) == 2
    assert "Cannot read" in capsys.readouterr().err


def test_markup_in_a_log_is_shown_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    log.write_text("[bold]x[/bold].py:1: teh ==> [/red]the\nError: [/] boom\n")
    assert main(["--log", str(log)]) == 0
    assert "[/] boom" in capsys.readouterr().out


def test_words_that_a_terminal_could_change_are_shown_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"Error: step :end: of [red]it[/red] \x07\x9b2J \xc2\x9b2J failed\n")
    assert main(["--log", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "Error: step :end: of [red]it[/red]" in shown
    assert "\x07" not in shown
    assert "\x9b" not in shown


@pytest.mark.parametrize("members", [1, 3])
def test_gzip_is_unpacked_and_counts_its_own_lines(
    members: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = gzip.compress(b"fine\n") * members + gzip.compress(b"a.py:1: teh ==> the\n")
    log = tmp_path / "log.gz"
    log.write_bytes(packed)
    assert main(["--log", str(log), "--json"]) == 0
    from_file = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert main(["--log", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == from_file
    assert (from_file["lines"], from_file["findings"][0]["first_line"]) == (members + 1, members + 1)


# gzip's header holds the time: without ids and with it, two workers would collect different tests.
@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(
            gzip.compress(b"line\n" * 900, mtime=0)[:40],
            "the gzip data is broken or cut off",
            id="cut-gzip",
        ),
        pytest.param(
            gzip.compress(b"line\n", mtime=0)[:12] + b"\x00" * 30,
            "the gzip data is broken or cut off",
            id="broken-gzip",
        ),
        pytest.param(b"\x7fELF\x02\x01\x01" + bytes(100), "this is a binary file, not a log", id="elf"),
        pytest.param(
            gzip.compress(b"PK\x03\x04 and so on", mtime=0),
            "this is a binary file, not a log",
            id="zip-in-gzip",
        ),
        pytest.param(bytes(5000), "this is a binary file, not a log", id="zeros"),
    ],
)
def test_what_is_no_log_exits_with_2(
    data: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(data)
    assert main(["--log", str(log), "--lang", "en", "--json"]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""


def test_empty_log_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"")
    assert main(["--log", str(log)]) == 0
    assert "日志是空的。" in capsys.readouterr().out
    assert main(["--log", str(log), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["lines"], data["findings"], data["excerpt"]) == (0, [], [])


@pytest.mark.parametrize(("megabytes", "watched"), [(1, False), (20, True)])
def test_a_terminal_shows_how_far_a_long_log_is_read(megabytes: int, watched: bool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes((b"x" * 1023 + b"\n") * 1024 * megabytes)
    reader, terminal = pty.openpty()
    command = [sys.executable, "-m", "bot.diagnosis", "--log", str(log), "--json"]
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(command, env={**os.environ, "TERM": "xterm"}, stdout=out, stderr=terminal)
    os.close(terminal)
    told = b""
    try:
        while part := os.read(reader, 65536):
            told += part
    except OSError:  # Linux's end of a terminal that nobody writes to any more
        os.close(reader)
    assert process.wait() == 0
    assert json.loads((tmp_path / "out").read_bytes())["lines"] == 1024 * megabytes
    assert ("正在读取日志" in told.decode()) is watched
