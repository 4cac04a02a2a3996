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
"""What is to be analysed: the operator's function, its registered name, its signature, sample calls by parameter.

Signatures come from Python where there is one and from torch's schemas for builtins; samples from torch's OpInfo data
base, with further values of the scalars that may decide about placements.
"""

from __future__ import annotations

import inspect
import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import torch.overrides

from hyper_parallel.dispatch.call import REQUIRED, Signature, parse_signature

MAX_TRIALS = 16
MAX_WIDENED = 80
MAX_SLOTS = 5
_SPACES = ("torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft", "torch.Tensor")


class UnknownOperator(ValueError):
    """The name leads to no callable, or no sample fits its signature."""


@dataclass(frozen=True)
class Trial:
    """One call: every parameter by name, tensors (or lists of them) included."""

    params: dict[str, Any]

    def tensors(self) -> list[torch.Tensor]:
        """The tensors by slot."""
        return [t for value in self.params.values() for t in _tensors(value)]

    def slots(self) -> dict[str, list[int]]:
        """Slots of each tensor parameter."""
        found: dict[str, list[int]] = {}
        count = 0
        for name, value in self.params.items():
            own = len(_tensors(value))
            if own:
                found[name] = list(range(count, count + own))
                count += own
        return found

    def scalars(self) -> dict[str, Any]:
        """The parameters that hold no tensor."""
        return {name: value for name, value in self.params.items() if not _tensors(value)}

    def with_tensors(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """The parameters with other tensors in the slots."""
        rest = iter(tensors)
        return {
            name: (type(value)(next(rest) for _ in value) if isinstance(value, list | tuple) else next(rest))
            if _tensors(value)
            else value
            for name, value in self.params.items()
        }


@dataclass(frozen=True)
class Operator:
    """The subject of an analysis.

    Attributes:
        name: as a rule is registered: the function's own name.
        path: how a program spells it, e.g. `torch.linalg.inv`.
        signature: in the form of `AxisRuleOp.signature`.
    """

    name: str
    path: str
    func: Any
    signature: str
    entry: str
    trials: tuple[Trial, ...]
    supports_autograd: bool

    @property
    def parsed(self) -> Signature:
        """The signature, parsed."""
        return parse_signature(self.signature)

    def call(self, params: dict[str, Any]) -> Any:
        """The operator itself, each argument where the signature has it and trailing defaults left out."""
        return call_with(self.func, self.parsed, params)


def call_with(func: Any, signature: Signature, params: dict[str, Any]) -> Any:
    """Calls a function with bound parameters, leaving out those that equal their default."""
    names, defaults = signature.names, dict(zip(signature.names, signature.defaults, strict=True))
    last = max((i for i, n in enumerate(names) if not same(params[n], defaults[n])), default=-1)
    front = [params[name] for name in names[: last + 1]]
    rest = list(params[signature.rest]) if signature.rest else []
    keyword = {n: params[n] for n, default in signature.keyword if not same(params[n], default)}
    return func(*front, *rest, **keyword)


def same(one: Any, other: Any) -> bool:
    """Equality of parameters, of one type and without comparing tensors."""
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor) or _tensors(one) or _tensors(other):
        return one is other
    return type(one) is type(other) and bool(one == other)


def names_dims(name: str) -> bool:
    """Whether a parameter of this name holds dims, and not a count or a bound that happens to be small."""
    return "dim" in name or "axis" in name or name in {"source", "destination"}


def resolve(name: str) -> tuple[str, Any]:
    """(path, function) of an operator given by name, `nn.functional.softmax`, `linalg.inv` or a full path.

    Raises:
        UnknownOperator: there is no such function.
    """
    name = name.removeprefix("torch.")
    tries = [f"torch.{name}"] if "." in name else [f"{space}.{name}" for space in _SPACES]
    for path in tries:
        value: Any = torch
        for part in path.split(".")[1:]:
            value = getattr(value, part, None)
        if callable(value) and not isinstance(value, type):
            return path, value
    raise UnknownOperator(f"For analyse, the operator should be a function of torch, but got {name!r}.")


def registered_name(func: Any) -> str:
    """The name under which dispatch looks the rule up first."""
    from hyper_parallel.platform.torch.intercept import names_of

    return names_of(func)[-1]


@cache
def signatures_of(path: str) -> tuple[str, ...]:
    """Candidate signatures: of the Python function, else of every overload of the builtin."""
    _, func = resolve(path)
    try:
        return (_spell(inspect.signature(func)),)
    except (ValueError, TypeError):
        pass
    found: dict[str, None] = {}
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{func.__name__}"):
        front: list[str] = []
        keyword: list[str] = []
        for argument in schema.arguments:
            if argument.is_out:
                break
            name = "input" if argument.name == "self" else argument.name
            text = f"{name}={argument.default_value!r}" if argument.has_default_value() else name
            (keyword if argument.kwarg_only else front).append(text)
        else:
            found[_joined(front, keyword)] = None
    readable = [text for text in found if _readable(text)]
    for text in readable:
        found[_loosened(text, readable)] = None
    if not found:
        raise UnknownOperator(f"For analyse, {path} should have a signature or a schema, but got neither.")
    return tuple(found)


def _readable(text: str) -> bool:
    try:
        parse_signature(text)
    except (SyntaxError, ValueError):  # a default that is no literal
        return False
    return True


