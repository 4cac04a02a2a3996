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
"""What planning sees in the place of a tensor: its layout, and nothing that could be written to."""

from __future__ import annotations

from typing import Any

from hyper_parallel.layout import Layout


class Standin:
    """A tensor while a call is planned; attributes other than the layout are those of the tensor itself."""

    __slots__ = ("_layout", "_tensor")

    def __init__(self, tensor: Any, layout: Layout) -> None:
        self._tensor = tensor
        self._layout = layout

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
        return self._layout.shape

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tensor, name)
