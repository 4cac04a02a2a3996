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
"""MindSpore's DTensor in one process: the hook, what a DTensor says about itself, vocabulary, refusals."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn

import hyper_parallel as hp
from benchmarks.mindspore_backends import DOCUMENT, rewritten
from hyper_parallel.layout import Layout
from hyper_parallel.platform import get_platform, platform_of
from hyper_parallel.platform.mindspore import dtensor as module
from hyper_parallel.platform.mindspore import native, routes, vocabulary
from hyper_parallel.platform.mindspore.errors import MissingKernelError, missing_kernel
from hyper_parallel.platform.mindspore.intercept import has_empty_part, registry

PLATFORM = get_platform("mindspore")
DTensor = PLATFORM.dtensor


@pytest.fixture
def mesh() -> Any:
    """A mesh of the own rank only; layouts behave as on more."""
    return hp.init_device_mesh("cpu", (1,), mesh_dim_names=("dp",), init_backend=False, rank=0)


@pytest.fixture
def two() -> Any:
    """Rank 0 of a mesh of two that was never started."""
    return hp.init_device_mesh("cpu", (2,), mesh_dim_names=("dp",), init_backend=False, rank=0)


def cut(mesh: Any, values: Any, place: Any) -> Any:
    return hp.distribute_tensor(Tensor(np.asarray(values)), mesh, [place], src_data_rank=None)


def test_tensors_choose_their_backend(mesh: Any) -> None:
    import torch

    assert platform_of(Tensor(1.0)).name == "mindspore"
    assert platform_of(torch.ones(1)).name == "torch"
    assert type(cut(mesh, np.ones(3, np.float32), hp.Shard(0))) is DTensor


def test_shapes_are_global(two: Any) -> None:
    d = module.as_dtensor(Tensor(np.zeros((3, 4), np.float32)), Layout(two, (hp.Shard(0),), (5, 4)))
    assert (d.shape, d.ndim, d.numel(), d.size, len(d)) == ((5, 4), 2, 20, 20, 5)
    assert (d.nbytes, d.stride(), d.strides, d.local_shape) == (80, (4, 1), (16, 4), (3, 4))
    assert d.to_local().shape == (3, 4)
    assert "shape=(5, 4)" in repr(d)


METADATA = frozenset(
    [
        "_dtensor_info",
        "_dtype",
        "_flush_from_cache",
        "_get_user_data",
        "_grad",
        "_grad_node",
        "_has_auto_grad",
        "_is_leaf",
        "_is_test_stub",
        "_itemsize",
        "_load",
        "_need_contiguous",
        "_output_index",
        "_remove_hook",
        "_requires_grad",
        "_retains_grad",
        "_version",
        "const_arg",
        "contiguous",
        "delta_seed",
        "device",
        "dtype",
        "has_init",
        "hooks",
        "index_of_parent_",
        "init",
        "init_finished",
        "init_flag",
        "is_complex",
        "is_contiguous",
        "is_floating_point",
        "is_init",
        "is_meta",
        "is_shared",
        "is_signed",
        "itemsize",
        "param_info",
        "parent_tensor_",
        "positive",
        "remove_hook",
        "requires_grad_",
        "set_cast_dtype",
        "set_const_arg",
        "set_dtype",
        "set_init_flag",
        "symbolic_shape",
        "virtual_flag",
        "wait_pipeline",
    ]
)
"""What MindSpore answers without the hook, and the answer is the same for part and whole."""


class Reached(Exception):
    """The hook was asked."""


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook raises `Reached` in place of running anything."""

    def reach(*args: Any, **kwargs: Any) -> Any:
        raise Reached

    monkeypatch.setattr(module, "_CALLS", [reach, reach])


def test_no_method_answers_for_the_part_alone(two: Any, recorded: None) -> None:
    def new(kind: Any = np.float32) -> Any:
        values = np.arange(12).reshape(3, 4).astype(kind)
        return module.as_dtensor(Tensor(values), Layout(two, (hp.Shard(0),), (6, 4)))

    own = {n for k in DTensor.__mro__ if k.__module__.startswith("hyper_parallel") for n in vars(k)}
    forms = [lambda: (), lambda: (1,), lambda: (0, 1), lambda: (new(),), lambda: ((6, 4),), lambda: (2.0,),
             lambda: (0, new(np.int64)), lambda: (new(np.int64),), lambda: (ms.float16,),
             lambda: (new(np.bool_), 1.0)]  # fmt: skip
    silent = []
    for name in sorted(set(dir(Tensor)) - set(dir(object)) - own - METADATA):
        try:
            found = getattr(new(), name)
            if not callable(found):
                silent.append(name)
                continue
        except Exception:
            continue
        answers = [_answer(found, form()) for form in forms]
        if "reached" not in answers and "value" in answers:
            silent.append(name)
    assert silent == []


