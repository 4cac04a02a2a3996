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
"""What the pooled MindSpore ranks run; every function checks on its rank and returns plain data for the parent."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn

import hyper_parallel as hp
from hyper_parallel.errors import AliasLostError, LayoutError
from hyper_parallel.platform.mindspore import adjoint, gloo, wire
from hyper_parallel.platform.mindspore.errors import MissingKernelError

functional = mint.nn.functional
DTYPES = (ms.float16, ms.bfloat16, ms.float32, ms.float64, ms.int8, ms.uint8, ms.int16, ms.int32, ms.int64, ms.bool_)


def _mesh(shape: tuple[int, ...]) -> Any:
    return hp.init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp")[: len(shape)])


def _values(x: Tensor) -> Any:
    return (x.float() if x.dtype == ms.bfloat16 else x).asnumpy()


def collectives(shape: tuple[int, ...]) -> int:
    """Every raw collective on every dtype, 0-d and uneven, along every axis (rows of a 2-D mesh are sub-groups)."""
    mesh = _mesh(shape)
    checked = 0
    for axis in range(mesh.ndim):
        peers, me = mesh.mesh_shape[axis], mesh.own_coordinate()[axis]
        for dtype in DTYPES:
            whole = Tensor(np.arange(peers * 2 - 1) % 2).astype(dtype)
            sizes = [2] * (peers - 1) + [1]
            own = whole[2 * me : 2 * me + sizes[me]]
            gathered = wire.all_gather(own, mesh, axis, 0, sizes)
            assert gathered.dtype == dtype
            assert (_values(gathered) == _values(whole)).all(), (dtype, gathered)
            scalar = Tensor(1).astype(dtype)
            total = wire.all_reduce(scalar, mesh, axis, "sum")
            assert total.dtype == dtype
            assert total.shape == ()
            assert float(_values(total)) == (1 if dtype == ms.bool_ else peers)
            assert float(_values(wire.all_reduce(Tensor(me % 2).astype(dtype), mesh, axis, "max"))) == 1
            assert float(_values(wire.broadcast(Tensor(me % 2).astype(dtype), mesh, axis, 1))) == 1
            scattered = wire.reduce_scatter(whole, mesh, axis, 0, sizes, "sum")
            expected = _values(own) if dtype == ms.bool_ else _values(own) * peers
            assert (_values(scattered) == expected).all(), (dtype, scattered)
            table = Tensor(np.arange(peers * 3) % 2).reshape(3, peers)[:, me : me + 1].astype(dtype)
            cut = list((2, 1, 0, 0)[:peers]) if peers < 3 else [1] * peers
            if sum(cut) == 3:
                moved = wire.all_to_all(table, mesh, axis, 0, cut, 1, [1] * peers)
                start = sum(cut[:me])
                want = (np.arange(peers * 3) % 2).reshape(3, peers)[start : start + cut[me]]
                assert (_values(moved) == want.astype(_values(moved).dtype)).all()
            checked += 1
    return checked


def exchange_without_gloo(shape: tuple[int, ...]) -> bool:
    """The way for installations without PyTorch gives what gloo gives."""
    mesh = _mesh(shape)
    peers, me = mesh.size(), mesh.rank
    parts = [np.full(i + me + 1, 10 * me + i, np.float32) for i in range(peers)]
    shapes = [(me + source + 1,) for source in range(peers)]
    by_gather = wire._exchange_by_gather(parts, shapes, mesh, 0)
    by_gloo = wire._exchange_host(parts, shapes, mesh, 0)
    assert gloo.available()
    return all((a == b).all() and a.shape == b.shape for a, b in zip(by_gather, by_gloo, strict=True))


def gradients_of_collectives() -> list[Any]:
    """First and second derivatives of sum((gather(x) * w)**3), which all ranks have to agree on with one device."""
    mesh = _mesh((2,))
    me, sizes = mesh.rank, [2, 1]
    whole = np.array([1.0, 2.0, 3.0], np.float32)
    own = Tensor(whole[2 * me : 2 * me + sizes[me]])

    def loss(x: Tensor) -> Tensor:
        full = adjoint.all_gather(x, mesh, 0, 0, sizes)
        return (full * full * full).sum()

    first = ms.grad(loss)(own)
    second = ms.grad(lambda x: ms.grad(loss)(x).sum())(own)
    part = whole[2 * me : 2 * me + sizes[me]]
    assert np.allclose(first.asnumpy(), 3 * part**2)
    assert np.allclose(second.asnumpy(), 6 * part)
    return [first.asnumpy().tolist(), second.asnumpy().tolist()]


def missing_kernel_and_after() -> str:
    """An operator without a kernel fails by name, and the next ones still dispatch."""
    mesh = _mesh((2,))
    d = hp.distribute_tensor(Tensor(np.ones((2, 3, 8, 8), np.float32)), mesh, [hp.Shard(0)])
    told = ""
    for _ in range(2):
        try:
            functional.conv2d(d, Tensor(np.ones((3, 3, 3, 3), np.float32)))
        except MissingKernelError as error:
            told = str(error)
        again = mint.add(d, d)
        assert type(again) is hp.DTensor
        assert again.layout is d.layout
    return told


def in_place_and_views() -> bool:
    """Writes reach the tensor under its own layout; a write that would be lost is an error."""
    mesh = _mesh((2,))
    full = np.arange(15, dtype=np.float32).reshape(5, 3)
    for place in (hp.Shard(0), hp.Shard(1), hp.Replicate()):
        d = hp.distribute_tensor(Tensor(full), mesh, [place])
        same = d.add_(1)
        assert same is d
        d *= 2
        d[1:3] = Tensor(np.float32(7))
        want = (full + 1) * 2
        want[1:3] = 7
        assert np.array_equal(d.asnumpy(), want)
        assert d.placements == (place,)
    d = hp.distribute_tensor(Tensor(full), mesh, [hp.Shard(0)])
    view = mint.narrow(d, 0, 1, 3)
    try:
        view.add_(1)
    except AliasLostError:
        return bool(np.array_equal(d.asnumpy(), full))
    return bool(np.array_equal(d.asnumpy()[1:4], full[1:4] + 1))


def running_statistics() -> bool:
    """Training-mode batch norm updates running statistics that are cut, as it updates whole ones."""
    mesh = _mesh((2,))
    data = np.sin(np.arange(4 * 3 * 5)).astype(np.float32).reshape(4, 3, 5)
    flat = data.transpose(1, 0, 2).reshape(3, -1)
    mean, spread = 0.3 * flat.mean(1), 0.7 + 0.3 * flat.var(1, ddof=1)
    for place in (hp.Replicate(), hp.Shard(0)):
        stats = [hp.distribute_tensor(Tensor(np.full(3, v, np.float32)), mesh, [place]) for v in (0.0, 1.0)]
        x = hp.distribute_tensor(Tensor(data), mesh, [hp.Shard(0)])
        functional.batch_norm(x, *stats, training=True, momentum=0.3)
        assert np.allclose(stats[0].asnumpy(), mean, atol=1e-5), (place, stats[0].asnumpy(), mean)
        assert np.allclose(stats[1].asnumpy(), spread, atol=1e-5), (place, stats[1].asnumpy(), spread)
    return True


def gradient_through_writes() -> list[Any]:
    """The gradient of a tensor that was written in place."""
    mesh = _mesh((2,))
    d = hp.distribute_tensor(Tensor(np.array([1.0, 2.0, 3.0], np.float32)), mesh, [hp.Shard(0)])

    def loss(x: Any) -> Any:
        y = x * 1.0
        y.copy_(x * x * 2)
        return y.sum()

    return ms.grad(loss)(d).asnumpy().tolist()  # type: ignore[no-any-return]


def strict_and_refusals() -> bool:
    """Strict mode, other meshes, pending results of gradients, graph mode and jit: clear errors."""
    mesh, other = _mesh((2,)), hp.init_device_mesh("cpu", (2,), mesh_dim_names=("other",))
    a = hp.distribute_tensor(Tensor(np.ones((4, 4), np.float32)), mesh, [hp.Shard(0)])
    b = hp.distribute_tensor(Tensor(np.ones((4, 4), np.float32)), mesh, [hp.Shard(1)])
    c = hp.distribute_tensor(Tensor(np.ones((4, 4), np.float32)), other, [hp.Shard(1)])
    _expect(LayoutError, "For add", lambda: _strictly(lambda: mint.add(a, b)))
    _expect(LayoutError, "mesh", lambda: mint.add(a, c))
    average = hp.DTensor.from_local(Tensor(np.float32(1)), mesh, [hp.Partial("avg")])
    _expect(LayoutError, "pending", lambda: ms.grad(lambda x: average * 1.0)(a))
    jitted = ms.jit(lambda x: x + 1)
    _expect(NotImplementedError, "jit", lambda: jitted(a))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        full = Tensor(np.ones((4, 4), np.float32))
        _expect(NotImplementedError, "PYNATIVE_MODE", lambda: hp.distribute_tensor(full, mesh, [hp.Shard(0)]))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    return type(mint.add(a, a)) is hp.DTensor


def _strictly(run: Any) -> None:
    with hp.strict():
        run()


def _expect(kind: type[BaseException], part: str, run: Any) -> None:
    with pytest.raises(kind) as caught:
        run()
    assert part in str(caught.value), str(caught.value)


def optimizer_steps(name: str) -> list[float]:
    """Three steps of an optimizer on a parameter cut unevenly, against the same on a plain parameter."""
    mesh = _mesh((2,))
    start = np.linspace(-1, 1, 15).astype(np.float32).reshape(5, 3)
    data = np.cos(np.arange(15)).astype(np.float32).reshape(5, 3)
    results = []
    for place in (None, hp.Shard(0), hp.Shard(1), hp.Replicate()):
        plain = ms.Parameter(Tensor(start.copy()), name="w")
        parameter = plain if place is None else hp.distribute_tensor(plain, mesh, [place])
        cell = _Cell(parameter)
        x = Tensor(data) if place is None else hp.distribute_tensor(Tensor(data), mesh, [hp.Shard(0)])
        weights = cell.trainable_params()
        optimizer = _OPTIMIZERS[name](weights)
        step = ms.value_and_grad(cell, None, weights)
        for _ in range(3):
            _, grads = step(x)
            optimizer(grads)
        results.append(np.array(parameter.asnumpy()))
        assert place is None or parameter.placements == (place,)
    for other in results[1:]:
        assert np.allclose(results[0], other, rtol=1e-5, atol=1e-6), (results[0], other)
    assert not np.allclose(results[0], start)
    return [float(value) for value in results[0].reshape(-1)[:3]]


class _Cell(nn.Cell):  # type: ignore[misc]
    def __init__(self, parameter: Any) -> None:
        super().__init__()
        self.w = parameter

    def construct(self, x: Any) -> Any:
        return mint.sum(mint.mul(mint.mul(self.w, self.w), x))


_OPTIMIZERS = {
    "SGD": lambda w: nn.SGD(w, 0.1, momentum=0.9),
    "Momentum": lambda w: nn.Momentum(w, 0.1, 0.9),
    "Adam": lambda w: nn.Adam(w, 0.1),
    "AdamWeightDecay": lambda w: nn.AdamWeightDecay(w, 0.1, weight_decay=0.01),
    "RMSProp": lambda w: nn.RMSProp(w, 0.1),
    "Adagrad": lambda w: nn.Adagrad(w, learning_rate=0.1),
}


def random_numbers() -> bool:
    """Factories draw the same numbers whatever the sharding; ranks seeded apart agree too."""
    mesh = _mesh((2,))
    values = []
    for place in (hp.Replicate(), hp.Shard(0), hp.Shard(1)):
        hp.manual_seed(11 + mesh.rank)
        values.append(hp.rand(5, 3, device_mesh=mesh, placements=[place]).asnumpy())
    hp.manual_seed(11)
    alone = ms.ops.rand(5, 3).asnumpy()
    return all(np.array_equal(value, alone) for value in values)


def styles_and_maps() -> bool:
    """Column- then row-wise linear layers, and `local_map`, give one device's result and gradients."""
    mesh = _mesh((2,))
    up, down = mint.nn.Linear(6, 8), mint.nn.Linear(8, 6)
    data = Tensor(np.sin(np.arange(30)).astype(np.float32).reshape(5, 6))
    for layer in (up, down):
        for parameter in layer.get_parameters():
            parameter.set_data(Tensor(np.cos(np.arange(parameter.size)).astype(np.float32).reshape(parameter.shape)))
    net = nn.SequentialCell(up, mint.nn.ReLU(), down)
    want, want_grads = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(data)
    wanted = [g.asnumpy() for g in want_grads]
    hp.parallelize_module(net, mesh, {"0": hp.ColwiseParallel(use_local_output=False), "2": hp.RowwiseParallel()})
    assert up.weight.placements == (hp.Shard(0),)
    assert down.weight.placements == (hp.Shard(1),)
    got, grads = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(data)
    assert np.allclose(got.asnumpy(), want.asnumpy(), rtol=1e-5)
    assert all(np.allclose(g.asnumpy(), w, rtol=1e-4, atol=1e-5) for g, w in zip(grads, wanted, strict=True))
    doubled = hp.local_map(lambda x: x * 2, [hp.Shard(0)], ([hp.Shard(0)],))
    d = hp.distribute_tensor(data, mesh, [hp.Shard(0)])
    return bool(np.allclose(doubled(d).asnumpy(), 2 * data.asnumpy()))


