"""What lies and noise do to a crawl that believes them, and to one that checks.

Twenty hosts on loopback, pages that change at known rates. Every fifth host lies: one always says
"not modified", one dates its pages by the day they were made, one serves old pages' word for most
changes, one dates every answer now and its sitemap with every build. One page in ten has a clock,
an advertisement and a token in its text. The same world is crawled twice, for real, on a clock on
which a day passes in two seconds: once as it is, once without any second request.

    python benchmarks/honesty.py [--days 40] [--seconds-a-day 2] [--seed 1]

Reported: how often the 90 % band of a page's rate holds the true one, freshness as the crawl
expects it and as it is, changes found, and changes reported that were none.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
from aiohttp import web

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.store import create_store
from recrawl.units import SECONDS_A_DAY, http_text, instants_after_epoch
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.page_visit import PageVisit

HOSTS, PAGES_A_HOST = 20, 20
START = 20_000.0
LIES = {0: "denies", 5: "old date", 10: "often denies", 15: "dated now"}
NOISY = 10  # every tenth page
EDITION = re.compile(rb"Edition (\d+)\.")
LOOKS_A_DAY = 4


@dataclass
class World:
    """Pages, their rates and changes.

    Attributes:
        rate: Changes a day.
        changes: When each page changes.
    """

    seed: int
    days: float
    rate: np.ndarray = field(init=False)
    changes: list[np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        """Draw the world."""
        random = np.random.default_rng(self.seed)
        count = HOSTS * PAGES_A_HOST
        self.rate = np.exp(random.normal(np.log(1 / 6), 1.0, count))
        self.changes = [
            np.sort(random.uniform(0, self.days, random.poisson(rate * self.days)))
            for rate in self.rate
        ]

    def version(self, page: int, now: float) -> int:
        """How often a page has changed."""
        return int(np.searchsorted(self.changes[page], now - START, side="right"))

    def changed(self, page: int, now: float) -> float:
        """When a page last changed."""
        version = self.version(page, now)
        return START + float(self.changes[page][version - 1]) if version else START - 3.0


class Site:
    """All hosts."""

    def __init__(self, world: World, clock: ScaledClock) -> None:
        self.world = world
        self.clock = clock
        self.port = 0
        self.random = np.random.default_rng(world.seed + 1)

    async def start(self) -> web.AppRunner:
        """Listen on loopback, one address a host."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self.answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        for host in range(HOSTS):
            await web.TCPSite(runner, f"127.0.0.{host + 1}", self.port).start()
            self.port = runner.addresses[0][1]
        return runner

    def origin(self, host: int) -> str:
        """Address of a host."""
        return f"http://127.0.0.{host + 1}:{self.port}"

    async def answer(self, request: web.Request) -> web.Response:
        """Answer as the host does."""
        host = int(request.host.split(":")[0].rsplit(".", 1)[1]) - 1
        now = self.clock.now()
        answer = self.respond(request, host, now)
        answer.headers["Date"] = http_text(now * SECONDS_A_DAY)
        return answer

    def respond(self, request: web.Request, host: int, now: float) -> web.Response:
        """What is at a path."""
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nDisallow:\n")
        if request.path == "/sitemap.xml":
            return web.Response(text=self.sitemap(host, now), content_type="application/xml")
        number = request.path.removeprefix("/p")
        if not number.isdigit():
            return web.Response(status=404)
        return self.page(request, host, host * PAGES_A_HOST + int(number), now)

    def page(self, request: web.Request, host: int, page: int, now: float) -> web.Response:
        """One page."""
        version, lie = self.world.version(page, now), LIES.get(host, "")
        changed = self.world.changed(page, now)
        headers = {
            "ETag": f'"{page}"' if lie in ("denies", "old date") else f'"{page}-{version}"',
            "Last-Modified": http_text(changed * SECONDS_A_DAY),
        }
        if lie == "old date":
            headers = {"Last-Modified": http_text((START - 3) * SECONDS_A_DAY)}
        if lie == "dated now":
            headers = {"Last-Modified": http_text(now * SECONDS_A_DAY)}
        asked = request.headers
        has = asked.get("If-None-Match") == headers.get("ETag") and "ETag" in headers
        if "If-None-Match" not in asked and lie != "dated now":
            has = asked.get("If-Modified-Since") == headers["Last-Modified"]
        conditional = "If-None-Match" in asked or "If-Modified-Since" in asked
        if lie == "often denies" and conditional and self.random.random() < 0.7:
            has = True
        if has:
            return web.Response(status=304, headers=headers)
        return web.Response(
            text=self.text(page, version, now), content_type="text/html", headers=headers
        )

    def text(self, page: int, version: int, now: float) -> str:
        """Text of a page, with noise on some."""
        lines = [
            f"<p>Page {page}, paragraph {n}: {word_list(page, n, version)}</p>" for n in range(8)
        ]
        if page % NOISY == 3:
            ad = self.random.choice(["Buy tea", "Buy coffee now", "Visit the harbour", "Eat cake"])
            lines.insert(2, f"<div>It is {now * SECONDS_A_DAY:.3f} s by our clock</div>")
            lines.insert(5, f"<aside>Advertisement</aside><aside>{ad}</aside>")
            lines.append(f"<footer>Request {token_hex(8)} served</footer>")
        return f"<title>Page {page}</title><p>Edition {version}.</p>{''.join(lines)}"

    def sitemap(self, host: int, now: float) -> str:
        """All pages of a host, dated."""
        entries = []
        for number in range(PAGES_A_HOST):
            page = host * PAGES_A_HOST + number
            at = now if LIES.get(host) == "dated now" else self.world.changed(page, now)
            if LIES.get(host) == "old date":
                at = START - 3
            date = np.datetime64(int(at * SECONDS_A_DAY), "s")
            entries.append(
                f"<url><loc>{self.origin(host)}/p{number}</loc><lastmod>{date}Z</lastmod></url>"
            )
        return (
            '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"{''.join(entries)}</urlset>"
        )


