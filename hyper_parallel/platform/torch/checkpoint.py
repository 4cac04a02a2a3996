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
"""What `torch.distributed.checkpoint` asks a tensor: which part of the whole this rank holds, and the part itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from hyper_parallel.errors import LayoutError, explain

if TYPE_CHECKING:
    from hyper_parallel.platform.torch.dtensor import DTensor


def chunks(tensor: DTensor) -> list[Any]:
    """The own part's place in the whole; none on a rank without a part (of a tensor that is not empty altogether).

    Raises:
        LayoutError: the tensor is a pending reduction, of which parts are no parts of the value.
    """
    from torch.distributed.checkpoint.metadata import ChunkStorageMetadata

    layout = tensor._layout
    if layout.is_partial():
        raise LayoutError(
            explain("checkpoint", "placements", "without Partial (reduce_partial() first)", layout.placements)
        )
    if layout.numel and 0 in layout.local_shape:
        return []
    return [ChunkStorageMetadata(torch.Size(layout.local_offset), torch.Size(layout.local_shape))]


def write_items(tensor: DTensor, name: str) -> list[Any]:
    """What this rank has to write. Ranks with equal parts name them alike, and the planner picks one of them."""
    from torch.distributed.checkpoint.metadata import MetadataIndex, TensorProperties
    from torch.distributed.checkpoint.planner import TensorWriteData, WriteItem, WriteItemType

    properties, size = TensorProperties.create_from_tensor(tensor.to_local()), torch.Size(tensor._layout.shape)
    return [
        WriteItem(
            index=MetadataIndex(name, chunk.offsets),
            type=WriteItemType.SHARD,
            tensor_data=TensorWriteData(chunk=chunk, properties=properties, size=size),
        )
        for chunk in chunks(tensor)
    ]
