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
"""Ways round missing kernels, continued: `mint.nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, ops

from hyper_parallel.errors import explain
from hyper_parallel.platform.mindspore.errors import MissingKernelError


def reduced(values: Tensor, reduction: str) -> Tensor:
    """A loss's values, their mean or their sum."""
    if reduction == "none":
        return values
    return mint.mean(values) if reduction == "mean" else mint.sum(values)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Squared differences."""
    return reduced(mint.square(mint.sub(input, target)), reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Absolute differences."""
    return reduced(mint.abs(mint.sub(input, target)), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cosine where the target is 1, what the cosine exceeds the margin by where it is -1."""
    squares = (mint.add(mint.sum(mint.square(x), -1), 1e-12) for x in (input1, input2))
    cosine = mint.div(mint.sum(mint.mul(input1, input2), -1), mint.sqrt(mint.mul(*squares)))
    nothing = ops.zeros_like(cosine)
    alike = mint.where(mint.eq(target, 1), mint.sub(1, cosine), nothing)
    apart = mint.where(mint.eq(target, -1), mint.nn.functional.relu(mint.sub(cosine, margin)), nothing)
    return reduced(mint.add(alike, apart), reduction)


def bce(input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Binary cross-entropy. (MindSpore's kernel doubles a sum or mean over a single element.)"""
    values = mint.nn.functional.binary_cross_entropy(input, target, weight=weight, reduction="none")
    return reduced(values, reduction)


def bce_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """Binary cross-entropy of logits. (The gradient of MindSpore's kernel divides by the size of an earlier call.)"""
    lower = mint.log1p(mint.exp(mint.neg(mint.abs(input))))
    lower = mint.add(lower, mint.nn.functional.relu(mint.neg(input)))
    if pos_weight is not None:
        lower = mint.mul(lower, mint.add(mint.mul(mint.sub(pos_weight, 1), target), 1))
    values = mint.add(mint.mul(mint.sub(1, target), input), lower)
    return reduced(values if weight is None else mint.mul(values, weight), reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input))."""
    return reduced(softplus(mint.neg(mint.mul(target, input))), reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence from log-probabilities."""
    if log_target:
        values = mint.mul(mint.exp(target), mint.sub(target, input))
    else:
        values = mint.sub(mint.xlogy(target, target), mint.mul(target, input))
    if reduction == "batchmean":
        return mint.sum(values) / input.shape[0]
    return reduced(values, reduction)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * x)) / beta, linear beyond the threshold."""
    scaled = mint.mul(input, beta)
    small = mint.log1p(mint.exp(mint.neg(mint.abs(scaled))))
    value = mint.div(mint.add(mint.nn.functional.relu(scaled), small), beta)
    return mint.where(mint.gt(scaled, threshold), mint.mul(input, 1.0), value)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x))."""
    lower = mint.minimum(input, ops.zeros_like(input))
    return mint.sub(lower, mint.log1p(mint.exp(mint.neg(mint.abs(input)))))


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None, **_: Any) -> Tensor:
    """Logarithm of softmax."""
    x = input if dtype is None else input.astype(dtype)
    dim = dim if dim is not None else (0 if x.ndim in (0, 1, 3) else 1)
    if x.ndim == 0:
        return mint.mul(x, 0)
    shifted = mint.sub(x, ops.stop_gradient(mint.amax(x, dim, True)))
    return mint.sub(shifted, mint.log(mint.sum(mint.exp(shifted), dim, True)))


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of `weight`; the row `padding_idx` gets no gradient."""
    if max_norm is not None or scale_grad_by_freq:
        raise MissingKernelError.of("embedding", "max_norm and scale_grad_by_freq")
    if padding_idx is not None:
        rows = weight.shape[0]
        fixed = Tensor((np.arange(rows) == padding_idx % rows).reshape(-1, 1))
        weight = mint.where(fixed, ops.stop_gradient(weight), weight)
    return ops.gather(weight, input, 0)


def layer_norm(input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Normalization over the last dims."""
    count = len(normalized_shape) if isinstance(normalized_shape, list | tuple) else 1
    dims = tuple(range(input.ndim - count, input.ndim))
    centred = mint.sub(input, mint.mean(input, dims, True))
    spread = mint.mean(mint.square(centred), dims, True)
    out = mint.mul(centred, mint.rsqrt(mint.add(spread, eps)))
    out = out if weight is None else mint.mul(out, weight)
    return out if bias is None else mint.add(out, bias)


