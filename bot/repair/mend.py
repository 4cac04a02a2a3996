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
"""Applies recipes to a work tree and keeps only what its own check proves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.base import CheckContext, Observation
from bot.repair.checks.registry import CHECKS
from bot.repair.guard import refuse_early
from bot.repair.paths import locate
from bot.repair.plan import Step, steps_for, take
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Recipe, Scene
from bot.repair.recipes.registry import recipe_for
from bot.repair.task import CheckEvidence, RepairTask
from bot.repair.tools import CancelToken
from bot.repair.verify import Verifier, evidence, matches, objection, wanted_checks
from bot.repair.workspace import Workspace

_ONE_BY_ONE_LIMIT: Final = 40


@dataclass(slots=True)
class Mended:
    """Result of the edits: the work tree holds exactly the proved ones."""

    fixed: list[Finding] = field(default_factory=list)
    refused: list[tuple[Finding, Reason]] = field(default_factory=list)
    checks: tuple[CheckEvidence, ...] = ()
    fixes: list[tuple[str, Finding]] = field(default_factory=list)  # recipe name, located finding


@dataclass(slots=True)
class _Job:
    """One finding on its way: as reported, as located, its recipe, and what the re-run shows of it."""

    reported: Finding
    located: Finding
    recipe: Recipe
    seen: frozenset[Observation] = frozenset()


def rules_of(workspace: Workspace) -> dict[str, bytes]:
    """Rule files from the target branch; from the head only where the target branch has none."""
    found = {}
    for check in CHECKS.values():
        for path in check.rule_files:
            content = workspace.read_base(path)
            content = workspace.read(path) if content is None else content
            if content is not None:
                found[path] = content
    return found


def mend(task: RepairTask, workspace: Workspace, cancel: CancelToken) -> Mended:
    """Edit the work tree as far as recipes go.

    Raises:
        Cancelled: The repair was called off.
        RetryLater, TellOperator: A checker could not be run.
    """
    result = Mended()
    jobs = _choose(task, workspace, result)
    rules = rules_of(workspace)
    verifier = Verifier(CheckContext(workspace.root, rules, tuple(job.located for job in jobs), cancel, workspace.year))
    wanted = wanted_checks((job.located.file, job.recipe.check) for job in jobs)
    before = verifier.observe(wanted)
    jobs = _reproduced(jobs, before, verifier, result)
    wanted = wanted_checks((job.located.file, job.recipe.check) for job in jobs)
    files = sorted({job.located.file for job in jobs})
    original = {path: workspace.read(path) or b"" for path in files}
    scenes = {path: Scene(path, workspace, rules, workspace.root, year=workspace.year) for path in files}
    kept = {path: _apply(jobs, original[path], scenes[path], workspace, result) for path in files}
    edited = {path for path, steps in kept.items() if steps}
    after = verifier.observe({name: paths & edited for name, paths in wanted.items()})
    by_located = {id(job.located): job for job in jobs}
    for path in sorted(edited):
        if objection(path, before, after, _gone(kept[path], by_located)) is None:
            continue
        scene = scenes[path]
        kept[path] = _one_by_one(
            kept[path], original[path], scene, workspace, verifier, wanted, before, by_located, result
        )
        after = _observe_again(verifier, wanted, path, after)
    done = [by_located[id(finding)] for path in files for step in kept[path] for finding in step.findings]
    result.fixes = [(job.recipe.name, _told(job)) for job in done]
    result.fixed = [job.reported for job in done]
    result.checks = evidence(wanted, before, after, verifier.missing)
    return result


def _told(job: _Job) -> Finding:
    """The finding as the commit names it: by the place that was reported, if any, so that it is known again."""
    return job.reported if job.recipe.find is not None and job.reported.file else job.located


def _choose(task: RepairTask, workspace: Workspace, result: Mended) -> list[_Job]:
    jobs = []
    for finding in task.findings:
        recipe = recipe_for(finding)
        if recipe is None:
            result.refused.append((finding, because("no-recipe", tool=finding.tool, rule=finding.rule)))
            continue
        if recipe.find is None:
            located = locate(finding, task.pr_files, workspace.read)
        else:
            located = recipe.find(finding, task.pr_files, workspace)
        if isinstance(located, Reason):
            result.refused.append((finding, located))
            continue
        objections = refuse_early(located.file, workspace.entries, workspace.read(located.file))
        if objections is not None:
            result.refused.append((finding, objections))
            continue
        jobs.append(_Job(finding, located, recipe))
    return jobs


def _reproduced(jobs: list[_Job], before: tuple[Observation, ...], verifier: Verifier, result: Mended) -> list[_Job]:
    kept = []
    for job in jobs:
        check = CHECKS[job.recipe.check]
        if check.name in verifier.missing:
            why = f"{verifier.missing[check.name]} is not installed or does not run here"
            result.refused.append((job.reported, because("check-unavailable", check=check.name, why=why)))
            continue
        job.seen = matches(check, job.located, before)
        if job.seen:
            kept.append(job)
        else:
            result.refused.append((job.reported, because("not-reproduced", check=check.name)))
    return kept


def _apply(jobs: list[_Job], content: bytes, scene: Scene, workspace: Workspace, result: Mended) -> list[Step]:
    steps = []
    jobs = [job for job in jobs if job.located.file == scene.path]
    reported = {id(job.located): job.reported for job in jobs}
    for step in steps_for(scene.path, [(job.recipe, job.located) for job in jobs]):
        changed = take(step, content, scene)
        if isinstance(changed, Reason):
            result.refused += [(reported[id(finding)], changed) for finding in step.findings]
        else:
            content = changed
            steps.append(step)
    if steps:
        workspace.write(scene.path, content)
    return steps


def _gone(steps: list[Step], jobs: dict[int, _Job]) -> set[Observation]:
    return {seen for step in steps for finding in step.findings for seen in jobs[id(finding)].seen}


def _one_by_one(
    steps: list[Step],
    content: bytes,
    scene: Scene,
    workspace: Workspace,
    verifier: Verifier,
    wanted: dict[str, frozenset[str]],
    before: tuple[Observation, ...],
    jobs: dict[int, _Job],
    result: Mended,
) -> list[Step]:
    """Together the edits were not proved: try each alone on top of the proved ones, and keep those that are."""
    kept: list[Step] = []
    path = scene.path
    mine = {name: paths & {path} for name, paths in wanted.items()}
    for number, step in enumerate(steps):
        changed: bytes | Reason = because("too-many")
        if number < _ONE_BY_ONE_LIMIT:
            changed = take(step, content, scene)
        if not isinstance(changed, Reason):
            workspace.write(path, changed)
            refusal = objection(path, before, verifier.observe(mine), _gone([*kept, step], jobs))
            if refusal is None:
                content = changed
                kept.append(step)
                continue
            changed = refusal[0]
        result.refused += [(jobs[id(finding)].reported, changed) for finding in step.findings]
    workspace.write(path, content)
    return kept


def _observe_again(
    verifier: Verifier, wanted: dict[str, frozenset[str]], path: str, after: tuple[Observation, ...]
) -> tuple[Observation, ...]:
    again = verifier.observe({name: paths & {path} for name, paths in wanted.items()})
    return (*(seen for seen in after if seen.file != path), *again)
