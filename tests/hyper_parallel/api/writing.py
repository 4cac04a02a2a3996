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
"""In-place calls, writes through views, ``out=``: the global tensor changes, or the user is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import cut, numbers, refuses, same
from tests.hyper_parallel.case import S0, S1, P, R

_PLACES = (S0, S1, R, P)


def _set(x: Any, key: Any, value: Any) -> None:
    x[key] = value


_IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(3),
    "add_ scalar": lambda x: x.add_(1),
    "add_ row": lambda x: x.add_(numbers(4, seed=2)),
    "iadd": lambda x: x.__iadd__(2),
    "imul": lambda x: x.__imul__(2),
    "mul_ column": lambda x: x.mul_(numbers(5, 1, seed=2)),
    "clamp_": lambda x: x.clamp_(-0.5, 0.5),
    "relu_": lambda x: x.relu_(),
    "functional relu": lambda x: nn.functional.relu(x, inplace=True),
    "exp_": lambda x: x.exp_(),
    "copy_": lambda x: x.copy_(numbers(5, 4, seed=5)),
    "masked_fill_": lambda x: x.masked_fill_(x > 0, 9.0),
    "cumsum_": lambda x: x.cumsum_(0),
    "tril_": lambda x: x.tril_(),
    "index_fill_": lambda x: x.index_fill_(0, torch.tensor([1, 3]), 7.0),
    "scatter_": lambda x: x.scatter_(0, torch.tensor([[0, 2, 4, 1]]), 5.0),
    "fill_diagonal_": lambda x: x.fill_diagonal_(8.0),
    "x[0] = 1": lambda x: _set(x, 0, 1.0),
    "x[-1, 1:3] = row": lambda x: _set(x, (-1, slice(1, 3)), numbers(2, seed=4)),
    "x[mask] = 0": lambda x: _set(x, x > 0, 0.0),
    "x[[0, 4]] = rows": lambda x: _set(x, [0, 4], numbers(2, 4, seed=4)),
    "x[..., ::2] = 5": lambda x: _set(x, (Ellipsis, slice(None, None, 2)), 5.0),
}
_THROUGH_VIEWS: dict[str, Callable[[Any], Any]] = {
    "x[0].zero_()": lambda x: x[0].zero_(),
    "x[1:3].add_(1)": lambda x: x[1:3].add_(1),
    "x[:, 0].fill_(7)": lambda x: x[:, 0].fill_(7),
    "x[::2].mul_(3)": lambda x: x[::2].mul_(3),
    "x.view(-1)[0] = 1": lambda x: _set(x.view(-1), 0, 1.0),
    "x.t().add_(1)": lambda x: x.t().add_(1),
    "x.T[0] = 2": lambda x: _set(x.T, 0, 2.0),
    "x.unsqueeze(0).mul_(2)": lambda x: x.unsqueeze(0).mul_(2),
    "x.select(0, 2).zero_()": lambda x: x.select(0, 2).zero_(),
    "x.narrow(1, 1, 2).zero_()": lambda x: x.narrow(1, 1, 2).zero_(),
    "x.diagonal().fill_(4)": lambda x: x.diagonal().fill_(4),
    "x.flatten().zero_()": lambda x: x.flatten().zero_(),
    "x.view(4, 5).add_(1)": lambda x: x.view(4, 5).add_(1),
    "x.detach().add_(1)": lambda x: x.detach().add_(1),
    "x.data.add_(1)": lambda x: x.data.add_(1),
    "x.split(2)[1].zero_()": lambda x: x.split(2)[1].zero_(),
    "x.chunk(2, 1)[0].zero_()": lambda x: x.chunk(2, 1)[0].zero_(),
    "x.unbind(0)[3].zero_()": lambda x: x.unbind(0)[3].zero_(),
    "for row in x: row.add_(1)": lambda x: [row.add_(1) for row in x],
    "x[0][1] = 9": lambda x: _set(x[0], 1, 9.0),
    "x.expand_as(x).zero_()": lambda x: x.expand_as(x).zero_(),
    "x.permute(1, 0)[2].zero_()": lambda x: x.permute(1, 0)[2].zero_(),
    "x.movedim(0, 1).zero_()": lambda x: x.movedim(0, 1).zero_(),
    "x.unflatten(1, (2, 2)).zero_()": lambda x: x.unflatten(1, (2, 2)).zero_(),
    "x.squeeze().zero_()": lambda x: x.squeeze().zero_(),
    "x.unfold(0, 2, 2)[0].zero_()": lambda x: x.unfold(0, 2, 2)[0].zero_(),
    "x.reshape(-1).zero_()": lambda x: x.reshape(-1).zero_(),
    "x.contiguous().zero_()": lambda x: x.contiguous().zero_(),
    "x.view_as(x).zero_()": lambda x: x.view_as(x).zero_(),
}


def check_in_place_calls(mesh: Any) -> None:
    for name, write in _IN_PLACE.items():
        for place in _PLACES:
            want, x = numbers(5, 4), cut(numbers(5, 4), mesh, place)
            returned = write(want)
            got = write(x)
            try:
                same(x, want)
                assert (got is x) == (returned is want), f"returns {type(got).__name__} that is not the tensor itself"
            except AssertionError as error:
                raise AssertionError(f"{name} under {place}: {error}") from error


def check_writes_through_views_change_the_base_or_are_refused(mesh: Any) -> None:
    for name, write in _THROUGH_VIEWS.items():
        for place in _PLACES:
            want, x = numbers(5, 4), cut(numbers(5, 4), mesh, place)
            write(want)
            try:
                write(x)
            except (hp.AliasLostError, hp.LayoutError):
                same(x, numbers(5, 4))
                continue
            try:
                same(x, want)
            except AssertionError as error:
                raise AssertionError(f"{name} under {place}: {error}") from error


def check_views_read_after_the_base_changed(mesh: Any) -> None:
    makers: dict[str, Callable[[Any], Any]] = {
        "t": lambda x: x.t(),
        "x[1]": lambda x: x[1],
        "x[1:4]": lambda x: x[1:4],
        "view": lambda x: x.view(-1),
        "diagonal": lambda x: x.diagonal(),
        "split": lambda x: x.split(2)[1],
        "detach": lambda x: x.detach(),
        "flatten": lambda x: x.flatten(),
    }
    for name, make in makers.items():
        for place in _PLACES:
            full, x = numbers(5, 4), cut(numbers(5, 4), mesh, place)
            want, view = make(full), make(x)
            full.add_(1)
            x.add_(1)
            try:
                got = view * 1
            except (hp.AliasLostError, hp.LayoutError):
                continue
            try:
                same(got, want)
            except AssertionError as error:
                raise AssertionError(f"{name} under {place}: {error}") from error


def check_gradients_flow_through_in_place_writes(mesh: Any) -> None:
    for place in (S0, S1, R):
        leaves = [numbers(5, 4).requires_grad_(True), cut(numbers(5, 4), mesh, place, grad=True)]
        for leaf in leaves:
            y = leaf * 2
            y.mul_(3)
            y[0] = 0
            y.add_(leaf)
            (y * y).sum().backward()
        same(leaves[1].grad, leaves[0].grad)


def check_leaves_are_protected(mesh: Any) -> None:
    x = cut(numbers(5, 4), mesh, S0, grad=True)
    refuses(lambda: x.add_(1), RuntimeError, saying="leaf")
    refuses(lambda: _set(x, 0, 1.0), RuntimeError, saying="leaf")
    refuses(lambda: torch.add(x, 1, out=cut(numbers(5, 4), mesh, S0)), RuntimeError, saying="out")


def check_out_arguments(mesh: Any) -> None:
    for place in (S0, S1, R):
        for goal in (S0, S1, R):
            out = cut(torch.zeros(5, 4, dtype=torch.float64), mesh, goal)
            result = torch.add(cut(numbers(5, 4), mesh, place), 1, out=out)
            assert result is out
            assert out.placements == (goal,)
            same(out, numbers(5, 4) + 1)
    plain = torch.empty(5, 4, dtype=torch.float64)
    torch.mul(cut(numbers(5, 4), mesh, S0), 2, out=plain)
    assert type(plain) is torch.Tensor
    same(plain, numbers(5, 4) * 2)
    values, indices = cut(torch.zeros(4).double(), mesh, R), cut(torch.zeros(4, dtype=torch.int64), mesh, S0)
    torch.max(cut(numbers(5, 4), mesh, S0), 0, out=(values, indices))
    same(values, numbers(5, 4).max(0).values)
    same(indices, numbers(5, 4).max(0).indices)
    refuses(lambda: torch.add(cut(numbers(3), mesh, S0), 1, out=cut(torch.zeros(3, dtype=torch.int64), mesh, S0)),
            RuntimeError, saying="dtype")  # fmt: skip


def check_a_plain_tensor_takes_a_distributed_operand(mesh: Any) -> None:
    for place in _PLACES:
        plain = numbers(5, 4)
        plain.add_(cut(numbers(5, 4), mesh, place))
        assert type(plain) is torch.Tensor
        same(plain, numbers(5, 4) * 2)
        plain[1] = cut(numbers(4, seed=3), mesh, S0)
        same(plain[1], numbers(4, seed=3))


def check_buffers_of_batch_norm(mesh: Any) -> None:
    for place in (S0, S1, R):
        torch.manual_seed(0)
        plain, ours = nn.BatchNorm1d(3).double(), nn.BatchNorm1d(3).double()
        hp.distribute_module(ours, mesh)
        for seed in range(3):
            want, got = plain(numbers(7, 3, seed=seed)), ours(cut(numbers(7, 3, seed=seed), mesh, place))
            same(got, want)
        same(ours.running_mean, plain.running_mean)
        same(ours.running_var, plain.running_var)
        same(ours.num_batches_tracked, plain.num_batches_tracked)
