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
"""Local tensor functions for the rules of embedding and attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor


class AttentionKernels:
    """Mixed into the platform object."""

    @staticmethod
    def embed_rows(words: Tensor, table: Tensor, start: int, size: int, padding: int | None) -> Tensor:
        """Rows of a table of `size` rows, of which `table` holds those from `start` on; zeros for all others.

        Args:
            padding: the row of the whole table that gets no gradient.

        Raises:
            IndexError: an index is outside of the whole table; on every rank alike.
        """
        own = table.shape[0]
        if words.dtype not in (torch.int64, torch.int32):
            raise RuntimeError(f"embedding(): indices should be of type int64 or int32, but got {words.dtype}")
        if words.numel() and (int(words.min()) < 0 or int(words.max()) >= size):
            raise IndexError(f"index out of range in self: indices should be in [0, {size})")
        if not own:
            return table.sum(0).expand(*words.shape, table.shape[1]).clone()
        inside = (words >= start) & (words < start + own)
        place = -1 if padding is None or not start <= padding < start + own else padding - start
        found = torch.embedding(table, torch.where(inside, words - start, 0), place)
        return torch.where(inside.unsqueeze(-1), found, found.new_zeros(()))

    @staticmethod
    def causal_rows(like: Tensor, rows: int, columns: int, first: int) -> Tensor:
        """A mask that is true where column j <= row i, for rows from `first` on."""
        return torch.ones(rows, columns, dtype=torch.bool, device=like.device).tril(first)

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
        groups = query.shape[-3] // key.shape[-3] if query.dim() > 2 and key.shape[-3] else 1
        if groups > 1:
            key, value = (part.repeat_interleave(groups, -3) for part in (key, value))
        kind = torch.float64 if query.dtype is torch.float64 else torch.float32
        scores = (query.to(kind) * scale) @ key.to(kind).transpose(-2, -1)
        if diagonal is not None:
            seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril(diagonal)
            scores = scores.masked_fill(~seen, float("-inf"))
        if scores.shape[-1]:
            top = scores.detach().amax(-1, keepdim=True)
        else:
            top = scores.new_full((*scores.shape[:-1], 1), float("-inf"))
        weights = (scores - largest(top)).exp()
        return torch.cat([weights.sum(-1, keepdim=True), weights @ value.to(kind)], -1)
