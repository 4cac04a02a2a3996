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
"""The tables GateBot keeps beside those of the workflow engine. Times are Unix seconds of the injected clock."""

from __future__ import annotations

import sqlalchemy as sa

SCHEMA_VERSION = 1

metadata = sa.MetaData()

schema_info = sa.Table(
    "gatebot_schema",
    metadata,
    sa.Column("version", sa.Integer, primary_key=True),
)

inbox = sa.Table(
    "gatebot_inbox",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("received_at", sa.Float, nullable=False),
    # Each of the three names of a delivery is unique by itself: a hook registered twice sends other ids for one effect.
    sa.Column("delivery_id", sa.String(200), unique=True),
    sa.Column("body_uuid", sa.String(200), unique=True),
    sa.Column("effect_key", sa.String(400), unique=True),
    sa.Column("case_key", sa.String(300), nullable=False),
    sa.Column("repo", sa.String(200), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("handled_at", sa.Float),
    sa.Index("gatebot_inbox_open", "handled_at", "case_key"),
)

cases = sa.Table(
    "gatebot_cases",
    metadata,
    sa.Column("key", sa.String(300), primary_key=True),
    sa.Column("repo", sa.String(200), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("phase", sa.String(40), nullable=False),
    sa.Column("outcome", sa.String(60)),
    sa.Column("state", sa.Text, nullable=False),  # JSON of bot.gate.case.Case
    sa.Column("memory", sa.Text, nullable=False),  # JSON of bot.runtime.memory.Memory
    # Wake-ups finished so far. The next one is named after it, so that a second start of the same wake-up is the same
    # workflow, whichever replica asked: this is what keeps a pull request serial.
    sa.Column("generation", sa.Integer, nullable=False, default=0),
    sa.Column("wake_at", sa.Float),
    sa.Column("failures", sa.Integer, nullable=False, default=0),
    sa.Column("last_error", sa.Text, nullable=False, default=""),
    sa.Column("opened_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    sa.Index("gatebot_cases_due", "wake_at"),
)

effects = sa.Table(
    "gatebot_effects",
    metadata,
    sa.Column("key", sa.String(400), primary_key=True),
    sa.Column("case_key", sa.String(300), nullable=False, index=True),
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("state", sa.String(20), nullable=False),  # started | done | refused | failed
    sa.Column("attempts", sa.Integer, nullable=False, default=1),
    sa.Column("detail", sa.Text, nullable=False, default=""),
    sa.Column("data", sa.Text, nullable=False, default="{}"),
    sa.Column("started_at", sa.Float, nullable=False),
    sa.Column("done_at", sa.Float),
)

stickies = sa.Table(
    "gatebot_stickies",
    metadata,
    sa.Column("case_key", sa.String(300), primary_key=True),
    sa.Column("marker", sa.String(60), primary_key=True),
    sa.Column("note_id", sa.BigInteger, nullable=False),
    sa.Column("discussion_id", sa.String(80), nullable=False, default=""),
    sa.Column("digest", sa.String(64), nullable=False, default=""),
)

sections = sa.Table(
    "gatebot_sections",
    metadata,
    sa.Column("case_key", sa.String(300), primary_key=True),
    sa.Column("section", sa.String(60), primary_key=True),
    sa.Column("body", sa.Text, nullable=False, default=""),
    sa.Column("urge", sa.Integer, nullable=False, default=0),  # bot.runtime.sticky.Urge
)

audit = sa.Table(
    "gatebot_audit",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("case_key", sa.String(300), nullable=False, index=True),
    sa.Column("who", sa.String(200), nullable=False),
    sa.Column("what", sa.String(80), nullable=False),
    sa.Column("result", sa.String(40), nullable=False),
    sa.Column("detail", sa.Text, nullable=False, default=""),
)

tests = sa.Table(
    "gatebot_tests",
    metadata,
    sa.Column("job", sa.String(200), primary_key=True),
    sa.Column("build", sa.Integer, primary_key=True),
    sa.Column("test", sa.String(500), primary_key=True),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("repo", sa.String(200), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("head_sha", sa.String(64), nullable=False, default=""),
    sa.Column("age", sa.Integer, nullable=False, default=0),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("gatebot_tests_by_name", "job", "test"),
)

replicas = sa.Table(
    "gatebot_replicas",
    metadata,
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("beat_at", sa.Float, nullable=False),  # real Unix seconds: two processes must agree on it
)

probe = sa.Table(
    "gatebot_probe",
    metadata,
    sa.Column("name", sa.String(60), primary_key=True),
    sa.Column("written_at", sa.Float, nullable=False),
    sa.Column("filling", sa.Text, nullable=False),  # of no meaning: what counts is that it could be written
)
