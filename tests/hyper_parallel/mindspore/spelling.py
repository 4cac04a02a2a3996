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
"""The declarative cases, written in PyTorch's words, read as MindSpore's: ``torch.roll`` becomes ``mint.roll``.

A case file is executed once more with a stand-in under the name ``torch``, so the very same lambdas call ``mint``.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import mindspore as ms
import numpy as np
from mindspore import mint, ops

from hyper_parallel.platform.mindspore.intercept import call
from tests.hyper_parallel.case import OpCase

_OTHER_WORDS = {"swapaxes": "transpose", "concat": "cat"}
_OF_THE_BACKEND = ("scaled_dot_product_attention", "rms_norm")
"""Functions that ``mint`` lacks and the backend composes."""


class NoSuchFunction(LookupError):
    """``mint`` has no function of this name."""


class Words:
    """A module of PyTorch's, spelled by MindSpore's, first found first taken; what none has fails when it is called."""

    def __init__(self, modules: tuple[Any, ...], name: str, inner: dict[str, Any] | None = None) -> None:
        self._modules, self._name, self._inner = modules, name, inner or {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._inner:
            return self._inner[name]
        spelled = _OTHER_WORDS.get(name, name)
        found = (getattr(module, spelled) for module in self._modules if hasattr(module, spelled))
        return next(found, None) or _missing(f"{self._name}.{name}")


def _missing(name: str) -> Callable[..., Any]:
    def fails(*_: Any, **__: Any) -> Any:
        raise NoSuchFunction(f"{name} does not exist")

    return fails


def _own(name: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        return call(name, args, kwargs)

    return function


def _layer(*_: Any, **__: Any) -> Any:
    """A module of PyTorch's: it can be made, and what is done with its parameters fails when a case calls it."""
    return SimpleNamespace(parameters=tuple, named_parameters=_missing("mint.func.functional_call"))


def _tensor(data: Any, dtype: Any = None) -> ms.Tensor:
    array = np.asarray(data)
    made = ms.Tensor(array.astype(np.float32) if array.dtype == np.float64 else array)
    return made if dtype is None else made.astype(dtype)


def _arange(*bounds: int, **kwargs: Any) -> ms.Tensor:
    return _tensor(np.arange(*bounds), **kwargs)  # the CPU has no kernel for mint.arange


def _sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return mint.sort(x, dim=dim, descending=descending, stable=stable)


def _words() -> Words:
    dtypes = {name: getattr(ms, name) for name in ("float16", "bfloat16", "float32", "float64", "int32", "int64")}
    functional = Words((mint.nn.functional,), "mint.nn.functional", {name: _own(name) for name in _OF_THE_BACKEND})
    inner = {
        "nn": Words((mint.nn,), "mint.nn", {"functional": functional, "Conv2d": _layer, "ConvTranspose2d": _layer}),
        "func": Words((), "mint.func"),
        "fft": Words((), "mint.fft"),
        "embedding": _missing("mint.embedding, which takes the table first,"),
        "linalg": Words((mint.linalg,), "mint.linalg", {"LinAlgError": RuntimeError}),
        "special": Words((mint.special,), "mint.special"),
        "Tensor": ms.Tensor,
        "tensor": _tensor,
        "arange": _arange,
        "sort": _sort,
        "nan": math.nan,
        "inf": math.inf,
        "bool": ms.bool_,
        "float": ms.float32,
        "long": ms.int64,
    }
    return Words((mint, mint.nn.functional, ops), "mint", {**dtypes, **inner})


def cases_in_mint(module: str) -> dict[str, OpCase]:
    """The cases of a file by the names that they have on PyTorch, with functions that call ``mint``."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.loader is None:
        raise ImportError(f"For cases_in_mint, the module should exist, but got {module}.")
    loaded = importlib.util.module_from_spec(spec)
    words: Any = _words()
    stands = {"torch": words, "torch.nn": words.nn, "torch.nn.functional": words.nn.functional}
    with mock.patch.dict(sys.modules, stands):
        spec.loader.exec_module(loaded)
    theirs = importlib.import_module(module).CASES
    return {case.name: ours for case, ours in zip(theirs, loaded.CASES, strict=True)}
