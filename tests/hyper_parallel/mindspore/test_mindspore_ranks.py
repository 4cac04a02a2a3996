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
"""MindSpore's DTensors on real ranks: collectives, gradients, writes, errors, optimizers, cells, both backends."""

from __future__ import annotations

import pytest

from benchmarks.llama import Size
from benchmarks.mindspore_llama import torch_losses
from tests.hyper_parallel.mindspore.pool import MindSporePool

PROGRAMS = "tests.hyper_parallel.mindspore.programs"
TIMEOUT_S = 240.0


def run(pool: MindSporePool, name: str, *arguments: object) -> tuple[object, ...]:
    return pool.run(PROGRAMS, name, *arguments, timeout_s=TIMEOUT_S)


def test_collectives_take_every_dtype(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "collectives", (2,)) == (10, 10)


def test_collectives_work_in_sub_groups(four_ranks: MindSporePool) -> None:
    assert run(four_ranks, "collectives", (2, 2)) == (20,) * 4


def test_exchange_without_pytorch(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "exchange_without_gloo", (2,)) == (True, True)


def test_derivatives_of_collectives(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "gradients_of_collectives") == ([[3.0, 12.0], [6.0, 12.0]], [[27.0], [18.0]])


def test_a_missing_kernel_is_named_and_later_operators_dispatch(two_ranks: MindSporePool) -> None:
    told = run(two_ranks, "missing_kernel_and_after")
    assert told[0] == told[1]
    assert "Conv2DExt" in str(told[0])
    assert "the CPU" in str(told[0])


def test_writes_reach_the_tensor(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "in_place_and_views") == (True, True)


def test_running_statistics_are_updated(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "running_statistics") == (True, True)


def test_gradient_through_writes(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "gradient_through_writes") == ([4.0, 8.0, 12.0],) * 2


def test_refusals_are_clear(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "strict_and_refusals") == (True, True)


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "AdamWeightDecay", "RMSProp", "Adagrad"])
def test_optimizers_step_as_on_one_device(two_ranks: MindSporePool, name: str) -> None:
    first, second = run(two_ranks, "optimizer_steps", name)
    assert first == second


def test_random_numbers_do_not_depend_on_the_sharding(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "random_numbers") == (True, True)


def test_parallel_styles_and_local_functions(two_ranks: MindSporePool) -> None:
    assert run(two_ranks, "styles_and_maps") == (True, True)


def test_both_backends_in_one_process(two_ranks: MindSporePool) -> None:
    modules = ["hyper_parallel.platform.torch.dtensor", "hyper_parallel.platform.mindspore.dtensor"]
    assert run(two_ranks, "two_backends") == ([True, 90.0, 90.0, *modules],) * 2


def test_an_error_on_one_rank_is_one_on_all(two_ranks: MindSporePool) -> None:
    program = "tests.hyper_parallel.mindspore.programs_errors"
    first, second = two_ranks.run(program, "errors_of_one_rank", timeout_s=TIMEOUT_S)
    assert first == ["ValueError", "IndexError", "IndexError", "IndexError"]
    assert first == second


TWINS = ("tril", "ops_tril", "sort", "matmul", "softmax", "embedding", "layer_norm", "cross_entropy", "attention")


@pytest.mark.parametrize("name", TWINS)
def test_operators_agree_with_pytorch(two_ranks: MindSporePool, name: str) -> None:
    first, second = two_ranks.run("tests.hyper_parallel.mindspore.same_as_torch", "compare", name, timeout_s=TIMEOUT_S)
    assert first == second
    assert first["tried"] >= 3
    assert first["differ"] == []


def test_a_small_llama_trains_as_in_one_process(two_ranks: MindSporePool) -> None:
    small = Size(vocabulary=40, width=16, heads=2, hidden=24, layers=1, batch=2, length=6)
    wanted = torch_losses(small, 20)
    found = two_ranks.run("benchmarks.mindspore_llama", "train", 20, 2, small, timeout_s=TIMEOUT_S)
    assert found[0]["losses"] == found[1]["losses"]
    assert found[0]["losses"] == pytest.approx(wanted, rel=1e-4)
