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
"""Convolutions: batch and channels without communication, spatial dims with the neighbours' border rows only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_of
from hyper_parallel.ops.halo import Line, Sliding, Spread, Step, chained, entry, keeper, per_dim, stand_in
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_SUM, Placement, R, Shard


@dataclass(frozen=True)
class Sizes:
    """The dims of one call: `channel` is the channel dim, the `spatial` ones follow it."""

    channel: int
    ins: int
    outs: int
    groups: int
    lines: tuple[Sliding, ...]
    rights: tuple[int, ...]

    def line(self, dim: int) -> Sliding:
        """The line of a tensor dim."""
        return self.lines[dim - self.channel - 1]


@dataclass
class Steps:
    """What is done to the tensors before the local call, and to its result."""

    input: list[Step] = field(default_factory=list)
    weight: list[Step] = field(default_factory=list)
    bias: list[Step] = field(default_factory=list)
    output: list[Step] = field(default_factory=list)


class ConvDistributedOp(AxisRuleOp):
    """conv1d, conv2d, conv3d; YAML key `spatial`: the number of spatial dims.

    Rules:
        1. The batch may be cut; so is the result.
        2. Weight (and bias) cut by out-channels: so is the result. With groups, where parts are whole groups; the
           input is then replicated, or cut by channels alike.
        3. Input and weight cut by in-channels: a pending sum, the bias pending with it. Not with groups.
        4. A spatial dim of the input may be cut, by one axis: border positions travel, the result is cut alike.
        5. One of input and weight pending, the bias with it.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1"
    in_dim: ClassVar[int] = 1
    """The weight's dim of in-channels; the other one of 0 and 1 is that of out-channels."""

    def sizes(self, call: OpCall) -> Sizes:
        """The dims of a call.

        Raises:
            LayoutError: shapes or arguments do not fit, or there is no output.
        """
        count, shape, weight = int(self.options["spatial"]), call.shape("input"), call.shape("weight")
        groups, channel = call["groups"], len(shape) - count - 1
        if channel not in (0, 1) or len(weight) != count + 2 or isinstance(groups, bool) or not isinstance(groups, int):
            raise LayoutError(explain(self.op_name, "input and weight", f"of {count} spatial dims", call.shapes))
        lines, rights = self.spatial(call, shape[channel + 1 :], weight[2:], channel + 1)
        ins, outs = shape[channel], weight[1 - self.in_dim]
        per_group = weight[self.in_dim]
        if self.in_dim == 0:
            outs, per_group = outs * groups, per_group // groups if groups > 0 else 0
        if groups < 1 or outs % groups or outs < 1 or ins < 1 or per_group * groups != ins:
            raise LayoutError(explain(self.op_name, "channels and groups", "fitting", (call.shapes, groups)))
        if call["bias"] is not None and call.shape("bias") != (outs,):
            raise LayoutError(explain(self.op_name, "the bias", f"of {outs} channels", call.shape("bias")))
        if any(line.out < 1 or line.size < 1 or line.kernel < 1 for line in lines):
            raise LayoutError(explain(self.op_name, "spatial sizes", "positive", call.shapes))
        return Sizes(channel, ins, outs, groups, tuple(lines), tuple(rights))

    def spatial(
        self, call: OpCall, sizes: Sequence[int], kernels: Sequence[int], first_dim: int
    ) -> tuple[list[Sliding], list[int]]:
        """The line of every spatial dim, and the padding at its end."""
        count = len(sizes)
        strides = per_dim(self.op_name, "stride", call["stride"], count)
        dilations = per_dim(self.op_name, "dilation", call["dilation"], count)
        if min(strides) < 1 or min(dilations) < 1:
            raise LayoutError(explain(self.op_name, "stride and dilation", "positive", (strides, dilations)))
        spans = [d * (k - 1) + 1 for d, k in zip(dilations, kernels, strict=True)]
        match call["padding"]:
            case "valid":
                pads = [(0, 0)] * count
            case "same" if max(strides) == 1:
                pads = [((span - 1) // 2, span - 1 - (span - 1) // 2) for span in spans]
            case str():
                raise LayoutError(
                    explain(self.op_name, "padding", "ints, 'valid', or 'same' at stride 1", call["padding"])
                )
            case padding:
                pads = [(n, n) for n in per_dim(self.op_name, "padding", padding, count)]
        if any(left < 0 for left, _ in pads):
            raise LayoutError(explain(self.op_name, "padding", "non-negative", pads))
        lines = []
        for i, (left, right) in enumerate(pads):
            out = (sizes[i] + left + right - spans[i]) // strides[i] + 1
            lines.append(Sliding(first_dim + i, sizes[i], out, kernels[i], strides[i], left, dilations[i]))
        return lines, [right for _, right in pads]

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        sizes = self.sizes(call)
        return ((*call.shape("input")[: sizes.channel], sizes.outs, *(line.out for line in sizes.lines)),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        sizes, mesh = self.sizes(call), call.layouts[0].mesh
        channel, in_dim = sizes.channel, self.in_dim
        if channel:
            yield _rule(call, Shard(0), R, R, Shard(0))
        if sizes.groups == 1:
            yield _rule(call, R, Shard(1 - in_dim), Shard(0), Shard(channel))
            yield _rule(call, Shard(channel), Shard(in_dim), P_SUM, P_SUM)
        elif all(self._whole_groups(sizes, mesh.mesh_shape[axis]) for axis in range(mesh.ndim)):
            # With groups, the weight's first dim counts groups whichever channels it holds.
            yield _rule(call, Shard(channel), Shard(0), Shard(0), Shard(channel), "groups")
            yield _rule(call, R, Shard(0), Shard(0), Shard(channel), "own groups")
        for line in sizes.lines:
            yield _rule(call, Shard(line.out_dim), R, R, Shard(line.out_dim))
        for pending in (P_SUM, P_AVG):
            yield _rule(call, pending, R, pending, pending)
            yield _rule(call, R, pending, pending, pending)

    def _whole_groups(self, sizes: Sizes, ranks: int) -> bool:
        """Whether ceil-division parts of in- and out-channels are the same whole groups."""
        for rank in range(ranks):
            into, out = (chunk_of(n, ranks, rank) for n in (sizes.ins, sizes.outs))
            per_in, per_out = sizes.ins // sizes.groups, sizes.outs // sizes.groups
            if any(n % per_in for n in into) or any(n % per_out for n in out):
                return False
            if [n // per_in for n in into] != [n // per_out for n in out]:
                return False
        return True

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The operator on the own window and channels."""
        sizes, layout, weight = self.sizes(call), call.layout("input"), call.layout("weight")
        cut = [d for d in range(sizes.channel + 1, layout.ndim) if layout.dim_axes[d]]
        tags = [rule.tag for rule in rules if rule.tag.endswith("groups")]
        if not cut and not tags and 0 not in (*weight.local_shape[:2], *layout.local_shape[: sizes.channel + 1]):
            return None
        if len(tags) > 1:
            raise LayoutError(explain(self.op_name, "mesh axes that cut groups", "at most one", len(tags)))
        steps = Steps()
        for dim in cut:
            bring, keep, _ = entry(self.platform, self.op_name, layout, dim, sizes.line(dim))
            steps.input.append(bring)
            steps.output.append(keep)
        if sizes.channel and not layout.local_shape[0]:
            steps.input.append(stand_in(self.platform, 0))
            steps.output.append(keeper(self.platform, 0, 0, 0))
        if tags:
            groups = self._whole_part(call, outs[0], sizes, tags[0], steps)
        else:
            groups = sizes.groups
            self._stand_ins(call, sizes, steps)
        return _local(func, call, steps, self._arguments(call, sizes, cut, groups, steps))

    def _stand_ins(self, call: OpCall, sizes: Sizes, steps: Steps) -> None:
        """Zeros for channels of which the part has none."""
        shape, platform = call.layout("weight").local_shape, self.platform
        if not shape[self.in_dim]:
            steps.weight.append(stand_in(platform, self.in_dim))
            steps.input.append(stand_in(platform, sizes.channel))
        if not shape[1 - self.in_dim]:
            steps.weight.append(stand_in(platform, 1 - self.in_dim))
            steps.bias.append(stand_in(platform, 0))
            steps.output.append(keeper(platform, sizes.channel, 0, 0))

    def _whole_part(self, call: OpCall, out: Layout, sizes: Sizes, tag: str, steps: Steps) -> int:
        """The own groups: how many, at least one."""
        channel, platform = sizes.channel, self.platform
        per_out, per_in = sizes.outs // sizes.groups, sizes.ins // sizes.groups
        own = out.local_shape[channel] // per_out
        groups = max(1, own)
        if tag == "own groups":
            start = out.local_offset[channel] // per_out * per_in if own else 0
            steps.input.append(lambda x: platform.stride(x, channel, start, groups * per_in, 1))
        elif not own:
            steps.input.append(stand_in(platform, channel, per_in))
        if not own:
            steps.weight.append(stand_in(platform, 0, call.shape("weight")[0] // sizes.groups))
            steps.bias.append(stand_in(platform, 0, per_out))
            steps.output.append(keeper(platform, channel, 0, 0))
        return groups

    def _arguments(self, call: OpCall, sizes: Sizes, cut: Sequence[int], groups: int, steps: Steps) -> tuple[Any, ...]:
        """stride, padding, dilation and groups of the local call; padding that differs at both ends is brought."""
        platform = self.platform
        pads = []
        for line, right in zip(sizes.lines, sizes.rights, strict=True):
            even = line.left == right
            pads.append(line.left if even and line.out_dim not in cut else 0)
            if not even and line.out_dim not in cut:
                steps.input.append(_padded(platform, line, right))
        return self._strides(sizes), tuple(pads), tuple(line.dilation for line in sizes.lines), groups

    def _strides(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(line.stride for line in sizes.lines)


class ConvTransposeDistributedOp(ConvDistributedOp):
    """conv_transpose1d, conv_transpose2d, conv_transpose3d; the rules of the base class.

    A cut spatial dim needs the neighbours' positions that give to the own outputs.
    """

    signature: ClassVar[str] = "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1"
    in_dim: ClassVar[int] = 0

    def spatial(
        self, call: OpCall, sizes: Sequence[int], kernels: Sequence[int], first_dim: int
    ) -> tuple[list[Sliding], list[int]]:
        """See the base class."""
        count = len(sizes)
        strides, pads, extras, dilations = (
            per_dim(self.op_name, what, call[what], count)
            for what in ("stride", "padding", "output_padding", "dilation")
        )
        if min(strides) < 1 or min(dilations) < 1 or min(pads) < 0 or min(extras) < 0:
            raise LayoutError(
                explain(self.op_name, "stride, dilation and padding", "positive", (strides, dilations, pads))
            )
        if any(n >= max(s, d) for n, s, d in zip(extras, strides, dilations, strict=True)):
            raise LayoutError(explain(self.op_name, "output_padding", "smaller than stride or dilation", extras))
        lines: list[Sliding] = []
        for i, size in enumerate(sizes):
            out = (size - 1) * strides[i] - 2 * pads[i] + dilations[i] * (kernels[i] - 1) + extras[i] + 1
            lines.append(Spread(first_dim + i, size, out, kernels[i], strides[i], pads[i], dilations[i]))
        return lines, list(pads)

    def _arguments(self, call: OpCall, sizes: Sizes, cut: Sequence[int], groups: int, steps: Steps) -> tuple[Any, ...]:
        """stride, padding, output_padding, groups and dilation of the local call."""
        extras = per_dim(self.op_name, "output_padding", call["output_padding"], len(sizes.lines))
        pads = tuple(0 if line.out_dim in cut else line.left for line in sizes.lines)
        extras = tuple(0 if line.out_dim in cut else n for line, n in zip(sizes.lines, extras, strict=True))
        return self._strides(sizes), pads, extras, groups, tuple(line.dilation for line in sizes.lines)


def _local(func: Callable[..., Any], call: OpCall, steps: Steps, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    slots = [call[name].index if isinstance(call[name], Slot) else None for name in ("input", "weight", "bias")]
    enter, leave = chained(steps.input), chained(steps.output)
    shape_weight, shape_bias = chained(steps.weight), chained(steps.bias)

    def run(*tensors: Any) -> Any:
        x, weight, bias = (None if slot is None else tensors[slot] for slot in slots)
        bias = None if bias is None else shape_bias(bias)
        return leave(func(enter(x), shape_weight(weight), bias, *arguments))

    return run


def _padded(platform: Any, line: Line, right: int) -> Step:
    """Zeros at both ends of a dim that no axis cuts."""
    left = getattr(line, "left", 0)
    runs = tuple(run for run in ((-1, left, 0), (0, line.size, 1), (-1, right, 0)) if run[1])
    return lambda x: platform.assemble(x, line.out_dim, runs, 0)


def _rule(
    call: OpCall, first: Placement, weight: Placement, bias: Placement, result: Placement, tag: str = ""
) -> AxisRule:
    """One rule, its placements in the order of the slots."""
    places: list[Placement] = [R] * len(call.layouts)
    for name, place in (("input", first), ("weight", weight), ("bias", bias)):
        if isinstance(call[name], Slot):
            places[call[name].index] = place
    return AxisRule(tuple(places), (result,), tag)
