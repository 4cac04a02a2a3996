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
"""Errors of the MindSpore backend, by what helps."""

from __future__ import annotations

import re

from hyper_parallel.errors import LayoutError, explain

_MISSING = re.compile(
    r"The kernel (\w+) unregistered|Not found op (\w+) on device|Create kernelmod for op (\w+) failed"
    r"|^(\w+) only supports? Ascend|Unsupported op \[(\w+)\]"
    r"|'(\w+)' is not supported on this device|Select CPU operator\[(\w+)\] fail|(Reduce) does not support"
    r"|should not come here for (\w+) py_method"
)


class MissingFunction(LayoutError):
    """A rule asks for a small tensor function that this backend lacks: the call runs replicated instead."""


class MissingKernelError(NotImplementedError):
    """MindSpore has no kernel for this operator on this device, and no other function computes it.

    Attributes:
        kernel: MindSpore's name of what is missing.
    """

    kernel: str = ""

    @classmethod
    def of(cls, name: str, kernel: str) -> MissingKernelError:
        """The error for an operator and a kernel."""
        from hyper_parallel.platform.mindspore import runtime

        device = "the CPU" if runtime.on_cpu() else "this device"
        error = cls(explain(name, f"its kernel on {device}", "part of MindSpore", f"none for {kernel}"))
        error.kernel = kernel
        return error


def missing_kernel(error: BaseException) -> str | None:
    """The kernel that MindSpore says it lacks, if that is what the error is about."""
    if isinstance(error, MissingKernelError):
        return error.kernel
    found = _MISSING.search(str(error))
    if found:
        return next(group for group in found.groups() if group)
    return "(unnamed)" if str(error).startswith("Not implement exception") else None
