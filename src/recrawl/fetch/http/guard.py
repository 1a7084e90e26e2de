"""Which network addresses a crawl may connect to.

Pages are written by strangers, and a link to `http://169.254.169.254/` or to a router's own page
is as easily written as any other. So the addresses of machines and networks of our own are
refused. IPv6 can wrap an IPv4 address in several ways, and each must not be a way around: the
translation prefix is judged by what it wraps, the others no web server needs.

Pure.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

# Where clouds tell a machine its own secrets: refused even where private addresses are allowed.
# Most are link-local and refused as such; these are not.
_SECRETS = tuple(
    map(
        ip_network,
        (
            "168.63.129.16/32",  # Azure
            "100.100.0.0/16",  # Alibaba
            "192.0.0.192/32",  # Oracle
            "161.26.0.0/16",  # IBM
            "166.8.0.0/14",
            "fd00:ec2::/32",  # Amazon
            "fd20:ce::/32",  # Google
            "fd00:42::/32",  # Scaleway
            "fd00:c1::/32",  # Oracle
            "fd00:a9fe:a9fe::/48",  # Akamai (Linode)
            "192.80.8.124/32",  # Equinix Metal (Packet)
        ),
    )
)
_LOCAL = tuple(
    map(
        ip_network,
        (
            *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
            *("::1/128", "fc00::/7"),
        ),
    )
)
# What IANA lists for special use, reachable or not: no web server is there. `ipaddress` knows most
# of them; which ones depends on the version of Python.
_RESERVED = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/3"),
            *("192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24"),
            *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
        ),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")  # all that is given out; the rest is for special use
_TRANSLATED = IPv6Network("64:ff9b::/96")


@lru_cache(maxsize=1 << 12)
def allowed(text: str, *, local: bool = False) -> bool:
    """Whether to connect to the IP address `text`.

    Args:
        text: An address in digits, as it is handed to the system.
        local: Whether loopback and private addresses are fine. Link-local, multicast and reserved
            ones never are.

    Examples:
        >>> allowed("93.184.215.14"), allowed("127.0.0.1"), allowed("::ffff:10.0.0.1")
        (True, False, False)
        >>> allowed("127.0.0.1", local=True), allowed("169.254.169.254", local=True)
        (True, False)
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if any(address in network for network in _SECRETS) or (
        isinstance(address, IPv6Address) and address.scope_id
    ):
        return False
    if any(address in network for network in _LOCAL):
        return local
    if isinstance(address, IPv4Address):
        return _is_public(address)
    if address in _TRANSLATED:
        return allowed(str(IPv4Address(int(address) & 0xFFFF_FFFF)), local=local)
    return address in _GLOBAL_V6 and _is_public(address)


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if address.is_private or address.is_multicast or address.is_link_local:
        return False
    return not any(address in network for network in _RESERVED)
