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
"""Norms said in other words, so that their parts' rules keep a cut dim cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor
_PARAMETERS = ("input", "p", "dim", "eps", "out")


def _normalize(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`normalize`: the input over its vector norms, of which those along a cut dim send one number per line."""
    from hyper_parallel.platform.torch.intercept import op_handler_for

    given = {"p": 2.0, "dim": 1, "eps": 1e-12, **dict(zip(_PARAMETERS, args, strict=False)), **(kwargs or {})}
    if given.get("out") is not None:
        return op_handler_for(func)(func, types, args, kwargs or {})
    x = given["input"]
    return x / x.norm(given["p"], given["dim"], keepdim=True).clamp_min(given["eps"])


HANDLERS: dict[Any, Callable[..., Any]] = {torch.nn.functional.normalize: _normalize}
