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
"""Random programs: chains of operators of different families, under random placements, against one device.

python -m tests.hyper_parallel.chains --mesh 3 --seeds 0-200
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable
from typing import Any

import torch

import hyper_parallel as hp
from hyper_parallel.placements import Partial, Replicate, Shard
from tests.hyper_parallel.trial import distribute, mesh_of
from tests.ranks.pool import RankPool
from tests.ranks.step import StepKeeper

LONGEST = 8
_TOLERANCE = 1e-8
_runs = 0


class Program:
    """One chain, drawn from a seed: the same draws on one device and on every rank.

    Args:
        seed: what it is drawn from.
        spread: turns a full tensor into what the steps work on (cuts it, or leaves it).
    """

    def __init__(self, seed: int, spread: Callable[[torch.Tensor, random.Random], Any]) -> None:
        self.draw, self.places = random.Random(seed), random.Random(seed + 10**6)
        self.numbers = torch.Generator().manual_seed(seed)
        self.spread = spread
        self.leaves: list[Any] = []
        self.told: list[str] = []

    def tensor(self, *shape: int) -> Any:
        """A new leaf."""
        full = torch.randn(shape, generator=self.numbers, dtype=torch.float64)
        leaf = self.spread(full, self.places).requires_grad_(True)
        self.leaves.append(leaf)
        return leaf

    def run(self) -> Any:
        """The result of all steps; its placements are changed in between."""
        shape = [self.draw.choice((1, 2, 3, 4, 5, 7)) for _ in range(self.draw.randint(1, 3))]
        x = self.tensor(*shape)
        self.told.append(f"{tuple(shape)}")
        for _ in range(self.draw.randint(3, LONGEST)):
            step = self.draw.choice(STEPS)
            self.told.append(step.__name__.lstrip("_"))
            x = step(self, x)
            if self.places.random() < 0.3 and isinstance(x, hp.DTensor):
                x = x.redistribute(placements=_places(x, self.places, pending=False))
        return x

    def dim(self, x: Any) -> int:
        """A dim of `x`."""
        return self.draw.randrange(x.dim())

    def spaced(self, x: Any) -> Any:
        """`x` without equal elements, which several orders would fit."""
        return x + self.spread(torch.randn(x.shape, generator=self.numbers, dtype=torch.float64), self.places)


def _places(x: torch.Tensor, draw: random.Random, pending: bool) -> list[Any]:
    choices = [Replicate(), *(Shard(d) for d in range(x.dim())), *([Partial("sum")] if pending else [])]
    return [draw.choice(choices) for _ in range(x.layout.mesh.ndim if isinstance(x, hp.DTensor) else 1)]


def _transpose(p: Program, x: Any) -> Any:
    return x.transpose(p.dim(x), p.dim(x))


def _merge(p: Program, x: Any) -> Any:
    return x.flatten(0, 1) if x.dim() > 1 else x.unsqueeze(p.draw.randint(0, 1))


def _split_dim(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    parts = [n for n in range(1, x.shape[dim] + 1) if x.shape[dim] % n == 0]
    return x.unflatten(dim, (p.draw.choice(parts), -1)) if x.dim() < 4 and parts else x.contiguous()


def _slice(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    start = p.draw.randint(0, max(0, x.shape[dim] - 1))
    index = [slice(None)] * x.dim()
    index[dim] = slice(start, None, p.draw.choice((1, 1, 2)))
    return x[tuple(index)]


def _turn(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    return x.flip(dim) if p.draw.random() < 0.5 else x.roll(p.draw.randint(-2, 3), dim)


def _pad(p: Program, x: Any) -> Any:
    return torch.nn.functional.pad(x, (p.draw.randint(0, 2), p.draw.randint(0, 2)), value=0.5)


def _reduce(p: Program, x: Any) -> Any:
    dim, name = p.dim(x), p.draw.choice(("sum", "mean", "amax", "logsumexp", "prod"))
    if x.shape[dim] == 0:
        return x.sum(dim, keepdim=True)
    return getattr(p.spaced(x) if name == "amax" else x, name)(dim, keepdim=x.dim() == 1 or p.draw.random() < 0.5)


def _spread_out(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    return torch.var(x, dim, keepdim=True) if x.shape[dim] > 1 else x.square()


def _matmul(p: Program, x: Any) -> Any:
    return x @ p.tensor(x.shape[-1], p.draw.randint(1, 4))


def _scan(p: Program, x: Any) -> Any:
    name, dim = p.draw.choice(("cumsum", "cumprod", "logcumsumexp", "cummax")), p.dim(x)
    return p.spaced(x).cummax(dim).values if name == "cummax" else getattr(torch, name)(x, dim)


def _sort(p: Program, x: Any) -> Any:
    return torch.sort(p.spaced(x), p.dim(x), p.draw.random() < 0.5).values


def _top(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    return torch.topk(p.spaced(x), p.draw.randint(0, x.shape[dim]) or x.shape[dim], dim).values


def _pick(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    if not x.shape[dim]:
        return x + 1
    index = torch.tensor([p.draw.randrange(x.shape[dim]) for _ in range(p.draw.randint(1, 4))])
    return torch.index_select(x, dim, p.spread(index, p.places))


def _along(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    return torch.gather(x, dim, p.spaced(x).detach().argsort(dim))


def _softmax(p: Program, x: Any) -> Any:
    return p.draw.choice((torch.softmax, torch.log_softmax))(x, p.dim(x))


def _join(p: Program, x: Any) -> Any:
    return torch.cat([x, x.tanh(), x], p.dim(x)) if p.draw.random() < 0.6 or x.dim() > 3 else torch.stack([x, -x], 0)


def _swap(p: Program, x: Any) -> Any:
    dim = p.dim(x)
    return torch.cat(list(reversed(torch.chunk(x, p.draw.randint(1, 3), dim))), dim)


def _in_place(p: Program, x: Any) -> Any:
    y = x.clone()
    y.mul_(0.5).add_(x.sin())
    view = y.select(p.dim(y), 0) if min(y.shape) else y
    view.mul_(3)
    return y


def _set(p: Program, x: Any) -> Any:
    y = x * 1
    if y.shape[0]:
        y[p.draw.randrange(y.shape[0])] = p.draw.random()
    return y


def _out(p: Program, x: Any) -> Any:
    result = torch.empty_like(x.detach())
    torch.mul(x.detach(), 2, out=result)
    return x + result


def _choose(p: Program, x: Any) -> Any:
    return torch.where(p.spaced(x).detach() > 0, x, x.exp().clamp(max=2))


def _triangle(p: Program, x: Any) -> Any:
    return torch.tril(x, p.draw.randint(-1, 1)) if x.dim() > 1 else x.abs()


def _add_row(p: Program, x: Any) -> Any:
    return x * p.tensor(x.shape[-1])


STEPS = (
    _transpose, _merge, _split_dim, _slice, _turn, _pad, _reduce, _spread_out, _matmul, _scan, _sort, _top, _pick,
    _along, _softmax, _join, _swap, _in_place, _set, _out, _choose, _triangle, _add_row,
)  # fmt: skip


def outcome(program: Program) -> tuple[list[torch.Tensor], str]:
    """Result and gradients as full tensors, or what kind of error came."""
    try:
        result = program.run()
        full = _whole(result)
        weights = torch.cos(torch.arange(full.numel(), dtype=torch.float64)).reshape(full.shape)
        grads = torch.autograd.grad((full * weights).sum(), program.leaves, allow_unused=True)
        return [full.detach(), *(torch.zeros(()) if g is None else _whole(g) for g in grads)], ""
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        return [], f"{type(error).__name__}: {error}"


def _whole(value: Any) -> torch.Tensor:
    full: torch.Tensor = value.full_tensor() if isinstance(value, hp.DTensor) else value
    return full


def _difference(got: list[torch.Tensor], want: list[torch.Tensor]) -> str:
    for index, (one, other) in enumerate(zip(got, want, strict=True)):
        what = f"gradient {index - 1}" if index else "result"
        if one.shape != other.shape and one.any() + other.any():
            return f"{what} has shape {tuple(one.shape)} instead of {tuple(other.shape)}"
        if one.shape == other.shape and not torch.allclose(one, other, _TOLERANCE, _TOLERANCE, equal_nan=True):
            return f"{what} differs by {(one - other).abs().max()}"
    return ""


def _word(why: str) -> str:
    """A write to a view that lost its base is refused, on all ranks alike."""
    return "refused" if why.startswith("AliasLostError") else "wrong" if why else "right"


def run_seeds(mesh_shape: tuple[int, ...], seeds: list[int]) -> list[str]:
    """On every rank: what is wrong with these programs, or that many are refused; stops where the ranks disagree."""
    global _runs
    _runs += 1
    mesh, found, refusals = mesh_of(mesh_shape), [], 0
    steps = StepKeeper(f"chains/{_runs}", timeout_s=60.0)

    def spread(full: torch.Tensor, draw: random.Random) -> Any:
        pending = full.is_floating_point()
        choices = [Replicate(), *(Shard(d) for d in range(full.dim())), *([Partial("sum")] if pending else [])]
        return distribute(full, mesh, [draw.choice(choices) for _ in mesh_shape])

    for seed in seeds:
        alone, spread_out = Program(seed, lambda full, draw: full.clone()), Program(seed, spread)
        want, refused = outcome(alone)
        got, raised = outcome(spread_out)
        why = raised if raised and not refused else "no error" if refused and not raised else ""
        why = why or (_difference(got, want) if got and want else "")
        words = set(steps.exchange(_word(why)))
        refusals += words == {"refused"}
        if words not in ({"right"}, {"refused"}):
            found.append(f"seed {seed} on {mesh_shape}: {' '.join(spread_out.told)}: {why or 'wrong on another rank'}")
            if raised:
                break
    if refusals > len(seeds) // 3:
        found.append(f"{refusals} of {len(seeds)} programs were refused")
    return found


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 when a program was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.hyper_parallel.chains", description=__doc__)
    parser.add_argument("--mesh", default="2", help="for example 3 or 2x2")
    parser.add_argument("--seeds", default="0-100", help="first-last")
    options = parser.parse_args(argv)
    mesh_shape = tuple(int(n) for n in options.mesh.split("x"))
    first, last = (int(n) for n in options.seeds.split("-"))
    bad = 0
    with RankPool(math.prod(mesh_shape), group_timeout_s=10.0) as pool:
        while first <= last:
            seeds = list(range(first, min(first + 20, last + 1)))
            verdict = pool.attempt("tests.hyper_parallel.chains", "run_seeds", mesh_shape, seeds, timeout_s=200.0)
            first = seeds[-1] + 1
            if verdict.kind != "done":
                bad += 1
                print(f"seeds {seeds[0]}-{seeds[-1]} {verdict.kind}: {verdict.detail[-1500:]}", flush=True)
                continue
            for rank, failures in enumerate(verdict.answers):
                bad += len(failures)
                for failure in failures:
                    print(f"rank {rank}: {failure[:600]}", flush=True)
    print(f"{bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