def start_torch(mesh: Any) -> None:
    """A gloo process group beside MindSpore's, once per process."""
    import torch.distributed as dist

    if not dist.is_initialized():
        store = dist.TCPStore("127.0.0.1", _agreed_port(mesh), 2, mesh.rank == 0)
        dist.init_process_group("gloo", store=store, rank=mesh.rank, world_size=2)
    hp.set_platform("torch")
    try:
        hp.init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    finally:
        hp.set_platform("mindspore")


def two_backends() -> list[Any]:
    """torch's and MindSpore's DTensors of one mesh in one process."""
    import torch

    mesh = _mesh((2,))
    values = np.arange(10, dtype=np.float32).reshape(5, 2)
    ours = hp.distribute_tensor(Tensor(values), mesh, [hp.Shard(0)])
    start_torch(mesh)
    hp.set_platform("torch")
    try:
        same = hp.init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
        theirs = hp.distribute_tensor(torch.from_numpy(values.copy()), same, [hp.Shard(0)])
        summed = (theirs * 2).sum().full_tensor().item()
        mixed = (ours * 2).sum().item()
    finally:
        hp.set_platform("mindspore")
    return [same is mesh, summed, mixed, type(theirs).__module__, type(ours).__module__]


def _agreed_port(mesh: Any) -> int:
    return max(wire._announce(gloo._free_port() if mesh.rank == 0 else 0, mesh, 0))
