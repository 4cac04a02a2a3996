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
"""System cases: losses on cut batches, positions and classes."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, S2, CompareSpec, Every, InputSpec, OpCase, OpSpec, P, R, op_family

functional = torch.nn.functional
_N, _C = 7, 11
_LOGITS, _IMAGE = InputSpec((_N, _C)), InputSpec((5, 7, 3))
_TARGET = InputSpec((_N,), dtype="int64", data=(3, 0, 10, -100, 5, 6, 10), grad=False)
_BYTES = InputSpec((_N,), dtype="uint8", data=(3, 0, 10, 1, 5, 6, 10), grad=False)
_IGNORED = InputSpec((_N,), dtype="int64", data=(-100,) * _N, grad=False)
_PIXELS = InputSpec((5, 3), dtype="int64", init="integers", range=(0, 7), grad=False)
_WEIGHT = InputSpec((_C,), init="uniform", range=(0.1, 2.0), grad=False)
_CHANCES = InputSpec((_N, _C), init="uniform")
_M = InputSpec((5, 7))
_ZERO_ONE = InputSpec((5, 7), init="uniform", range=(0.05, 0.95))
_THREE = InputSpec((3,), init="uniform", range=(0.05, 0.95))
_SIGNS = InputSpec((5, 7), data=tuple(1.0 if (3 * i) % 5 < 3 else -1.0 for i in range(35)), grad=False)
_ROWS = InputSpec((7, 4))
_ROW_SIGNS = InputSpec((7,), data=(1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0), grad=False)
_ROW_CLASSES = InputSpec((7,), dtype="int64", data=(0, 3, 2, 1, 1, 0, 3), grad=False)
_LABELS = InputSpec((7, 4), dtype="int64", data=((0, 3, -1, 1),) * 7, grad=False)
_TINY, _TINY_INT = InputSpec((3, 2)), InputSpec((3, 2), dtype="int64", init="ones", grad=False)
_PLACES = Every(30)


def _index_case(name, reduction="mean", weight=False, fn=functional.cross_entropy, target=_TARGET, **kwargs):
    def run(x, t, *w):
        return fn(x, t, *w, reduction=reduction, **kwargs)

    inputs = (_LOGITS, target, _WEIGHT) if weight else (_LOGITS, target)
    return OpCase(name, run, inputs, _PLACES)


def _refusal_case(name, fn, inputs, kind):
    """All ranks have to meet the error, and be in step afterwards."""

    def run(x, *others):
        try:
            fn(x, *others)
        except kind:
            return x.sum()
        return x.sum() + 1000

    return OpCase(name, run, inputs, Every(16))


def _targets(*values):
    return InputSpec((len(values),), dtype="int64", data=values, grad=False)


def _autocast(x, t):
    with torch.autocast("cpu", torch.bfloat16):
        return functional.cross_entropy(x, t)


_PAIRS = [
    OpSpec("mse_loss", functional.mse_loss),
    OpSpec("l1_loss", functional.l1_loss),
    OpSpec("smooth_l1_loss", functional.smooth_l1_loss),
    OpSpec("huber_loss", functional.huber_loss),
    OpSpec("poisson_nll_loss", functional.poisson_nll_loss),
    OpSpec("soft_margin_loss", functional.soft_margin_loss, {"inputs": (_M, _SIGNS)}),
    OpSpec("kl_div", functional.kl_div),
    OpSpec("bce_with_logits", functional.binary_cross_entropy_with_logits),
]


def _pair_cases():
    shapes = (_M, _ZERO_ONE)
    for reduction in ("mean", "sum", "none"):
        yield OpCase(reduction, functional.mse_loss, shapes, Every(24, partial=True), kwargs={"reduction": reduction})
    yield OpCase("empty_parts", functional.mse_loss, (InputSpec((3, 2)), InputSpec((3, 2))), Every(24))


CASES = [
    *op_family(_PAIRS, list(_pair_cases())),
    _index_case("cross_entropy_ops_mean"),
    _index_case("cross_entropy_ops_sum", "sum"),
    _index_case("cross_entropy_ops_none", "none"),
    _index_case("cross_entropy_ops_weight", weight=True),
    _index_case("cross_entropy_ops_weight_none", "none", weight=True),
    _index_case("cross_entropy_ops_smooth", label_smoothing=0.2),
    _index_case("cross_entropy_ops_smooth_weight", weight=True, label_smoothing=0.3),
    _index_case("cross_entropy_ops_smooth_sum", "sum", weight=True, label_smoothing=0.3),
    _index_case("cross_entropy_ops_ignore", target=_BYTES, ignore_index=10),
    _index_case("cross_entropy_ops_bytes", target=_BYTES, label_smoothing=0.1),
    _index_case("cross_entropy_ops_all_ignored", target=_IGNORED),
    _index_case("cross_entropy_ops_all_ignored_sum", "sum", target=_IGNORED),
    _index_case("nll_loss_ops_mean", fn=functional.nll_loss),
    _index_case("nll_loss_ops_none", "none", fn=functional.nll_loss),
    _index_case("nll_loss_ops_weight", weight=True, fn=functional.nll_loss),
    OpCase("cross_entropy_ops_second_order", functional.cross_entropy, (_LOGITS, _TARGET), _PLACES, second_order=True),
    OpCase("cross_entropy_ops_pending", functional.cross_entropy, (_LOGITS, _TARGET), ((P,), (R,))),
    OpCase("cross_entropy_ops_image", functional.cross_entropy, (_IMAGE, _PIXELS), _PLACES),
    OpCase("cross_entropy_ops_image_smooth", lambda x, t: functional.cross_entropy(x, t, label_smoothing=0.1),
           (_IMAGE, _PIXELS), _PLACES),
    OpCase("cross_entropy_ops_image_none", lambda x, t: functional.cross_entropy(x, t, reduction="none"),
           (_IMAGE, _PIXELS), ((S2,), (S1,)), out_placements=(S1,), max_bytes=16 * 2),
    OpCase("cross_entropy_ops_one", functional.cross_entropy,
           (InputSpec((_C,)), InputSpec((), dtype="int64", data=4, grad=False)), _PLACES),
    OpCase("cross_entropy_ops_chances", functional.cross_entropy, (_LOGITS, _CHANCES), _PLACES, second_order=True),
    OpCase("cross_entropy_ops_chances_weight",
           lambda x, t, w: functional.cross_entropy(x, t, w, label_smoothing=0.2),
           (_LOGITS, _CHANCES, InputSpec((_C,), init="uniform")), Every(60)),
    OpCase("cross_entropy_ops_chances_none",
           lambda x, t, w: functional.cross_entropy(x, t, w, reduction="none"),
           (_LOGITS, _CHANCES, InputSpec((_C,), init="uniform")), Every(60)),
    OpCase("cross_entropy_ops_chances_image", functional.cross_entropy, (_IMAGE, _IMAGE), _PLACES),
    OpCase("cross_entropy_ops_classes", functional.cross_entropy, (_LOGITS, _TARGET), ((S1,), (R,)), mesh_shape=(2,),
           out_placements=(P,), max_bytes=2 * 4 * _N),
    OpCase("cross_entropy_ops_both", functional.cross_entropy, (_LOGITS, _TARGET), ((S0, S1), (S0, R)),
           out_placements=(P, P), max_bytes=2 * 4 * 4 + 16),
    OpCase("cross_entropy_ops_batch", functional.cross_entropy, (_LOGITS, _TARGET), ((S0,), (S0,)), mesh_shape=(2,),
           out_placements=(P,), max_bytes=16),
    OpCase("cross_entropy_ops_half", functional.cross_entropy, (InputSpec((_N, _C), dtype="float16"), _TARGET), _PLACES,
           compare=CompareSpec.allclose(5e-3, 5e-3)),
    OpCase("cross_entropy_ops_autocast", _autocast, (InputSpec((_N, _C), dtype="bfloat16"), _TARGET), _PLACES,
           compare=CompareSpec.allclose(2e-2, 2e-2)),
    OpCase("cross_entropy_ops_double", functional.cross_entropy, (InputSpec((_N, _C), dtype="float64"), _TARGET),
           _PLACES),
    OpCase("mse_loss_ops_batch", functional.mse_loss, (_M, _M), ((S0,), (S0,)), out_placements=(P,), max_bytes=0,
           second_order=True),
    OpCase("mse_loss_ops_weight", lambda x, y, w: functional.mse_loss(x, y, weight=w), (_M, _M, _ZERO_ONE), _PLACES),
    OpCase("mse_loss_ops_half", functional.mse_loss, (InputSpec((5, 7), dtype="float16"),) * 2, _PLACES,
           compare=CompareSpec.allclose(2e-3, 2e-3)),
    OpCase("bce_ops_mean", functional.binary_cross_entropy, (_ZERO_ONE, _ZERO_ONE), _PLACES),
    OpCase("bce_ops_single", functional.binary_cross_entropy, (_THREE, _THREE), _PLACES),
    OpCase("bce_ops_weight", lambda x, y, w: functional.binary_cross_entropy(x, y, w, reduction="none"),
           (_ZERO_ONE, _ZERO_ONE, InputSpec((7,), init="uniform", grad=False)), _PLACES),
    OpCase("bce_with_logits_ops_weights",
           lambda x, y, w, p: functional.binary_cross_entropy_with_logits(x, y, w, pos_weight=p),
           (_M, _ZERO_ONE, InputSpec((5, 1), init="uniform", grad=False),
            InputSpec((7,), init="uniform", grad=False)), _PLACES),
    OpCase("kl_div_ops_batchmean", lambda x, y: functional.kl_div(x, y, reduction="batchmean", log_target=True),
           (_M, _M), _PLACES, second_order=True),
    OpCase("kl_div_ops_broadcast", lambda x, y: functional.kl_div(x, y, reduction="sum"),
           (_M, InputSpec((7,), init="uniform")), _PLACES),
    OpCase("gaussian_nll_loss_ops_full", lambda x, y, v: functional.gaussian_nll_loss(x, y, v, full=True),
           (_M, _M, _ZERO_ONE), _PLACES),
    OpCase("gaussian_nll_loss_ops_row", functional.gaussian_nll_loss,
           (InputSpec((5, 5)), InputSpec((5, 5)), InputSpec((5,), init="uniform", range=(0.5, 1))), _PLACES),
    OpCase("poisson_nll_loss_ops_full", lambda x, y: functional.poisson_nll_loss(x, y, False, True),
           (_ZERO_ONE, InputSpec((5, 7), init="uniform", range=(0.5, 4.0))), _PLACES),
    OpCase("hinge_embedding_loss_ops_mean", functional.hinge_embedding_loss, (_M, _SIGNS), _PLACES),
    OpCase("margin_ranking_loss_ops_mean", lambda x, y, t: functional.margin_ranking_loss(x, y, t, margin=0.3),
           (_M, _M, _SIGNS), _PLACES),
    OpCase("cosine_embedding_loss_ops_mean", functional.cosine_embedding_loss, (_ROWS, _ROWS, _ROW_SIGNS), _PLACES),
    OpCase("triplet_margin_loss_ops_none", lambda a, b, c: functional.triplet_margin_loss(a, b, c, reduction="none"),
           (_ROWS,) * 3, _PLACES),
    OpCase("triplet_margin_loss_ops_mean", lambda a, b, c: functional.triplet_margin_loss(a, b, c, swap=True),
           (_ROWS,) * 3, _PLACES),
    OpCase("multi_margin_loss_ops_weight", lambda x, t, w: functional.multi_margin_loss(x, t, weight=w),
           (_ROWS, _ROW_CLASSES, InputSpec((4,), init="uniform", grad=False)), _PLACES),
    OpCase("multilabel_margin_loss_ops_sum", lambda x, t: functional.multilabel_margin_loss(x, t, reduction="sum"),
           (_ROWS, _LABELS), _PLACES),
    OpCase("multilabel_soft_margin_loss_ops_mean", functional.multilabel_soft_margin_loss,
           (_ROWS, InputSpec((7, 4), init="uniform", grad=False)), _PLACES),
    OpCase("multilabel_soft_margin_loss_ops_weight",
           lambda x, t, w: functional.multilabel_soft_margin_loss(x, t, w),
           (_ROWS, InputSpec((7, 4), init="uniform", grad=False), InputSpec((7, 4), init="uniform")), _PLACES),
    _refusal_case("cross_entropy_ops_stray", functional.cross_entropy, (_LOGITS, _targets(0, 1, 2, 3, 4, 5, 11)),
                  IndexError),
    _refusal_case("cross_entropy_ops_negative", functional.cross_entropy, (_LOGITS, _targets(-1, 1, 2, 3, 4, 5, 1)),
                  IndexError),
    _refusal_case("nll_loss_ops_stray", lambda x, t: functional.nll_loss(x, t, reduction="none"),
                  (_LOGITS, _targets(0, 1, 2, 11, 4, 5, 1)), IndexError),
    _refusal_case("cross_entropy_ops_wrong_dtype", functional.cross_entropy,
                  (_LOGITS, InputSpec((_N,), dtype="int32", init="integers", range=(0, 3), grad=False)), RuntimeError),
    _refusal_case("l1_loss_ops_wrong_dtype", lambda x, y: functional.l1_loss(x.long(), y), (_TINY, _TINY_INT),
                  RuntimeError),
    _refusal_case("bce_ops_stray", lambda x, y: functional.binary_cross_entropy(x, y, reduction="none"),
                  (InputSpec((5,), data=(0.5, 0.2, 0.1, 0.9, 1.5)), InputSpec((5,), init="uniform", grad=False)),
                  RuntimeError),
    _refusal_case("gaussian_nll_loss_ops_stray", functional.gaussian_nll_loss,
                  (_ROW_SIGNS, _ROW_SIGNS, InputSpec((7,), data=(1.0,) * 6 + (-1.0,), grad=False)), ValueError),
    _refusal_case("multi_margin_loss_ops_stray", functional.multi_margin_loss,
                  (_ROWS, _targets(0, 1, 2, 3, 4, 1, 1)), RuntimeError),
]  # fmt: skip