def _answer(found: Any, args: tuple[Any, ...]) -> str:
    try:
        found(*args)
    except Reached:
        return "reached"
    except Exception:
        return "refused"
    return "value"


def test_memory_of_the_part_is_not_shown(mesh: Any) -> None:
    d = cut(mesh, np.ones(3, np.float32), hp.Shard(0))
    with pytest.raises(NotImplementedError, match="For data_ptr, the tensor should be a plain one"):
        d.data_ptr()


def test_plain_tensors_and_masks_mean_the_whole(mesh: Any, two: Any) -> None:
    d = cut(mesh, np.arange(6, dtype=np.float32).reshape(2, 3), hp.Shard(0))
    assert Tensor(d).asnumpy().tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert d[d > 2].asnumpy().tolist() == [3.0, 4.0, 5.0]
    part = module.as_dtensor(Tensor(np.zeros((3, 4), np.float32)), Layout(two, (hp.Shard(0),), (6, 4)))
    with pytest.raises(RuntimeError):  # the other rank is asked, and this mesh was never started
        Tensor(part)


def test_copies(mesh: Any) -> None:
    d = cut(mesh, np.arange(6, dtype=np.float32).reshape(2, 3), hp.Shard(0))
    parameter = hp.distribute_tensor(ms.Parameter(Tensor(np.ones(3, np.float32)), name="w"), mesh, [hp.Shard(0)])
    for other in (copy.deepcopy(d), copy.copy(d), pickle.loads(pickle.dumps(d))):
        assert other is not d
        assert other.layout is d.layout
        assert np.array_equal(other.asnumpy(), d.asnumpy())
    for other in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert isinstance(other, ms.Parameter)
        assert isinstance(other, DTensor)
        assert (other.name, other.layout) == ("w", parameter.layout)


def test_parameters_are_both(mesh: Any) -> None:
    parameter = hp.distribute_tensor(ms.Parameter(Tensor(np.ones((4, 3), np.float32)), name="w"), mesh, [hp.Shard(1)])
    assert isinstance(parameter, ms.Parameter)
    state = parameter.clone("zeros")
    assert state.layout is parameter.layout
    assert not state.asnumpy().any()
    parameter.set_data(Tensor(np.full((4, 3), 2, np.float32)))
    assert parameter.asnumpy().sum() == 24
    assert type(mint.mul(parameter, 2)) is DTensor
    assert isinstance(parameter, DTensor)


def test_gradients_come_as_dtensors(mesh: Any) -> None:
    d = cut(mesh, np.arange(3, dtype=np.float32), hp.Shard(0))
    grad = ms.grad(lambda x: (x * x).sum())(d)
    assert type(grad) is DTensor
    assert grad.layout is d.layout
    assert grad.asnumpy().tolist() == [0.0, 2.0, 4.0]
    value, (by_x, by_plain) = ms.value_and_grad(lambda x, y: (x * y).sum(), (0, 1))(d, Tensor(np.ones(3, np.float32)))
    assert (float(value), type(by_x), type(by_plain)) == (3.0, DTensor, Tensor)
    seen: list[Any] = []

    def watched(x: Any) -> Any:
        y = x * 3.0
        y.register_hook(lambda g: seen.append(g) or g * 2)
        return y.sum()

    assert ms.grad(watched)(d).asnumpy().tolist() == [6.0] * 3
    assert [type(g) for g in seen] == [DTensor]


def test_missing_kernels_have_names() -> None:
    assert missing_kernel(RuntimeError("The kernel Roll unregistered.\n---")) == "Roll"
    assert missing_kernel(RuntimeError("Create kernelmod for op LayerNormExt failed")) == "LayerNormExt"
    assert missing_kernel(NotImplementedError("einsum only supports Ascend.")) == "einsum"
    assert missing_kernel(RuntimeError("shapes do not match")) is None
    error = MissingKernelError.of("roll", "Roll")
    assert str(error) == "For roll, its kernel on the CPU should be part of MindSpore, but got none for Roll."
    assert routes.ROUTES.keys() >= routes.REFUSED
    for name in routes.REFUSED:
        with pytest.raises(MissingKernelError, match="its CPU kernel gives wrong values"):
            native.call_plain(name, (Tensor(0.5),), {})


