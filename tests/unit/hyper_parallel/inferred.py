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
"""What the registered rules infer, without ranks."""

from hyper_parallel import Layout, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry

RULES = Registry()


def outs(name, shapes, places, *args, mesh=(2,), **kwargs):
    """Output layouts of a call whose first arguments are tensors of these shapes and placements."""
    op = RULES.find(name)
    where = init_device_mesh("cpu", mesh, init_backend=False)
    layouts = [Layout(where, place, shape) for place, shape in zip(places, shapes, strict=True)]
    return op.infer_layout([*layouts, op.bind([*(Slot(i) for i in range(len(shapes))), *args], kwargs)])[0]
