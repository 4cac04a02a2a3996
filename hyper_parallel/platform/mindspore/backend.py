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
"""The MindSpore platform object: what framework-free code asks of MindSpore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindspore as ms
from mindspore import Tensor, mint
from mindspore.communication import get_process_group_ranks

from hyper_parallel.dispatch.call import replace_tensors
from hyper_parallel.errors import explain
from hyper_parallel.layout import Layout
from hyper_parallel.platform.mindspore import adjoint, native, runtime, wire
from hyper_parallel.platform.mindspore.dtensor import DTensor, LostAlias, as_dtensor, as_kind
from hyper_parallel.platform.mindspore.kernels import Kernels


class MindSporePlatform(Kernels):
    """Every method works on plain local tensors unless it says otherwise."""

    name = "mindspore"
    dtensor = DTensor
    keeps_own_groups = True

    # -- process groups
    is_initialized = staticmethod(runtime.is_initialized)
    get_rank = staticmethod(runtime.rank)
    ensure_backend = staticmethod(runtime.start)

    def new_group(self, ranks: Sequence[int]) -> str | None:
        """Name of the group of these ranks; None for a rank outside it (only members have to make it)."""
        return runtime.group_of(ranks) if runtime.rank() in ranks else None

    def ranks_of_group(self, group: str) -> tuple[int, ...]:
        """Global ranks of a group, in its order."""
        return tuple(get_process_group_ranks(group))

    # -- tensors
    as_elsewhere = staticmethod(lambda func, alone: func)  # gradients are computed, not recorded: nothing is cut short
    is_tensor = staticmethod(native.is_tensor)
    is_dtensor = staticmethod(native.is_dtensor)
    grad_enabled = staticmethod(adjoint.taping)

    def local_shape(self, tensor: Tensor) -> tuple[int, ...]:
        """Shape of a plain tensor."""
        return tuple(tensor.shape)

    def version(self, tensor: Tensor) -> int | None:
        """Counter of in-place writes."""
        return int(tensor._version)

    def narrow(self, tensor: Tensor, dim: int, start: int, length: int) -> Tensor:
        """A range of one dim."""
        return mint.narrow(tensor, dim, start, length)

    def alias(self, tensor: Tensor) -> Tensor:
        """Another object of the same memory and history (of parameters, known by their object, an identity)."""
        return mint.mul(tensor, 1) if isinstance(tensor, ms.Parameter) else as_kind(Tensor, tensor)

    def remember(self, tensor: Tensor, target: Layout, make: Callable[[], Tensor]) -> Tensor:
        """What `make` returns: local tensors are objects of one call here, so nothing is kept between calls."""
        return make()

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Overwrite a plain tensor."""
        target.copy_(source)

    def shares_storage(self, a: Tensor, b: Tensor) -> bool:
        """Whether a write to one may show in the other."""
        if a is b:
            return True
        try:
            return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() != 0)
        except (RuntimeError, AttributeError, TypeError, ValueError):
            return False

    def may_alias(self, name: str) -> bool:
        """Whether results of this operator can share memory with inputs."""
        return True

    def mark_lost_alias(self, tensor: DTensor, owner: Any, name: str) -> DTensor:
        """Make writes to a view of redistributed data an error."""
        if type(tensor) is DTensor:
            tensor.__class__ = LostAlias
        return tensor

    # -- wrapping
    def wrap(self, local: Tensor, layout: Layout) -> DTensor:
        """Turn a result of a native call into a DTensor."""
        return as_dtensor(local, layout)

    def wrap_outputs(self, output: Any, layouts: Sequence[Layout], name: str) -> Any:
        """Wrap every tensor in a (nested) result; counts have to match."""
        stream = iter(layouts)

        def wrap(tensor: Tensor) -> DTensor:
            return as_dtensor(self.alias(tensor) if isinstance(tensor, ms.Parameter) else tensor, next(stream))

        if isinstance(output, Tensor) and len(layouts) == 1:
            return wrap(output)
        try:
            wrapped = replace_tensors(output, wrap, self.is_tensor)
        except StopIteration:
            raise RuntimeError(explain(name, "the number of outputs", len(layouts), "more")) from None
        if next(stream, None) is not None:
            raise RuntimeError(explain(name, "the number of outputs", len(layouts), "fewer"))
        return wrapped

    def implicit(self, tensor: Tensor, mesh: Any) -> DTensor:
        """A plain tensor among DTensors counts as replicated; the result shares its memory and history."""
        return as_dtensor(self.alias(tensor), Layout.replicated(mesh, tuple(tensor.shape)))

    def plain(self, tensor: Tensor) -> Tensor:
        """The local tensor as a plain tensor, same memory and history."""
        return self.alias(tensor)

    def distribute_tensor(self, *args: Any, **kwargs: Any) -> Any:
        """See `hyper_parallel.platform.mindspore.construct.distribute_tensor`."""
        from hyper_parallel.platform.mindspore.construct import distribute_tensor

        return distribute_tensor(*args, **kwargs)

    def factory(self, *args: Any) -> DTensor:
        """See `hyper_parallel.platform.mindspore.construct.factory`."""
        from hyper_parallel.platform.mindspore.construct import factory

        return factory(*args)

    def public(self, name: str) -> Any:
        """A public name of `hyper_parallel` whose meaning depends on the framework."""
        if name == "DTensor":
            return DTensor
        from hyper_parallel.platform.mindspore import cells, construct

        return construct.manual_seed if name == "manual_seed" else getattr(cells, name)

    @property
    def engine(self) -> Any:
        """The dispatch engine."""
        from hyper_parallel.platform.mindspore.intercept import engine

        return engine()

    # -- collectives (differentiable)
    all_reduce = staticmethod(adjoint.all_reduce)
    cross = staticmethod(adjoint.cross)
    all_gather = staticmethod(adjoint.all_gather)
    gather_cross = staticmethod(adjoint.gather_cross)
    take_chunk = staticmethod(adjoint.take_chunk)
    reduce_scatter = staticmethod(adjoint.reduce_scatter)
    all_to_all = staticmethod(adjoint.all_to_all)
    to_partial = staticmethod(adjoint.to_partial)
    exchange = staticmethod(wire.exchange)
    broadcast = staticmethod(wire.broadcast)

    def all_reduce_used_locally(self, x: Tensor, mesh: Any, axis: int, op: str = "sum") -> Tensor:
        """All-reduce whose result every rank then combines with its own shard (softmax over a cut dim)."""
        return adjoint.cross(adjoint.all_reduce(x, mesh, axis, op), mesh, axis)


PLATFORM = MindSporePlatform()
