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
"""Counters and gauges for Prometheus, in a registry of our own so that two services in one process do not mix."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """What the service counts. Labels take values from closed sets only; nothing of a payload becomes a label."""

    def __init__(self) -> None:
        self.registry = here = CollectorRegistry()
        self.webhooks = Counter("gatebot_webhooks", "Deliveries by outcome.", ["outcome", "event"], registry=here)
        self.calls = Counter("gatebot_forge_calls", "Calls to the forge.", ["method", "route", "status"], registry=here)
        self.call_seconds = Histogram("gatebot_forge_call_seconds", "Duration of calls to the forge.", registry=here)
        self.wakeups = Counter("gatebot_wakeups", "Wake-ups of cases by result.", ["result"], registry=here)
        self.cases = Gauge("gatebot_cases", "Cases by phase.", ["phase"], registry=here)
        self.waiting = Gauge("gatebot_inbox_waiting", "Cases with unhandled events.", registry=here)
        self.running = Gauge("gatebot_wakeups_running", "Wake-ups running now.", registry=here)
        self.budget = Gauge("gatebot_forge_calls_left", "Calls left in the forge's budget.", ["span"], registry=here)

    def count_webhook(self, outcome: str, event: str) -> None:
        """One delivery was answered."""
        self.webhooks.labels(outcome, event).inc()

    def text(self) -> bytes:
        """All of it in Prometheus' text form."""
        return generate_latest(self.registry)
