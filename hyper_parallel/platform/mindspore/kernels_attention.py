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
"""Embedding and attention in parts; `hyper_parallel.platform.torch.kernels_attention` tells the meaning."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, ops

from hyper_parallel.platform.mindspore import wire


class AttentionKernels:
    """Mixed into the platform object."""

    @staticmethod
    def embed_rows(words: Tensor, table: Tensor, start: int, size: int, padding: int | None) -> Tensor:
        """Rows of a table of `size` rows, of which `table` holds those from `start` on; zeros for all others.

        Raises:
            IndexError: an index is outside of the whole table; on every rank alike.
        """
        own, asked = table.shape[0], wire.to_host(words)
        if words.dtype not in (ms.int64, ms.int32):
            raise RuntimeError(f"embedding(): indices should be of type int64 or int32, but got {words.dtype}")
        if asked.size and (asked.min() < 0 or asked.max() >= size):
            raise IndexError(f"index out of range in self: indices should be in [0, {size})")
        inside = (asked >= start) & (asked < start + own)
        if padding is not None and start <= padding < start + own:
            fixed = Tensor((np.arange(own) == padding - start).reshape(-1, 1))
            table = mint.where(fixed, ops.stop_gradient(table), table)
        found = ops.gather(table, Tensor(np.where(inside, asked - start, 0)), 0)
        return mint.where(Tensor(inside[..., None]), found, ops.zeros_like(found))

    @staticmethod
    def causal_rows(like: Tensor, rows: int, columns: int, first: int) -> Tensor:
        """A mask that is true where column j <= row i, for rows from `first` on."""
        return Tensor(np.tri(rows, columns, first, dtype=bool))

    @staticmethod
    def attention_terms(
        query: Tensor, key: Tensor, value: Tensor, scale: float, diagonal: int | None, largest: Callable[[Any], Any]
    ) -> Tensor:
        """What some keys add to attention, in single precision: on the last dim the weights' sum, then that of values.

        Args:
            scale: factor of the scores.
            diagonal: row i sees the keys up to i + diagonal; None: all.
            largest: makes of the rows' largest scores those over all keys.
        """
        groups = query.shape[-3] // key.shape[-3] if query.ndim > 2 and key.shape[-3] else 1
        if groups > 1:
            key, value = (ops.repeat_interleave(part, groups, -3) for part in (key, value))
        kind = ms.float64 if query.dtype == ms.float64 else ms.float32
        scores = mint.matmul(mint.mul(query.astype(kind), scale), mint.transpose(key.astype(kind), -2, -1))
        if diagonal is not None:
            seen = Tensor(np.tri(scores.shape[-2], scores.shape[-1], diagonal, dtype=bool))
            scores = mint.where(seen, scores, Tensor(-math.inf, kind))
        top = ops.stop_gradient(largest(mint.amax(ops.stop_gradient(scores), -1, True)))
        weights = mint.exp(mint.sub(scores, top))
        return mint.cat([mint.sum(weights, -1, True), mint.matmul(weights, value.astype(kind))], -1)
