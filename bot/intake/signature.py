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
"""Who sent this webhook: both of the forge's modes, checked in constant time over every valid secret.

The forge signs with HMAC-SHA256 over the raw body (hex after ``sha256=``; some adapters send base64), or sends the
plain password in a header. The sister domain uses the same headers under another prefix.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

PREFIXES = ("x-gitcode-", "x-atomgit-")
_DIGEST_SIZE = hashlib.sha256().digest_size


class SignatureVerdict(StrEnum):
    """Why a delivery is or is not believed."""

    VALID = "valid"
    WRONG = "wrong"
    MISSING = "missing"
    NO_SECRET = "no-secret"


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str]) -> SignatureVerdict:
    """Check a delivery against all secrets that are valid now.

    Args:
        headers: Request headers; names in any case.
        body: The body exactly as received.
        secrets: Secrets valid at the moment (several while one is being replaced). Empty ones are not secrets.

    Returns:
        ``VALID`` when a signature or a token header matches any secret. Every secret is tried against every header
        whatever the outcome, so the time taken does not tell which one matched.
    """
    keys = [secret.encode("utf-8", "surrogatepass") for secret in secrets if secret.strip()]
    if not keys:
        return SignatureVerdict.NO_SECRET
    lowered = {name.lower(): value for name, value in headers.items()}
    signatures = list(_values(lowered, "signature-256"))
    tokens = list(_values(lowered, "token"))
    if not signatures and not tokens:
        return SignatureVerdict.MISSING
    claimed = [_decode_digest(value) for value in signatures]
    given = [_fold(value.encode("utf-8", "surrogateescape")) for value in tokens]
    matched = False
    for key in keys:
        expected = hmac.new(key, body, hashlib.sha256).digest()
        for digest in claimed:
            matched |= hmac.compare_digest(expected, digest)
        for token in given:
            matched |= hmac.compare_digest(_fold(key), token)
    return SignatureVerdict.VALID if matched else SignatureVerdict.WRONG


def sign(body: bytes, secret: str) -> str:
    """The value of the signature header for ``body``, as the forge sends it (``sha256=`` and hex)."""
    return "sha256=" + hmac.new(secret.encode("utf-8", "surrogatepass"), body, hashlib.sha256).hexdigest()


def _values(headers: Mapping[str, str], name: str) -> Iterable[str]:
    for prefix in PREFIXES:
        value = headers.get(prefix + name, "").strip()
        if value:
            yield value


def _fold(value: bytes) -> bytes:
    """Equal length for every token: ``compare_digest`` would otherwise show a secret's length."""
    return hashlib.sha256(value).digest()


def _decode_digest(value: str) -> bytes:
    """Digest bytes of a signature header; an unreadable one gives bytes that match nothing."""
    text = value[7:].strip() if value[:7].lower() == "sha256=" else value
    for decode in (_from_hex, _from_base64):
        digest = decode(text)
        if digest is not None and len(digest) == _DIGEST_SIZE:
            return digest
    return b""


def _from_hex(text: str) -> bytes | None:
    try:
        return binascii.unhexlify(text.encode("ascii"))
    except (ValueError, UnicodeEncodeError):
        return None


def _from_base64(text: str) -> bytes | None:
    compact = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (ValueError, UnicodeEncodeError):
        return None
