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
"""Training on DTensors: optimizers, clipping, checkpointing, autocast, hooks, derivatives of derivatives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import cut, numbers, same
from tests.hyper_parallel.case import S0, S1, P, R

_OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True),
    "adamw foreach": lambda p: torch.optim.AdamW(p, lr=0.1, foreach=True),
    "adamw fused": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1, centered=True),
}
_PLACES = [(S0, R), (S1, S0), (R, R)]


def _loss(a: Any, b: Any) -> Any:
    return ((a * b).sum(0) ** 2 + b).sum()


def _pair(mesh: Any, places: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    fulls = [numbers(5, 3), numbers(3, seed=1)]
    ours = [nn.Parameter(cut(full, mesh, place)) for full, place in zip(fulls, places, strict=True)]
    return [nn.Parameter(full) for full in fulls], ours


def check_optimizers_step_as_on_one_device(mesh: Any) -> None:
    for name, make in _OPTIMIZERS.items():
        for places in _PLACES:
            plain, ours = _pair(mesh, places)
            optimizers = [make(plain), make(ours)]
            for _ in range(3):
                for parameters, optimizer in zip((plain, ours), optimizers, strict=True):
                    optimizer.zero_grad()
                    _loss(*parameters).backward()
                    optimizer.step()
            for got, want, place in zip(ours, plain, places, strict=True):
                assert got.placements == (place,), f"{name} moved a parameter to {got.placements}"
                same(got, want, 1e-7)


def check_optimizer_state_is_saved_and_loaded(mesh: Any) -> None:
    def train(parameters: list[Any], optimizer: torch.optim.Optimizer, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            _loss(*parameters).backward()
            optimizer.step()

    _, ours = _pair(mesh, (S0, R))
    first = torch.optim.AdamW(ours, lr=0.1)
    train(ours, first, 2)
    again = [nn.Parameter(p.detach().clone()) for p in ours]
    second = torch.optim.AdamW(again, lr=0.1)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    train(ours, first, 2)
    train(again, second, 2)
    for got, want in zip(again, ours, strict=True):
        same(got, want)


def check_clipping_by_norm_and_value(mesh: Any) -> None:
    for norm_type in (2.0, 1.0, float("inf")):
        for foreach in (None, True, False):
            plain, ours = _pair(mesh, (S0, R))
            _loss(*plain).backward()
            _loss(*ours).backward()
            want = nn.utils.clip_grad_norm_(plain, 0.5, norm_type=norm_type)
            got = nn.utils.clip_grad_norm_(ours, 0.5, norm_type=norm_type, foreach=foreach)
            same(got, want)
            for one, other in zip(ours, plain, strict=True):
                same(one.grad, other.grad)
    nn.utils.clip_grad_value_(plain, 0.01)
    nn.utils.clip_grad_value_(ours, 0.01)
    same(ours[0].grad, plain[0].grad)


def check_gradients_accumulate_and_are_zeroed(mesh: Any) -> None:
    for place in (S0, S1, R):
        x, full = cut(numbers(5, 3), mesh, place, grad=True), numbers(5, 3).requires_grad_(True)
        for _ in range(3):
            (x * x).sum().backward()
            (full * full).sum().backward()
        same(x.grad, full.grad)
        assert x.grad.placements == (place,)
        x.grad.zero_()
        same(x.grad, torch.zeros(5, 3, dtype=torch.float64))


def check_operators_without_a_gradient_give_none_on_any_rank(mesh: Any) -> None:
    for length in (1, 5):
        for use in (lambda v: v.norm(p=0), lambda v: torch.linalg.vector_norm(v, 0, dim=1).sum()):
            x = cut(numbers(length, 3), mesh, S0, grad=True)
            use(x).backward()
            assert x.grad is None
            (use(x) + x.sum()).backward()
            same(x.grad, torch.ones(length, 3, dtype=torch.float64))


def check_checkpointing(mesh: Any) -> None:
    def block(a: Any, b: Any) -> Any:
        return torch.sin(a @ b).relu()

    for reentrant in (False, True):
        plain = [numbers(5, 3).requires_grad_(True), numbers(3, 3, seed=2).requires_grad_(True)]
        ours = [cut(full, mesh, place, grad=True) for full, place in zip(plain, (S0, R), strict=True)]
        checkpoint(block, *ours, use_reentrant=reentrant).sum().backward()
        block(*plain).sum().backward()
        for got, want in zip(ours, plain, strict=True):
            same(got.grad, want.grad)


def check_autocast(mesh: Any) -> None:
    x, w = numbers(6, 4).float(), numbers(4, 4, seed=1).float()
    for place in (S0, S1, R):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            got, want = cut(x, mesh, place) @ cut(w, mesh, R), x @ w
            assert got.dtype == torch.bfloat16
            assert (cut(x, mesh, place) + 1).dtype == torch.float32
        same(got.float(), want.float(), 0.05)


def check_hooks_see_the_global_gradient(mesh: Any) -> None:
    seen: list[Any] = []
    x = cut(numbers(5, 3), mesh, S0, grad=True)
    y = x * 2
    y.register_hook(lambda grad: (seen.append((type(grad), tuple(grad.shape))), grad * 3)[1])
    y.retain_grad()
    (y * y).sum().backward()
    assert seen == [(hp.DTensor, (5, 3))]
    same(x.grad, numbers(5, 3) * 4 * 2 * 3)
    x.register_post_accumulate_grad_hook(lambda parameter: seen.append(tuple(parameter.grad.shape)))
    (x * 1).sum().backward()
    assert seen[-1] == (5, 3)


def check_module_hooks(mesh: Any) -> None:
    layer, seen = nn.Linear(3, 2, dtype=torch.float64), []
    layer.weight = nn.Parameter(cut(numbers(2, 3), mesh, S0))
    layer.register_forward_hook(lambda module, inputs, output: output * 2)
    layer.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append(tuple(grad_out[0].shape)))
    layer(cut(numbers(4, 3), mesh, R, grad=True)).sum().backward()
    assert seen == [(4, 2)]
    same(layer.weight.grad, 2 * numbers(4, 3).sum(0).expand(2, 3))


def check_derivatives_of_derivatives(mesh: Any) -> None:
    def second(x: Any, w: Any) -> Any:
        y = (torch.tanh(x @ w) ** 2).sum(0).mean() * x.sum()
        by_x, by_w = torch.autograd.grad(y, [x, w], create_graph=True)
        return torch.autograd.grad((by_x**2).sum() + (by_w**3).sum() * x.mean(), [x, w])

    plain = [numbers(4, 3).requires_grad_(True), numbers(3, 3, seed=1).requires_grad_(True)]
    wants = second(*plain)
    for left in (S0, S1, R, P):
        for right in (S0, R, P):
            ours = [cut(plain[0], mesh, left, grad=True), cut(plain[1], mesh, right, grad=True)]
            for got, want in zip(second(*ours), wants, strict=True):
                same(got, want)


def check_gradient_penalty_through_backward(mesh: Any) -> None:
    plain = numbers(5, 3).requires_grad_(True)
    (by_plain,) = torch.autograd.grad((plain**3).sum(), plain, create_graph=True)
    ((by_plain**2).sum()).backward()
    for place in (S0, S1, R):
        x = cut(numbers(5, 3), mesh, place, grad=True)
        (by_x,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        ((by_x**2).sum()).backward()
        same(x.grad, plain.grad)


def check_no_grad_and_inference_mode(mesh: Any) -> None:
    x = cut(numbers(4, 4), mesh, S0, grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        x.add_(1)
        x.mul_(2)
    same(x, (numbers(4, 4) + 1) * 2)
    with torch.inference_mode():
        y = x.detach() * 2
        y.add_(1)
        same(y, (numbers(4, 4) + 1) * 4 + 1)


def check_custom_function_and_saved_tensors(mesh: Any) -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    for place in (S0, S1, R):
        x = cut(numbers(5, 4), mesh, place, grad=True)
        with torch.autograd.graph.save_on_cpu():
            y = Square.apply(x).sin()
        y.sum().backward()
        same(x.grad, torch.cos(numbers(5, 4) ** 2) * 2 * numbers(5, 4))
