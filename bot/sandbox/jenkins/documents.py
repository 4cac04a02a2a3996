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
"""Jenkins' JSON documents of the sandbox's state at a moment."""

from __future__ import annotations

from typing import Any

from bot.sandbox.jenkins.junit import report_document
from bot.sandbox.jenkins.model import Job, QueueEntry, QueueState, Run

Document = dict[str, Any]
LISTED_BUILDS = 100
_RUN_CLASS = "org.jenkinsci.plugins.workflow.job.WorkflowRun"
_JOB_CLASS = "org.jenkinsci.plugins.workflow.job.WorkflowJob"
_BALL = {"SUCCESS": "blue", "FAILURE": "red", "UNSTABLE": "yellow", "ABORTED": "aborted"}


def run_document(run: Run, url: str, now: float) -> Document:
    """``/job/X/N/api/json``. ``actions`` holds empty objects, as a real one does where an action exports nothing."""
    actions: list[Document] = [{}, {"_class": "hudson.model.CauseAction", "causes": _causes(run.causes)}]
    if run.parameters:
        actions.append({"_class": "hudson.model.ParametersAction", "parameters": _parameters(run.parameters)})
    actions += [{}, {}]
    in_progress = run.in_progress(now)
    return {
        "_class": _RUN_CLASS,
        "actions": actions,
        "artifacts": [],
        "building": run.building(now),
        "description": run.description,
        "displayName": f"#{run.number}",
        "duration": run.duration_ms(now),
        "estimatedDuration": round((run.job.settings.reported_seconds or 60.0) * 1000),
        "executor": None,
        "fullDisplayName": f"{run.job.settings.name.replace('/', ' » ')} #{run.number}",
        "id": str(run.number),
        "inProgress": in_progress,
        "keepLog": False,
        "number": run.number,
        "queueId": run.queue_id,
        "result": run.result(now),
        "timestamp": round(run.started.timestamp() * 1000),
        "url": f"{url}{run.number}/",
        "changeSets": [],
        "culprits": [],
        "nextBuild": _neighbour(run, url, 1),
        "previousBuild": _neighbour(run, url, -1),
    }


def job_document(
    job: Job, url: str, queued: QueueEntry | None, base: str, now: float, *, all_builds: bool = False
) -> Document:
    """``/job/X/api/json``: ``builds`` are the newest 100, ``allBuilds`` all, exported only when asked for."""
    newest = job.newest_first()
    shown = [run_document(run, url, now) for run in (newest if all_builds else newest[:LISTED_BUILDS])]
    finished = [run for run in newest if run.result(now) is not None and not run.building(now)]

    def first(*results: str) -> Document | None:
        return next((_short(run, url) for run in finished if not results or run.final in results), None)

    settings = job.settings
    name = settings.name.rpartition("/")[2]
    return {
        "_class": _JOB_CLASS,
        "actions": [{}, {}],
        "name": name,
        "displayName": name,
        "fullName": settings.name,
        "fullDisplayName": settings.name.replace("/", " » "),
        "description": None,
        "url": url,
        "buildable": settings.buildable,
        "color": _colour(job, now),
        "concurrentBuild": settings.concurrent,
        "inQueue": queued is not None,
        "queueItem": queue_document(queued, base, url, now) if queued else None,
        "keepDependencies": False,
        "nextBuildNumber": job.next_number,
        "builds": shown[:LISTED_BUILDS],
        "allBuilds": shown,
        "firstBuild": _short(newest[-1], url) if newest else None,
        "lastBuild": _short(newest[0], url) if newest else None,
        "lastCompletedBuild": first(),
        "lastSuccessfulBuild": first("SUCCESS", "UNSTABLE"),
        "lastStableBuild": first("SUCCESS"),
        "lastFailedBuild": first("FAILURE"),
        "lastUnstableBuild": first("UNSTABLE"),
        "lastUnsuccessfulBuild": first("FAILURE", "UNSTABLE", "ABORTED", "NOT_BUILT"),
        "property": [_definitions(settings.parameters)] if settings.parameters else [],
    }


