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
"""The few torch entry points that look into a tensor without asking `__torch_function__`, made to ask.

`torch.tensor(dt)` and its kin would copy the local part and `torch.autograd.backward` would take local gradients for
global ones, both without a word. They are wrapped when the first DTensor class is loaded; calls without DTensors pass
through at the cost of one type check.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import torch

from hyper_parallel.errors import explain
from hyper_parallel.platform.torch.dtensor import _AS_STRIDED, DTensor
from hyper_parallel.platform.torch.functions import teach_module_hooks, wrapped_function

Tensor = torch.Tensor
_UNWRAPPERS = (
    ("_add_batch_dim", "torch._functorch.vmap", "torch.vmap"),
    ("_wrap_for_grad", "torch._functorch.eager_transforms", "torch.func.grad"),
)


def install() -> None:
    """Wrap the entry points once."""
    if getattr(torch.tensor, "_hyper_parallel", False):
        return
    for module, name in ((torch, "tensor"), (torch, "asarray"), (torch, "as_tensor"), (torch, "scalar_tensor")):
        setattr(module, name, _from_data(getattr(module, name)))
    torch.autograd.backward = _backward(torch.autograd.backward)
    _refuse_local_views()
    _refuse_copies_of_other_parts()
    _teach_masked()
    _wrap_functions()
    teach_module_hooks()


def _from_data(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def build(*args: Any, **kwargs: Any) -> Any:
        data = args[0] if args else kwargs.get("data", kwargs.get("obj", kwargs.get("s")))
        if isinstance(data, DTensor):
            if original.__name__ in {"as_tensor", "asarray"}:
                return _converted(data, original, args[1:], kwargs)
            full = _whole(data)
            return original(full.tolist(), *args[1:], **{"dtype": full.dtype, **kwargs})
        if isinstance(data, list | tuple) and _holds_dtensor(data):
            return original(_plain(data), *args[1:], **kwargs)
        return original(*args, **kwargs)

    build._hyper_parallel = True  # type: ignore[attr-defined]
    return build


def _whole(tensor: Any) -> Tensor:
    """The full values, without history."""
    full: Tensor = tensor.detach().full_tensor()
    return full


def _converted(data: DTensor, original: Any, rest: Any, kwargs: Any) -> Tensor:
    """as_tensor and asarray: the tensor itself, or cast."""
    dtype = kwargs.get("dtype", rest[0] if rest else None)
    return data if dtype is None or dtype == data.dtype else data.to(dtype)


def _holds_dtensor(values: Any) -> bool:
    return any(isinstance(v, DTensor) or (isinstance(v, list | tuple) and _holds_dtensor(v)) for v in values)


def _plain(values: Any) -> list[Any]:
    """Nested lists with DTensors turned into full tensors."""
    return [_whole(v) if isinstance(v, DTensor) else _plain(v) if isinstance(v, list | tuple) else v for v in values]


def _teach_masked() -> None:
    """torch.masked looks for an input's layout in a set of torch's own; ours only compares equal to `torch.strided`."""
    masked: Any = torch.masked._ops
    original = masked._input_mask

    @functools.wraps(original)
    def input_mask(*args: Any, **kwargs: Any) -> Any:
        _AS_STRIDED.append(True)
        try:
            return original(*args, **kwargs)
        finally:
            _AS_STRIDED.pop()

    masked._input_mask = input_mask


def _refuse_local_views() -> None:
    """Transforms and exporters that unwrap a tensor in C would take the own part for the whole: they say so."""
    natives: Any = torch._C._functorch
    exporter: Any = torch.utils.dlpack
    root: Any = torch
    for name, module, told in _UNWRAPPERS:
        guarded = _refusing(told, getattr(natives, name))
        setattr(natives, name, guarded)  # for the module that is yet to be imported (that takes long)
        if module in sys.modules:
            setattr(sys.modules[module], name, guarded)
    root.to_dlpack = exporter.to_dlpack = _refusing("to_dlpack", exporter.to_dlpack)
    Tensor.__new__ = _refusing("torch.Tensor", torch._C.TensorBase.__new__)  # type: ignore[method-assign]
    Tensor.set_ = _take_over(_refusing("set_", torch._C.TensorBase.set_))  # type: ignore[method-assign]
    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        kind.__call__ = _refusing("a TorchScript function", kind.__call__)  # type: ignore[method-assign]


def _refuse_copies_of_other_parts() -> None:
    """DistributedDataParallel makes all ranks' parameters equal, which the parts of a DTensor must not become.

    Over a group that crosses the DTensors' mesh only here (data parallel beside tensor parallel) it is right.
    """
    kind: Any = torch.nn.parallel.DistributedDataParallel
    original = kind.__init__

    @functools.wraps(original)
    def init(self: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        meshes = {p._layout.mesh for p in module.parameters() if isinstance(p, DTensor)}
        if meshes:
            group = inspect.signature(original).bind(self, module, *args, **kwargs).arguments.get("process_group")
            peers = set(torch.distributed.get_process_group_ranks(group))
            for mesh in meshes:
                if len(peers.intersection(mesh.ranks)) > 1:
                    what = "a process group that meets the mesh of its DTensors in this rank only"
                    raise ValueError(explain("DistributedDataParallel", "process_group", what, sorted(peers)))
        original(self, module, *args, **kwargs)

    kind.__init__ = init


def _refusing(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _holds_dtensor(args) or _holds_dtensor(kwargs.values()):
            raise TypeError(explain(name, "its inputs", "plain tensors (to_local() or full_tensor())", "a DTensor"))
        return original(*args, **kwargs)

    return call


def _take_over(original: Callable[..., Any]) -> Callable[..., Any]:
    """`set_` between DTensors is what `data =` does (parametrizations use it); anything else would mean storages."""

    @functools.wraps(original)
    def set_(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, DTensor) and len(args) == 1 and isinstance(args[0], DTensor) and not kwargs:
            self.data = args[0]
            return self
        return original(self, *args, **kwargs)

    return set_


def _backward(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def backward(
        tensors: Any,
        grad_tensors: Any = None,
        retain_graph: Any = None,
        create_graph: bool = False,
        grad_variables: Any = None,
        inputs: Any = None,
    ) -> None:
        outputs = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        if not any(isinstance(t, DTensor) for t in outputs):
            original(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
            return
        from hyper_parallel.platform.torch.autograd import run_backward

        given = grad_tensors if grad_tensors is not None else grad_variables
        if given is None:
            grads: list[Any] = [None] * len(outputs)
        else:
            grads = [given] if isinstance(given, Tensor) else list(given)
        run_backward(outputs, grads, retain_graph, create_graph, inputs)

    return backward


def _wrap_functions() -> None:
    """Let `Function.apply` know about DTensors."""
    original = torch.autograd.Function.__dict__["apply"].__func__
    enabled = torch._C._is_torch_function_enabled

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        for value in args:
            if isinstance(value, DTensor) and enabled():
                return original(wrapped_function(cls), *args, **kwargs)
        return original(cls, *args, **kwargs)

    functools.update_wrapper(apply, original)
    torch.autograd.Function.apply = classmethod(apply)  # type: ignore[assignment]
