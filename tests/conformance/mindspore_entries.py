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
"""The functions of `mint`, `mint.nn.functional`, `mint.linalg` and `mint.special` with OpInfo's samples for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
import torch
from mindspore import Tensor, mint

from tests.conformance.entries import MAX_SAMPLES, Sample, _op_db, map_tensors

_PLACES = (
    ("", mint, ("",)),
    ("nn.functional.", mint.nn.functional, ("nn.functional.", "", "special.")),
    ("linalg.", mint.linalg, ("linalg.",)),
    ("special.", mint.special, ("special.", "")),
)
_ALIASES = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "concat": "cat", "divide": "div", "greater": "gt", "greater_equal": "ge",
    "inverse": "linalg.inv",
    "less": "lt", "less_equal": "le", "negative": "neg", "not_equal": "ne", "swapaxes": "transpose",
    "linalg.inv": "linalg.inv",
}  # fmt: skip
RANDOM = frozenset(
    [
        "bernoulli",
        "multinomial",
        "normal",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "randperm",
        "nn.functional.dropout",
        "nn.functional.dropout2d",
        "empty",
        "empty_like",
    ]
)
"""Their values are drawn (or undefined): judged by their own tests."""


def all_names() -> list[str]:
    """Every public function, as `add` or `nn.functional.relu`."""
    names = []
    for prefix, module, _ in _PLACES:
        for name in sorted(set(module.__all__)):
            found = getattr(module, name, None)
            if callable(found) and not inspect.isclass(found):
                names.append(prefix + name)
    return names


def function_of(name: str) -> Callable[..., Any]:
    """The function itself, taking its arguments in OpInfo's order."""
    owner: Any = mint
    for part in name.split("."):
        owner = getattr(owner, part)
    return in_sample_order(name, owner)


def in_sample_order(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """OpInfo gives the tensor that gets a gradient first, also where the function does not."""
    if name == "where":
        return lambda x, condition, other: function(condition, x, other)
    if name == "nn.functional.embedding":
        return lambda weight, index, **kwargs: function(index, weight, **kwargs)
    return function


def opinfos(name: str) -> list[Any]:
    """OpInfo entries that stand for a function, by name or alias."""
    prefix, _, short = name.rpartition(".")
    prefixes = next(wanted for own, _, wanted in _PLACES if own == (prefix + "." if prefix else ""))
    wanted = {p + short for p in prefixes} | ({_ALIASES[name]} if name in _ALIASES else set())
    found = [op for op in _op_db() if op.name in wanted]
    exact = [op for op in found if op.name == prefixes[0] + short]
    return exact or found


def samples(op: Any) -> Iterator[Sample]:
    """The first few samples: float32 where the operator has it, else int64."""
    supported = op.supported_dtypes("cpu")
    dtype = torch.float32 if torch.float32 in supported else torch.int64
    if dtype not in supported:
        return
    torch.manual_seed(0)
    found = iter(op.sample_inputs("cpu", dtype, requires_grad=False))
    for _ in range(MAX_SAMPLES):
        try:
            sample = next(found, None)
        except (RuntimeError, IndexError):  # some of OpInfo's own makers do not work for even sizes
            return
        if sample is None:
            return
        yield Sample((sample.input, *sample.args), dict(sample.kwargs))


def to_mindspore(tensor: torch.Tensor) -> Tensor:
    """The same values as a plain MindSpore tensor."""
    plain = tensor.detach().contiguous()
    if plain.dtype == torch.bfloat16:  # which numpy lacks
        return Tensor(plain.float().numpy()).astype(ms.bfloat16)
    return Tensor(plain.numpy().copy())


def translate(sample: Sample) -> Sample | None:
    """A sample in MindSpore's dtypes (tensors stay PyTorch's); None where it names what MindSpore lacks."""

    def word(value: Any) -> Any:
        if isinstance(value, torch.dtype):
            return getattr(ms, str(value).removeprefix("torch.").replace("bool", "bool_"))
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            return type(value)(word(v) for v in value)
        return value

    kwargs = {key: word(value) for key, value in sample.kwargs.items() if key not in {"device", "layout", "pin_memory"}}
    if any(isinstance(v, torch.device | torch.layout) for v in (*sample.args, *kwargs.values())):
        return None
    return Sample(tuple(word(value) for value in sample.args), kwargs)


__all__ = ["RANDOM", "all_names", "function_of", "map_tensors", "opinfos", "samples", "to_mindspore", "translate"]