def job_entry(job: Job, url: str, now: float) -> Document:
    """A job in its folder's list."""
    return {
        "_class": _JOB_CLASS,
        "name": job.settings.name.rpartition("/")[2],
        "url": url,
        "color": _colour(job, now),
    }


def queue_document(entry: QueueEntry, base: str, job_url: str, now: float) -> Document:
    """``/queue/item/ID/api/json``; ``executable`` may stay null for a moment after the item left."""
    settings = entry.job.settings
    actions: list[Document] = [{"_class": "hudson.model.CauseAction", "causes": _causes(entry.causes)}, {}, {}]
    if entry.parameters:
        actions.append({"_class": "hudson.model.ParametersAction", "parameters": _parameters(entry.parameters)})
    document: Document = {
        "_class": f"hudson.model.Queue${entry.state}",
        "actions": actions,
        "blocked": entry.state is QueueState.BLOCKED,
        "buildable": entry.state is QueueState.BUILDABLE,
        "id": entry.queue_id,
        "inQueueSince": round(entry.entered.timestamp() * 1000),
        "params": "".join(f"\n{name}={value}" for name, value in entry.parameters.items()),
        "stuck": False,
        "task": {"_class": _JOB_CLASS, "name": settings.name.rpartition("/")[2], "url": job_url, "color": "red"},
        "url": f"queue/item/{entry.queue_id}/",
        "why": _why(entry, now),
    }
    if entry.state is QueueState.WAITING:
        document["timestamp"] = round((entry.entered.timestamp() + entry.quiet_until - entry.moment) * 1000)
    if entry.state is QueueState.LEFT:
        document["cancelled"] = entry.cancelled
        shown = entry.run is not None and now >= entry.left_at + settings.executable_gap
        document["executable"] = _short(entry.run, job_url) if shown and entry.run else None
    return document


def stages_document(run: Run, path: str, now: float) -> Document:
    """``wfapi/describe`` of a build; ``path`` is the build's, from the root of the host."""
    stages = [_stage(run, index, path, now) for index in range(len(run.stages))]
    end = min(now, run.finished_at)
    return {
        "_links": {"self": {"href": f"{path}wfapi/describe"}},
        "id": str(run.number),
        "name": f"#{run.number}",
        "status": _run_status(run, now),
        "startTimeMillis": round(run.started.timestamp() * 1000),
        "endTimeMillis": round((run.started.timestamp() + end - run.moment) * 1000),
        "durationMillis": round((end - run.moment) * 1000),
        "queueDurationMillis": 0,
        "pauseDurationMillis": 0,
        "stages": [stage for stage in stages if stage is not None],
    }


