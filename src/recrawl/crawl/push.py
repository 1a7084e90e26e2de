"""Subscriptions to feeds at WebSub hubs, and what the hubs push.

A feed that names a hub is subscribed to while a crawl runs. A push is a feed: the entries that
it has and that were not known with this date are hints that their pages have changed, or new pages.

Everything that a subscription must keep to itself, the path of its callback and the secret that
signs pushes, is drawn at random, stays in memory, and ends with the process: each start subscribes
anew. What an earlier one has subscribed to is told 410, which ends it, or ends with its lease, of
which a day is asked for.

Whoever finds the port may send anything. So connections, requests, bytes and times have bounds, and
nothing is read that is not signed.

Touches: the network, the clock and a store, through what it is given; the system's randomness.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from recrawl.entries.pushes import Subscription, SubscriptionsKnown
from recrawl.entries.sources import entry_key
from recrawl.errors import CannotListen, reason
from recrawl.fetch.host_slots import HostBusy
from recrawl.frontier.backoff import retry_after
from recrawl.parse.addresses import canonical, host_of, origin_of, site_of
from recrawl.parse.feeds import read_feed
from recrawl.parse.messages import Request
from recrawl.parse.websub import is_signed, read_question, subscription_form
from recrawl.settings.rules import NO_RULE
from recrawl.units import SECONDS_A_DAY, days

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from aiohttp import web

    from recrawl.clock import Clock
    from recrawl.crawl.pushed_feeds import PushedFeeds
    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.entries.entries import Entry
    from recrawl.entries.sources import Source
    from recrawl.fetch.polite import PoliteClient
    from recrawl.parse.feeds import Feed
    from recrawl.settings.push_keys import PushSettings

_AGAIN_SECONDS = 15.0
_EVERY_SECONDS = 2.0  # between two looks at which feeds name hubs
_MOST_OF_SITE, _MOST_IN_ALL = 10, 1_000
_AT_ONCE = 4  # requests to hubs
_LEASE_SECONDS = 86_400
_SHORTEST, _LONGEST = days("10m"), days("10d")  # between two requests for one subscription
_ANSWERED = days("1h")  # within which a hub asks back
_DENIED = days("1d")
_ACCEPTED = range(200, 300)

# What whoever finds the port may use.
_MOST_CONNECTIONS, _CONNECTION_SECONDS = 64, 60.0  # at most twice as long
_MOST_BODIES, _BODY_SECONDS, _MOST_BYTES = 16, 30.0, 2_000_000
_MOST_A_MINUTE = 600
_MOST_SEEN = 10_000  # entries that pushes have brought since the feed was last read
_PIECE = 1 << 16


@dataclass(slots=True)
class _Subscribed:
    """A subscription to a feed.

    Attributes:
        known: What a store keeps of it.
        origin: Origin of the site whose feed it is.
        topic: What the hub calls the feed.
        token: Last part of the callback's path, which nobody can guess.
        secret: Signs what is pushed.
        asked_at: When the hub was last asked, in days after 1970.
        next_at: When to ask it next.
        failures: How often in a row it did not confirm.
        seen: Keys of entries that pushes have brought.
    """

    known: Subscription
    origin: str
    topic: str
    token: str = field(default_factory=partial(secrets.token_urlsafe, 32))
    secret: str = field(default_factory=partial(secrets.token_hex, 32), repr=False)
    asked_at: float = -inf
    next_at: float = -inf
    failures: int = 0
    seen: set[bytes] = field(default_factory=set)


class Subscriber:
    """Subscribes to feeds, and takes what is pushed.

    Args:
        push: Where hubs reach it.
        feeds: Feeds that may be subscribed to.
        client: Makes requests.
        clock: Source of the current time.
        threads: Reads what is pushed.
        write: Writes an entry down.
        hint: Notes hints that pages have changed.

    Attributes:
        on_remark: Called with a sentence on what goes wrong.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it works with, and whom it calls back
        self,
        push: PushSettings,
        feeds: PushedFeeds,
        client: PoliteClient,
        clock: Clock,
        threads: WorkerThreads,
        write: Callable[[Entry], Awaitable[object]],
        hint: Callable[[Sequence[str]], Awaitable[object]],
    ) -> None:
        self.on_remark: Callable[[str], object] = bool
        self._push = push
        self._scope = feeds
        self._client = client
        self._clock = clock
        self._threads = threads
        self._write = write
        self._hint = hint
        self._few = asyncio.Semaphore(_AT_ONCE)
        self._feeds: dict[str, _Subscribed] = {}
        self._tokens: dict[str, _Subscribed] = {}

    async def keep_trying(self) -> None:
        """Listen as soon as the port is free: a worker that had it may be slow to leave."""
        while True:
            try:
                await self.keep()
            except CannotListen as error:
                self.on_remark(f"{error}; it is tried again every {_AGAIN_SECONDS:g} s")
                await asyncio.sleep(_AGAIN_SECONDS)

    async def keep(self) -> None:
        """Listen, and keep up the subscriptions of all feeds that name hubs.

        Raises:
            CannotListen: Somebody else has the port.
        """
        # Those of earlier crawls count for nothing but their pushes.
        before = {each.feed: each for each in self._scope.subscriptions()}
        async with _Listener(self._push.listen, self._answer), asyncio.TaskGroup() as group:
            ended = [_unconfirmed(each) for each in before.values()]
            await self._write(SubscriptionsKnown(ended))
            while True:
                await self._scope.refresh()
                await self._match(before)
                now = self._clock.now()
                for each in self._feeds.values():
                    if each.next_at <= now:
                        each.asked_at, each.next_at = now, inf
                        group.create_task(self._subscribe(each))
                await asyncio.sleep(_EVERY_SECONDS)

    # Subscribing.

    async def _match(self, before: dict[str, Subscription]) -> None:
        """Have one subscription for each feed that names a hub, and none for any other."""
        wanted: dict[str, Source] = {}
        of_site: dict[str, int] = {}
        for source in self._scope.sources:
            of_site.setdefault(source.origin, 0)
            if not source.push_hub or canonical(source.push_hub) != source.push_hub:
                continue  # or whoever has written the store
            if of_site[source.origin] < _MOST_OF_SITE:
                of_site[source.origin] += 1
                wanted[source.address] = source
            if len(wanted) >= _MOST_IN_ALL:
                break
        for feed, each in list(self._feeds.items()):
            if feed not in wanted or (each.known.hub, each.topic) != _links(wanted[feed]):
                del self._feeds[feed], self._tokens[each.token]
                before[feed] = _unconfirmed(each.known)
        gone = before.keys() - wanted.keys() - self._feeds.keys()
        for feed in gone:
            del before[feed]
        if gone:
            await self._write(SubscriptionsKnown(dropped=list(gone)))
        for feed in wanted.keys() - self._feeds.keys():
            self._begin(wanted[feed], before.get(feed))

    def _begin(self, source: Source, before: Subscription | None) -> None:
        hub, topic = _links(source)
        pushes, at = (before.pushes, before.pushed_at_seconds) if before else (0, None)
        known = Subscription(source.address, hub, None, pushes, at)
        begun = _Subscribed(known, source.origin, topic)
        self._feeds[source.address] = self._tokens[begun.token] = begun

    async def _subscribe(self, asked: _Subscribed) -> None:
        """Ask a hub for a subscription, or for more of one; it confirms later, or never."""
        settings, hub = self._scope.settings, asked.known.hub
        callback = self._push.callback(asked.token)
        form = subscription_form(asked.topic, callback, asked.secret, _LEASE_SECONDS)
        ours = host_of(hub) == host_of(asked.origin + "/")
        local = settings.is_local(hub) or (ours and self._is_local(asked.origin))
        self._scope.pay(asked.origin, self._clock.now())
        problem = ""
        try:
            request = Request(hub, local=local, form=form)
            response = await self._client.get(request, limit=self._few)
            if response.status not in _ACCEPTED:
                problem = response.detail or f"status {response.status}"
        except HostBusy as busy:
            problem = busy.why or "it wants to be left alone for now"
        if asked.next_at < inf:  # confirmed before the response came
            return
        now = self._clock.now()
        asked.failures += 1
        wait = retry_after(asked.failures)
        asked.next_at = now + (wait if problem else max(wait, _ANSWERED))
        if problem:
            self.on_remark(f"{asked.known.feed}: not subscribed to at {hub} ({problem}).")

    def _is_local(self, origin: str) -> bool:
        rules = self._scope.settings.rules
        return any(rule.local for rule in rules if origin_of(rule.address) == origin)

    # Answering.

    async def _answer(self, request: web.BaseRequest) -> tuple[int, str]:
        """Status and text for a request."""
        subscribed = self._tokens.get(request.path.rpartition("/")[2])
        if request.method == "GET":
            return await self._confirm(subscribed, dict(request.query))
        if request.method != "POST":
            return 405, ""
        if subscribed is None:
            return 410, ""  # tells a hub to end what an earlier crawl has subscribed to
        if "content-encoding" in request.headers:
            return 415, ""
        body = await _body(request)
        if body is None:
            return 413, ""
        signature = request.headers.get("x-hub-signature", "")
        if is_signed(body, signature, subscribed.secret):
            await self._take(subscribed, body)
        else:
            self.on_remark(f"{subscribed.known.feed}: a push without a right signature is ignored.")
        return 202, ""  # to a wrong signature, too: it tells nobody how to forge one

    async def _confirm(
        self, subscribed: _Subscribed | None, query: dict[str, str]
    ) -> tuple[int, str]:
        """Answer a hub that asks whether a subscription was meant."""
        asked, now = read_question(query), self._clock.now()
        if subscribed is None or asked is None or asked.topic != subscribed.topic:
            return 404, ""
        if asked.mode == "denied":
            subscribed.next_at = now + _DENIED
            await self._note(subscribed, _unconfirmed(subscribed.known))
            self.on_remark(f"{subscribed.known.feed}: its hub denies the subscription.")
            return 200, ""
        if asked.mode != "subscribe" or now > subscribed.asked_at + _ANSWERED:
            return 404, ""
        lease = min((asked.lease_seconds or _LEASE_SECONDS) / SECONDS_A_DAY, _LONGEST)
        subscribed.failures = 0
        subscribed.next_at = now + max(0.9 * lease, _SHORTEST)
        known, until = subscribed.known, (now + lease) * SECONDS_A_DAY
        confirmed = Subscription(
            known.feed, known.hub, until, known.pushes, known.pushed_at_seconds
        )
        await self._note(subscribed, confirmed)
        return 200, asked.challenge

    async def _take(self, subscribed: _Subscribed, body: bytes) -> None:
        """Take in what was pushed; it is on disk afterwards."""
        known, now = subscribed.known, self._clock.now() * SECONDS_A_DAY
        work = partial(read_feed, body, known.feed)
        try:
            feed = await self._threads.read(work, len(body), site_of(known.feed))
        except Exception as error:  # noqa: BLE001 - nothing that a hub says may end a crawl
            self.on_remark(f"{known.feed}: a push cannot be read ({error!r:.200}).")
            return
        pages = self._news(subscribed, feed)
        if pages:
            await self._hint(pages)
        known = subscribed.known  # which others may have noted something of meanwhile
        taken = Subscription(known.feed, known.hub, known.until_seconds, known.pushes + 1, now)
        await self._note(subscribed, taken)

    def _news(self, subscribed: _Subscribed, feed: Feed) -> list[str]:
        """Pages of the site that a push names and that were not known with this date."""
        origin, settings = subscribed.origin, self._scope.settings
        source = self._scope.sources.get(origin, subscribed.known.feed)
        before = subscribed.seen | (source.listed_keys if source else set())
        host, found = host_of(origin + "/"), dict[str, None]()
        for entry in feed.entries:
            key = entry_key(entry.address, entry.modified)
            if key in before or host_of(entry.address) != host:
                continue
            if len(subscribed.seen) >= _MOST_SEEN:
                subscribed.seen.clear()
            subscribed.seen.add(key)
            admission = settings.admit(entry.address)
            if admission.rule != NO_RULE:
                found[admission.address] = None
        return list(found)

    async def _note(self, subscribed: _Subscribed, known: Subscription) -> None:
        subscribed.known = known
        await self._write(SubscriptionsKnown([known]))


