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
"""What a DTensor does beyond operators, on every rank: `python behaviour.py RANKS RESULT.json`."""

import copy
import io
import pickle
import sys
import traceback
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import hyper_parallel as hp
from hyper_parallel import Partial, Replicate, Shard

sys.path.insert(0, str(Path(__file__).parent))
import ranks

CHECKS = []
R = Replicate()


def check(function):
    CHECKS.append(function)
    return function


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def spread(full, mesh, *placements, grad=False):
    return hp.distribute_tensor(full.clone(), mesh, list(placements)).requires_grad_(grad)


def same(found, expected, tolerance=1e-9):
    full = found.full_tensor() if isinstance(found, hp.DTensor) else found
    assert full.shape == expected.shape, (full.shape, expected.shape)
    assert torch.allclose(full, expected, rtol=tolerance, atol=tolerance), (full, expected)


def raises(kind, function):
    try:
        function()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


@check
def pickling_and_files(mesh):
    d = spread(numbers(5, 3), mesh, Shard(0))
    again = pickle.loads(pickle.dumps(d))
    same(again, numbers(5, 3))
    assert again.layout is d.layout
    file = io.BytesIO()
    torch.save({"a": d}, file)
    file.seek(0)
    same(torch.load(file)["a"], numbers(5, 3))


@check
def deep_copies_keep_the_gradient(mesh):
    d = spread(numbers(5, 3), mesh, Shard(0), grad=True)
    (d * 2).sum().backward()
    other = copy.deepcopy(d)
    assert other is not d
    assert other.requires_grad
    same(other.grad, torch.full((5, 3), 2.0, dtype=torch.float64))


@check
def parameters_in_modules(mesh):
    torch.manual_seed(0)
    layer = nn.Linear(3, 5, dtype=torch.float64)
    weight, bias = layer.weight.detach().clone(), layer.bias.detach().clone()
    layer.weight = nn.Parameter(spread(weight, mesh, Shard(0)))
    assert isinstance(layer.weight, nn.Parameter)
    out = layer(spread(numbers(4, 3), mesh, R))
    same(out, F.linear(numbers(4, 3), weight, bias))
    out.sum().backward()
    same(layer.weight.grad, numbers(4, 3).sum(0).expand(5, 3))
    same(layer.bias.grad, torch.full((5,), 4.0, dtype=torch.float64))
    twin = copy.deepcopy(layer)
    twin.load_state_dict(layer.state_dict())
    twin.float()
    assert twin.weight.dtype is torch.float32
    assert isinstance(pickle.loads(pickle.dumps(layer.weight)), nn.Parameter)


OPTIMIZERS = [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True),
    lambda p: torch.optim.Adam(p, lr=0.1, foreach=True),
    lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    lambda p: torch.optim.RMSprop(p, lr=0.1, centered=True),
    lambda p: torch.optim.Adagrad(p, lr=0.1),
    lambda p: torch.optim.NAdam(p, lr=0.1),
]


@check
def optimizers_step_as_on_one_device(mesh):
    for make in OPTIMIZERS:
        plain = [nn.Parameter(numbers(5, 3)), nn.Parameter(numbers(3, seed=1))]
        cut = [nn.Parameter(spread(numbers(5, 3), mesh, Shard(0))), nn.Parameter(spread(numbers(3, seed=1), mesh, R))]
        for parameters in (plain, cut):
            optimizer = make(parameters)
            for _ in range(3):
                optimizer.zero_grad()
                ((parameters[0] * parameters[1]).sum(0) ** 2 + parameters[1]).sum().backward()
                optimizer.step()
        for found, expected in zip(cut, plain, strict=True):
            same(found, expected, 1e-7)


@check
def gradient_clipping(mesh):
    for norm_type in (2.0, float("inf")):
        plain = [nn.Parameter(numbers(5, 3)), nn.Parameter(numbers(3))]
        cut = [nn.Parameter(spread(numbers(5, 3), mesh, Shard(0))), nn.Parameter(spread(numbers(3), mesh, R))]
        norms = []
        for a, b in (plain, cut):
            ((a * b) ** 2).sum().backward()
            norms.append(nn.utils.clip_grad_norm_([a, b], 0.5, norm_type=norm_type))
        same(norms[1], norms[0])
        same(cut[0].grad, plain[0].grad)


