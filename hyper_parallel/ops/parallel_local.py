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
"""Normalising operators and attention where no cut dim takes part in the computation: each rank works alone.

A cut of a dim that does take part is refused here, so the engine redistributes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import R, Shard


class AlongDimDistributedOp(AxisRuleOp):
    """softmax, log_softmax, softmin along one dim.

    Rules:
        1. Every dim but the one worked along may be cut; the result is cut alike.
        2. The dim has to be given: its default depends on the number of dims.
    """

    signature: ClassVar[str] = "input, dim=None, _stacklevel=3, dtype=None"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        return (call.shape(),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        ndim = len(call.shape())
        along = call.dim("dim", ndim)
        for dim in range(ndim):
            if dim != along:
                yield AxisRule((Shard(dim),), (Shard(dim),))


class BuiltinAlongDimDistributedOp(AlongDimDistributedOp):
    """torch.softmax, torch.log_softmax and the methods, whose third argument is the dtype."""

    signature: ClassVar[str] = "input, dim=None, dtype=None"


class LastDimsNormDistributedOp(AxisRuleOp):
    """layer_norm, rms_norm over the last dims.

    Rules:
        1. Leading dims may be cut; the result is cut alike. Weight and bias are replicated on that axis.
    """

    signature: ClassVar[str] = "input, normalized_shape, weight=None, bias=None, eps=None"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        return (call.shape(),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        if call["input"] != Slot(0):
            raise LayoutError(explain(self.op_name, "input", "the first tensor", call["input"]))
        others = (R,) * (len(call.layouts) - 1)
        for dim in range(len(call.shape()) - len(call["normalized_shape"])):
            yield AxisRule((Shard(dim), *others), (Shard(dim),))


class RmsNormDistributedOp(LastDimsNormDistributedOp):
    """rms_norm has no bias."""

    signature: ClassVar[str] = "input, normalized_shape, weight=None, eps=None"


class AttentionDistributedOp(AxisRuleOp):
    """scaled_dot_product_attention without a mask tensor and without dropout.

    Rules:
        1. A leading dim (batch, heads) of equal size in query, key and value may be cut in all three alike.
        2. The query's length may be cut with key and value replicated, unless the attention is causal.
    """

    signature: ClassVar[str] = (
        "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False"
    )

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        query, key, value = (call.shape(name) for name in ("query", "key", "value"))
        if call["attn_mask"] is not None or call["dropout_p"] or len(call.layouts) != 3:
            raise LayoutError(explain(self.op_name, "mask and dropout", "absent", "given"))
        if not len(query) == len(key) == len(value) or not query[:-2] == key[:-2] == value[:-2]:
            raise LayoutError(explain(self.op_name, "leading dims", "equal", (query, key, value)))
        return ((*query[:-1], value[-1]),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        ndim = len(call.shape("query"))
        for dim in range(ndim - 2):
            yield AxisRule((Shard(dim),) * 3, (Shard(dim),))
        if not call["is_causal"]:
            yield AxisRule((Shard(ndim - 2), R, R), (Shard(ndim - 2),))


class EmbeddingDistributedOp(AxisRuleOp):
    """embedding without norm, scaling or sparse gradients.

    Rules:
        1. Any dim of the indices may be cut with the table replicated.
        2. The table's columns may be cut with the indices replicated: the last dim of the result is.
    """

    signature: ClassVar[str] = (
        "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False"
    )

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if call["max_norm"] is not None or call["scale_grad_by_freq"] or call["sparse"] or len(call.layouts) != 2:
            raise LayoutError(explain(self.op_name, "max_norm, scale_grad_by_freq and sparse", "unset", "set"))
        if call["input"] != Slot(0) or len(call.shape("weight")) != 2:
            raise LayoutError(explain(self.op_name, "input and weight", "indices and a 2-d table", call.shapes))
        return ((*call.shape(), call.shape("weight")[1]),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        ndim = len(call.shape())
        for dim in range(ndim):
            yield AxisRule((Shard(dim), R), (Shard(dim),))
        yield AxisRule((R, Shard(1)), (Shard(ndim),))
