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
"""What a name of the rule book runs on plain tensors: MindSpore's function, or a way round a missing kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindspore as ms
from mindspore import Tensor, mint

from hyper_parallel.platform.mindspore import runtime
from hyper_parallel.platform.mindspore.dtensor import DTensor
from hyper_parallel.platform.mindspore.errors import MissingKernelError, missing_kernel

_FUNCTIONS: dict[str, Callable[..., Any] | None] = {}
_SPELLED_OTHERWISE: dict[str, Callable[..., Any]] = {
    "to": lambda x, dtype=None, **_: (
        x if dtype is None else x.astype(dtype.dtype if isinstance(dtype, Tensor) else dtype)
    ),
    "masked_fill": lambda x, mask, value: Tensor.masked_fill(x, mask, value),
    "contiguous": lambda x: x.contiguous(),
    "detach": lambda x: ms.ops.stop_gradient(x),
    "expand": lambda x, *size, **_: mint.broadcast_to(x, _sizes(size)),
    "reshape": lambda x, *size, **_: mint.reshape(x, _sizes(size)),
    "view": lambda x, *size, **_: mint.reshape(x, _sizes(size)),
    "broadcast_to": lambda x, *size, **_: mint.broadcast_to(x, _sizes(size)),
    "scatter": lambda x, dim, index, src=None, value=None: mint.scatter(x, dim, index, value if src is None else src),
    "ge": lambda x, y: mint.greater_equal(x, y),
    "squeeze": lambda x, dim=None: _squeeze(x, dim),
    "linalg_vector_norm": lambda x, *a, **k: mint.linalg.vector_norm(x, *a, **k),
    "linalg_inv": lambda x: mint.linalg.inv(x),
    "linalg_matmul": lambda a, b: mint.matmul(a, b),
}
# MindSpore draws seed and offset before the hook sees the call: they are taken from the mesh's first rank.
RANDOM = frozenset(
    [
        "RandLikeExt",
        "RandnLike",
        "RandIntLike",
        "FuncDropoutExt",
        "DropoutExt",
        "Dropout2dExt",
        "BernoulliExt",
        "MultinomialExt",
        "NormalTensorFloat",
        "NormalFloatTensor",
        "NormalTensorTensor",
        "UniformExt",
        "InplaceUniform",
        "InplaceNormal",
        "InplaceBernoulliScalar",
    ]
)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of MindSpore, or stands for one while a call is planned."""
    return isinstance(value, Tensor) or (type(value).__name__ == "Standin" and hasattr(value, "_layout"))


def is_dtensor(value: Any) -> bool:
    """Whether a value is a DTensor of this backend."""
    return isinstance(value, DTensor)


def is_parameter(value: Any) -> bool:
    """Whether a value is a parameter."""
    return isinstance(value, ms.Parameter)


def function(name: str) -> Callable[..., Any] | None:
    """The function of plain tensors for a name, in PyTorch's calling convention; None if there is none."""
    if name not in _FUNCTIONS:
        _FUNCTIONS[name] = _find(name)
    return _FUNCTIONS[name]


def _find(name: str) -> Callable[..., Any] | None:
    if name.startswith("__") and name.endswith("__"):
        method: Callable[..., Any] | None = getattr(Tensor, name, None)
        return method
    if runtime.on_cpu():
        from hyper_parallel.platform.mindspore.routes import ROUTES

        if name in ROUTES:
            return ROUTES[name]
    if name in _SPELLED_OTHERWISE:
        return _SPELLED_OTHERWISE[name]
    for module in (mint.nn.functional, mint):
        found = getattr(module, name, None)
        if callable(found) and not isinstance(found, type):
            return found  # type: ignore[no-any-return]
    from hyper_parallel.platform.mindspore.routes import COMPOSED

    return COMPOSED.get(name)


def call_plain(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call without DTensors, by the same name.

    Raises:
        MissingKernelError: MindSpore has no kernel for it on this device.
    """
    func = function(name)
    if func is None:
        raise AttributeError(f"mint has no function {name!r}")
    try:
        return func(*args, **kwargs)
    except (RuntimeError, NotImplementedError) as error:
        kernel = missing_kernel(error)
        if kernel is None:
            raise
        raise MissingKernelError.of(name, kernel) from error


def in_step(mesh: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Random operators' arguments with seed and offset of the mesh's first rank, so that all ranks draw the same."""
    from hyper_parallel.dispatch.call import replace_tensors
    from hyper_parallel.platform.mindspore import wire

    def shared(tensor: Any) -> Any:
        if tensor.dtype != ms.int64 or tensor.numel() != 1:
            return tensor
        for axis in range(mesh.ndim):
            tensor = wire.broadcast(tensor, mesh, axis, 0)
        return tensor

    result = replace_tensors((args, kwargs), shared, is_tensor)
    return result[0], result[1]


def _sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], list | tuple) else tuple(size)


def _squeeze(x: Tensor, dim: Any) -> Tensor:
    if dim is None:
        return mint.reshape(x, tuple(n for n in x.shape if n != 1))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    gone = {d % max(x.ndim, 1) for d in dims}
    return mint.reshape(x, tuple(n for d, n in enumerate(x.shape) if not (d in gone and n == 1)))
