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
"""The operators that the core brings, as functions of full-size inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

A, B, C = (4, 5), (5,), (4, 1)


@dataclass(frozen=True)
class Case:
    name: str
    fn: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    prepare: Callable[[torch.Tensor], torch.Tensor] = torch.clone
    partial: bool = True


def case(name, fn, *shapes, **more):
    return Case(name, fn, shapes, **more)


def added_in_place(x, y):
    z = x * 1
    z.add_(y)
    z *= 2
    return z


def copied(x, y):
    z = x * 1
    z.copy_(y)
    return z


def filled(x):
    z = x * 1
    z.fill_(2.0)
    z += 1
    return z


def written_through_a_view(x, y):
    z = x * 1
    z.T.mul_(2)
    return z + y


def stored_in_out(x, y):
    target = torch.empty_like(x.detach())
    torch.add(x.detach(), y.detach(), out=target)
    return target


def set_item(x, y):
    z = x * 1
    z[1:3] = y[1:3]
    return z


def _pairs():
    for name in ("add", "sub", "mul", "div", "atan2", "maximum", "fmod", "hypot", "gt"):
        fn = getattr(torch, name)
        yield case(name, fn, A, A)
        yield case(f"{name} row", fn, A, B)
        yield case(f"{name} column", fn, C, A)
        yield case(f"{name} 0-d", fn, A, ())


def _single():
    for name in ("exp", "relu", "neg", "sin", "abs", "sigmoid", "clone", "detach", "isnan", "sign", "zeros_like"):
        yield case(name, getattr(torch, name), A)
    yield case("scalars", lambda x: 1 - x * 2 + 1 - 3 / (x + 10), A)
    yield case("clamp", lambda x: x.clamp(-0.5, 0.5), A)
    yield case("int", lambda x: (x * 3).to(torch.int64), A, partial=False)
    yield case("where", lambda c, a, b: torch.where(c > 0, a, b), A, A, B)
    yield case("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=0.5), A, A, A)
    yield case("lerp", lambda a, b: torch.lerp(a, b, 0.3), A, A)
    yield case("div floor", lambda a, b: torch.div(a, b, rounding_mode="floor"), A, A, partial=False)


def _reductions():
    for name in ("sum", "mean", "prod", "amax", "amin", "var", "std", "logsumexp", "max", "min", "argmax", "argmin"):
        fn = getattr(torch, name)
        if name != "logsumexp":
            yield case(name, fn, A, partial=name not in {"argmax", "argmin"})
        yield case(f"{name} dim 0", lambda x, fn=fn: fn(x, 0), A)
        yield case(f"{name} last kept", lambda x, fn=fn: fn(x, -1, keepdim=True), A)
    for fn in (torch.sum, torch.mean, torch.amax, torch.var, torch.logsumexp):
        yield case(f"{fn.__name__} two dims", lambda x, fn=fn: fn(x, dim=(0, 2)), (3, 2, 5))
    ties = {"prepare": torch.round, "partial": False}
    yield case("amax ties", torch.amax, A, **ties)
    yield case("max ties", torch.max, A, **ties)
    yield case("max dim ties", lambda x: torch.max(x, 0), (7, 3), **ties)
    yield case("max of two", torch.max, A, A)
    yield case("all", lambda x: (x > -1).all(0), A)
    yield case("any", lambda x: (x > 0).any(), A)
    yield case("count_nonzero", lambda x: torch.count_nonzero(x, 0), A)
    yield case("nansum", torch.nansum, A)
    yield case("norm", torch.norm, A)
    yield case("norm 1", lambda x: torch.norm(x, 1, 0), A)
    yield case("norm inf", lambda x: torch.norm(x, float("inf")), A)
    yield case("norm at zero", lambda x: torch.norm(x * 0), A)
    yield case("vector_norm", lambda x: torch.linalg.vector_norm(x, 3, -1), A)
    yield case("var_mean", lambda x: torch.var_mean(x, 1), A)
    yield case("var population", lambda x: torch.var(x, (0, 1), correction=0), A)
    yield case("std at zero", lambda x: torch.std(x * 0, 0), A)
    yield case("mse_loss", F.mse_loss, (5, 3), (5, 3))
    yield case("sum of nothing", lambda x: x.sum(0), (0, 3))


def _contractions():
    yield case("mm", torch.mm, A, (5, 3))
    yield case("bmm", torch.bmm, (3, 4, 5), (3, 5, 2))
    yield case("mv", torch.mv, A, B)
    yield case("dot", torch.dot, B, B)
    yield case("outer", torch.outer, (4,), B)
    yield case("addmm", lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), (4, 3), A, (5, 3))
    yield case("addmm row", torch.addmm, (3,), A, (5, 3))
    yield case("baddbmm", torch.baddbmm, (2, 4, 3), (2, 4, 5), (2, 5, 3))
    for left, right in (
        (A, (5, 3)),
        (B, (5, 3)),
        (A, B),
        ((2, 4, 5), (5, 3)),
        ((2, 4, 5), (3, 1, 5, 2)),
        (B, (2, 5, 3)),
    ):
        yield case(f"matmul {left} {right}", torch.matmul, left, right)
    yield case("linear", F.linear, (2, 4, 5), (3, 5), (3,))
    yield case("einsum", lambda a, b: torch.einsum("bij,bjk->bik", a, b), (2, 3, 4), (2, 4, 3))
    yield case("einsum implicit", lambda a, b: torch.einsum("ij,kj", a, b), (3, 4), (2, 4))
    yield case("einsum diagonal", lambda a: torch.einsum("ii->i", a), (4, 4))


def _views():
    yield case("T", lambda x: x.T, A)
    yield case("mT", lambda x: x.mT, (2, 4, 5))
    yield case("permute", lambda x: x.permute(2, 0, 1), (2, 4, 5))
    yield case("movedim", lambda x: torch.movedim(x, (0, 1), (2, 0)), (2, 4, 5))
    yield case("unsqueeze", lambda x: x.unsqueeze(1), A)
    yield case("squeeze", lambda x: x.squeeze(), (1, 4, 1))
    yield case("squeeze nothing", lambda x: x.squeeze(), (2, 3))
    yield case("expand", lambda x: x.expand(3, 4, 5), C)
    yield case("expand_as", lambda x, y: x.expand_as(y), (1, 5), A)
    yield case("flatten", lambda x: x.flatten(1), (2, 4, 5))
    yield case("unflatten", lambda x: x.unflatten(0, (2, 3)), (6, 4))
    yield case("unbind", lambda x: x.unbind(0), (3, 4))
    yield case("iteration", list, (3, 4))
    sizes = {
        (4, 5): ((20,), (2, 2, 5), (5, 4)),
        (2, 4, 5): ((-1, 5),),
        (2, 2, 2, 5): ((4, 10),),
        (6, 4): ((6, 1, 4), (2, 3, 4)),
    }
    for shape, targets in sizes.items():
        for target in targets:
            yield case(f"view {shape} {target}", lambda x, target=target: x.view(target), shape)


def _others():
    yield case("in place", added_in_place, A, A)
    yield case("in place, row", added_in_place, A, B)
    yield case("copy_", copied, A, A)
    yield case("fill_", filled, A)
    yield case("write through a view", written_through_a_view, (4, 4), (4, 4), partial=False)
    yield case("out", stored_in_out, A, A)
    yield case("set item", set_item, A, A)
    yield case("slice", lambda x: x[1:, ::2], A)
    yield case("mask", lambda x: x[x[:, 0] > 0], A)
    yield case("softmax", lambda x: F.softmax(x, 1), A)
    yield case("cat", lambda x, y: torch.cat([x, y], 1), A, (4, 3))
    yield case("layer_norm", lambda x: F.layer_norm(x, (5,)), A)
    yield case("allclose", lambda x: torch.allclose(x, x), A)
    yield case("0-d", lambda x: x.sum() * x, ())


CASES = [*_pairs(), *_single(), *_reductions(), *_contractions(), *_views(), *_others()]