def node_document(run: Run, node: int, path: str, now: float) -> Document | None:
    """``execution/node/ID/wfapi/describe``: a stage with its one step, or that step itself."""
    stage = _stage(run, (node - _FIRST_NODE) // 2, path, now) if node >= _FIRST_NODE else None
    if stage is None:
        return None
    own = f"{path}execution/node/{node + 1}/wfapi/"
    step = stage | {
        "id": str(node + 1),
        "name": "Shell Script",
        "parentNodes": [str(node)],
        "_links": {"self": {"href": f"{own}describe"}, "log": {"href": f"{own}log"}},
    }
    is_step = (node - _FIRST_NODE) % 2
    return step | {"id": str(node)} if is_step else stage | {"stageFlowNodes": [step]}


def node_log(run: Run, node: int, path: str, now: float) -> Document | None:
    """``execution/node/ID/wfapi/log``: HTML, and only the last 10 KiB of the step."""
    index = (node - _FIRST_NODE) // 2
    if node < _FIRST_NODE or index >= len(run.stages) or run.stages[index][1].begin > now:
        return None
    text = "".join(f"{line}\n" for line in run.stages[index][0].lines)
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").encode()
    stage = _stage(run, index, path, now) or {}
    return {
        "nodeId": str(node),
        "nodeStatus": stage.get("status"),
        "length": len(escaped),
        "hasMore": len(escaped) > _STAGE_LOG,
        "text": escaped[-_STAGE_LOG:].decode("utf-8", "ignore"),
        "consoleUrl": f"{path}execution/node/{node}/log",
    }


def tests_document(run: Run, now: float) -> Document | None:
    """``testReport/api/json``; ``None`` where Jenkins answers 404."""
    if run.suites is None or run.result(now) is None:
        return None
    history = [
        (other.number, other.suites)
        for other in run.job.newest_first()
        if other.number < run.number and other.suites is not None and other.final != "ABORTED"
    ]
    return report_document(run.suites, history, run.number)


_FIRST_NODE = 6  # ids of flow nodes: nobody should count on them
_STAGE_LOG = 10 * 1024


def _stage(run: Run, index: int, path: str, now: float) -> Document | None:
    if not 0 <= index < len(run.stages):
        return None
    stage, span = run.stages[index]
    if span.begin > now:
        return None
    node = _FIRST_NODE + 2 * index
    over = span.end <= now or run.final == "ABORTED"
    start = run.started.timestamp() + span.begin - run.moment
    document: Document = {
        "_links": {"self": {"href": f"{path}execution/node/{node}/wfapi/describe"}},
        "id": str(node),
        "name": stage.name,
        "execNode": "",
        "status": stage.status if over else "IN_PROGRESS",
        "startTimeMillis": round(start * 1000),
        "durationMillis": round((min(now, span.end) - span.begin) * 1000),
        "pauseDurationMillis": 0,
    }
    if over and stage.failed:
        document["error"] = {"message": f"script returned exit code {stage.code}", "type": "hudson.AbortException"}
    return document


def _run_status(run: Run, now: float) -> str:
    if run.in_progress(now):
        return "IN_PROGRESS"
    return "FAILED" if run.final == "FAILURE" else str(run.final)


def _why(entry: QueueEntry, now: float) -> str | None:
    if entry.state is QueueState.WAITING:
        return f"In the quiet period. Expires in {max(0.0, entry.quiet_until - now):.1f} sec"
    if entry.state is QueueState.BLOCKED:
        busy = next((run.number for run in entry.job.newest_first() if run.in_progress(now)), 0)
        return f"Build #{busy} is already in progress"
    return "Waiting for next available executor" if entry.state is QueueState.BUILDABLE else None


def _causes(causes: list[str]) -> list[Document]:
    return [{"_class": "hudson.model.Cause", "shortDescription": cause} for cause in causes]


def _parameters(parameters: dict[str, str]) -> list[Document]:
    return [
        {"_class": "hudson.model.StringParameterValue", "name": name, "value": value}
        for name, value in parameters.items()
    ]


def _definitions(names: tuple[str, ...]) -> Document:
    return {
        "_class": "hudson.model.ParametersDefinitionProperty",
        "parameterDefinitions": [
            {"_class": "hudson.model.StringParameterDefinition", "name": name, "type": "StringParameterDefinition"}
            for name in names
        ],
    }


def _short(run: Run, url: str) -> Document:
    return {"_class": _RUN_CLASS, "number": run.number, "url": f"{url}{run.number}/"}


def _neighbour(run: Run, url: str, step: int) -> Document | None:
    runs = run.job.runs
    number = run.number + step
    while (
        run.job.settings.first_number <= number < run.job.next_number
    ):  # log rotation leaves no long gaps, so this ends at once
        if number in runs:
            return _short(runs[number], url)
        number += step
    return None


def _colour(job: Job, now: float) -> str:
    newest = job.newest_first()
    done = next((run for run in newest if not run.building(now)), None)
    colour = _BALL.get(done.final or "", "notbuilt") if done else "notbuilt"
    return f"{colour}_anime" if newest and newest[0].building(now) else colour