@check
def hooks_see_distributed_gradients(mesh):
    shapes = []
    d = spread(numbers(5, 3), mesh, Shard(0), grad=True)
    y = d * 2
    y.register_hook(lambda grad: (shapes.append(grad.shape), grad * 3)[1])
    (y * y).sum().backward()
    same(d.grad, numbers(5, 3) * 24)
    layer = nn.Linear(3, 2, dtype=torch.float64)
    layer.weight = nn.Parameter(spread(numbers(2, 3), mesh, Shard(0)))
    layer.register_full_backward_hook(lambda module, gin, gout: shapes.append(gout[0].shape))
    layer(spread(numbers(4, 3), mesh, R, grad=True)).sum().backward()
    assert shapes == [(5, 3), (4, 2)], shapes


@check
def double_backward(mesh):
    def curvature(x, w):
        y = (torch.tanh(x @ w) ** 2).sum(0).mean() * x.sum()
        gx, gw = torch.autograd.grad(y, [x, w], create_graph=True)
        return torch.autograd.grad((gx**2).sum() + (gw**3).sum() * x.mean(), [x, w])

    expected = curvature(numbers(4, 3).requires_grad_(), numbers(3, 3, seed=1).requires_grad_())
    for px in (Shard(0), Shard(1), R):
        for pw in (Shard(0), R):
            x = spread(numbers(4, 3), mesh, px, grad=True)
            w = spread(numbers(3, 3, seed=1), mesh, pw, grad=True)
            for found, want in zip(curvature(x, w), expected, strict=True):
                same(found, want)


@check
def checkpointing_and_autocast(mesh):
    w0, x0 = numbers(3, 3, seed=2).requires_grad_(), numbers(5, 3).requires_grad_()
    torch.sin(x0 @ w0).relu().sum().backward()
    for reentrant in (False, True):
        x = spread(numbers(5, 3), mesh, Shard(0), grad=True)
        w = spread(numbers(3, 3, seed=2), mesh, R, grad=True)
        checkpoint(lambda a, b: torch.sin(a @ b).relu(), x, w, use_reentrant=reentrant).sum().backward()
        same(x.grad, x0.grad)
        same(w.grad, w0.grad)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = spread(numbers(4, 4).float(), mesh, Shard(0))
        assert (x @ x.T).dtype is torch.bfloat16


@check
def leaves_may_not_be_written(mesh):
    x = spread(numbers(4, 4), mesh, Shard(0), grad=True)
    assert "leaf" in raises(RuntimeError, lambda: x.add_(1))
    assert "leaf" in raises(RuntimeError, lambda: x.__setitem__(0, 1))
    with torch.no_grad():
        x.add_(1)
    same(x, numbers(4, 4) + 1)


@check
def plain_tensors_count_as_replicated(mesh):
    x = spread(numbers(4, 4), mesh, Shard(0), grad=True)
    q = numbers(4, seed=3).requires_grad_()
    (x * q).sum().backward()
    same(q.grad, numbers(4, 4).sum(0))
    y = numbers(4, 4)
    y.add_(x.detach())
    assert type(y) is torch.Tensor
    same(y, numbers(4, 4) * 2)


@check
def nothing_looks_at_the_local_part_by_accident(mesh):
    x = spread(numbers(4, 4), mesh, Shard(0), grad=True)
    detached = x.detach()
    full = numbers(4, 4)
    same(torch.tensor(detached), full)
    assert torch.as_tensor(x) is x
    assert torch.tensor([detached.sum(), 1.0]).shape == (2,)
    assert np.allclose(np.asarray(detached), full.numpy())
    assert np.allclose(detached.numpy(), full.numpy())
    assert detached.tolist() == full.tolist()
    assert len(x) == 4
    assert [t.shape for t in x] == [(4,)] * 4
    assert x.stride() == (4, 1)
    assert x.T.stride() == (1, 4)
    assert x.nbytes == 128
    assert f"{x.sum():.3f}" == f"{full.sum():.3f}"
    assert "placements=[S(0)]" in repr(x)
    assert full[0, 0] in detached


@check
def data_and_grad_can_be_set(mesh):
    x = spread(numbers(4, 4), mesh, Shard(0), grad=True)
    x.grad = spread(numbers(4, 4), mesh, R)
    assert x.grad.placements == (Shard(0),)
    same(x.grad, numbers(4, 4))
    x.data = spread(numbers(4, 4, seed=8), mesh, R)
    same(x, numbers(4, 4, seed=8))
    raises(ValueError, lambda: setattr(x, "grad", torch.zeros(3)))


