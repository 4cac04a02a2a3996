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
"""Ways round kernels that MindSpore's CPU build lacks: `ops` where it has one, else the definition in other operators.

`ROUTES` is used on the CPU only; `COMPOSED` everywhere, for functions that MindSpore has no function of that name for.
Every function takes its arguments as PyTorch's does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, ops

from hyper_parallel.platform.mindspore import routes_count, routes_nn, routes_order
from hyper_parallel.platform.mindspore.errors import MissingKernelError

Func = Callable[..., Any]


def _plain(name: str) -> Func:
    found: Func = getattr(ops, name)
    return found


def clone(x: Tensor, **_: Any) -> Tensor:
    """A copy in its own memory, differentiable."""
    return ops.logical_or(x, x) if x.dtype == ms.bool_ else mint.mul(x, 1)


def _addmm(input: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    product = mint.matmul(a, b)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else mint.add(input if beta == 1 else input * beta, product)


def _addbmm(input: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return mint.add(input * beta, mint.sum(mint.bmm(a, b), 0) * alpha)


def _addcdiv(input: Tensor, a: Tensor, b: Tensor, *, value: Any = 1) -> Tensor:
    return mint.add(input, mint.div(a, b) * value)


def _addcmul(input: Tensor, a: Tensor, b: Tensor, *, value: Any = 1) -> Tensor:
    return mint.add(input, mint.mul(a, b) * value)


def _arg(name: str) -> Func:
    find = getattr(ops, name)

    def arg(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        if dim is None:
            index = find(mint.reshape(x, (-1,)), 0, False)
            return mint.reshape(index, (1,) * x.ndim) if keepdim else index
        return find(x, dim, keepdim)

    return arg


def _count_nonzero(x: Tensor, dim: Any = None) -> Tensor:
    return mint.sum(mint.ne(x, 0).astype(ms.int64), dim)


def _cumsum(x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    if dtype is None and x.dtype in (ms.bool_, ms.int8, ms.uint8, ms.int16, ms.int32):
        dtype = ms.int64
    x = x if dtype is None else x.astype(dtype)
    return x if x.ndim == 0 else ops.cumsum(x, dim)


def _like(value: float) -> Func:
    def like(x: Tensor, *, dtype: Any = None, **_: Any) -> Tensor:
        return _full_like(x, value, dtype=dtype)

    return like


def _full_like(x: Tensor, fill_value: Any, *, dtype: Any = None, **_: Any) -> Tensor:
    kind = dtype or x.dtype
    base = ops.zeros(tuple(x.shape), ms.float32)
    return (
        (base + float(fill_value)).astype(kind)
        if not isinstance(fill_value, complex)
        else base.astype(kind) + fill_value
    )


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return mint.sum(mint.mul(a, b))


def _inverse(x: Tensor) -> Tensor:
    if (np.linalg.slogdet(x.asnumpy())[0] == 0).any():  # of which MindSpore's kernel makes some finite numbers
        raise RuntimeError("linalg.inv: the input matrix is singular")
    return _plain("inverse")(x)


def _unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    # The kernel's own derivative fails on the CPU.
    return tuple(_drop(mint.narrow(x, dim, place, 1), (dim,)) for place in range(x.shape[dim]))


def _outer(a: Tensor, b: Tensor) -> Tensor:
    return mint.mul(mint.unsqueeze(a, 1), mint.unsqueeze(b, 0))


def _index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    return ops.gather(x, index, dim)


def _take(x: Tensor, index: Tensor) -> Tensor:
    # A negative position would read rightly and lose its gradient.
    index = index + x.size * (index < 0).astype(index.dtype)
    return ops.gather(mint.reshape(x, (-1,)), index, 0)


def _logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    dims = tuple(range(x.ndim)) if dim is None or dim == () else dim
    if x.ndim == 0:
        return clone(x)
    top = ops.stop_gradient(mint.amax(x, dims, True))
    top = mint.where(mint.isfinite(top), top, _full_like(top, 0))
    out = mint.add(mint.log(mint.sum(mint.exp(mint.sub(x, top)), dims, True)), top)
    return out if keepdim else _drop(out, dims)


def _drop(x: Tensor, dims: Any) -> Tensor:
    gone = {d % max(x.ndim, 1) for d in ((dims,) if isinstance(dims, int) else dims)}
    return mint.reshape(x, tuple(n for d, n in enumerate(x.shape) if d not in gone))


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The vector norm over dims (None: all)."""
    x = x if dtype is None else x.astype(dtype)
    dims = tuple(range(x.ndim)) if dim is None or dim == () else dim
    size = mint.abs(x)
    if ord in (math.inf, -math.inf):
        return (mint.amax if ord > 0 else mint.amin)(size, dims, keepdim)
    if ord == 0:
        return mint.sum(mint.ne(x, 0).astype(x.dtype), dims, keepdim)
    if ord == 1:
        return mint.sum(size, dims, keepdim)
    if ord == 2:
        return _safe_root(mint.sum(mint.square(x), dims, keepdim))
    return mint.pow(mint.sum(mint.pow(size, ord), dims, keepdim), 1.0 / ord)


