"""Requests through proxies: which hosts may be asked for, and how SOCKS is spoken.

A proxy resolves names itself, so the address behind a name cannot be checked here. What can be is
checked: addresses in digits, and names that are those of private networks by convention.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiohttp import encode_basic_auth
from yarl import URL

from recrawl.errors import FetchFailed
from recrawl.fetch.http.connections import WatchedConnector
from recrawl.fetch.http.guard import allowed
from recrawl.fetch.http.headers import remark
from recrawl.fetch.http.problems import proxy_failure
from recrawl.fetch.http.resolver import refused
from recrawl.parse.proxy_addresses import SOCKS

if TYPE_CHECKING:
    import ssl

    from recrawl.parse.proxy_addresses import ProxyAddress

# Top-level names that no public name has (RFC 6761, RFC 6762, RFC 8375, ICANN's lists).
_PRIVATE = frozenset(
    {
        *("arpa", "corp", "home", "internal", "intranet", "invalid", "lan", "local"),
        *("localdomain", "localhost", "mail", "onion", "private", "test"),
    }
)
# Where clouds tell a machine its own secrets: refused even where private names are allowed.
_SECRETS = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})
_REFUSED_THERE = 5  # nobody listens at the host behind the proxy (RFC 1928)


def check_target(host: str, *, local: bool) -> None:
    """Raise `FetchFailed` for a host that a proxy must not be asked for.

    Args:
        host: Its name, or its address in digits without brackets.
        local: Whether hosts of private networks are fine.

    Examples:
        >>> check_target("example.org", local=False)
        >>> check_target("router", local=False)
        Traceback (most recent call last):
            ...
        recrawl.errors.FetchFailed: router is not a public name
    """
    name = host.lower().removesuffix(".")
    if ":" in name or name.rpartition(".")[2].isdigit():
        if not allowed(name, local=local):
            raise refused(name)
        return
    last = name.rpartition(".")[2]
    is_private = "." not in name or last in _PRIVATE
    if name in _SECRETS or (is_private and not local):
        raise FetchFailed("private", f"{name} is not a public name")


def socks_connector(proxy: ProxyAddress, tls: ssl.SSLContext | None) -> WatchedConnector:
    """Connections through a SOCKS proxy, which resolves names; none is kept."""
    from aiohttp_socks import ProxyConnector  # an extra that few need

    class SocksConnector(WatchedConnector, ProxyConnector):
        """Opens connections through the proxy."""

    return SocksConnector(
        proxy.host,
        proxy.port,
        username=proxy.user or None,
        password=proxy.password.reveal() or None,
        rdns=True,
        ssl=tls or True,
        force_close=True,
        limit=0,
    )


def socks_errors(proxy: ProxyAddress | None) -> tuple[type[Exception], ...]:
    """Errors of their own that those who speak SOCKS raise."""
    if proxy is None or proxy.scheme != SOCKS:
        return ()
    from aiohttp_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError

    return ProxyConnectionError, ProxyError, ProxyTimeoutError


def socks_failure(error: Exception) -> FetchFailed:
    """The failure that an error of SOCKS means."""
    code = getattr(error, "error_code", None)  # what the proxy says of the host
    said = f"the proxy cannot connect ({remark(str(error))})"
    problem = "refused" if code == _REFUSED_THERE else "unreachable"
    return proxy_failure(said, problem, by_proxy=code is None)


def proxy_arguments(proxy: ProxyAddress | None) -> dict[str, Any]:
    """How aiohttp is told of an HTTP proxy."""
    if proxy is None or proxy.scheme == SOCKS:
        return {}
    url = URL.build(scheme=proxy.scheme, host=proxy.host, port=proxy.port)
    if not proxy.user:
        return {"proxy": url}
    login = encode_basic_auth(proxy.user, proxy.password.reveal(), encoding="utf-8")
    return {"proxy": url, "proxy_headers": {"Authorization": login}}  # sent as Proxy-Authorization
