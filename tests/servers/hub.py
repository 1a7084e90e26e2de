"""A WebSub hub that follows the standard: subscriptions, their verification, signed distribution.

It is also the site: feeds are published at it, and `publish` changes one and pushes it to all who
have subscribed and confirmed.

    async with Hub() as hub:
        ... hub.address("/hub") ... await hub.publish(feed, body) ...
"""

from __future__ import annotations

import asyncio
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import aiohttp
from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CHALLENGE = "1f3870be274f6c49b3e31a0c6728957f"


@dataclass(slots=True)
class Subscriber:
    """Somebody who has asked for a topic."""

    topic: str
    callback: str
    secret: str
    lease_seconds: int
    confirmed: bool = False


@dataclass(slots=True)
class Hub:
    """Listens on loopback at a free port.

    Attributes:
        pages: Bodies of pages by path; robots.txt is missing unless it is one of them.
        asked: Paths of all requests, in order.
        subscribers: All who have asked, in order; a renewal takes the place of what it renews.
        requests: Forms of all requests to the hub.
        deny: Whether it denies all that is asked of it.
        lease_seconds: What it grants, whatever was asked for; 0 for that.
        redirect: Where the hub is redirected to; empty for nowhere.
    """

    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    subscribers: dict[tuple[str, str], Subscriber] = field(default_factory=dict)
    requests: list[dict[str, str]] = field(default_factory=list)
    deny: bool = False
    lease_seconds: int = 0
    redirect: str = ""
    port: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _runner: web.ServerRunner | None = None
    _session: aiohttp.ClientSession | None = None

    def address(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def confirmed(self) -> list[Subscriber]:
        return [each for each in self.subscribers.values() if each.confirmed]

    def feed(self, *paths: str, date: str = "2020-01-01T00:00:00Z") -> bytes:
        """A feed in Atom with an entry for each path, which names the hub."""
        entries = self.entries(*paths, date=date).decode()
        hub, own = self.address("/hub"), self.address("/feed")
        links = f"<link rel='hub' href='{hub}'/><link rel='self' href='{own}'/>"
        return f"<feed xmlns='http://www.w3.org/2005/Atom'>{links}{entries}".encode()

    def entries(self, *paths: str, date: str = "2020-01-01T00:00:00Z") -> bytes:
        """Entries of a feed, and its end."""
        entries = "".join(
            f"<entry><link href='{self.address(path)}'/><updated>{date}</updated></entry>"
            for path in paths
        )
        return f"{entries}</feed>".encode()

    async def publish(self, body: bytes, path: str = "/feed") -> list[int]:
        """Change a feed and push it; returns what the subscribers have answered."""
        self.pages[path] = body
        return [
            await self.push(each, body, f"sha256={_signature(each.secret, body)}")
            for each in self.confirmed
            if each.topic == self.address(path)
        ]

    async def push(self, to: Subscriber, body: bytes, signature: str | None) -> int:
        """Post a body to a callback; returns what it has answered."""
        headers = {"Content-Type": "application/atom+xml"}
        if signature is not None:
            headers["X-Hub-Signature"] = signature
        assert self._session is not None
        async with self._session.post(to.callback, data=body, headers=headers) as response:
            return response.status

    async def ask(self, callback: str, **query: str) -> tuple[int, str]:
        """Ask at a callback whatever, and return what it has answered."""
        named = {f"hub.{name}": value for name, value in query.items()}
        assert self._session is not None
        async with self._session.get(callback, params=named) as response:
            return response.status, await response.text()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        self._runner = web.ServerRunner(web.Server(self._serve))
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *error: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        assert self._session is not None
        assert self._runner is not None
        await self._session.close()
        await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.Response:
        self.asked.append(request.path)
        if request.path.startswith("/hub") and request.method == "POST":
            return await self._subscribe(request)
        body = self.pages.get(request.path)
        if body is None:
            return web.Response(status=404)
        kind = "application/atom+xml" if body.startswith(b"<feed") else "text/html"
        return web.Response(body=body, content_type=kind)

    async def _subscribe(self, request: web.BaseRequest) -> web.Response:
        if self.redirect and request.path == "/hub":
            return web.Response(status=307, headers={"Location": self.redirect})
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.requests.append(form)
        if form.get("hub.mode") != "subscribe" or not {"hub.topic", "hub.callback"} <= form.keys():
            return web.Response(status=400)
        subscriber = Subscriber(
            form["hub.topic"],
            form["hub.callback"],
            form.get("hub.secret", ""),
            self.lease_seconds or int(form.get("hub.lease_seconds", "864000")),
        )
        work: Callable[[Subscriber], Awaitable[None]] = self._deny if self.deny else self._verify
        task = asyncio.ensure_future(work(subscriber))
        self._tasks.add(task)
        return web.Response(status=202)

    async def _verify(self, subscriber: Subscriber) -> None:
        """Ask whether a subscription was meant."""
        said = await self.ask(
            subscriber.callback,
            mode="subscribe",
            topic=subscriber.topic,
            challenge=CHALLENGE,
            lease_seconds=str(subscriber.lease_seconds),
        )
        subscriber.confirmed = said == (200, CHALLENGE)
        self.subscribers[subscriber.topic, subscriber.callback] = subscriber

    async def _deny(self, subscriber: Subscriber) -> None:
        await self.ask(subscriber.callback, mode="denied", topic=subscriber.topic, reason="no")


def _signature(secret: str, body: bytes, method: str = "sha256") -> str:
    return hmac.new(secret.encode(), body, method).hexdigest()