def _safe_root(square: Tensor) -> Tensor:
    """Square root with gradient 0 at 0, as norms have it."""
    zero = mint.eq(square, 0)
    safe = mint.where(zero, _full_like(square, 1), square)
    return mint.where(zero, _full_like(square, 0), mint.sqrt(safe))


def _norm(x: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if isinstance(p, str) and p != "fro":
        raise MissingKernelError.of("norm", f"the norm {p!r}")
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def _moments(root: bool, both: bool) -> Func:
    def moments(x: Tensor, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
        dims = tuple(range(x.ndim)) if dim is None or dim == () else (dim,) if isinstance(dim, int) else tuple(dim)
        count = math.prod(x.shape[d] for d in dims)
        mean = mint.mean(x, dims, True)
        total = mint.sum(mint.square(mint.sub(x, mean)), dims, keepdim)
        left = max(count - correction, 0)
        spread = total / left if left else total * math.nan
        spread = _safe_root(spread) if root and left else spread
        return (spread, mean if keepdim else _drop(mean, dims)) if both else spread

    return moments


def _roll(x: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    if dims is None or dims == ():
        return mint.reshape(_roll(mint.reshape(x, (-1,)), shifts, 0), tuple(x.shape))
    pairs = zip(_tuple(shifts), _tuple(dims), strict=True)
    for shift, dim in pairs:
        size = x.shape[dim] if x.ndim else 0
        shift = shift % size if size else 0
        if shift:
            x = mint.cat([mint.narrow(x, dim, size - shift, shift), mint.narrow(x, dim, 0, size - shift)], dim)
    return clone(x)


def _tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return mint.cat([mint.unsqueeze(t, dim) for t in tensors], dim)


def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of the last two dims."""
    return mint.where(_mask(x, diagonal), x, _full_like(x, 0))


def _mask(x: Tensor, diagonal: int) -> Tensor:
    rows, columns = x.shape[-2:]
    return Tensor(np.broadcast_to(np.tri(rows, columns, diagonal, dtype=bool), x.shape).copy())


def _trace(x: Tensor) -> Tensor:
    rows, columns = x.shape
    eye = Tensor(np.eye(rows, columns)).astype(x.dtype)
    return mint.sum(mint.mul(x, eye))


def _diag(x: Tensor, diagonal: int = 0) -> Tensor:
    if x.ndim == 1:
        size = x.shape[0] + abs(diagonal)
        eye = Tensor(np.eye(size, size, diagonal)).astype(x.dtype)
        return mint.mul(mint.unsqueeze(_padded(x, diagonal, size), 1), eye)
    rows, columns = x.shape
    eye = Tensor(np.eye(rows, columns, diagonal)).astype(x.dtype)
    count = max(0, min(rows + min(diagonal, 0), columns - max(diagonal, 0)))
    line = mint.sum(mint.mul(x, eye), 1)
    return mint.narrow(line, 0, max(-diagonal, 0), count)


def _padded(x: Tensor, diagonal: int, size: int) -> Tensor:
    """The diagonal's values at the rows they belong to."""
    rest = ops.zeros((size - x.shape[0],), x.dtype)
    return x if diagonal == 0 else mint.cat([x, rest] if diagonal > 0 else [rest, x], 0)


def _repeat_interleave(x: Tensor, repeats: Any, dim: Any = None, *, output_size: Any = None) -> Tensor:
    counts = np.asarray(repeats.asnumpy() if isinstance(repeats, Tensor) else repeats).reshape(-1)
    if dim is None:
        x, dim = mint.reshape(x, (-1,)), 0
    size = x.shape[dim]
    index = np.repeat(np.arange(size), np.broadcast_to(counts, (size,)))
    return ops.gather(x, Tensor(index, ms.int64), dim)


def _scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    src = src[tuple(slice(0, n) for n in index.shape)]
    return ops.tensor_scatter_elements(x, index, src, axis=dim, reduction="add")


def _bitwise_not(x: Tensor) -> Tensor:
    return mint.logical_not(x) if x.dtype == ms.bool_ else mint.sub(mint.neg(x), 1)


def _isneginf(x: Tensor) -> Tensor:
    return mint.logical_and(mint.isinf(x), mint.lt(x, 0))


def _frac(x: Tensor) -> Tensor:
    return mint.sub(x, ops.trunc(x))


def _erfinv_refused(x: Tensor) -> Tensor:
    raise MissingKernelError.of("erfinv", "Erfinv (its CPU kernel gives wrong values)")


_SAME = [
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "bitwise_or",
    "bitwise_xor",
    "cross",
]
_SAME += ["acos"]
ROUTES: dict[str, Func] = {
    **{name: _plain(name) for name in _SAME},
    "addbmm": _addbmm,
    "addcdiv": _addcdiv,
    "addcmul": _addcmul,
    "addmm": _addmm,
    "addmv": _addmm,
    "argmax": _arg("argmax"),
    "argmin": _arg("argmin"),
    "baddbmm": _addmm,
    "bitwise_not": _bitwise_not,
    "clone": clone,
    "count_nonzero": _count_nonzero,
    "cumsum": _cumsum,
    "diag": _diag,
    "dot": _dot,
    "exp2": lambda x: mint.pow(2.0, x),
    "frac": _frac,
    "full_like": _full_like,
    "index_select": _index_select,
    "isneginf": _isneginf,
    "linalg_inv": _inverse,
    "linalg_vector_norm": vector_norm,
    "logsumexp": _logsumexp,
    "mm": mint.matmul,
    "mv": mint.matmul,
    "norm": _norm,
    "ones_like": _like(1),
    "outer": _outer,
    "repeat_interleave": _repeat_interleave,
    "roll": _roll,
    "scatter_add": _scatter_add,
    "stack": _stack,
    "std": _moments(True, False),
    "std_mean": _moments(True, True),
    "take": _take,
    "trace": _trace,
    "tril": tril,
    "trunc": _plain("trunc"),
    "unbind": _unbind,
    "var": _moments(False, False),
    "var_mean": _moments(False, True),
    "zeros_like": _like(0),
    "erfinv": _erfinv_refused,
    **routes_count.ROUTES,
    **routes_nn.ROUTES,
    **routes_order.ROUTES,
}
_ALIASES = {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
}
REFUSED = frozenset({"erfinv"})
"""Names whose route only refuses: there is a kernel, and it gives wrong values."""
ROUTES.update({alias: ROUTES[name] for alias, name in _ALIASES.items()})
ROUTES["inverse"] = ROUTES["linalg_inv"]
COMPOSED: dict[str, Func] = {
    "addcmul": _addcmul,
    "scaled_dot_product_attention": routes_nn.attention,
    "rms_norm": routes_nn.rms_norm,
    "softplus": routes_nn.softplus,
    "trunc": _plain("trunc"),
    "einsum": routes_nn.einsum,
}
