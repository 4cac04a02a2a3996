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
"""The hidden mark at the end of our comments, by which one is found again when nobody knows whether it was written.

Marks carry a digest, not the key itself: a reader who looks at the source of a comment learns nothing, and a key that
holds ``--`` cannot end the HTML comment early.
"""

from __future__ import annotations

import hashlib
import re

from bot.forge import Comment

_MARK = re.compile(r"\n*<!-- gatebot:[a-z0-9-]+:[0-9a-f]{16} -->\s*\Z")


def mark(kind: str, key: str) -> str:
    """The mark of an effect: ``<!-- gatebot:reply:0123456789abcdef -->``."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return f"<!-- gatebot:{re.sub(r'[^a-z0-9]+', '-', kind.lower())}:{digest} -->"


def marked(body: str, kind: str, key: str) -> str:
    """``body`` with the mark as its last line."""
    return f"{body.rstrip()}\n\n{mark(kind, key)}"


def plain(body: str) -> str:
    """``body`` without a mark of ours and without white space at its end, for comparing."""
    return _MARK.sub("", body.replace("\r\n", "\n")).rstrip()


def carries(comment: Comment, author: str, kind: str, key: str) -> bool:
    """Whether a comment is ours and carries this very mark. Others may quote it, so the author counts."""
    return comment.author == author and mark(kind, key) in comment.body
