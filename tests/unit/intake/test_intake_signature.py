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
"""Both of the forge's modes, several secrets, and everything that must be refused."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intake.signature import SignatureVerdict, sign, verify

BODY = b'{"object_kind":"note"}'
SECRET = "old-secret"
HEX = hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()
RAW = bytes.fromhex(HEX)


def test_the_signature_is_the_published_hmac_test_vector() -> None:
    # RFC 4231, test case 2.
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert sign(b"what do ya want for nothing?", "Jefe") == f"sha256={expected}"


@pytest.mark.parametrize(
    "headers",
    [
        {"X-GitCode-Signature-256": f"sha256={HEX}"},
        {"x-gitcode-signature-256": f"SHA256={HEX.upper()}"},
        {"X-GitCode-Signature-256": HEX},
        {"X-AtomGit-Signature-256": f"sha256={HEX}"},
        {"X-GitCode-Signature-256": f"  sha256={HEX} "},
        {"X-GitCode-Signature-256": base64.b64encode(RAW).decode()},
        {"X-GitCode-Signature-256": "sha256=" + base64.urlsafe_b64encode(RAW).decode().rstrip("=")},
        {"X-GitCode-Token": SECRET},
        {"X-ATOMGIT-TOKEN": SECRET},
        {"X-GitCode-Token": SECRET, "X-GitCode-Signature-256": "sha256=00"},
    ],
)
def test_accepted_forms(headers: dict[str, str]) -> None:
    assert verify(headers, BODY, ["new-secret", SECRET]) is SignatureVerdict.VALID


@pytest.mark.parametrize(
    "headers",
    [
        {"X-GitCode-Signature-256": f"sha256={'0' * 64}"},
        {"X-GitCode-Signature-256": f"sha1={HEX}"},
        {"X-GitCode-Signature-256": HEX[:-2]},
        {"X-GitCode-Signature-256": "sha256=不是十六进制"},
        {"X-GitCode-Token": "wrong"},
        {"X-GitCode-Token": HEX},
        {"X-GitCode-Token": SECRET + "\udcff"},
    ],
)
def test_refused_forms(headers: dict[str, str]) -> None:
    assert verify(headers, BODY, [SECRET]) is SignatureVerdict.WRONG


@pytest.mark.parametrize("headers", [{}, {"X-GitCode-Token": ""}, {"X-Hub-Signature-256": f"sha256={HEX}"}])
def test_no_usable_header(headers: dict[str, str]) -> None:
    assert verify(headers, BODY, [SECRET]) is SignatureVerdict.MISSING


@pytest.mark.parametrize("secrets", [[], [""], ["   "]])
def test_without_a_secret_nothing_is_believed(secrets: list[str]) -> None:
    unsigned = {"X-GitCode-Token": "", "X-GitCode-Signature-256": sign(BODY, "")}
    assert verify(unsigned, BODY, secrets) is SignatureVerdict.NO_SECRET


@given(st.binary(max_size=200), st.text(min_size=1).filter(str.strip), st.integers(0, 10_000))
def test_one_changed_byte_breaks_the_signature(body: bytes, secret: str, where: int) -> None:
    headers = {"X-GitCode-Signature-256": sign(body, secret)}
    assert verify(headers, body, [secret]) is SignatureVerdict.VALID
    position = where % (len(body) + 1)
    assert verify(headers, body[:position] + b"!" + body[position:], [secret]) is SignatureVerdict.WRONG
