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
"""What code written for PyTorch's DTensor brings along: its names, keywords, habits around training."""

from __future__ import annotations

import copy
import functools
from typing import Any

import torch
import torch.distributed.tensor
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import cut, numbers, refuses, same
from tests.hyper_parallel.case import S0, S1, P, R


class Tied(nn.Module):
    """An embedding whose weight is also that of the last layer, and two layers in a list between them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.words = nn.Embedding(11, 6)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(6, 6)), nn.Sequential(nn.Linear(6, 6))])
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.words.weight
        self.double()

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Scores of all words."""
        x = self.words(words)
        for layer in self.layers:
            x = x + layer(x).tanh()
        return self.head(x)


def _cut_named(places: dict[str, Any]) -> Any:
    def partition(name: str, module: nn.Module, mesh: Any) -> None:
        for own in list(dict(module.named_parameters(recurse=False))):
            if f"{name}.{own}" in places:
                data = hp.distribute_tensor(getattr(module, own).detach(), mesh, [places[f"{name}.{own}"]])
                setattr(module, own, nn.Parameter(data))

    return partition


def _same_gradients(ours: nn.Module, plain: nn.Module) -> None:
    for (name, got), (_, want) in zip(ours.named_parameters(), plain.named_parameters(), strict=True):
        try:
            same(got.grad, want.grad)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def check_tied_weights_stay_tied(mesh: Any) -> None:
    words = torch.arange(8) % 5
    row, column = hp.RowwiseParallel(input_layouts=R, use_local_output=False), hp.ColwiseParallel()
    plans = [
        lambda model: hp.distribute_module(model, mesh, _cut_named({"words.weight": S0})),
        lambda model: hp.distribute_module(model, mesh),
        lambda model: hp.parallelize_module(model, mesh, {"words": row, "head": column}),
        lambda model: hp.parallelize_module(model, mesh, {"words": row}),
    ]
    plain = Tied()
    functional.cross_entropy(plain(words), words).backward()
    for index, plan in enumerate(plans):
        ours = plan(Tied())
        assert ours.head.weight is ours.words.weight, f"plan {index} unties"
        functional.cross_entropy(_whole(ours(cut(words, mesh, R)), mesh, index == 2), cut(words, mesh, R)).backward()
        _same_gradients(ours, plain)
    clash = {"words": hp.ColwiseParallel(), "head": hp.ColwiseParallel()}
    refuses(lambda: hp.parallelize_module(Tied(), mesh, clash), hp.LayoutError, saying="shared by")


def _whole(scores: Any, mesh: Any, local: bool) -> Any:
    return hp.DTensor.from_local(scores, mesh, [hp.Shard(-1)], run_check=True) if local else scores


def check_patterns_fit_part_by_part(mesh: Any) -> None:
    model = hp.parallelize_module(Tied(), mesh, {"layers.*.0": hp.ColwiseParallel(), "": Replicated()})
    assert [layer[0].weight.placements for layer in model.layers] == [(S0,), (S0,)]
    for pattern in ("layers.*", "*"):
        refuses(lambda given=pattern: hp.parallelize_module(Tied(), mesh, {given: hp.ColwiseParallel()}), Exception)
    refuses(lambda: hp.parallelize_module(Tied(), mesh, {"w*.0": hp.ColwiseParallel()}), ValueError, saying="w*.0")
    refuses(lambda: hp.parallelize_module(Tied(), mesh, {"head": S0}), TypeError, saying="ParallelStyle")


class Replicated(hp.ParallelStyle):
    """A user's own style, as PyTorch's are written."""

    def _apply(self, module: nn.Module, mesh: Any) -> nn.Module:
        return hp.distribute_module(module, mesh)


def check_prepared_keywords(mesh: Any) -> None:
    class Scaled(nn.Module):
        def forward(self, x: Any, *, by: Any, power: int = 1) -> Any:
            assert x.placements == (R,)
            assert type(by) is hp.DTensor
            assert by.placements == (S1,)
            return x * by**power, by

    style = hp.PrepareModuleInputOutput(
        input_layouts=S0, desired_input_layouts=R, input_kwarg_layouts={"by": S0},
        desired_input_kwarg_layouts={"by": S1}, output_layouts=(R, None), desired_output_layouts=(S0, None),
        use_local_output=False,
    )  # fmt: skip
    assert "Shard(1)" in repr(style.before)
    module = hp.parallelize_module(Scaled(), mesh, style)
    x, by = numbers(5, 3), numbers(5, 3, seed=1)
    out, kept = module(cut(x, mesh, S0).to_local(), by=cut(by, mesh, S0), power=2)
    assert (out.placements, kept.placements) == ((S0,), (S1,))
    same(out, x * by**2)


