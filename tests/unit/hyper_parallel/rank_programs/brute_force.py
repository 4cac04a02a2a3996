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
"""Every operator of the core under every combination of placements, forward and gradient, against one device.

`python brute_force.py 2x2 LIMIT RESULT.json [NAME]`: mesh, combinations per operator, result file, one operator only.
Sizes do not divide evenly; pending sums and averages are random terms.
"""

import itertools
import random
import sys
import traceback
from math import prod
from pathlib import Path

import torch

import hyper_parallel as hp
from hyper_parallel import Partial, Replicate, Shard

sys.path.insert(0, str(Path(__file__).parent))
import core_cases
import ranks


def placements_of(shape, axes, partial):
    one = [Replicate(), *(Shard(d) for d in range(len(shape)))]
    return list(itertools.product(one + ([Partial(), Partial("avg")] if partial else []), repeat=axes))


def distribute(full, mesh, placements):
    """A leaf under `placements`; pending reductions get random terms with the right sum or average."""
    whole = [Replicate() if isinstance(p, Partial) else p for p in placements]
    local = hp.distribute_tensor(full.clone(), mesh, whole, src_data_rank=None).to_local().clone()
    for axis, placement in enumerate(placements):
        if not isinstance(placement, Partial):
            continue
        size, me = mesh.size(axis), mesh.get_coordinate()[axis]
        source = torch.Generator().manual_seed(7 + axis)
        terms = [torch.randn(local.shape, generator=source, dtype=local.dtype) for _ in range(size)]
        rest = local - sum(terms) / size if placement.reduce_op == "avg" else (local - sum(terms)) / size
        local = terms[me] + rest
    return hp.DTensor.from_local(local, mesh, placements, shape=full.shape).requires_grad_()


def flat(value):
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def gradients(outputs, inputs):
    tracked = [o for o in outputs if isinstance(o, torch.Tensor) and o.is_floating_point() and o.requires_grad]
    if not tracked:
        return []
    seeds = [torch.cos(torch.arange(o.numel(), dtype=o.dtype)).reshape(o.shape) for o in tracked]
    return torch.autograd.grad(tracked, inputs, seeds, allow_unused=True)


def whole(value):
    return value.full_tensor() if isinstance(value, hp.DTensor) else value


def differs(found, expected):
    if not isinstance(expected, torch.Tensor):
        return None if found == expected else f"{found} is not {expected}"
    if tuple(found.shape) != tuple(expected.shape) or found.dtype != expected.dtype:
        return f"{tuple(found.shape)} {found.dtype} is not {tuple(expected.shape)} {expected.dtype}"
    full = whole(found)
    if tuple(full.shape) != tuple(expected.shape) or not torch.allclose(
        full, expected, rtol=1e-7, atol=1e-7, equal_nan=True
    ):
        return f"{full} is not {expected}"
    return None


def check(case, mesh, combination, fulls, expected, expected_grads):
    inputs = [distribute(full, mesh, p) for full, p in zip(fulls, combination, strict=True)]
    outputs = flat(case.fn(*inputs))
    if len(outputs) != len(expected):
        return f"{len(outputs)} outputs instead of {len(expected)}"
    for found, want in zip(outputs, expected, strict=True):
        problem = differs(found, want)
        if problem:
            return f"forward: {problem}"
    found_grads = gradients([whole(o) for o in outputs], inputs) if expected_grads else []
    for found, want in zip(found_grads, expected_grads, strict=True):
        if (found is None) != (want is None):
            return "gradient: None on one side"
        problem = found is not None and differs(found, want)
        if problem:
            return f"gradient: {problem}"
    return None


def program(rank, shape, limit, only):
    mesh = hp.init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp", "pp")[: len(shape)])
    draw = random.Random(0)
    failures, tried = [], 0
    for case in core_cases.CASES:
        if only and only != case.name:
            continue
        source = torch.Generator().manual_seed(0)
        fulls = [case.prepare(torch.randn(s, generator=source, dtype=torch.float64)) for s in case.shapes]
        plain = [full.clone().requires_grad_() for full in fulls]
        expected = flat(case.fn(*plain))
        expected_grads = gradients(expected, plain)
        expected = [e.detach() if isinstance(e, torch.Tensor) else e for e in expected]
        options = [placements_of(full.shape, mesh.ndim, case.partial) for full in fulls]
        combinations = list(itertools.product(*options))
        if len(combinations) > limit:
            combinations = draw.sample(combinations, limit)
        for combination in combinations:
            tried += 1
            try:
                problem = check(case, mesh, combination, fulls, expected, expected_grads)
            except Exception:
                problem = traceback.format_exc()[-600:]
            if problem:
                failures.append([case.name, str(combination), problem[:600]])
    return {"tried": tried, "failures": failures}


if __name__ == "__main__":
    mesh_shape = tuple(int(n) for n in sys.argv[1].split("x"))
    ranks.main(
        program, prod(mesh_shape), (mesh_shape, int(sys.argv[2]), sys.argv[4] if len(sys.argv) > 4 else ""), sys.argv[3]
    )
