"""Who may ask what: hosts, tokens, sizes, and what browsers are told about every answer.

A page of somebody else's can make a browser ask us, by our address or by a name of its own that
leads here. So the `Host` header must name us; a call that changes something needs the token, and
must not come from another site; and no answer may run a script that is not ours.

Touches: the network.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from math import inf
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from recrawl.serve.problems import Problem, problem_response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "recrawl_token"
HEADER = "authorization"
LOGIN = "/login"
_READS = ("GET", "HEAD", "OPTIONS")
_ANSWER_SECONDS = 30.0
CHART_SCRIPT = "/static/vega.js"
# Streams wait on purpose, within bounds of their own. The script that draws charts is put together
# once for all who wait for it: who is told to come back later has a page without charts.
_LIMITS = {"/api/v1/live": inf, "/api/v1/changes": inf, CHART_SCRIPT: 300.0}
_LEASES = "/api/v1/due"  # asked for by GET, changes something all the same
_ONCE = (b"host", b"content-length", b"authorization", b"origin", b"idempotency-key")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(24)


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address.

    >>> [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.1")]
    [True, True, True, False, False]
    """
    if address == "localhost":
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str:
    """The name in a `Host` header, without its port.

    >>> [host_name(each) for each in ("A.org:80", "[::1]:8080", "127.0.0.1", "a:b:c")]
    ['a.org', '::1', '127.0.0.1', '']
    """
    name = header.strip().lower()
    if name.startswith("["):
        name, closed, port = name[1:].partition("]")
        return name if closed and (not port or port[1:].isdigit()) else ""
    name, colon, port = name.partition(":")
    return name if not colon or port.isdigit() else ""


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """Who may ask.

    Args:
        token: What callers must know.
        names: Names by which we are asked.
        open_to_read: Whether reading needs no token.
        most_bytes: Bytes of a request's body.
    """

    token: str = field(repr=False)
    names: frozenset[str]
    open_to_read: bool
    most_bytes: int = 8 << 20

    @classmethod
    def at(cls, address: str, token: str, names: Iterable[str] = ()) -> ServerAccess:
        """ServerAccess to a server at an address.

        Args:
            address: Where it listens. On loopback reading needs no token.
            token: What callers must know.
            names: Further names by which it is asked, such as a proxy's.
        """
        local = is_loopback(address)
        own = ("127.0.0.1", "::1", "localhost") if local else (address,)
        return cls(token, frozenset(each.lower() for each in (*own, *names)), open_to_read=local)

    def knows(self, given: str | None) -> bool:
        """Whether a token is ours; takes as long whichever letter is wrong."""
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


class Safety:
    """Refuses what must not be asked, and tells browsers what answers may do.

    Args:
        app: Answers what is left.
        access: Who may ask.
    """

    def __init__(self, app: App, access: ServerAccess) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wrong = self._refused(scope)
        began = False

        async def noted(message: Message) -> None:
            nonlocal began
            began = True
            await _with_headers(send)(message)

        if wrong is None:
            limit = _LIMITS.get(scope["path"], _ANSWER_SECONDS)
            try:
                async with asyncio.timeout(limit if limit < inf else None):
                    await self._app(scope, self._bounded(receive), noted)
            except TimeoutError:
                within = f"within {limit:g} seconds" if limit < inf else "in time"
                wrong = Problem(503, f"no answer {within}")
            except Exception:
                if not began:
                    fault = Problem(500, "this is a fault of the server's; its log says more")
                    await problem_response(fault)(scope, receive, noted)
                raise  # uvicorn logs it
        if wrong is not None and not began:
            await problem_response(wrong)(scope, receive, noted)

    def _refused(self, scope: Scope) -> Problem | None:
        """What is wrong with a request before anybody looks at what it asks for."""
        names = [name for name, _ in scope["headers"]]
        if any(names.count(name) > 1 for name in _ONCE):
            return Problem(400, "a header that must come once came twice")
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if host_name(headers.get("host", "")) not in self._access.names:
            return Problem(421, "this server is not known by that name")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return Problem(400, "content-length is not a number")
        if int(length[:20]) > self._access.most_bytes:
            return Problem(413, _too_large(self._access.most_bytes))
        return self._not_allowed(scope, headers)

    def _not_allowed(self, scope: Scope, headers: dict[str, str]) -> Problem | None:
        """Why the caller may not ask for that."""
        known, by_cookie = self._token(headers)
        scope.setdefault("state", {})["has_token"] = known and (
            not by_cookie or _from_here(headers)
        )
        reads = scope["method"] in _READS and scope["path"] != _LEASES
        if scope["path"] == LOGIN or (reads and (known or self._access.open_to_read)):
            return None
        if not known:
            return Problem(401, "the token is needed: send it as `Authorization: Bearer ...`")
        if by_cookie and not _from_here(headers):
            return Problem(403, "calls that change something must come from our own pages")
        if "prefetch" in headers.get("sec-purpose", headers.get("purpose", "")):
            return Problem(403, "calls that change something cannot be fetched in advance")
        return None

    def _token(self, headers: dict[str, str]) -> tuple[bool, bool]:
        """Whether the caller knows the token, and whether a cookie says so."""
        scheme, _, given = headers.get(HEADER, "").partition(" ")
        if scheme.lower() == "bearer" and self._access.knows(given.strip()):
            return True, False
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False, False
        return (cookie is not None and self._access.knows(cookie.value)), True

    def _bounded(self, receive: Receive) -> Receive:
        left = self._access.most_bytes

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, _too_large(self._access.most_bytes))
            return message

        return bounded


def _too_large(most: int) -> str:
    return f"a body must have at most {most:,} bytes"


def _from_here(headers: dict[str, str]) -> bool:
    """Whether a browser says that one of our own pages asks."""
    if headers.get("sec-fetch-site") == "same-origin":
        return True
    origin = headers.get("origin", "")
    return origin.partition("://")[2] == headers.get("host") and bool(origin)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", []))
            named = {name for name, _ in own}
            own += [each for each in _HEADERS if each[0] not in named]
            message = {**message, "headers": own}
        await send(message)

    return sent