@check
def local_tensors_and_back(mesh):
    local = numbers(3, 2).requires_grad_()
    d = hp.DTensor.from_local(local, mesh, [Shard(0)])
    assert d.shape == (3 * mesh.size(), 2)
    (d * d).sum().backward()
    same(local.grad, 2 * numbers(3, 2))
    d = spread(numbers(4, 2), mesh, R, grad=True)
    (d.to_local(grad_placements=[Partial()]) * (mesh.get_local_rank() + 1)).sum().backward()
    count = mesh.size()
    same(d.grad, torch.full((4, 2), count * (count + 1) / 2, dtype=torch.float64))
    uneven = spread(numbers(5, 2), mesh, Shard(0))
    assert hp.DTensor.from_local(uneven.to_local(), mesh, [Shard(0)], run_check=True).shape == (5, 2)
    raises(hp.LayoutError, lambda: hp.DTensor.from_local(local, mesh, [Shard(3)]))


@check
def shapes_changed_in_place_are_followed(mesh):
    for placement in (R, Shard(0), Shard(1)):
        x = spread(numbers(4, 5), mesh, placement)
        x.t_()
        same(x, numbers(4, 5).T)
        x.unsqueeze_(0)
        same(x, numbers(4, 5).T[None])
        x.resize_(2, 3)
        assert x.shape == (2, 3)
        same(x.fill_(1.0), torch.ones(2, 3, dtype=torch.float64))


RANDOM = [
    torch.rand_like,
    torch.randn_like,
    lambda x: torch.randint_like(x, 5),
    lambda x: F.dropout(x, 0.5),
    lambda x: F.alpha_dropout(x, 0.5),
    lambda x: torch.bernoulli(x.sigmoid()),
    lambda x: (x * 1).normal_(),
    lambda x: (x * 1).uniform_(0, 2),
    lambda x: (x * 1).exponential_(),
    lambda x: torch.multinomial(x.abs(), 2),
    lambda x: torch.normal(x, 1.0),
    lambda x: F.dropout2d(x[None, None], 0.5),
    lambda x: F.rrelu(x, training=True),
    lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5),
]


@check
def random_numbers_are_those_of_one_device(mesh):
    for function in RANDOM:
        torch.manual_seed(5)
        expected, following = function(numbers(5, 6)), torch.rand(3)
        for placement in (Shard(0), Shard(1), R):
            torch.manual_seed(5)
            same(function(spread(numbers(5, 6), mesh, placement)), expected)
            assert torch.equal(torch.rand(3), following)
    torch.manual_seed(1)
    expected = torch.randn(5, 3)
    torch.manual_seed(1)
    same(hp.randn(5, 3, device_mesh=mesh, placements=[Shard(0)]), expected)
    for fill in (nn.init.kaiming_uniform_, nn.init.trunc_normal_, nn.init.orthogonal_):
        plain, cut = torch.zeros(5, 3), nn.Parameter(spread(torch.zeros(5, 3), mesh, Shard(0)))
        for target in (plain, cut):
            torch.manual_seed(2)
            fill(target)
        same(cut, plain, 1e-6)


@check
def factories(mesh):
    same(hp.arange(7, device_mesh=mesh, placements=[Shard(0)]), torch.arange(7))
    same(hp.full((3, 2), 4.0, device_mesh=mesh, placements=[Partial()]), torch.full((3, 2), 4.0))
    assert hp.zeros(3, 2, device_mesh=mesh, placements=[Shard(0)], requires_grad=True).requires_grad
    with mesh:
        same(hp.ones(4), torch.ones(4))


@check
def a_view_of_redistributed_data_is_never_silently_cut_off(mesh):
    base = spread(numbers(4, 4), mesh, Shard(1)) * 1
    view = base.view(16)
    same(view * 2, numbers(16) * 2)
    assert "its target should be a tensor that shares memory" in raises(hp.AliasLostError, lambda: view.add_(1))
    base.add_(1)
    assert "unchanged since" in raises(hp.AliasLostError, lambda: view * 2)
    base = spread(numbers(4, 4), mesh, Shard(1)) * 1
    base.T.add_(1)
    same(base, numbers(4, 4) + 1)


@check
def a_pending_sum_is_reduced_once_and_again_after_any_write(mesh):
    local = numbers(4)
    x = hp.DTensor.from_local(local, mesh, [Partial()])
    full = numbers(4) * mesh.size()
    same(x.exp(), full.exp())
    hp.report.reset()
    same(x.exp(), full.exp())
    assert hp.report.of("exp").bytes_sent == 0
    writes = [
        lambda: local.add_(1),
        lambda: x.to_local().add_(1),
        lambda: x.add_(mesh.size()),
        lambda: x.data.copy_(x.data + spread(torch.ones(4).double() * mesh.size(), mesh, Partial())),
    ]
    for count, write in enumerate(writes, 1):
        write()
        same(x.exp(), (full + count * mesh.size()).exp())


