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
"""Copies, files, dictionaries of states, containers and printing."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.distributed import checkpoint

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import cut, numbers, refuses, same
from tests.hyper_parallel.case import S0, S1, P, R


def check_pickle(mesh: Any) -> None:
    for place in (S0, S1, R, P):
        x = cut(numbers(5, 3), mesh, place, grad=True)
        again = pickle.loads(pickle.dumps(x))
        assert isinstance(again, hp.DTensor)
        assert (again.placements, again.device_mesh, again.requires_grad) == ((place,), mesh, True)
        same(again, numbers(5, 3))


def check_torch_save_and_load(mesh: Any) -> None:
    for weights_only in (True, False):
        file = io.BytesIO()
        torch.save({"x": cut(numbers(5, 3), mesh, S0), "p": nn.Parameter(cut(numbers(3), mesh, R))}, file)
        file.seek(0)
        loaded = torch.load(file, weights_only=weights_only)
        same(loaded["x"], numbers(5, 3))
        assert loaded["x"].placements == (S0,)
        assert isinstance(loaded["p"], nn.Parameter)
        same(loaded["p"], numbers(3))


def check_deepcopy_is_independent(mesh: Any) -> None:
    x = cut(numbers(5, 3), mesh, S0, grad=True)
    (x * 2).sum().backward()
    other = copy.deepcopy(x)
    same(other.grad, x.grad)
    with torch.no_grad():
        other.mul_(0)
        other.grad.mul_(0)
    same(x, numbers(5, 3))
    same(x.grad, torch.full((5, 3), 2.0, dtype=torch.float64))
    refuses(lambda: copy.deepcopy(x * 1), RuntimeError, saying="deepcopy")


def check_clone_is_independent(mesh: Any) -> None:
    x = cut(numbers(5, 3), mesh, S1)
    other = x.clone()
    other.zero_()
    same(x, numbers(5, 3))


def _model(mesh: Any) -> nn.Sequential:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).double()
    for layer, places in ((model[0], (S0, S0)), (model[2], (S1, R))):
        layer.weight = nn.Parameter(cut(layer.weight.detach(), mesh, places[0]))
        layer.bias = nn.Parameter(cut(layer.bias.detach(), mesh, places[1]))
    return model


def check_state_dict_round_trip(mesh: Any) -> None:
    model, other = _model(mesh), _model(mesh)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    missing = other.load_state_dict(torch.load(file))
    assert not missing.missing_keys
    for (name, got), want in zip(other.named_parameters(), model.parameters(), strict=True):
        assert got.placements == want.placements, name
        same(got, want)
    plain = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).double()
    plain.load_state_dict({name: value.full_tensor() for name, value in model.state_dict().items()})
    same(model(cut(numbers(4, 3), mesh, R)), plain(numbers(4, 3)))


def check_full_state_loads_into_cut_parameters(mesh: Any) -> None:
    model = _model(mesh)
    full = {name: numbers(*value.shape, seed=9) for name, value in model.state_dict().items()}
    model.load_state_dict(full)
    for name, value in model.state_dict().items():
        same(value, full[name])
    assert model[0].weight.placements == (S0,)


def check_module_casts_and_copies(mesh: Any) -> None:
    model = copy.deepcopy(_model(mesh)).float()
    assert all(isinstance(p, hp.DTensor) and p.dtype == torch.float32 for p in model.parameters())
    assert isinstance(model[0].weight, nn.Parameter)
    same(model[0].weight.double(), _model(mesh)[0].weight, 1e-6)


def check_parameter(mesh: Any) -> None:
    x = cut(numbers(5, 3), mesh, S0)
    parameter = nn.Parameter(x)
    assert isinstance(parameter, nn.Parameter)
    assert isinstance(parameter, hp.DTensor)
    assert parameter.is_leaf
    assert parameter.requires_grad
    assert tuple(parameter.shape) == (5, 3)
    holder = nn.Module()
    holder.register_parameter("weight", parameter)
    holder.register_buffer("scale", cut(numbers(3), mesh, R))
    assert [name for name, _ in holder.named_parameters()] == ["weight"]
    assert set(holder.state_dict()) == {"weight", "scale"}
    assert sum(p.numel() for p in holder.parameters()) == 15


class Pair(NamedTuple):
    """A user's container."""

    left: Any
    right: Any


def check_nested_containers(mesh: Any) -> None:
    x, y = cut(numbers(5, 3), mesh, S0), cut(numbers(5, 3, seed=1), mesh, S1)
    pair = Pair({"x": [x]}, (y,))
    again = copy.deepcopy(pair)
    same(again.left["x"][0], x)
    same(torch.cat([x, y]), torch.cat([numbers(5, 3), numbers(5, 3, seed=1)]))
    same(torch.stack((x, y), dim=1), torch.stack((numbers(5, 3), numbers(5, 3, seed=1)), dim=1))
    leaves, shape = torch.utils._pytree.tree_flatten(pair)
    assert [tuple(leaf.shape) for leaf in leaves] == [(5, 3), (5, 3)]
    same(torch.utils._pytree.tree_unflatten(leaves, shape).right[0], y)
    known = {x: "x", y: "y"}
    assert known[x] == "x"
    assert any(entry is x for entry in [y, x])


def _shared_directory() -> str:
    told = [tempfile.mkdtemp()]
    torch.distributed.broadcast_object_list(told)
    return str(told[0])


def check_checkpoints_are_loaded_under_other_layouts(mesh: Any) -> None:
    full = {
        "odd": numbers(5, 3),
        "short": numbers(1, 3),
        "none": numbers(0, 3),
        "one": numbers(),
        "even": numbers(8, 4),
    }
    before = {"odd": S0, "short": S0, "none": S0, "one": R, "even": S1}
    after = {"odd": S1, "short": R, "none": R, "one": R, "even": S0}
    where = _shared_directory()
    checkpoint.save({name: cut(value, mesh, before[name]) for name, value in full.items()}, checkpoint_id=where)
    for places in (before, after, dict.fromkeys(full, R)):
        got = {name: cut(torch.zeros_like(value), mesh, places[name]) for name, value in full.items()}
        checkpoint.load(got, checkpoint_id=where)
        for name, value in full.items():
            assert got[name].placements == (places[name],)
            same(got[name], value)
    plain = {name: torch.zeros_like(value) for name, value in full.items()}
    checkpoint.load(plain, checkpoint_id=where)
    for name, value in full.items():
        same(plain[name], value)
    pending = {"x": cut(numbers(4), mesh, P)}
    refuses(
        lambda: checkpoint.save(pending, checkpoint_id=_shared_directory()),
        checkpoint.CheckpointException,
        saying="reduce_partial",
    )


def check_printing(mesh: Any) -> None:
    x = cut(numbers(5, 3), mesh, S0)
    for text in (repr(x), str(x), f"{x}"):
        assert "DTensor" in text
        assert "(5, 3)" in text
        assert "S(0)" in text
        assert "dp" in text
    total = cut(numbers(), mesh, R)
    assert f"{total:.3f}" == f"{numbers():.3f}"
    assert "grad_fn" in repr(cut(numbers(2), mesh, R, grad=True) * 2)