def _links(source: Source) -> tuple[str, str]:
    return source.push_hub, source.push_topic


def _unconfirmed(known: Subscription) -> Subscription:
    return Subscription(known.feed, known.hub, None, known.pushes, known.pushed_at_seconds)


async def _body(request: web.BaseRequest) -> bytes | None:
    """Body of a request; None where it is too large, or takes too long."""
    pieces, room = [], _MOST_BYTES
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for piece in request.content.iter_chunked(_PIECE):
                pieces.append(piece)
                room -= len(piece)
                if room < 0:
                    return None
    except TimeoutError:
        return None
    return b"".join(pieces)


class _Listener:
    """Listens for requests while a block runs, and bounds what they may use.

    Args:
        place: Host and port.
        answer: Gives status and text for a request.
    """

    def __init__(
        self,
        place: tuple[str, int],
        answer: Callable[[web.BaseRequest], Awaitable[tuple[int, str]]],
    ) -> None:
        from aiohttp import web  # here, for most crawls never listen

        self._place = place
        self._answer = answer
        self._response = web.Response
        self._bodies = asyncio.Semaphore(_MOST_BODIES)
        self._minute, self._count = -1, 0
        self._server = web.Server(
            self._handle,
            access_log=None,
            logger=_silent_logger(),
            auto_decompress=False,
            keepalive_timeout=15.0,
            lingering_time=1.0,
        )

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._listener = await loop.create_server(self._connect, *self._place)
        except OSError as error:
            host, port = self._place
            why = reason(OSError(error.errno, os.strerror(error.errno or 0)))  # without the place
            said = f"[push] cannot listen on {host} at port {port} ({why})"
            raise CannotListen(said) from None
        self._closing = loop.create_task(self._close_old())

    async def __aexit__(self, *_: object) -> None:
        self._closing.cancel()
        self._listener.close()
        await self._server.shutdown(0.1)

    async def _handle(self, request: web.BaseRequest) -> web.Response:
        minute = int(asyncio.get_running_loop().time() // 60)
        self._minute, self._count = minute, self._count + 1 if minute == self._minute else 1
        status, text = 429, ""
        if self._count <= _MOST_A_MINUTE:
            async with self._bodies:
                status, text = await self._answer(request)
        plain = {"X-Content-Type-Options": "nosniff"}
        response = self._response(status=status, text=text, headers=plain)
        if status not in _ACCEPTED:
            response.force_close()  # with what is left of the body
        return response

    def _connect(self) -> asyncio.BaseProtocol:
        is_full = len(self._server.connections) >= _MOST_CONNECTIONS
        return _Closed() if is_full else self._server()

    async def _close_old(self) -> None:
        """Close connections that were there a while ago: whoever needs one opens another."""
        old = set[object]()
        while True:
            await asyncio.sleep(_CONNECTION_SECONDS)
            for connection in self._server.connections:
                if connection in old:
                    connection.force_close()
            old = set(self._server.connections)


def _silent_logger() -> logging.Logger:
    """A logger that says nothing: what strangers send is no news."""
    logger = logging.getLogger(__name__)
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


class _Closed(asyncio.Protocol):
    """A connection that is one too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        transport.close()
