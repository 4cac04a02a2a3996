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
"""Functions that generated modules carry along, by name; each module gets only those it uses."""

from __future__ import annotations

HELPERS = {
    "_slots": '''

def _slots(call: OpCall, name: str) -> list[int]:
    """Slots of the tensors given for a parameter."""
    value = call[name]
    return [item.index for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Slot)]
''',
    "_shape": '''

def _shape(call: OpCall, name: str) -> Shape:
    """Global shape of the (first) tensor given for a parameter; () where none is."""
    slots = _slots(call, name)
    return call.layouts[slots[0]].shape if slots else ()
''',
    "_pending": '''

def _pending(call: OpCall, **words: Placement) -> tuple[Placement, ...]:
    """Placements by slot: these parameters pending, the others replicated."""
    found: list[Placement] = [R] * len(call.layouts)
    for name, word in words.items():
        for slot in _slots(call, name):
            found[slot] = word
    return tuple(found)
''',
    "_replaced": '''

def _replaced(op: str, shape: Shape, dim: Any, length: int) -> Shape:
    """The shape with another length at one dim."""
    if not shape:
        return shape
    (at,) = dims_of(op, (dim,), len(shape))
    return (*shape[:at], length, *shape[at + 1 :])
''',
    "_inserted": '''

def _inserted(op: str, shape: Shape, dim: Any, length: int) -> Shape:
    """The shape with one more dim."""
    (at,) = dims_of(op, (dim,), len(shape) + 1)
    return (*shape[:at], length, *shape[at:])
''',
    "_some_part_is_empty": '''

def _some_part_is_empty(call: OpCall) -> bool:
    """Whether any rank, not only this one, holds an empty part of an input."""
    for layout in call.layouts:
        places = itertools.product(*map(range, layout.mesh.mesh_shape))
        if 0 not in layout.shape and any(length == 0 for at in places for _, length in layout.slices_at(at)):
            return True
    return False
''',
    "_local_call": '''

def _local_call(func: Callable[..., Any], signature: str, call: OpCall, changed: dict[str, Any]) -> Callable[..., Any]:
    """`func` on local tensors by slot, with the call's other arguments and the changed ones; defaults are left out."""
    parsed = parse_signature(signature)
    defaults = {**dict(zip(parsed.names, parsed.defaults, strict=True)), **dict(parsed.keyword)}
    params = {**call.params, **changed}
    first = next(iter(params))
    rest = {name: value for name, value in params.items() if name != first and value != defaults.get(name)}

    def filled(value: Any, tensors: Sequence[Any]) -> Any:
        if isinstance(value, tuple):
            return [filled(item, tensors) for item in value]
        return tensors[value.index] if isinstance(value, Slot) else value

    def local(*tensors: Any) -> Any:
        return func(filled(params[first], tensors), **{name: filled(value, tensors) for name, value in rest.items()})

    return local
''',
}