@check
def strict_mode_refuses_to_move_data(mesh):
    x, y = spread(numbers(4, 4), mesh, Shard(0)), spread(numbers(4, 4), mesh, Shard(1))
    for _ in range(2):
        with hp.strict():
            same(x + x, numbers(4, 4) * 2)
            message = raises(hp.LayoutError, lambda: x + y)
            assert message.startswith("For add, input placements on mesh axis 'tp' should be")
            raises(hp.LayoutError, lambda: torch.linalg.inv(x))
        same(x + y, numbers(4, 4) * 2)


@check
def invalid_calls_raise_what_torch_raises(mesh):
    x = spread(numbers(4, 4), mesh, Shard(0))
    raises(RuntimeError, lambda: x @ spread(numbers(3, 3), mesh, R))
    raises(IndexError, lambda: x.sum(7))
    raises(RuntimeError, lambda: x.view(3, 3))
    raises(RuntimeError, lambda: x + spread(numbers(3), mesh, R))
    raises(IndexError, lambda: x.transpose(0, 5))
    raises(RuntimeError, lambda: x.long().mean())
    raises(RuntimeError, x.backward)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        assert grad.shape == x.shape
        return 2 * x * grad


@check
def custom_functions_get_distributed_gradients(mesh):
    x = spread(numbers(4, 4), mesh, Shard(0), grad=True)
    y = Square.apply(x)
    same(y, numbers(4, 4) ** 2)
    y.sum().backward()
    same(x.grad, 2 * numbers(4, 4))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(6, 8, dtype=torch.float64)
        self.down = nn.Linear(8, 6, dtype=torch.float64)
        self.norm = nn.LayerNorm(6, dtype=torch.float64)

    def forward(self, x):
        return self.norm(self.down(F.gelu(self.up(x))))


@check
def parallel_styles_train_like_one_device(mesh):
    torch.manual_seed(0)
    plain = Block()
    expected = plain(numbers(4, 6))
    expected.pow(2).sum().backward()
    plans = [
        {"up": hp.ColwiseParallel(), "down": hp.RowwiseParallel()},
        {
            "up": hp.ColwiseParallel(input_layouts=Shard(0), use_local_output=False),
            "down": hp.RowwiseParallel(output_layouts=Shard(0), use_local_output=False),
            "norm": hp.SequenceParallel(sequence_dim=0),
        },
    ]
    for index, plan in enumerate(plans):
        block = hp.parallelize_module(copy.deepcopy(plain), mesh, plan)
        block.zero_grad()
        out = block(spread(numbers(4, 6), mesh, Shard(0)) if index else numbers(4, 6))
        same(out, expected)
        out.pow(2).sum().backward()
        for found, want in zip(block.parameters(), plain.parameters(), strict=True):
            same(found.grad, want.grad)
    raises(ValueError, lambda: hp.parallelize_module(Block(), mesh, {"sideways": hp.ColwiseParallel()}))


@check
def local_functions(mesh):
    x, w = spread(numbers(5, 3), mesh, Shard(0), grad=True), spread(numbers(3, 3, seed=1), mesh, R, grad=True)
    product = hp.local_map(lambda a, b: a @ b, [Shard(0)], ([Shard(0)], [R]))
    (product(x, w) ** 2).sum().backward()
    x0, w0 = numbers(5, 3).requires_grad_(), numbers(3, 3, seed=1).requires_grad_()
    ((x0 @ w0) ** 2).sum().backward()
    same(x.grad, x0.grad)
    same(w.grad, w0.grad)
    raises(hp.LayoutError, lambda: hp.local_map(lambda a: a, [Shard(0)], ([Shard(1)],))(x))
    total = hp.custom_shard(lambda a: a.sum(0), mesh, [Partial()], ([Shard(0)],))(spread(numbers(5, 3), mesh, R))
    same(total, numbers(5, 3).sum(0))


def program(rank):
    mesh = hp.init_device_mesh("cpu", (torch.distributed.get_world_size(),), mesh_dim_names=("tp",))
    failures = {}
    for function in CHECKS:
        try:
            function(mesh)
        except Exception:
            failures[function.__name__] = traceback.format_exc()[-1500:]
    return {"tried": len(CHECKS), "failures": failures}


if __name__ == "__main__":
    ranks.main(program, int(sys.argv[1]), (), sys.argv[2])
