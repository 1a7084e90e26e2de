"""Cookies that a person has exported: `cookies.txt`, as Netscape wrote it and curl reads it.

One line per cookie, seven fields between tabs; `#HttpOnly_` may stand before the first:

    domain          subdomains  path  secure  expires     name     value
    .example.org    TRUE        /     TRUE    1799999999  session  9f86d08

A cookie is sent where browsers would send it: its domain or a subdomain if it says so, its path and
what is below, https only if it is secure, until it expires (RFC 6265, 5.1.3 to 5.4). Lines are
named in errors, and never quoted.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recrawl.errors import InvalidInput
from recrawl.parse.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_BYTES = 1 << 20  # of a file
_MOST_COOKIES = 1000
_MOST_SENT = 100  # with one request; browsers keep some 180 for a whole site
_FIELDS = 7, 6  # an empty value may be left out
_HTTP_ONLY = "#HttpOnly_"
_FLAGS = {"TRUE": True, "FALSE": False}
_NAME = re.compile(r"[\x21-\x3a\x3c\x3e-\x7e]+")  # what browsers take, more than the standard
_VALUE = re.compile(r"[\x20-\x3a\x3c-\x7e]*")  # a semicolon would begin another cookie
_DIGITS = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{0,20})?")


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie.

    Args:
        domain: Host that it is for, without a leading dot.
        subdomains: Whether it is for hosts below, too.
        path: Path that it is for, with all below.
        secure: Whether it is for https alone.
        expires_seconds: When it ends, in seconds after 1970; infinite for one of a session.
        name: Its name.
        value: Its value.
    """

    domain: str
    subdomains: bool
    path: str
    secure: bool
    expires_seconds: float
    name: str
    value: Secret

    def is_for_host(self, host: str) -> bool:
        """Whether a host is told it, at some path, at some time."""
        return host == self.domain or (self.subdomains and host.endswith(f".{self.domain}"))

    def is_for(self, address: str, now_seconds: float) -> bool:
        """Whether it is sent to a canonical address now."""
        parts = urlsplit(address)
        path = self.path
        below = parts.path.startswith(path) and (
            path.endswith("/") or parts.path[len(path) : len(path) + 1] in ("", "/")
        )
        return (
            below
            and self.is_for_host(host_name(address))
            and (parts.scheme == "https" or not self.secure)
            and now_seconds < self.expires_seconds
        )


def host_name(address: str) -> str:
    """Host of a canonical address without its port, which cookies do not know.

    >>> host_name("https://example.org.:8443/a")
    'example.org'
    """
    return (urlsplit(address).hostname or "").removesuffix(".")


def cookie_header(cookies: Iterable[Cookie], address: str, now_seconds: float) -> Secret | None:
    r"""Value of the `Cookie` header of a request; None where no cookie is sent.

    Longer paths come first.

    >>> cookies = read_cookies("a.org\tFALSE\t/x\tFALSE\t0\tk\tv\n", "a.org")
    >>> cookie_header(cookies, "http://a.org/x/y", 0.0).reveal()
    'k=v'
    >>> cookie_header(cookies, "http://a.org/xy", 0.0) is None
    True
    """
    sent = [each for each in cookies if each.is_for(address, now_seconds)]
    sent.sort(key=lambda cookie: -len(cookie.path))
    pairs = (f"{each.name}={each.value.reveal()}" for each in sent[:_MOST_SENT])
    return Secret("; ".join(pairs)) if sent else None


def read_cookies(text: str, host: str) -> tuple[Cookie, ...]:
    """Cookies of a `cookies.txt` for a host.

    Browsers export the cookies of all sites together; those of others are not looked at.

    Args:
        text: The file.
        host: Name of the host, without a port.

    Raises:
        InvalidInput: A line is no cookie. The message names the line and quotes nothing of it.
    """
    found: dict[tuple[str, str, str], Cookie] = {}  # a later one takes the place of an earlier
    for number, whole in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = whole.removesuffix("\r").removeprefix(_HTTP_ONLY)
        if not line.strip() or line.startswith("#"):
            continue
        try:
            cookie = _cookie(line.split("\t"), host)
        except ValueError as error:
            raise InvalidInput(f"line {number}: {error}") from None
        if cookie is not None:
            found[cookie.domain, cookie.path, cookie.name] = cookie
        if len(found) > _MOST_COOKIES:
            raise InvalidInput(f"line {number}: a host has at most {_MOST_COOKIES:,} cookies")
    return tuple(found.values())


def _cookie(fields: list[str], host: str) -> Cookie | None:
    """Cookie in the fields of a line; None for other hosts, `ValueError` says what is wrong."""
    if len(fields) not in _FIELDS:
        raise ValueError(f"a cookie has {_FIELDS[0]} fields between tabs, not {len(fields)}")
    domain, subdomains, path, secure, expires, name, *value = fields
    if subdomains not in _FLAGS or secure not in _FLAGS:
        raise ValueError("the second and the fourth field are TRUE or FALSE")
    if not path.startswith("/"):
        raise ValueError("the third field is a path, which begins with /")
    if not _DIGITS.fullmatch(expires):
        raise ValueError("the fifth field is the time of expiry in seconds")
    text = value[0].strip(" ") if value else ""
    ends = float(expires) if float(expires) > 0 else inf  # 0 is a cookie of a session
    cookie = Cookie(
        *(domain.lower().strip(".[]"), _FLAGS[subdomains], path, _FLAGS[secure]),
        *(ends, name, Secret(text)),
    )
    if not cookie.is_for_host(host):
        return None
    if not (_NAME.fullmatch(name) and _VALUE.fullmatch(text)):
        raise ValueError("the name or the value has characters that cookies cannot have")
    return cookie