def _loosened(text: str, others: Sequence[str]) -> str:
    """A signature whose later parameters may be left out where another overload lacks them: `sum` without dim."""
    parsed, known = parse_signature(text), [set(parse_signature(other).names) for other in others]
    front = []
    for place, (name, default) in enumerate(zip(parsed.names, parsed.defaults, strict=True)):
        loose = default is REQUIRED and place > 0 and not all(name in names for names in known)
        front.append(name if default is REQUIRED and not loose else f"{name}={None if loose else default!r}")
    keyword = [name if default is REQUIRED else f"{name}={default!r}" for name, default in parsed.keyword]
    return _joined(front, keyword)


def _spell(signature: inspect.Signature) -> str:
    front: list[str] = []
    keyword: list[str] = []
    for parameter in signature.parameters.values():
        plain = parameter.default is None or isinstance(parameter.default, bool | int | float | str | tuple)
        text = parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
        if parameter.kind is parameter.VAR_KEYWORD or not (plain or parameter.default is parameter.empty):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            front.append(f"*{parameter.name}")
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keyword.append(text)
        else:
            front.append(text)
    return _joined(front, keyword)


def _joined(front: list[str], keyword: list[str]) -> str:
    required = [text for text in front if "=" not in text]
    optional = [text for text in front if "=" in text]
    ordered = front if front == required + optional else required + optional
    star = ["*"] if keyword and not any(text.startswith("*") for text in front) else []
    return ", ".join([*ordered, *star, *keyword])


def operator(name: str, entry: str | None = None, calls: Sequence[str] = ()) -> Operator:
    """The operator with its samples.

    Args:
        name: see `resolve`.
        entry: OpInfo entry, where it is not found by the name.
        calls: arguments of own samples, such as `randn(7), N=3`; torch's functions are at hand.

    Raises:
        UnknownOperator: no function, or no sample that fits its signature.
    """
    path, func = resolve(name)
    own = [_arguments(text) for text in calls]
    info = None if own and not entry else _info(path, entry)
    from op_analysis.variations import widened

    best: tuple[int, str, list[Trial]] = (0, "", [])
    for signature in signatures_of(path):
        if not _readable(signature):
            continue
        parsed = parse_signature(signature)
        given = [t for args, kwargs in own if (t := _tried(func, parsed, args, kwargs)) is not None]
        bound = given + (list(_bound(info, func, signature)) if info else [])
        bound = [trial for trial in bound if 0 < len(trial.tensors()) <= MAX_SLOTS]
        if len(bound) > best[0]:
            best = (len(bound), signature, bound)
    count, signature, trials = best
    if not count:
        raise UnknownOperator(f"For analyse, samples of {path} should fit its signature, but got none that does.")
    entry_name = full_entry(info) if info else ""
    subject = Operator(
        registered_name(func), path, func, signature, entry_name, (), bool(info and info.supports_autograd)
    )
    return Operator(**{**subject.__dict__, "trials": tuple(widened(subject, trials))})


def _arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments from their source text."""
    found: tuple[tuple[Any, ...], dict[str, Any]] = eval(
        f"_take({text})", {**vars(torch), "_take": lambda *args, **kwargs: (args, kwargs)}
    )
    return found


def full_entry(info: Any) -> str:
    """`name` or `name@variant`."""
    return f"{info.name}@{info.variant_test_name}" if info.variant_test_name else str(info.name)


def _info(path: str, entry: str | None) -> Any:
    from tests.conformance.entries import _op_db

    wanted = entry or path.removeprefix("torch.").removeprefix("Tensor.")
    entries = _op_db()
    for info in entries:
        if entry == full_entry(info) or (entry is None and info.name == wanted):
            return info
    for info in entries:
        if entry is None and (wanted.rsplit(".", 1)[-1] == info.name or path.rsplit(".", 1)[-1] in _aliases(info)):
            return info
    raise UnknownOperator(
        f"For analyse, OpInfo should hold samples of {wanted}, but got no entry: "
        "give calls by --sample, or name the entry by --entry."
    )


def _aliases(info: Any) -> set[str]:
    return {str(alias.name) for alias in info.aliases}


def _bound(info: Any, func: Any, signature: str) -> Iterator[Trial]:
    """Samples of uneven sizes, then of even ones; calls that one device itself refuses are left out."""
    from tests.conformance.entries import set_sizes

    parsed = parse_signature(signature)
    for sizes in ("even", "uneven"):
        set_sizes(sizes)
        torch.manual_seed(0)
        random.seed(0)
        samples = iter(info.sample_inputs("cpu", torch.float32, requires_grad=False))
        for _ in range(3 * MAX_TRIALS):
            try:
                sample = next(samples, None)
            except IndexError:
                break
            if sample is None:
                break
            args, kwargs = (sample.input, *sample.args), dict(sample.kwargs)
            trial = _tried(func, parsed, args, kwargs)
            if trial is None and (seen := _overheard(func, info.op, args, kwargs)):
                trial = _tried(func, parsed, *seen)
            if trial is not None:
                yield trial


def _overheard(func: Any, outer: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """What `outer`, which calls the operator in its own words, hands to it."""
    heard: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    class Listener(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, called: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if called is func:
                heard.append((args, kwargs or {}))
            return called(*args, **(kwargs or {}))

    try:
        with warnings.catch_warnings(), Listener():
            warnings.simplefilter("ignore")
            outer(*args, **kwargs)
    except Exception:
        return None
    return heard[0] if heard else None


def _tried(func: Any, parsed: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial | None:
    try:
        trial = Trial(parsed.bind("analyse", args, kwargs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call_with(func, parsed, trial.params)
    except Exception:  # the operator's own way of refusing a call
        return None
    return trial


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple) and value and all(isinstance(v, torch.Tensor) for v in value):
        return list(value)
    return []