def check_source_of_parameters(mesh: Any) -> None:
    layer = nn.Linear(3, 4).double()
    with torch.no_grad():
        layer.weight.fill_(mesh.get_local_rank() + 1.0)
    trusted = hp.parallelize_module(copy.deepcopy(layer), mesh, hp.ColwiseParallel(), src_data_rank=None)
    assert bool((trusted.weight.to_local() == mesh.get_local_rank() + 1.0).all())
    same(hp.parallelize_module(layer, mesh, hp.ColwiseParallel()).weight, torch.ones(4, 3, dtype=torch.float64))


def check_keywords_of_methods(mesh: Any) -> None:
    x = cut(numbers(4, 5), mesh, S0, grad=True)
    y = x.redistribute(placements=[R], async_op=True, forward_dtype=torch.float32)
    assert y.dtype == torch.float32
    y.sum().backward()
    same(x.grad, torch.ones(4, 5, dtype=torch.float64))
    refuses(lambda: x.redistribute(placement=[R]), TypeError, saying="placement")
    refuses(lambda: x.redistribute(placements=[R], backward_dtype=torch.float16), NotImplementedError, saying="float64")
    local = numbers(4, 5).requires_grad_(True)
    (hp.DTensor.from_local(local, mesh, [R], grad_placements=[P]) * cut(numbers(4, 5), mesh, R)).sum().backward()
    same(hp.DTensor.from_local(local.grad, mesh, [P]), numbers(4, 5))
    with hp.loss_parallel(), hp.implicit_replication():
        same(x + numbers(4, 5), numbers(4, 5) * 2)

    @hp.local_map(out_placements=[S0], in_placements=([S0],))
    def double(part: torch.Tensor) -> torch.Tensor:
        return part * 2

    same(double(x), numbers(4, 5) * 2)
    assert double.__name__ == "double"


def check_parts_of_no_tensor_are_refused_alike(mesh: Any) -> None:
    rows = 3 if mesh.get_local_rank() == mesh.size() - 1 else 2
    refuses(
        lambda: hp.DTensor.from_local(numbers(rows, 4), mesh, [S0], run_check=True), hp.LayoutError, saying="of rank"
    )
    same(cut(numbers(3), mesh, S0), numbers(3))


def check_scaled_gradients(mesh: Any) -> None:
    for bad in (False, True):
        plain = nn.Linear(6, 5).double()
        ours = hp.distribute_module(copy.deepcopy(plain), mesh, lambda name, module, where: _cut_weight(module, where))
        for model, x in ((plain, numbers(4, 6)), (ours, cut(numbers(4, 6), mesh, S0))):
            scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=8.0), torch.optim.SGD(model.parameters(), 0.1)
            scaler.scale((model(x) ** 2).mean()).backward()
            if bad:
                model.weight.grad[0, 0] = float("inf")
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            assert scaler.get_scale() == (4.0 if bad else 8.0)
        for got, want in zip(ours.parameters(), plain.parameters(), strict=True):
            same(got.grad, want.grad)
            same(got, want)


def _cut_weight(module: nn.Module, mesh: Any) -> None:
    module.weight = nn.Parameter(cut(module.weight.detach(), mesh, S0))


def check_checkpointed_pending_sums(mesh: Any) -> None:
    plain = [numbers(4, 6).requires_grad_(True), numbers(6, 5, seed=1).requires_grad_(True)]
    (plain[0] @ plain[1]).sin().sum().backward()
    for reentrant in (True, False):
        ours = [cut(plain[0], mesh, S1, grad=True), cut(plain[1], mesh, S0, grad=True)]
        product = checkpoint(torch.matmul, *ours, use_reentrant=reentrant)
        assert product.placements == (P,)
        product.sin().sum().backward()
        for got, want in zip(ours, plain, strict=True):
            same(got.grad, want.grad)


