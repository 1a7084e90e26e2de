"""Addresses of proxies, with or without a user and a password.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from recrawl.parse.secrets import Secret

# socks5h says that the proxy resolves names, which it does here in any case.
_ADDRESS = re.compile(
    r"""(?P<scheme>https?|socks5h?)://
        (?: (?P<user>[^\s:@/]+) (?: :(?P<password>[^\s/]*) )? @ )?
        (?P<host>[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:.]{2,45}\])
        (?: :(?P<port>[0-9]{1,5}) )? /?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_LAST_PORT = 65_535
SOCKS = "socks5"
_USUAL_PORTS = {"http": 80, "https": 443, SOCKS: 1080}


@dataclass(frozen=True, slots=True, eq=False)
class ProxyAddress:
    """Where a proxy is.

    Args:
        scheme: `http`, `https` or `socks5`.
        host: Its host; an IPv6 address without brackets.
        port: Its port.
        user: Who we are there; empty for nobody.
        password: The password of the user.
    """

    scheme: str
    host: str
    port: int
    user: str = ""
    password: Secret = Secret("")  # noqa: RUF009 - a secret never changes

    @property
    def label(self) -> str:
        """What people are shown."""
        return f"{self.host}:{self.port}"


def read_proxy_address(text: str) -> ProxyAddress | None:
    """Address of a proxy; None where it is none.

    >>> found = read_proxy_address("socks5://me:p%40ss@proxy.example.org:1080")
    >>> found.label, found.user, found.password
    ('proxy.example.org:1080', 'me', Secret(...))
    >>> read_proxy_address("proxy.example.org") is None
    True
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None
    scheme = match["scheme"].lower().removesuffix("h")
    port = int(match["port"] or _USUAL_PORTS[scheme])
    if not 0 < port <= _LAST_PORT:
        return None
    return ProxyAddress(
        scheme,
        match["host"].lower().strip("[]"),
        port,
        unquote(match["user"] or ""),
        Secret(unquote(match["password"] or "")),
    )
