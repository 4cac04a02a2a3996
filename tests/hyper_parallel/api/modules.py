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
"""Modules in parallel: styles, ``distribute_module``, ``local_map``, two-axis meshes."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import cut, numbers, refuses, same
from tests.hyper_parallel.case import S0, S1, P, R


class Block(nn.Module):
    """A small feed-forward block with a norm."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.norm = nn.LayerNorm(6)
        self.up = nn.Linear(6, 7)
        self.down = nn.Linear(7, 6)
        self.double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block's value."""
        return self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def _train_step(block: nn.Module, x: Any) -> None:
    optimizer = torch.optim.AdamW(block.parameters(), lr=0.05)
    for _ in range(2):
        optimizer.zero_grad()
        out = block(x)
        (out * out).mean().backward()
        nn.utils.clip_grad_norm_(list(block.parameters()), 1.0)
        optimizer.step()


def check_columns_then_rows(mesh: Any) -> None:
    plain = Block()
    ours = hp.parallelize_module(copy.deepcopy(plain), mesh, {"up": hp.ColwiseParallel(), "down": hp.RowwiseParallel()})
    assert ours.up.weight.placements == (S0,)
    assert ours.down.weight.placements == (S1,)
    x = numbers(2, 3, 6)
    want, got = plain(x), ours(x)
    same(got, want)
    (want * want).mean().backward()
    (got * got).mean().backward()
    for (name, one), other in zip(ours.named_parameters(), plain.parameters(), strict=True):
        try:
            same(one.grad, other.grad)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def check_sequence_style(mesh: Any) -> None:
    plain = Block()
    ours = hp.parallelize_module(
        copy.deepcopy(plain),
        mesh,
        {
            "norm": hp.SequenceParallel(),
            "up": hp.ColwiseParallel(input_layouts=S1),
            "down": hp.RowwiseParallel(output_layouts=S1, use_local_output=False),
        },
    )
    x = numbers(2, 5, 6)
    want, got = plain(x), ours(cut(x, mesh, S1))
    assert got.placements == (S1,)
    same(got, want)
    (want * want).mean().backward()
    (got * got).mean().backward()
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        same(one.grad, other.grad)


def check_distribute_module_trains(mesh: Any) -> None:
    plain, ours = Block(), Block()

    def partition(name: str, module: nn.Module, where: Any) -> None:
        if name == "up":
            module.weight = nn.Parameter(hp.distribute_tensor(module.weight.detach(), where, [S0]))

    hp.distribute_module(ours, mesh, partition, input_fn=lambda module, inputs, where: (cut(inputs[0], where, S0),))
    assert ours.up.weight.placements == (S0,)
    assert ours.norm.weight.placements == (R,)
    x = numbers(5, 3, 6)
    _train_step(plain, x)
    _train_step(ours, x)
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        same(one, other, 1e-7)


def check_embedding_styles(mesh: Any) -> None:
    for style in (hp.ColwiseParallel(use_local_output=False), hp.RowwiseParallel(use_local_output=False)):
        torch.manual_seed(2)
        plain = nn.Embedding(11, 5).double()
        ours = hp.parallelize_module(copy.deepcopy(plain), mesh, style)
        words = torch.tensor([[1, 10, 3], [0, 3, 7]])
        want, got = plain(words), ours(cut(words, mesh, R))
        same(got, want)
        (want**2).sum().backward()
        (got**2).sum().backward()
        same(ours.weight.grad, plain.weight.grad)


def check_prepare_styles(mesh: Any) -> None:
    plain = nn.Linear(6, 4).double()
    ours = hp.distribute_module(copy.deepcopy(plain), mesh)
    hp.parallelize_module(ours, mesh, hp.PrepareModuleInput(input_layouts=S0, desired_input_layouts=R))
    hp.parallelize_module(
        ours, mesh, hp.PrepareModuleOutput(output_layouts=R, desired_output_layouts=S0, use_local_output=False)
    )
    got = ours(cut(numbers(5, 6), mesh, S0))
    assert got.placements == (S0,)
    same(got, plain(numbers(5, 6)))


def check_patterns_must_match(mesh: Any) -> None:
    refuses(lambda: hp.parallelize_module(Block(), mesh, {"ups": hp.ColwiseParallel()}), ValueError, saying="ups")
    refuses(
        lambda: hp.parallelize_module(Block(), mesh, {"norm": hp.ColwiseParallel()}),
        NotImplementedError,
        saying="LayerNorm",
    )


def check_local_map(mesh: Any) -> None:
    def gram(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        assert type(x) is torch.Tensor
        return (x.T @ x) * scale

    mapped = hp.local_map(gram, out_placements=[P], in_placements=([S0], [R]))
    full, scale = numbers(5, 3).requires_grad_(True), numbers(3, 3, seed=1).requires_grad_(True)
    ours = [cut(full, mesh, S0, grad=True), cut(scale, mesh, R, grad=True)]
    want, got = gram(full, scale), mapped(*ours)
    assert got.placements == (P,)
    same(got, want)
    (want**2).sum().backward()
    (got**2).sum().backward()
    same(ours[0].grad, full.grad)
    same(ours[1].grad, scale.grad)
    refuses(lambda: mapped(cut(full, mesh, S1), ours[1]), hp.LayoutError, saying="input 0")
    moving = hp.custom_shard(gram, mesh, [P], ([S0], [R]))
    same(moving(cut(full, mesh, S1), ours[1]), want)


def check_from_local_and_to_local_are_differentiable(mesh: Any) -> None:
    whole = numbers(8, 3)
    share = 8 // mesh.size()
    local = whole.narrow(0, share * mesh.get_local_rank(), share).clone().requires_grad_(True)
    x = hp.DTensor.from_local(local, mesh, [S0])
    (x * x).sum().backward()
    same(local.grad, 2 * local)
    y = cut(numbers(4, 2), mesh, R, grad=True)
    (y.to_local(grad_placements=[P]) * (mesh.get_local_rank() + 1)).sum().backward()
    total = mesh.size() * (mesh.size() + 1) / 2
    same(y.grad, torch.full((4, 2), total, dtype=torch.float64))
    uneven = cut(numbers(5, 2), mesh, S0)
    same(hp.DTensor.from_local(uneven.to_local(), mesh, [S0], run_check=True), numbers(5, 2))
    same(hp.DTensor.from_local(uneven.to_local(), mesh, [S0], shape=(5, 2)), numbers(5, 2))


def check_redistribution_between_all_pairs(mesh: Any) -> None:
    for shape in ((8, 4), (5, 7), (1, 3)):
        for source in (S0, S1, R, P):
            for target in (S0, S1, R, P):
                full = numbers(*shape).requires_grad_(True)
                x = cut(full, mesh, source, grad=True)
                y = x.redistribute(mesh, [target])
                assert y.placements == (target,)
                same(y, full)
                (full.sin() * numbers(*shape, seed=4)).sum().backward()
                (y.sin() * cut(numbers(*shape, seed=4), mesh, R)).sum().backward()
                same(x.grad, full.grad)
