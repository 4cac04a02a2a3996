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
"""Whose failure a message is by its words alone (fact sheet: infrastructure and time-out texts of the gate)."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.gate.finding import FailureClass

_INFRASTRUCTURE = re.compile(
    r"No space left on device|\[Errno 28\]|Disk quota exceeded|Read-only file system|Input/output error"
    r"|Could not resolve host|Temporary failure in name resolution|Name or service not known"
    r"|Failed to connect to|Couldn't connect to server|Connection (?:refused|reset by peer|timed out)"
    r"|Network is unreachable"
    r"|[Aa]ddress already in use|EADDRINUSE|Port \d{1,6} still in use"
    r"|MemoryError|Cannot allocate memory|Killed signal terminated program|std::bad_alloc"
    r"|other processes occupying this card|halMemAlloc failed"
    r"|(?:50[234]) (?:Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out)|TLS handshake timeout"
    r"|SSLError|Read timed out|ReadTimeoutError|ConnectTimeout"
)
_FLAKE = re.compile(
    r"Timeout \(>|[Tt]imed out|TimeoutError|TimeoutExpired|deadline exceeded|possible collective deadlock"
    r"|time[- ]?out\b"
)
_NO_MODULE = re.compile(r"No module named '?(?P<name>[\w.]{1,200})")
# Packages that the image brings along; a missing one is not the pull request's doing.
_IMAGE_PACKAGES = frozenset(
    [
        "torch",
        "torch_npu",
        "torchvision",
        "mindspore",
        "numpy",
        "scipy",
        "pandas",
        "yaml",
        "pytest",
        "_pytest",
        "xdist",
        "pluggy",
        "setuptools",
        "pip",
        "wheel",
        "safetensors",
        "transformers",
        "tokenizers",
        "requests",
        "psutil",
        "decorator",
        "attr",
        "attrs",
        "cloudpickle",
        "ml_dtypes",
        "te",
        "tbe",
        "hccl",
        "acl",
        "auto_tune",
        "opc_tool",
        "sympy",
        "networkx",
        "packaging",
        "jinja2",
        "expecttest",
        "hypothesis",
        "pytest_timeout",
        "cffi",
        "ray",
        "vllm",
        "triton",
        "datasets",
        "PIL",
        "cv2",
        "sklearn",
        "matplotlib",
        "tqdm",
        "absl",
        "protobuf",
        "google",
    ]
)


@lru_cache(maxsize=4096)
def class_of_message(message: str, default: FailureClass = FailureClass.CODE) -> FailureClass:
    """Classifies an error message.

    Args:
        message: The message, any length (only the first 2,000 characters are read).
        default: What to answer when the words give no hint.

    Returns:
        Infrastructure, flake (a time-out), or the default.
    """
    message = message[:2000]
    if _INFRASTRUCTURE.search(message):
        return FailureClass.INFRASTRUCTURE
    if _FLAKE.search(message):
        return FailureClass.FLAKE
    return default


def class_of_import(message: str) -> FailureClass:
    """Classifies a failed import: a package of the image is infrastructure, everything else the repository's own."""
    match = _NO_MODULE.search(message[:2000])
    if match and match["name"].partition(".")[0] in _IMAGE_PACKAGES:
        return FailureClass.INFRASTRUCTURE
    return FailureClass.CODE
