"""Keys of `[push]`: where hubs reach a crawl that runs.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter
from recrawl.settings.keys import BLOCK, Key

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACE = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+|localhost)):([0-9]{1,5})", re.ASCII)
_LAST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class PushSettings:
    """Where pushes come in.

    Args:
        listen: IP address or "localhost", and port, to listen on.
        address: Canonical address under which hubs reach that.
    """

    listen: tuple[str, int]
    address: str

    def callback(self, token: str) -> str:
        """Address that a hub is given.

        >>> PushSettings(("127.0.0.1", 8085), "https://me.example.org/push").callback("x")
        'https://me.example.org/push/x'
        """
        return f"{self.address.rstrip('/')}/{token}"


def _listen(value: object) -> tuple[str, int] | None:
    """IP address and port.

    >>> _listen("127.0.0.1:8085"), _listen("[::1]:80"), _listen("8085")
    (('127.0.0.1', 8085), ('::1', 80), None)
    """
    found = _PLACE.fullmatch(value) if isinstance(value, str) else None
    if found is None or not 0 < int(found[3]) <= _LAST_PORT:
        return None
    host = found[1] or found[2]
    try:
        return (host if host == "localhost" else str(ip_address(host))), int(found[3])
    except ValueError:
        return None


def _address(value: object) -> str | None:
    found = BLOCK["address"].read(value)
    if found is not None and "?" in found:
        raise InvalidParameter("address in [push] must have no query: a path is added to it")
    return None if found is None else str(found)


PUSH: Mapping[str, Key] = {
    "listen": Key(_listen, "an IP address and a port such as 127.0.0.1:8085"),
    "address": Key(_address, BLOCK["address"].rule),
}
