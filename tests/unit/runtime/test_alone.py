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
"""A second service on one SQLite file is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import TellOperator
from bot.runtime.alone import alone_on


def test_a_file_is_held_by_one_service_and_let_go_at_its_end(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/deeper/gatebot.sqlite"
    refused = pytest.raises(TellOperator, match=r"another gatebot serve works on .*/gatebot\.sqlite;")
    with alone_on(url), refused, alone_on(url):
        raise AssertionError("two services on one file")
    with alone_on(url), alone_on(f"sqlite:///{tmp_path}/other.sqlite"):
        assert sorted(path.name for path in tmp_path.rglob("*.lock")) == ["gatebot.sqlite.lock", "other.sqlite.lock"]


def test_postgresql_and_memory_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("postgresql://u@h/d", "sqlite://"):
        with alone_on(url), alone_on(url):
            assert list(tmp_path.iterdir()) == []


def test_a_lock_that_cannot_be_made_is_the_operators_business(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TellOperator, match=r"storage\.url cannot be opened"), alone_on(f"sqlite:///{tmp_path}/file/g"):
        raise AssertionError("there is no place for a lock")