def check_weights_that_start_on_the_meta_device(mesh: Any) -> None:
    with torch.device("meta"):
        ours = Tied()
    hp.distribute_module(ours, mesh, _cut_named({"words.weight": S0}))
    ours.to_empty(device="cpu")
    ours.head.weight = ours.words.weight  # as with plain tensors, another device parts them
    plain = Tied()
    for model in (ours, plain):
        torch.manual_seed(3)
        model.words.reset_parameters()
        for layer in model.layers:
            layer[0].reset_parameters()
        nn.init.uniform_(model.layers[0][0].bias, -1.0, 1.0)
        nn.init.normal_(model.layers[1][0].weight, std=0.02)
    for got, want in zip(ours.parameters(), plain.parameters(), strict=True):
        same(got, want)


def check_parametrized_after_cutting(mesh: Any) -> None:
    kinds = torch.nn.utils.parametrizations
    for make in (kinds.weight_norm, kinds.spectral_norm, functools.partial(kinds.orthogonal, use_trivialization=False)):
        torch.manual_seed(2)
        plain = nn.Linear(6, 6).double()
        for place in (S0, S1):
            ours = copy.deepcopy(plain)
            hp.distribute_module(ours, mesh, _cut_named({".weight": place}))
            models = []
            for model in (copy.deepcopy(plain), ours):
                torch.manual_seed(4)
                models.append(make(model))
            outs = [models[0](numbers(5, 6)), models[1](cut(numbers(5, 6), mesh, R))]
            same(outs[1], outs[0], 1e-7)
            for out in outs:
                (out**2).sum().backward()
            _same_gradients(models[1], models[0])


def check_data_parallel_wrapper_may_not_equal_the_parts(mesh: Any) -> None:
    model = hp.distribute_module(nn.Linear(4, 4).double(), mesh, lambda name, module, where: _cut_weight(module, where))
    refuses(lambda: nn.parallel.DistributedDataParallel(model), ValueError, saying="process_group")
    wrapped = nn.parallel.DistributedDataParallel(model, process_group=_group_of_one(mesh))
    same(wrapped(cut(numbers(3, 4), mesh, R)), model(cut(numbers(3, 4), mesh, R)))


def check_meshes_of_groups_that_exist(mesh: Any) -> None:
    line = hp.DeviceMesh.from_group(mesh.get_group(), "cpu", mesh_dim_names=("x",))
    same(cut(numbers(5), line, S0).sum(), numbers(5).sum())
    square = hp.DeviceMesh.from_group(
        [mesh.get_group(), _group_of_one(mesh)], "cpu", torch.arange(mesh.size()).reshape(-1, 1)
    )
    same(cut(numbers(5, 3), square, S0, S1).sum(0), numbers(5, 3).sum(0))
    refuses(lambda: hp.DeviceMesh.from_group([mesh.get_group()] * 2, "cpu"), ValueError, saying="mesh should be given")
    refuses(lambda: hp.DeviceMesh.from_group(_group_of_one(mesh), "cpu", mesh.ranks), ValueError, saying="ranks of the")


def _group_of_one(mesh: Any) -> Any:
    return [torch.distributed.new_group([rank]) for rank in range(mesh.size())][mesh.get_rank()]


def check_things_of_torch_are_named_in_the_refusal(mesh: Any) -> None:
    theirs = torch.distributed.tensor.Shard(0)
    refuses(lambda: cut(numbers(4), mesh, theirs), hp.LayoutError, saying="of torch.distributed")
    other = torch.distributed.device_mesh.init_device_mesh("cpu", (mesh.size(),))
    for call in (
        lambda: hp.distribute_tensor(numbers(4), other, [S0]),
        lambda: hp.DTensor.from_local(numbers(4), other, [S0]),
        lambda: hp.zeros(4, device_mesh=other, placements=[S0]),
    ):
        refuses(call, TypeError, saying="DeviceMesh of torch.distributed")
    refuses(lambda: hp.distribute_tensor([1, 2], mesh, [S0]), TypeError, saying="torch.Tensor")


def check_printing_tells_leaves_from_results(mesh: Any) -> None:
    x = cut(numbers(3), mesh, S0, grad=True)
    assert "requires_grad=True" in repr(x)
    assert "grad_fn" not in repr(nn.Parameter(x.detach()))
    assert "grad_fn=<" in repr(x * 2)
