"""The site of a soak: hosts on loopback that change, misbehave on a schedule, and keep the truth.

Every version of every page is a function of its address and its number, so that a copy can be
compared with what was really there. The site writes down each request as it comes, before it
answers. One request at a time is allowed, and the next comes a delay after the answer: so however
late a busy machine reads a request, the time between two of them cannot come out too short.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
from bisect import bisect
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Self

from recrawl.units import SECONDS_A_DAY
from tests.servers import answers
from tests.servers.faults import FaultServer

if TYPE_CHECKING:
    from tests.servers.faults import Behaviour, Wire
    from tests.soak.plan import Episode, Plan

HOSTS = {f"h{number:02}.soak.test": f"127.77.0.{number + 1}" for number in range(20)}
NOWHERE = ("nowhere-1.invalid", "nowhere-2.invalid")  # never resolve
PAGES = 24  # of a host
PRIVATE = "/private/"
_ASKS_FOR_MORE = {name for number, name in enumerate(HOSTS) if number % 5 == 3}
_MORE = 1.5  # delays that those ask for
_BOMB = gzip.compress(bytes(30_000_000), 9)
_WORDS = [
    f"{first}{last}" for first in "bdfgklmnprstvz" for last in ("an", "el", "io", "ur", "ost")
]
_TIMES = 2000  # that the text stands on a large page: some 400 kB

# The first are of every kind, so that a short soak comes to all of them.
_KINDS = {0: "noise", 3: "etags", 6: "large", 8: "noise"} | {
    2: "secret",  # redirects to what robots.txt forbids,
    4: "loop",  # to itself,
    5: "far",  # to another host,
    7: "away",  # to one that is none
}
_MARK = re.compile(r"<!-- (\S+) (\S+) (\d+) (\w*) -->$")


class Asked(NamedTuple):
    """One request as the site saw it."""

    at: float  # seconds after the soak began
    host: str
    path: str
    answer: str  # ok, or the kind of fault


class Told(NamedTuple):
    """A host that said how long it wants to be left alone."""

    at: float
    until: float
    host: str


def kind_of(path: str) -> str:
    """What a page does on every visit: noise, large, etags, plain, or a redirect."""
    number = int(path.removeprefix("/p") or 0)
    return _KINDS.get(number, "plain")


def render(host: str, path: str, version: int, token: str = "") -> bytes:
    """A version of a page; the token is new in every response of a noisy one."""
    chance = Random(f"{host}{path}{version}")  # noqa: S311 - words, no secrets
    text = " ".join(chance.choice(_WORDS) for _ in range(40))
    noise = f"<p>Your offer of the moment: {token}</p>" if token else ""
    more = f"{text}. " * _TIMES if kind_of(path) == "large" else ""
    return (
        f"<!doctype html><title>{host}{path}</title><main><h1>{path}</h1><p>{text}</p>{noise}"
        f"<p>{more}</p></main><a href={PRIVATE}1>private</a>"
        f"<!-- {host} {path} {version} {token} -->"
    ).encode()


class SoakSite(FaultServer):
    """All hosts, at one port.

    Args:
        plan: Faults and their times.
        began: When the soak began, in seconds of the clock that never goes back.
    """

    def __init__(self, plan: Plan, began: float) -> None:
        super().__init__()
        self.log: list[Asked] = []
        self.told: list[Told] = []
        self.strangers: list[str] = []
        self._plan = plan
        self._began = began
        self._kept: set[int] = set()  # connections that have had an answer
        self._chance = Random(plan.seed)  # noqa: S311 - faults, no secrets
        self._faults: dict[str, list[Episode]] = {name: [] for name in HOSTS}
        for each in plan.wire:
            if not each.is_dns:
                self._faults[each.host].append(each)
        self._changes = {
            (host, f"/p{number}"): _changes(f"{plan.seed}{host}{number}", plan.seconds)
            for host in HOSTS
            for number in range(PAGES)
        }

    async def __aenter__(self) -> Self:
        with socket.create_server((next(iter(HOSTS.values())), 0)) as free:
            self.port = free.getsockname()[1]
        self._server = await asyncio.start_server(
            self._serve, list(HOSTS.values()), self.port, backlog=256
        )
        return self

    def origin(self, host: str) -> str:
        return f"http://{host}:{self.port}"

    def delay(self, host: str, *, known: bool = True) -> float:
        """Seconds between requests that a host may expect, once its robots.txt is known."""
        return self._plan.delay_seconds * (_MORE if known and host in _ASKS_FOR_MORE else 1.0)

    def version(self, host: str, path: str, at: float) -> int:
        """The truth: changes of a page by an instant."""
        return bisect(self._changes[host, path], at)

    def is_fresh(self, host: str, path: str, body: bytes, at: float) -> bool | None:
        """Whether a copy is what is there at an instant; None where it never was, to the byte."""
        found = _MARK.search(body.decode(errors="replace"))
        if found is None:
            return None
        source, number, token = (found[1], found[2]), int(found[3]), found[4]
        own = (self._other(host), "/p1") if kind_of(path) == "far" else (host, path)
        # While a host loops, its pages are for a while those of others.
        real = source in self._changes and body == render(*source, number, token)
        return source == own and number == self.version(*own, at) if real else None

    def behaviour(self, path: str) -> Behaviour:
        return self._answer

    async def _answer(self, wire: Wire) -> None:
        self.requests.clear()  # the log is shorter
        request = wire.request
        at, path = request.at - self._began, request.path
        host = request.headers.get("host", "").partition(":")[0]
        if host not in HOSTS:
            self.strangers.append(host)
            return
        fault = self._fault(host, path, at)
        if fault == "resets" and request.connection in self._kept:
            fault = "kept" if "kept" in self._plan.faults else ""
        self._kept.add(request.connection)
        behave = self._wrong(fault, host, path, at) if fault else self._right(host, path, at)
        self.log.append(Asked(at, host, path, fault or "ok"))
        await behave(wire)

    def _fault(self, host: str, path: str, at: float) -> str:
        """What goes wrong with a request, or nothing."""
        for each in self._faults[host]:
            if each.start <= at < each.end and self._chance.random() < 0.7:
                return each.kind if _fits(each.kind, path) else ""
        return ""

    def _right(self, host: str, path: str, at: float) -> Behaviour:
        """The right answer."""
        if path == "/robots.txt":
            return answers.status(200, self._robots(host), content_type="text/plain")
        if path == "/sitemap.xml":
            pages = [f"/p{number}" for number in range(PAGES)] + [f"{PRIVATE}2"]
            listed = "\n".join(self.origin(host) + page for page in pages)
            return answers.status(200, listed.encode(), content_type="text/plain")
        if (host, path) not in self._changes:
            return answers.status(404, b"nothing here")
        kind, version = kind_of(path), self.version(host, path, at)
        leads = {"loop": path, "secret": f"{PRIVATE}3", "away": f"{self.origin(NOWHERE[0])}/"}
        leads["far"] = f"{self.origin(self._other(host))}/p1"
        if kind in leads:
            return answers.redirect(leads[kind], 302)
        token = f"{self._chance.getrandbits(32):08x}"
        body = render(host, path, version, token if kind == "noise" else "")
        tag = token if kind in {"noise", "etags"} else version
        return answers.page(body, etag=f'"{tag}"')

    def _robots(self, host: str) -> bytes:
        seconds = self.delay(host) / self._plan.seconds_a_day * SECONDS_A_DAY
        more = f"Crawl-delay: {seconds}\n" if host in _ASKS_FOR_MORE else ""
        sitemap = f"Sitemap: {self.origin(host)}/sitemap.xml\n"
        return f"User-agent: *\nDisallow: {PRIVATE}\n{more}{sitemap}".encode()

    def _other(self, host: str) -> str:
        names = list(HOSTS)
        return names[(names.index(host) + 1) % len(names)]

    def _wrong(self, kind: str, host: str, path: str, at: float) -> Behaviour:
        """A wrong answer."""
        chance, other = self._chance, self.origin(self._other(host))
        if kind in {"slow", "truncated"}:
            robots = path == "/robots.txt"
            body = (
                self._robots(host) if robots else render(host, path, self.version(host, path, at))
            )
            if kind == "slow":
                return answers.dripping(body, chance.uniform(0.001, 0.03))
            return answers.wrong_length(body[: len(body) // 2], len(body))
        if kind == "busy":
            seconds = chance.uniform(2.0, 6.0) * self._plan.delay_seconds
            self.told.append(Told(at, at + seconds, host))
            wait = seconds / self._plan.seconds_a_day * SECONDS_A_DAY
            return answers.status(429, retry_after=str(int(wait) + 1))
        half = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + b"User-agent: *\n" * 9
        reset = answers.reset
        ends = (reset(), reset(half[:20]), reset(half), answers.hang_up())
        ways: dict[str, tuple[Behaviour, ...]] = {
            "resets": ends,
            "kept": ends,
            "storms": tuple(answers.status(code, b"<h1>Oh</h1>") for code in (500, 502, 503, 504)),
            "hangs": (answers.late(answers.hang_up(), 12.0),),
            "loops": tuple(answers.redirect(to, 302) for to in (path, other + path, "/p4")),
            "robots": (answers.status(500), answers.status(429), answers.wrong_chunk()),
            "bombs": (answers.status(200, _BOMB, content_encoding="gzip"),),
        }
        return chance.choice(ways[kind])


def _fits(kind: str, path: str) -> bool:
    """Whether a fault may befall a path.

    A robots.txt is never answered in a way that allows everything: so what it forbids is never
    asked for, whatever happens. What is no page has no body to be slow with.
    """
    if path == "/robots.txt":
        return kind in {"resets", "slow", "truncated", "storms", "hangs", "robots"}
    if path in {"/sitemap.xml", "/"}:
        return kind not in {"robots", "slow", "truncated"}
    return kind != "robots"


def _changes(seed: str, seconds: float) -> list[float]:
    """Instants at which a page changes, at a rate of its own."""
    chance = Random(seed)  # noqa: S311 - a world, no secrets
    every = min(60.0, seconds / 6) * chance.lognormvariate(0.0, 1.0)
    found, at = [], chance.expovariate(1 / every)
    while at < 2 * seconds:
        found.append(at)
        at += chance.expovariate(1 / every)
    return found
