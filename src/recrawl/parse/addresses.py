"""Canonical form of addresses, so that a page has one name.

An address is read as browsers read it (the URL standard of WHATWG), which settles the case of the
scheme and the host, international names, numeric hosts, default ports, dot segments and what must
be percent-encoded. On top of that the fragment goes, for it is never sent, and so does a `?` with
nothing behind it. All else stays: another order of the query, another case of the path or a slash
at the end may be another page.

    HTTP://Example.ORG:80/a/../b?#top     becomes     http://example.org/b

Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

import ada_url

from recrawl.errors import InvalidAddress, without_logins

LONGEST_ADDRESS = 2083  # the longest that common browsers, proxies and sitemaps all take

_LONGEST_HOST = 253
_SHOWN = 80
_ENDS = "".join(map(chr, range(0x21)))  # what the standard strips from both ends
# Tabs and line ends are missing here: links are wrapped in the wild, and the standard drops both.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# The standard allows stranger hosts, which no name server knows and other software reads
# differently: two opinions on where an address leads are a hole in every check made on it.
_FETCHABLE = re.compile(
    r"""(?P<origin>https?://
        (?P<host>(?: \[[0-9a-f:]+\] | [a-z0-9_-]{1,63} (?:\.[a-z0-9_-]{1,63})* \.? ))
        (?P<port>:[0-9]+)?
    )/""",
    re.VERBOSE,
)


def canonical(text: str, base: str = "") -> str | None:
    """Canonical form of an address; None where it would never be fetched.

    Never fetched are other schemes than http and https, addresses with a name or a password in
    them, hosts that no name server can know, control characters, and what is longer than
    `LONGEST_ADDRESS`.

    Args:
        text: An address, or a reference as in a link if there is a `base`.
        base: Address of the page that the reference stands on.

    Examples:
        >>> canonical("HTTPS://Bücher.example:443/a/./b c?z=1&a=2#top")
        'https://xn--bcher-kva.example/a/b%20c?z=1&a=2'
        >>> canonical("../c?", "https://example.org/a/b")
        'https://example.org/c'
        >>> canonical("http://0x7f.1")
        'http://127.0.0.1/'
        >>> canonical("mailto:someone@example.org") is None
        True
    """
    text = text.strip(_ENDS)
    if len(text) > LONGEST_ADDRESS or _CONTROL.search(text):
        return None
    try:
        address = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
    except ValueError:
        return None
    address = address.partition("#")[0]
    before, mark, query = address.partition("?")
    if mark and not query:
        address = before
    match = _FETCHABLE.match(address)
    if match is None or len(match["host"]) > _LONGEST_HOST or len(address) > LONGEST_ADDRESS:
        return None
    return address


def host_of(address: str) -> str:
    """Host of a canonical address with its port, if it has one: what politeness counts by.

    The dot that may end a name does not make another host.

    >>> host_of("https://example.org/a"), host_of("http://example.org.:8080/")
    ('example.org', 'example.org:8080')
    """
    parts = _parts(address)
    return parts["host"].removesuffix(".") + (parts["port"] or "")


def origin_of(address: str) -> str:
    """Scheme, host and port of a canonical address: what a robots.txt speaks for.

    >>> origin_of("https://example.org:8443/a?b")
    'https://example.org:8443'
    """
    return _parts(address)["origin"]


def site_of(address: str) -> str:
    """Registered domain of a canonical address.

    >>> site_of("https://news.bbc.co.uk/1"), site_of("http://127.0.0.1:8000/")
    ('bbc.co.uk', '127.0.0.1')
    """
    return _site(_parts(address)["origin"])


@lru_cache(maxsize=1 << 10)  # each step of a visit asks for some part of the same address
def _parts(address: str) -> re.Match[str]:
    match = _FETCHABLE.match(address)
    if match is None:
        shown = without_logins(address)
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."
        message = f"address must be canonical, such as https://example.org/a (got {shown!r})"
        raise InvalidAddress(message)
    return match


@lru_cache(maxsize=1 << 16)
def _site(origin: str) -> str:
    from recrawl.parse.sites import registered_domain  # reading addresses loads no numpy

    return registered_domain(origin.partition("://")[2])
