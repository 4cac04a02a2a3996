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
"""Cost of one operator on a MindSpore DTensor, beside the plain call, a bare `__fallback__` subclass and a wrapper.

    python -m benchmarks.mindspore_overhead [--mode default] [--json benchmarks/results/mindspore_overhead.json]

8x8 float32, a mesh of one rank, best of several repeats.
`blocking` (which the library sets on the CPU) launches at once,
`default` only queues, so its figures are those of issuing a call.
"""

from __future__ import annotations

import argparse
import json
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any


def best_us(call: Callable[[], Any], number: int, repeat: int) -> float:
    """Microseconds per call, the best of `repeat` rounds."""
    call()
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number * 1e6


def measure(mode: str, number: int, repeat: int) -> dict[str, float]:
    """Microseconds by name."""
    import mindspore as ms
    import numpy as np
    from mindspore import Tensor, mint
    from mindspore._c_expression import NoFallbackGuard

    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    from hyper_parallel.platform.mindspore import runtime

    if mode == "default":
        runtime._STATE["ready"] = True  # leave MindSpore's queue on, for the comparison only
    import hyper_parallel as hp

    hp.set_platform("mindspore")

    class Hooked(Tensor):  # type: ignore[misc]
        def __fallback__(self, func: Any, args: Any, kwargs: Any = None) -> Any:
            with NoFallbackGuard():
                return func(*args, **(kwargs or {}))

    class Wrapped:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __add__(self, other: Wrapped) -> Wrapped:
            return Wrapped(self.value + other.value)

    x = Tensor(np.ones((8, 8), np.float32))
    mesh = hp.init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
    d = hp.distribute_tensor(x, mesh, [hp.Shard(0)])
    hooked, wrapped = Tensor._make_subclass(Hooked, x), Wrapped(x)
    places = (hp.Shard(0),)
    calls: dict[str, Callable[[], Any]] = {
        "plain mint.add": lambda: mint.add(x, x),
        "plain x + x": lambda: x + x,
        "bare __fallback__, mint.add": lambda: mint.add(hooked, hooked),
        "bare wrapper object, +": lambda: wrapped + wrapped,
        "DTensor + DTensor (direct method)": lambda: d + d,
        "mint.add of DTensors (__fallback__)": lambda: mint.add(d, d),
        "plain mint.matmul": lambda: mint.matmul(x, x),
        "mint.matmul of DTensor and plain": lambda: mint.matmul(d, x),
        "plain mint.sum(1)": lambda: mint.sum(x, 1),
        "mint.sum(1) of DTensor": lambda: mint.sum(d, 1),
        "plain x * 2": lambda: x * 2,
        "DTensor * 2": lambda: d * 2,
        "DTensor.from_local": lambda: hp.DTensor.from_local(x, mesh, places),
        "DTensor.to_local": lambda: d.to_local(),
    }
    found = {}
    for name, call in calls.items():
        found[name] = round(best_us(call, number, repeat), 2)
        x.asnumpy()
    return found


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mindspore_overhead", description=__doc__)
    parser.add_argument("--mode", choices=("blocking", "default"), default="blocking")
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    found = measure(options.mode, options.number, options.repeat)
    for name, value in found.items():
        print(f"{name:<40}{value:9.2f} us")
    if options.json:
        known = json.loads(options.json.read_text(encoding="utf-8")) if options.json.exists() else {}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**known, options.mode: found}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
