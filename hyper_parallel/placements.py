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
"""How one tensor relates to one mesh axis: cut, copied, or a term of a reduction."""

from __future__ import annotations

from dataclasses import dataclass

REDUCE_OPS = ("sum", "avg", "max", "min", "prod")


@dataclass(frozen=True)
class Placement:
    """Base of every placement; one placement belongs to one mesh axis."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether the axis cuts a tensor dim (`dim`, if given)."""
        return False

    def is_replicate(self) -> bool:
        """Whether every rank of the axis holds the same data."""
        return False

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether ranks hold terms still to be reduced (by `reduce_op`, if given)."""
        return False


@dataclass(frozen=True)
class Shard(Placement):
    """The axis cuts tensor dim `dim` like `torch.chunk`: ceil division, trailing ranks may be empty."""

    dim: int

    def is_shard(self, dim: int | None = None) -> bool:
        """See the base class."""
        return dim is None or dim == self.dim

    def __repr__(self) -> str:
        return f"Shard({self.dim})"

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class StridedShard(Shard):
    """A cut made after axes to its right have already cut the same dim.

    `split_factor` is the product of the sizes of those axes. It tells the nesting order of several
    axes on one dim where that order is not left to right.
    """

    split_factor: int = 1

    def __repr__(self) -> str:
        return f"StridedShard({self.dim}, split_factor={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Every rank of the axis holds the same data."""

    def is_replicate(self) -> bool:
        """See the base class."""
        return True

    def __repr__(self) -> str:
        return "Replicate()"

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """Each rank of the axis holds one term; the tensor is their `reduce_op` (sum, avg, max, min or prod)."""

    reduce_op: str = "sum"

    def __post_init__(self) -> None:
        if self.reduce_op not in REDUCE_OPS:
            raise ValueError(f"For Partial, reduce_op should be one of {REDUCE_OPS}, but got {self.reduce_op!r}.")

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """See the base class."""
        return reduce_op is None or reduce_op == self.reduce_op

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


R = Replicate()
P_SUM = Partial("sum")
P_AVG = Partial("avg")
P_MAX = Partial("max")
P_MIN = Partial("min")
P_PROD = Partial("prod")
