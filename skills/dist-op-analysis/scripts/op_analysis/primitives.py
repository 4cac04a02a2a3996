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
"""What an operator is called in MindSpore: its function, and the primitives that reach a tensor subclass."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import yaml

from op_analysis.operators import Operator, Trial, call_with

MAX_CALLS = 12


class _Heard(Exception):
    """Ends a call once its primitive is known."""


def function_of(name: str) -> tuple[str, Any] | None:
    """(path, function) of the same name in MindSpore, `mint` before `ops`; None where there is none."""
    if importlib.util.find_spec("mindspore") is None:
        return None
    plain = name.rsplit(".", 1)[-1]
    for space in ("mint", "mint.nn.functional", "mint.linalg", "mint.special", "ops"):
        module = importlib.import_module(f"mindspore.{space}")
        if callable(getattr(module, plain, None)):
            return f"{space}.{plain}", getattr(module, plain)
    return None


def known_lines() -> dict[str, str]:
    """Primitive → its words, as `hyper_parallel/ops/yaml/mindspore/primitives.yaml` has them."""
    home = Path(importlib.import_module("hyper_parallel").__file__ or "").parent
    found: dict[str, str] = yaml.safe_load((home / "ops/yaml/mindspore/primitives.yaml").read_text(encoding="utf-8"))
    return found


def heard(operator: Operator, func: Any) -> dict[str, str]:
    """Primitive → the line that translates it; nothing for the line where its arguments are not the operator's."""
    names = [n for n in operator.parsed.names if n in operator.trials[0].params]
    found: dict[str, str] = {}
    for trial in operator.trials[:MAX_CALLS]:
        for primitive, args in _listen(operator, func, trial):
            scalars = [v for n, v in trial.params.items() if n in names and n not in trial.slots()]
            plain = [a for a in args if not hasattr(a, "asnumpy")]
            fits = len(args) <= len(names) and plain == scalars[: len(plain)]
            words = f"{operator.name}({', '.join(names[: len(args)])})" if fits else ""
            found[primitive] = words and found.get(primitive, words)
    return found


def _listen(operator: Operator, func: Any, trial: Trial) -> list[tuple[str, list[Any]]]:
    from mindspore import Tensor

    calls: list[tuple[str, list[Any]]] = []

    class Listener(Tensor):  # type: ignore[misc]
        def __fallback__(self, primitive: Any, args: Any, kwargs: Any = None) -> Any:
            calls.append((str(getattr(primitive, "name", primitive)), [*args, *(kwargs or {}).values()]))
            raise _Heard

    try:
        call_with(func, operator.parsed, trial.with_tensors([Listener(t.numpy()) for t in trial.tensors()]))
    except Exception:  # heard, or a call that MindSpore itself refuses
        return calls
    return calls