def rms_norm(input: Tensor, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    """Root-mean-square normalization over the last dims."""
    count = len(normalized_shape) if isinstance(normalized_shape, list | tuple) else 1
    dims = tuple(range(input.ndim - count, input.ndim))
    spread = mint.mean(mint.square(input), dims, True)
    out = mint.mul(input, mint.rsqrt(mint.add(spread, float(np.finfo(np.float32).eps) if eps is None else eps)))
    return out if weight is None else mint.mul(out, weight)


def batch_norm(
    input: Tensor, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalization per channel; running statistics are written in training."""
    dims = tuple(d for d in range(input.ndim) if d != 1)
    shape = tuple(n if d == 1 else 1 for d, n in enumerate(input.shape))
    if training or running_mean is None:
        mean = mint.mean(input, dims, True)
        spread = mint.mean(mint.square(mint.sub(input, mean)), dims, True)
        if training and running_mean is not None:
            count = math.prod(input.shape) // input.shape[1]
            new = mint.reshape(ops.stop_gradient(mean), tuple(running_mean.shape))
            var = mint.reshape(ops.stop_gradient(spread), tuple(running_var.shape)) * (count / max(count - 1, 1))
            running_mean.copy_(running_mean * (1 - momentum) + new * momentum)
            running_var.copy_(running_var * (1 - momentum) + var * momentum)
    else:
        mean, spread = mint.reshape(running_mean, shape), mint.reshape(running_var, shape)
    out = mint.mul(mint.sub(input, mean), mint.rsqrt(mint.add(spread, eps)))
    out = out if weight is None else mint.mul(out, mint.reshape(weight, shape))
    return out if bias is None else mint.add(out, mint.reshape(bias, shape))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """alpha * (exp(x) - 1) below 0."""
    below = mint.minimum(input, ops.zeros_like(input))
    return mint.where(mint.gt(input, 0), input, mint.mul(mint.sub(mint.exp(below), 1), alpha))


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x * Phi(x), or its tanh form."""
    if approximate == "tanh":
        inner = mint.mul(mint.add(input, mint.mul(mint.pow(input, 3), 0.044715)), math.sqrt(2 / math.pi))
        return mint.mul(mint.mul(input, 0.5), mint.add(mint.tanh(inner), 1))
    return mint.mul(mint.mul(input, 0.5), mint.add(mint.erf(mint.div(input, math.sqrt(2))), 1))


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x kept within bounds; no gradient at or outside them."""
    inside = mint.logical_and(mint.gt(input, min_val), mint.lt(input, max_val))
    return mint.where(inside, input, ops.stop_gradient(mint.clamp(input, min_val, max_val)))


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """A slope below 0."""
    return mint.where(mint.gt(input, 0), input, mint.mul(input, negative_slope))


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above the threshold, else the value."""
    return mint.where(mint.gt(input, threshold), input, ops.zeros_like(input) + value)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Constant padding of the last dims, front and back, last dim first; negative amounts cut."""
    if mode != "constant":
        raise MissingKernelError.of("pad", f"the mode {mode!r}")
    for place in range(len(pad) // 2):
        dim = input.ndim - 1 - place
        front, back = pad[2 * place], pad[2 * place + 1]
        start, size = max(-front, 0), input.shape[dim] + min(front, 0) + min(back, 0)
        pieces = [
            _filled(input, dim, front, value),
            mint.narrow(input, dim, start, size),
            _filled(input, dim, back, value),
        ]
        input = mint.cat([p for p in pieces if p.shape[dim]], dim)
    return input


def _filled(like: Tensor, dim: int, count: int, value: Any) -> Tensor:
    shape = tuple(max(count, 0) if d == dim else n for d, n in enumerate(like.shape))
    return Tensor(np.full(shape, 0 if value is None else value)).astype(like.dtype)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A last dim with 1 at the class."""
    count = num_classes if num_classes >= 0 else int(tensor.asnumpy().max()) + 1
    return mint.eq(mint.unsqueeze(tensor, -1), Tensor(np.arange(count))).astype(ms.int64)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its norm along a dim."""
    from hyper_parallel.platform.mindspore.routes import vector_norm

    size = vector_norm(input, p, dim, True)
    return mint.div(input, mint.maximum(size, ops.zeros_like(size) + eps))


def cross_entropy(
    input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Cross-entropy with class numbers (any rank) or probabilities as the target."""
    dim = 0 if input.ndim == 1 else 1
    classes = input.shape[dim]
    logs = log_softmax(input, dim)
    wide = tuple(classes if d == dim else 1 for d in range(input.ndim))
    scale = None if weight is None else mint.reshape(weight, wide)
    if tuple(target.shape) == tuple(input.shape):
        goal = mint.add(mint.mul(target, 1 - label_smoothing), label_smoothing / classes)
        terms = mint.mul(logs, goal if scale is None else mint.mul(goal, scale))
        values = mint.neg(mint.sum(terms, dim))
        if reduction == "mean":
            return mint.div(mint.sum(values), max(math.prod(input.shape) // classes, 1))
        return reduced(values, reduction)
    return _of_classes(logs, target, scale, ignore_index, reduction, label_smoothing)


def nll_loss(
    input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Negative log-likelihood of class numbers."""
    dim = 0 if input.ndim == 1 else 1
    wide = tuple(n if d == dim else 1 for d, n in enumerate(input.shape))
    scale = None if weight is None else mint.reshape(weight, wide)
    return _of_classes(input, target, scale, ignore_index, reduction, 0.0)


def _of_classes(
    logs: Tensor, target: Tensor, scale: Any, ignore_index: int, reduction: str, smoothing: float
) -> Tensor:
    """The loss of class numbers from log-probabilities; `scale` is the classes' weight in the shape of one position.

    Raises:
        IndexError: a target is no class.
    """
    dim = 0 if logs.ndim == 1 else 1
    classes = logs.shape[dim]
    asked = target.asnumpy()
    if ((asked != ignore_index) & ((asked < 0) | (asked >= classes))).any():
        raise IndexError(explain("nll_loss", "targets", f"in [0, {classes}) or ignore_index {ignore_index}", asked))
    wide = tuple(classes if d == dim else 1 for d in range(logs.ndim))
    kept = mint.ne(target, ignore_index)
    held = None if scale is None else ops.stop_gradient(scale)  # of the classes' weight, the loss has no derivative
    chosen = mint.eq(mint.unsqueeze(target, dim), mint.reshape(Tensor(np.arange(classes)), wide)).astype(logs.dtype)
    weights = chosen if held is None else mint.mul(chosen, held)
    values = mint.neg(mint.sum(mint.mul(logs, weights), dim))
    if smoothing:
        smooth = mint.neg(mint.sum(logs if scale is None else mint.mul(logs, scale), dim))
        values = mint.add(mint.mul(values, 1 - smoothing), mint.mul(smooth, smoothing / classes))
    values = mint.where(kept, values, ops.zeros_like(values))  # whose gradient is 0 even where the mean's is infinite
    if reduction == "mean":
        return mint.div(mint.sum(values), mint.sum(mint.mul(mint.sum(weights, dim), kept.astype(logs.dtype))))
    return reduced(values, reduction)


def attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Scaled dot-product attention by its definition."""
    if dropout_p:
        raise MissingKernelError.of("scaled_dot_product_attention", "dropout")
    if enable_gqa:
        key, value = (ops.repeat_interleave(t, query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    scores = mint.matmul(query, mint.transpose(key, -2, -1)) * (scale if scale is not None else query.shape[-1] ** -0.5)
    if is_causal:
        rows, columns = scores.shape[-2:]
        attn_mask = Tensor(np.tri(rows, columns, dtype=bool))
    if attn_mask is not None:
        if attn_mask.dtype == ms.bool_:
            attn_mask = mint.where(attn_mask, Tensor(0.0, scores.dtype), Tensor(-math.inf, scores.dtype))
        scores = mint.add(scores, attn_mask)
    return mint.matmul(mint.nn.functional.softmax(scores, dim=-1), value)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Contraction by labels, two operands at a time, through one broadcast product."""
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], list | tuple) else list(operands)
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if "." in equation or any(len(set(term)) != len(term) for term in terms):
        raise MissingKernelError.of("einsum", f"the equation {equation!r}")
    if not arrow:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    labels, total = terms[0], tensors[0]
    for place in range(1, len(terms)):
        later = set("".join(terms[place + 1 :])) | set(right)
        every = list(dict.fromkeys(labels + terms[place]))
        total = mint.mul(_spread(total, labels, every), _spread(tensors[place], terms[place], every))
        gone = tuple(i for i, c in enumerate(every) if c not in later)
        total = mint.sum(total, gone) if gone else total
        labels = "".join(c for c in every if c in later)
    gone = tuple(i for i, c in enumerate(labels) if c not in right)
    total = mint.sum(total, gone) if gone else total
    labels = "".join(c for c in labels if c in right)
    return mint.permute(total, tuple(labels.index(c) for c in right)) if labels else total


def _spread(x: Tensor, labels: str, every: list[str]) -> Tensor:
    order = sorted(range(len(labels)), key=lambda i: every.index(labels[i]))
    x = mint.permute(x, tuple(order)) if len(order) > 1 else x
    sizes = dict(zip((labels[i] for i in order), x.shape, strict=True))
    return mint.reshape(x, tuple(sizes.get(c, 1) for c in every))


def _adaptive(name: str) -> Callable[..., Any]:
    def pool(input: Tensor, output_size: Any) -> Tensor:
        """`mint` turns None, "as it is", into -1."""
        sizes = output_size if isinstance(output_size, int) else tuple(None if n == -1 else n for n in output_size)
        try:
            found: Tensor = getattr(ops, name)(input, sizes)
        except ValueError as error:
            raise MissingKernelError.of(name, f"these sizes ({error})") from error
        return found

    return pool


ROUTES: dict[str, Callable[..., Any]] = {
    "adaptive_avg_pool1d": _adaptive("adaptive_avg_pool1d"),
    "adaptive_avg_pool2d": _adaptive("adaptive_avg_pool2d"),
    "adaptive_avg_pool3d": _adaptive("adaptive_avg_pool3d"),
    "batch_norm": batch_norm,
    "binary_cross_entropy": bce,
    "binary_cross_entropy_with_logits": bce_with_logits,
    "cosine_embedding_loss": cosine_embedding_loss,
    "cross_entropy": cross_entropy,
    "elu": elu,
    "embedding": embedding,
    "gelu": gelu,
    "hardtanh": hardtanh,
    "kl_div": kl_div,
    "l1_loss": l1_loss,
    "layer_norm": layer_norm,
    "leaky_relu": leaky_relu,
    "log_softmax": log_softmax,
    "logsigmoid": logsigmoid,
    "mse_loss": mse_loss,
    "nll_loss": nll_loss,
    "normalize": normalize,
    "one_hot": one_hot,
    "pad": pad,
    "relu6": lambda input, inplace=False: hardtanh(input, 0, 6),
    "soft_margin_loss": soft_margin_loss,
    "softplus": softplus,
    "threshold": threshold,
    "scaled_dot_product_attention": attention,
    "einsum": einsum,
    "rms_norm": rms_norm,
}
