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
"""The one private call into DBOS: there, or told clearly at the start."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from dbos import DBOS

from bot.config import Settings
from bot.demo.world import BOT, World, WorldOptions
from bot.errors import TellOperator
from bot.runtime import recovery
from bot.runtime.recovery import check_recovery
from bot.runtime.service import Service
from bot.sandbox.clock import SystemClock

NAME = "_recover_pending_workflows"


def test_the_installed_dbos_has_it() -> None:
    check_recovery()


def test_it_is_used_in_one_place() -> None:
    root = Path(recovery.__file__).parents[1]
    private = re.compile(r"\bDBOS\._|\b" + NAME)
    users = {path.name for path in root.rglob("*.py") if private.search(path.read_text(encoding="utf-8"))}
    assert users == {"recovery.py"}


@pytest.mark.parametrize("fault", ["gone", "other-arguments"])
def test_a_dbos_without_it_is_refused_with_what_to_install(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "gone":
        monkeypatch.delattr(DBOS, NAME)
    else:
        monkeypatch.setattr(DBOS, NAME, lambda: None)
    with pytest.raises(TellOperator, match=r"pip install 'dbos>=3\.4,<3\.5'"):
        check_recovery()


async def test_a_service_on_such_a_dbos_says_so_and_is_not_healthy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(DBOS, NAME)
    async with World(WorldOptions(state=tmp_path, hooks=False), SystemClock()) as world:
        settings = world.settings()
        assert isinstance(settings, Settings)
        service = Service(settings, timers=False)
        await service.start()
        try:
            for _ in range(600):
                if service.died:
                    break
                await asyncio.sleep(0.05)
            assert service.login == BOT
            assert "pip install 'dbos>=3.4,<3.5'" in service.died
        finally:
            await service.stop()
