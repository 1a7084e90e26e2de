"""Signatures of what is posted, as the Standard Webhooks specification has them.

    webhook-id          that of the event: the same at every attempt
    webhook-timestamp   seconds after 1970 of this attempt
    webhook-signature   v1, and the base64 of HMAC-SHA256("id.timestamp.body")

A secret is `whsec_` and the base64 of 24 to 64 random bytes.

Touches: files, the environment.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

from recrawl.errors import InvalidSettings
from recrawl.fetch.references import read_reference

if TYPE_CHECKING:
    from pathlib import Path

_PREFIX = "whsec_"
_LEAST_BYTES, _MOST_BYTES = 24, 64


class SigningKey:
    """A key that signs messages; it shows itself to nobody.

    Args:
        key: Its bytes.

    Examples:
        >>> key = SigningKey(b"0" * 24)
        >>> key
        SigningKey(...)
        >>> key.headers("msg_1", b"{}", 1_700_000_000)["webhook-signature"][:8]
        'v1,GyD6J'
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        """Hide the key."""
        return "SigningKey(...)"

    def headers(self, message: str, body: bytes, timestamp: int) -> dict[str, str]:
        """Headers that sign a message.

        Args:
            message: Its id.
            body: The bytes that are sent.
            timestamp: Seconds after 1970.
        """
        signed = f"{message}.{timestamp}.".encode() + body
        digest = hmac.new(self._key, signed, hashlib.sha256).digest()
        return {
            "webhook-id": message,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": f"v1,{b64encode(digest).decode()}",
        }


def read_secret(reference: str, folder: Path) -> SigningKey:
    """The key that a reference of the settings leads to; errors tell the reference alone.

    Args:
        reference: `env:NAME` or `file:PATH`.
        folder: Where relative paths begin.
    """
    return SigningKey(_key(read_reference(reference, folder, "secret").reveal(), reference))


def _key(text: str, reference: str) -> bytes:
    try:
        key = b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith(_PREFIX) or not _LEAST_BYTES <= len(key) <= _MOST_BYTES:
        rule = f"{_PREFIX} and the base64 of {_LEAST_BYTES} to {_MOST_BYTES} bytes"
        raise InvalidSettings(f"secret {reference}: it must be {rule}")
    return key
