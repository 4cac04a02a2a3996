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
"""Convolutions: batch and channels stay local, cut spatial dims exchange border rows."""

from __future__ import annotations

from typing import Any

import torch

from tests.hyper_parallel.case import S0, S1, S2, S3, CompareSpec, Every, InputSpec, OpCase, P, R

functional = torch.nn.functional
_SOME = Every(12, partial=True)
_CLOSE = CompareSpec.allclose(1e-4, 1e-4)  # sums of some hundred products, in another order


def _case(name: str, op: Any, x: tuple[int, ...], w: tuple[int, ...], bias: int = 0, **kwargs: Any) -> OpCase:
    inputs = [InputSpec(x), InputSpec(w), *([InputSpec((bias,))] if bias else [])]
    return OpCase(name, op, tuple(inputs), _SOME, kwargs=kwargs, compare=_CLOSE)


def _spatial(name: str, op: Any, x: tuple[int, ...], w: tuple[int, ...], dim: int, **kwargs: Any) -> list[OpCase]:
    """One spatial dim cut, on 2 and 4 ranks, the result cut alike."""
    places = ((torch_shard(dim),), (R,))
    return [
        OpCase(
            f"{name}_{n}",
            op,
            (InputSpec(x), InputSpec(w)),
            places,
            (n,),
            kwargs=kwargs,
            compare=_CLOSE,
            out_placements=places[0],
        )
        for n in (2, 4)
    ]


def torch_shard(dim: int) -> Any:
    """The placement that cuts a dim."""
    return (S0, S1, S2, S3)[dim]


_CONV2, _BACK2 = functional.conv2d, functional.conv_transpose2d
_IMAGE = (2, 3, 9, 7)
_ROW = 2 * 3 * 8 * 4  # bytes of one row of the image below


def _module(module: torch.nn.Module, *args: Any) -> Any:
    """A module whose parameters are the inputs after the first."""

    def run(x: Any, *parameters: Any) -> Any:
        names = [name for name, _ in module.named_parameters()]
        return torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), (x, *args))

    return run


_LAYERS = {
    "conv": torch.nn.Conv2d(3, 4, 3, padding=1),
    "circular": torch.nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"),
    "transposed": torch.nn.ConvTranspose2d(3, 4, 3, stride=2),
}

CASES = [
    *(
        OpCase(f"conv_module_ops_{name}", _module(layer, *([[17, 13]] if name == "transposed" else [])),
               (InputSpec((2, 3, 8, 6)), *(InputSpec(tuple(p.shape)) for p in layer.parameters())), Every(10),
               compare=_CLOSE)
        for name, layer in _LAYERS.items()
    ),
    OpCase("conv_module_ops_rows", _module(_LAYERS["circular"]),
           (InputSpec((2, 3, 8, 6)), InputSpec((4, 3, 3, 3)), InputSpec((4,))), ((S2,), (R,), (R,)),
           out_placements=(S2,), compare=_CLOSE),
    _case("conv1d_ops_every", functional.conv1d, (3, 4, 9), (5, 4, 3), 5, padding=1),
    _case("conv2d_ops_every", _CONV2, _IMAGE, (4, 3, 3, 3), 4, padding=1),
    _case("conv2d_ops_groups", _CONV2, (2, 6, 7, 6), (6, 2, 3, 3), 6, groups=3, stride=2),
    _case("conv2d_ops_depthwise", _CONV2, (2, 8, 5, 6), (8, 1, 3, 3), 8, groups=8, padding=2),
    _case("conv2d_ops_unbatched", _CONV2, (3, 8, 7), (2, 3, 3, 2), 2, stride=(1, 2)),
    _case("conv3d_ops_every", functional.conv3d, (2, 2, 5, 4, 6), (3, 2, 2, 3, 1), 3, padding=(1, 1, 0)),
    _case("conv2d_ops_few_channels", _CONV2, (1, 1, 6, 6), (1, 1, 3, 3), 1),
    *_spatial("conv2d_ops_stride", _CONV2, (2, 3, 17, 6), (4, 3, 3, 3), 2, stride=2, padding=1),
    *_spatial("conv2d_ops_same", _CONV2, (2, 3, 6, 11), (4, 3, 4, 2), 3, padding="same"),
    *_spatial("conv2d_ops_valid", _CONV2, (2, 3, 13, 6), (4, 3, 3, 2), 2, padding="valid"),
    *_spatial("conv2d_ops_dilated", _CONV2, (1, 2, 14, 6), (2, 2, 3, 1), 2, dilation=2, padding=2),
    *_spatial("conv1d_ops_wide_padding", functional.conv1d, (1, 2, 12), (2, 2, 2), 2, padding=5),
    *_spatial("conv2d_ops_patches", _CONV2, (1, 3, 32, 16), (5, 3, 4, 4), 2, stride=4),
    OpCase("conv1d_ops_halo_over_parts", functional.conv1d, (InputSpec((1, 1, 9)), InputSpec((1, 1, 7))),
           ((S2,), (R,)), kwargs={"padding": 3}),
    OpCase("conv2d_ops_grid", _CONV2, (InputSpec((1, 2, 8, 9)), InputSpec((2, 2, 3, 3)), InputSpec((2,))),
           ((S2, S3), (R, R), (R, R)), kwargs={"padding": 1}, out_placements=(S2, S3), second_order=True),
    OpCase("conv2d_ops_in_channels", _CONV2, (InputSpec(_IMAGE), InputSpec((4, 3, 3, 3)), InputSpec((4,))),
           ((S1,), (S1,), (P,)), out_placements=(P,), max_bytes=0),
    OpCase("conv2d_ops_out_channels", _CONV2, (InputSpec(_IMAGE), InputSpec((4, 3, 3, 3)), InputSpec((4,))),
           ((R,), (S0,), (S0,)), out_placements=(S1,), max_bytes=0),
    OpCase("conv2d_ops_border_bytes", lambda x, w: _CONV2(x, w, padding=1),
           (InputSpec((2, 3, 8, 8)), InputSpec((4, 3, 3, 3))), ((S2,), (R,)), mesh_shape=(4,), out_placements=(S2,),
           max_bytes=2 * _ROW),
    OpCase("conv2d_ops_double", _CONV2, (InputSpec((1, 2, 7, 5)), InputSpec((2, 2, 3, 3))), ((S2,), (R,)),
           kwargs={"padding": 1}, second_order=True),
    _case("conv_transpose1d_ops_every", functional.conv_transpose1d, (3, 4, 5), (4, 5, 3), 5, stride=2, padding=1),
    _case("conv_transpose2d_ops_every", _BACK2, (2, 3, 5, 4), (3, 4, 3, 3), 4, padding=1),
    _case("conv_transpose2d_ops_groups", _BACK2, (2, 6, 4, 5), (6, 2, 3, 3), 6, groups=3, stride=2, output_padding=1),
    _case("conv_transpose3d_ops_every", functional.conv_transpose3d, (1, 2, 4, 3, 4), (2, 3, 2, 3, 2), 3, stride=2),
    *_spatial("conv_transpose2d_ops_rows", _BACK2, (1, 2, 9, 4), (2, 3, 3, 2), 2, stride=2, padding=1,
              output_padding=1),
    *_spatial("conv_transpose2d_ops_gaps", _BACK2, (1, 2, 9, 4), (2, 3, 1, 2), 2, stride=3, output_padding=(2, 0)),
    *_spatial("conv_transpose2d_ops_dilated", _BACK2, (1, 2, 9, 4), (2, 3, 3, 2), 2, stride=2, dilation=3, padding=2),
]  # fmt: skip
