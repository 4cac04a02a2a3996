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
"""The torch platform object: what framework-free code asks of PyTorch."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist

from hyper_parallel.dispatch.call import replace_tensors
from hyper_parallel.errors import explain
from hyper_parallel.layout import Layout
from hyper_parallel.platform.torch import adjoint, wire
from hyper_parallel.platform.torch.dtensor import DTensor, LostAlias, as_dtensor, engine_of, plain
from hyper_parallel.platform.torch.kernels import Kernels
from hyper_parallel.platform.torch.kernels_batch import BatchKernels

Tensor = torch.Tensor


class TorchPlatform(Kernels, BatchKernels):
    """Stateless but for process groups; every method works on local tensors unless it says otherwise."""

    name = "torch"
    dtensor = DTensor

    # -- process groups
    def __init__(self) -> None:
        self._groups: dict[tuple[int, ...], Any] = {}
        self._job: Any = None

    def is_initialized(self) -> bool:
        """Whether a process group is up."""
        return bool(dist.is_available() and dist.is_initialized())

    def get_rank(self) -> int:
        """The own global rank; 0 without a process group."""
        return int(dist.get_rank()) if self.is_initialized() else 0

    def ensure_backend(self, device_type: str, size: int) -> None:
        """Start the default process group from the environment (torchrun's variables) if it is not up.

        Raises:
            RuntimeError: more than one rank is wanted and no process group can be started.
        """
        if self.is_initialized() or size == 1:
            return
        if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
            raise RuntimeError(
                explain(
                    "init_device_mesh", "the job", f"started with {size} ranks (torchrun)", "no RANK and WORLD_SIZE"
                )
            )
        dist.init_process_group("gloo" if device_type == "cpu" else None)

    def new_group(self, ranks: Sequence[int]) -> Any:
        """Process group of the given ranks, made once per job; collective over the whole job on first use."""
        job = dist.group.WORLD
        if self._job is not job:
            self._groups.clear()
            self._job = job
        key = tuple(ranks)
        if key not in self._groups:
            whole = key == tuple(range(dist.get_world_size()))
            self._groups[key] = job if whole else dist.new_group(list(key))
        return self._groups[key]

    def ranks_of_group(self, group: Any) -> tuple[int, ...]:
        """Global ranks of a process group, in its order."""
        return tuple(dist.get_process_group_ranks(group))

    # -- tensors
    is_tensor = staticmethod(lambda value: isinstance(value, Tensor))
    is_dtensor = staticmethod(lambda value: isinstance(value, DTensor))
    grad_enabled = staticmethod(torch.is_grad_enabled)

    def local_shape(self, tensor: Tensor) -> tuple[int, ...]:
        """Shape of a local tensor (interception off)."""
        return tuple(tensor.shape)

    def version(self, tensor: Tensor) -> int | None:
        """Counter of in-place writes; None where there is none (inference tensors)."""
        return None if tensor.is_inference() else tensor._version

    def history(self, tensor: Tensor) -> Any:
        """The node that made a tensor; it stays the same under writes that autograd does not record."""
        return tensor.grad_fn

    def recording(self, enabled: bool) -> Any:
        """Context in which autograd records (if it did before) or not."""
        return torch.set_grad_enabled(enabled and torch.is_grad_enabled())

    def narrow(self, tensor: Tensor, dim: int, start: int, length: int) -> Tensor:
        """A view of a range of one dim."""
        return tensor.narrow(dim, start, length)

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Overwrite a local tensor."""
        target.copy_(source)

    def resize(self, target: DTensor, layout: Layout) -> None:
        """Give a DTensor a new global shape; its content is undefined until it is overwritten."""
        target.resize_(layout.local_shape)
        target._layout = layout

    def shares_storage(self, a: Tensor, b: Tensor) -> bool:
        """Whether a write to one may show in the other."""
        if a is b:
            return True
        try:
            # By identity, not by address: an empty part has no address, and all ranks have to answer alike.
            return bool(a.untyped_storage()._cdata == b.untyped_storage()._cdata)
        except (RuntimeError, NotImplementedError):  # sparse and meta-like tensors have no storage
            return False

    def may_alias(self, name: str) -> bool:
        """Whether results of this operator can share memory with inputs."""
        return name not in {"detach", "data"}

    def mark_lost_alias(self, tensor: DTensor, owner: DTensor, name: str) -> DTensor:
        """Make writes to (and stale reads of) a view of redistributed data an error."""
        if type(tensor) is DTensor:
            lost: Any = tensor
            lost.__class__ = LostAlias
            lost._origin = (owner, self.version(owner), name)
        return tensor

    def remember(self, tensor: Tensor, target: Layout, make: Callable[[], Tensor]) -> Tensor:
        """What `make` returns for a tensor and a target layout, kept while neither of them is written to.

        A leaf that requires grad is not asked twice: what hangs on it would keep it alive for ever. Nor is one whose
        `data` has been handed out, as writes to that are not counted.
        """
        taped = torch.is_grad_enabled() and tensor.requires_grad
        if tensor.is_inference() or (taped and tensor.is_leaf) or tensor.__dict__.get("_exposed"):
            return make()
        state = (tensor._version, taped, tensor.__dict__.get("_layout"))
        kept: Any = tensor.__dict__.get("_moved")
        if kept is None or kept[0] != state:
            kept = tensor.__dict__["_moved"] = (state, {})
        found = kept[1].get(target)
        if found is None or found[1] != found[0]._version:
            made = make()
            found = kept[1][target] = (made, made._version)
        return found[0]  # type: ignore[no-any-return]

    # -- wrapping
    def wrap(self, local: Tensor, layout: Layout) -> DTensor:
        """Turn a result of a native call into a DTensor; in place where it is a fresh object."""
        return as_dtensor(local, layout)

    def wrap_outputs(self, output: Any, layouts: Sequence[Layout], name: str) -> Any:
        """Wrap every tensor in a (nested) result; counts have to match."""
        if isinstance(output, Tensor) and len(layouts) == 1:
            return as_dtensor(output, layouts[0])
        stream = iter(layouts)
        try:
            wrapped = replace_tensors(output, lambda t: as_dtensor(t, next(stream)), self.is_tensor)
        except StopIteration:
            raise RuntimeError(explain(name, "the number of outputs", len(layouts), "more")) from None
        if next(stream, None) is not None:
            raise RuntimeError(explain(name, "the number of outputs", len(layouts), "fewer"))
        return wrapped

    def implicit(self, tensor: Tensor, mesh: Any) -> DTensor:
        """A plain tensor among DTensors counts as replicated; the result shares its memory and history."""
        wrapped = tensor.as_subclass(DTensor)
        wrapped._layout = Layout.replicated(mesh, tuple(tensor.shape))
        return wrapped

    def plain(self, tensor: Tensor) -> Tensor:
        """The local tensor as a plain tensor, same memory and history."""
        return plain(tensor)

    def distribute_tensor(self, *args: Any, **kwargs: Any) -> DTensor:
        """See `hyper_parallel.platform.torch.construct.distribute_tensor`."""
        from hyper_parallel.platform.torch.construct import distribute_tensor

        return distribute_tensor(*args, **kwargs)

    def public(self, name: str) -> Any:
        """A public name of the package that belongs to this backend."""
        if name == "DTensor":
            return DTensor
        from hyper_parallel.platform.torch import modules, random, styles

        owner = next((m for m in (modules, styles) if name in vars(m)), modules)
        return random.manual_seed if name == "manual_seed" else getattr(owner, name)

    def factory(self, *args: Any) -> DTensor:
        """See `hyper_parallel.platform.torch.factories.factory`."""
        from hyper_parallel.platform.torch.factories import factory

        return factory(*args)

    @property
    def engine(self) -> Any:
        """The dispatch engine."""
        return engine_of()

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

    def all_reduce_used_locally(self, x: Tensor, mesh: Any, axis: int, op: str = "sum") -> Any:
        """All-reduce whose result every rank then combines with its own shard (softmax over a cut dim)."""
        return adjoint.cross(adjoint.all_reduce(x, mesh, axis, op), mesh, axis)


PLATFORM = TorchPlatform()
