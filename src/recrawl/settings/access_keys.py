"""Keys of a `[[site]]` or `[[page]]` that say how its host is asked, and those of `[network]`.

Secrets are never in the settings, which people show to each other: they say where a secret is. What
stands where a secret might is not repeated in an error.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidParameter
from recrawl.parse.proxy_addresses import read_proxy_address
from recrawl.settings.keys import TABLES, Key, size_bytes
from recrawl.settings.webhook_keys import REFERENCE_RULE, is_reference
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

DIRECT, ENVIRONMENT = "none", "environment"

_MOST_HEADERS, _LONGEST_VALUE, _LONGEST_USER = 50, 4096, 256
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
# What others keep a secret in: the settings must say where it is.
_KEEPS_A_SECRET = re.compile(
    r"auth|cookie|token|secret|passw|credential|session|key", re.IGNORECASE
)
# What we say ourselves, or what changes where a message ends.
_OURS = frozenset(
    {
        *("accept-encoding", "connection", "content-encoding", "content-length", "content-type"),
        *("expect", "host", "if-match", "if-modified-since", "if-none-match", "if-range"),
        *("if-unmodified-since", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade"),
        "user-agent",
    }
)
_SHORTEST, _LONGEST = 1 / SECONDS_A_DAY, 3600 / SECONDS_A_DAY  # days that a request may take
_SMALLEST, _LARGEST = 1 << 10, 64 << 20  # bytes of a page; larger documents are not read


@dataclass(frozen=True, slots=True)
class AccessRule:
    """How the pages of a block are asked for. What it lacks is as for all others.

    Args:
        headers: Names and values of further headers; a value may be a reference to a secret.
        cookies: File with cookies.
        user: Who we are, for basic authentication.
        password: Reference to the password.
        token: Reference to a token that is sent as `Authorization: Bearer`.
        proxy: Address of a proxy or a reference to it, `DIRECT`, or `ENVIRONMENT`.
        ca: File with certificates of authorities that are trusted besides the system's.
        delay: Fewest days between two requests to the host.
        timeout: Most days that a request may take.
        page_size: Most bytes of a page.
    """

    headers: tuple[tuple[str, str], ...] = ()
    cookies: str = ""
    user: str = ""
    password: str = ""
    token: str = ""
    proxy: str = ""
    ca: str = ""
    delay: float | None = None
    timeout: float | None = None
    page_size: int | None = None

    def conflict(self) -> tuple[str, str] | None:
        """A key that contradicts others, and why; None where there is none."""
        named = {name.lower() for name, _ in self.headers}
        for one, other in (("user", "password"), ("password", "user")):
            if getattr(self, one) and not getattr(self, other):
                return one, f"{one} needs {other}, too (got none)"
        if self.token and self.user:
            return "token", "token excludes user and password"
        if "authorization" in named and (self.token or self.user):
            return "headers", "headers with Authorization exclude token, user and password"
        if "cookie" in named and self.cookies:
            return "headers", "headers with Cookie exclude cookies"
        return None


NO_ACCESS_RULE = AccessRule()


def split_access(values: Mapping[str, Any]) -> tuple[AccessRule, dict[str, Any]]:
    """What a block says on how to ask, and its other values.

    >>> split_access({"address": "https://example.org/", "token": "env:TOKEN"})[1]
    {'address': 'https://example.org/'}
    """
    own = {each.name for each in fields(AccessRule)}
    rule = AccessRule(**{key: value for key, value in values.items() if key in own})
    return rule, {key: value for key, value in values.items() if key not in own}


def _headers(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or len(value) > _MOST_HEADERS:
        raise InvalidParameter(f"headers must be {_HEADERS_RULE}")
    names = [name.lower() for name in value]
    for name, text in value.items():
        if not _NAME.fullmatch(name) or names.count(name.lower()) > 1:
            raise InvalidParameter("headers must have different names of letters, digits and -")
        if name.lower() in _OURS:
            raise InvalidParameter(f"headers must not have {name}, which is sent as it must be")
        if _is_reference_like(text):
            if not is_reference(text):
                raise InvalidParameter(f"headers: {name} must be {REFERENCE_RULE}")
        elif _KEEPS_A_SECRET.search(name):
            said = f"headers: {name} may hold a secret, so it must be {REFERENCE_RULE}"
            raise InvalidParameter(f"{said}, never the secret itself")
        elif not (is_header_value(text)):
            raise InvalidParameter(f"headers: {name} must be a text in one line of plain ASCII")
    return tuple(value.items())


def _is_reference_like(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("env:", "file:"))


def is_header_value(value: object) -> bool:
    """Whether a text may be sent as a header.

    >>> is_header_value("de, en;q=0.5"), is_header_value("a" + chr(10) + "Host: b")
    (True, False)
    """
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST_VALUE
        and value.isascii()
        and value.isprintable()
        and value.strip() == value
    )


def _user(value: object) -> str:
    fits = isinstance(value, str) and 0 < len(value) <= _LONGEST_USER and value.isprintable()
    if not fits or ":" in str(value):
        raise InvalidParameter(f"user must be {_USER_RULE}")  # what came may hold a password
    return str(value)


def _reference_to(what: str) -> Key:
    """Key of a reference to a secret."""

    def read(value: object) -> str:
        if not is_reference(value):
            raise InvalidParameter(f"{what} must be {REFERENCE_RULE}, never the {what} itself")
        return str(value)

    return Key(read, REFERENCE_RULE)


def _cookies(value: object) -> str:
    fits = isinstance(value, str) and value.strip() and value.isprintable()
    if not fits or any(sign in str(value) for sign in "=;"):
        raise InvalidParameter(f"cookies must be {_COOKIES_RULE}")  # what came may be a cookie
    return str(value)


def _proxy(value: object) -> str:
    """Where a proxy is. What else stands there is not repeated, for it may hold a password."""
    found = read_proxy_address(value) if isinstance(value, str) else None
    if found is not None and found.user:
        said = "proxy must not hold a user name or a password; put the whole address where"
        raise InvalidParameter(f"{said} env:NAME or file:PATH leads")
    if found is None and value not in (DIRECT, ENVIRONMENT) and not is_reference(value):
        raise InvalidParameter(f"proxy must be {_PROXY_RULE}")
    return str(value)


def _timeout(value: object) -> float | None:
    found = TABLES["politeness"]["delay"].read(value)
    slack = 1e-9
    fits = found is not None and _SHORTEST * (1 - slack) <= found <= _LONGEST * (1 + slack)
    return found if fits else None


def _page_size(value: object) -> int | None:
    found = size_bytes(value)
    return found if found is not None and _SMALLEST <= found <= _LARGEST else None


_HEADERS_RULE = f'a table of at most {_MOST_HEADERS} texts such as {{ "Accept-Language" = "de" }}'
_USER_RULE = "a name without a colon"
_COOKIES_RULE = "the name of a file such as cookies.txt"
_PROXY_RULE = (
    "an address such as http://proxy.example.org:3128 or socks5://127.0.0.1:1080 without a "
    "password, env:NAME or file:PATH where one with a password is, environment, or none"
)

ACCESS: Mapping[str, Key] = {
    "headers": Key(_headers, _HEADERS_RULE),
    "cookies": Key(_cookies, _COOKIES_RULE),
    "user": Key(_user, _USER_RULE),
    "password": _reference_to("password"),
    "token": _reference_to("token"),
    "proxy": Key(_proxy, _PROXY_RULE),
    "ca": TABLES["storage"]["store"],
    "delay": TABLES["politeness"]["delay"],
    "timeout": Key(_timeout, "a time from 1s to 1h such as 60s"),
    "page_size": Key(_page_size, "a size from 1KB to 64MB such as 20MB"),
}
NETWORK: Mapping[str, Key] = {key: ACCESS[key] for key in ("proxy", "ca")}