def word_list(page: int, place: int, version: int) -> str:
    """Words of a paragraph; a version replaces one paragraph."""
    edition = (version + 7 - place) // 8
    numbers = np.random.default_rng((page, place, edition)).integers(0, 5000, 40)
    return " ".join(f"w{number}" for number in numbers)


class Watched:
    """What a crawl believes, and what is so."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.copy: dict[str, int] = {}
        self.looks: list[tuple[float, float, float]] = []
        self.false = self.found = 0
        self.address: dict[int, str] = {}

    def told(self, visit: PageVisit) -> None:
        """Note a visit."""
        if visit.outcome not in (VisitOutcome.FIRST, VisitOutcome.CHANGED):
            return
        match = EDITION.search(visit.response.body)
        assert match is not None
        edition = int(match[1])
        if visit.outcome is VisitOutcome.CHANGED:
            same = self.copy[visit.address] == edition
            self.false += same
            self.found += not same
        self.copy[visit.address] = edition
        self.address[visit.page] = visit.address

    def look(self, crawler: Crawler, now: float) -> None:
        """Note what is expected and what is true."""
        agenda, policy = crawler.crawl.agenda, crawler.crawl.policy
        frontier = agenda.frontier(0)
        if not len(frontier):
            return
        state: Any = frontier.state
        pages = agenda.pages(0).tolist()
        instant = instants_after_epoch(np.array([now]))[0]
        expected = policy.fresh(state, np.arange(len(pages)), instant)
        true = [self.is_fresh(self.address[page], now) for page in pages if page in self.address]
        self.looks.append((now, float(expected.mean()), float(np.mean(true))))

    def is_fresh(self, address: str, now: float) -> bool:
        """Whether the copy of a page is what the page is."""
        return self.copy[address] == self.world.version(row_of(address), now)


def row_of(address: str) -> int:
    """Row of a page by its address."""
    match = re.fullmatch(r"http://127\.0\.0\.(\d+):\d+/p(\d+)", address)
    assert match is not None, address
    return (int(match[1]) - 1) * PAGES_A_HOST + int(match[2])


async def crawl(
    world: World, folder: Path, seconds_a_day: float, *, audited: bool
) -> dict[str, Any]:
    """Crawl the world once."""
    clock = ScaledClock(seconds_a_day, START)
    site, watched = Site(world, clock), Watched(world)
    runner = await site.start()
    rules = tuple(Rule(f"{site.origin(host)}/", local=True) for host in range(HOSTS))
    asked = Settings("bench (b@example.org)", Budget(0.4, "page"), "freshness", rules=rules)
    path = folder / f"{audited}.db"
    create_store(path).close()
    try:
        async with running(asked, path, clock, on_visit=watched.told) as crawler:
            crawler.crawl.trust.audited = audited

            async def keep_looking() -> None:
                while True:
                    await clock.sleep(1 / LOOKS_A_DAY)
                    watched.look(crawler, clock.now())

            looking = asyncio.create_task(keep_looking())
            await crawler.run(until=START + world.days, found=lambda *_: None)
            looking.cancel()
            return summed(world, watched, crawler, clock.now())
    finally:
        await runner.cleanup()


def summed(world: World, watched: Watched, crawler: Crawler, now: float) -> dict[str, Any]:
    """What a crawl comes to."""
    state: Any = crawler.crawl.agenda.frontier(0).state
    pages = crawler.crawl.agenda.pages(0).tolist()
    kept = [row for row, page in enumerate(pages) if page in watched.address]
    row = np.array([row_of(watched.address[pages[each]]) for each in kept])
    beliefs = Beliefs.of(state, np.array(kept), now)
    low, high = beliefs.rate_band(0.9)
    true = world.rate[row]
    held = (low <= true) & (true <= high)
    host, noisy = row // PAGES_A_HOST, row % NOISY == 3
    lying = np.isin(host, list(LIES))
    at, expected, fresh = np.array(watched.looks).T
    later = at > START + world.days / 10
    part = np.minimum(((at - START) / world.days * 10).astype(int), 9)
    tenths = [float((expected - fresh)[part == n].mean()) for n in range(10)]
    return {
        "held": held.mean(),
        "held_lying": held[lying].mean(),
        "held_noisy": held[noisy].mean(),
        "held_rest": held[~lying & ~noisy].mean(),
        "ratio_lying": float(np.median((beliefs.rate / true)[lying])),
        "ratio_noisy": float(np.median((beliefs.rate / true)[noisy])),
        "ratio_rest": float(np.median((beliefs.rate / true)[~lying & ~noisy])),
        "expected": expected[later].mean(),
        "fresh": fresh[later].mean(),
        "off": abs(expected[later].mean() - fresh[later].mean()),
        "tenths": tenths,
        "visits": crawler.tally.visits,
        "audits": sum(n for kind, n in crawler.tally.audits.items() if kind),
        "found": watched.found,
        "false": watched.false,
        "words": {
            kind: crawler.crawl.trust.records(kind)
            for kind in ("not_modified", "etag", "modified", "sitemap", "noise")
        },
        "names": crawler.crawl.hosts.names,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=40.0)
    parser.add_argument("--seconds-a-day", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    world = World(asked.seed, asked.days)
    print(f"{HOSTS} hosts, {len(LIES)} lie; {len(world.rate)} pages, one in {NOISY} noisy")
    for audited in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(crawl(world, Path(folder), asked.seconds_a_day, audited=audited))
        print(f"\n{'with' if audited else 'without'} second requests")
        print(
            f"  rates in their 90 % bands: {found['held']:.1%} (lying hosts "
            f"{found['held_lying']:.1%}, noisy pages {found['held_noisy']:.1%}, the rest "
            f"{found['held_rest']:.1%})"
        )
        print(
            f"  median estimated over true rate: lying {found['ratio_lying']:.2f}, noisy "
            f"{found['ratio_noisy']:.2f}, the rest {found['ratio_rest']:.2f}"
        )
        print(
            f"  fresh after the first tenth: expected {found['expected']:.3f}, true "
            f"{found['fresh']:.3f}, off by {found['off']:.3f}"
        )
        print("  off by, in each tenth: " + " ".join(f"{each:+.3f}" for each in found["tenths"]))
        print(
            f"  {found['visits']:,} visits and {found['audits']:,} second requests found "
            f"{found['found']:,} changes, and reported {found['false']:,} that were none"
        )
        if audited:
            for kind, words in found["words"].items():
                for host, word in words.items():
                    if word.wrong > word.right / 10 or kind == "noise":
                        low, high = word.band()
                        print(
                            f"  {found['names'][host]} {kind}: right {word.right:.0f}, wrong "
                            f"{word.wrong:.0f}, wrong share {low:.2f}-{high:.2f}"
                        )


if __name__ == "__main__":
    main()