def test_the_tables_of_the_document_are_those_of_the_code() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert rewritten(text) == text, "python -m benchmarks.mindspore_backends writes them anew"


def test_every_route_is_needed_or_says_why() -> None:
    """A route exists because `mint` fails here: once a release has the kernel, this test says which to drop."""
    x = Tensor(np.array([[0.2, 0.4], [0.6, 0.8]], np.float32))
    still_missing = (
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "exp2",
        "frac",
        "log10",
        "log2",
        "trace",
        "tril",
        "clone",
    )
    for name in still_missing:
        with pytest.raises(RuntimeError) as caught:
            getattr(mint, name)(x)
        assert missing_kernel(caught.value), name
        assert name in routes.ROUTES


@pytest.mark.parametrize(
    ("primitive", "args", "kwargs", "expected"),
    [
        ("SumExt", ("x", 1, False, None), {}, ("sum", ("x", 1, False), {})),
        ("AddExt", ("x", "y"), {"alpha": 2}, ("add", ("x", "y"), {"alpha": 2})),
        ("MaxDim", ("x",), {"dim": 1}, ("max", ("x", 1), {})),
        ("Reshape", ("x", 3, 2), {}, ("reshape", ("x", (3, 2)), {})),
        ("Reshape", ("x", [3, 2]), {}, ("reshape", ("x", (3, 2)), {})),
        ("ProdExt", ("x", 0, False, 43), {}, ("prod", ("x", 0, False), {"dtype": ms.float32})),
        ("MSELossExt", ("x", "y", 1), {}, ("mse_loss", ("x", "y"), {"reduction": "mean"})),
        ("KLDiv", ("x", "y", 2, True), {}, ("kl_div", ("x", "y"), {"reduction": "none", "log_target": True})),
        ("BatchNormExt", ("x", "w", "b", "m", "v", True, 0.1, 1e-5), {},
         ("batch_norm", ("x",), {"weight": "w", "bias": "b", "running_mean": "m", "running_var": "v", "training": True,
                                 "momentum": 0.1, "eps": 1e-5})),
        ("LpNormV2", ("x", 0.5, None, False, 0.0), {}, ("linalg_vector_norm", ("x", 0.5, None, False), {})),
    ],
)  # fmt: skip
def test_primitives_in_the_rule_books_words(primitive: str, args: Any, kwargs: Any, expected: Any) -> None:
    entry = vocabulary.entries()[primitive]
    said = entry.translate(None, args, kwargs)
    assert said is not None
    assert (entry.name, *said) == expected


def test_what_does_not_fit_is_left_to_the_primitive() -> None:
    assert vocabulary.entries()["SumExt"].translate(None, ("x", 1, False, None, "more"), {}) is None
    assert vocabulary.entries()["SumExt"].translate(None, ("x",), {"unknown": 1}) is None


def test_every_word_is_one_of_the_rule_book_or_a_function() -> None:
    rules = set(registry().names())
    for primitive, entry in vocabulary.entries().items():
        base = entry.name.removesuffix("_")
        known = base in rules or native.function(base) is not None
        assert known or base in {"zero", "fill", "copy"}, (primitive, entry.name)


def test_empty_parts_are_told(two: Any) -> None:
    three = hp.init_device_mesh("cpu", (3,), mesh_dim_names=("dp",), init_backend=False, rank=0)
    assert has_empty_part(Layout(two, (hp.Shard(0),), (1, 4)))
    assert not has_empty_part(Layout(two, (hp.Shard(0),), (3, 4)))
    assert has_empty_part(Layout(three, (hp.Shard(0),), (4, 4)))
    assert not has_empty_part(Layout(three, (hp.Replicate(),), (1, 4)))


def test_cells_refuse_what_they_cannot_cut(mesh: Any) -> None:
    with pytest.raises(NotImplementedError, match="For ColwiseParallel, the cell should be Dense, Linear or Embedding"):
        PLATFORM.public("ColwiseParallel")().apply(nn.ReLU(), mesh)
