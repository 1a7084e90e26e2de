"""Coverage of a site's pages over time: looks at the pace of its sources against fixed ones.

Three made sites on loopback, each crawled for real three times at once, on clocks on which a day
passes in some seconds: with the pace of looks learned (`discover = "auto"`), once a day (`"1d"`)
and every ten minutes (`"10m"`). All three have the same budget, of which looks for new pages take
their part, so that they make the same number of requests but for robots.txt and first looks.

    python benchmarks/discovery.py [--days 8] [--seconds-a-day 15] [--budget 600] [--seed 1]
    python benchmarks/discovery.py --site news
    python benchmarks/discovery.py --plot docs/pictures/discovery.svg

    news   120 articles at first and 60 more a day, three in four of them by day; a feed of the
           newest 20 and a sitemap of all, both dated
    docs   300 pages at first; a release every third day or so adds 40 at once; an index that dates
           its three sitemaps, of guides and of two versions
    shop   600 products at first; 40 a day come, 36 of them in one of four sections, and stay for
           20 days on the mean; an index without dates, one sitemap a section

Pages change at log-normal rates, once in ten days in the median. Nothing is set or tuned per site.

Reported, as means over the run: the share of the pages that exist which are known; the share of
them of which there is a copy that is up to date, known or not; hours from the birth of a page to
when it is known, of those born after the first day, in the median; requests a day in all and for
sources; pages expected to exist that are not known, as `status` says, beside how many there were,
and how often the band held them.

Expected before the first run. Once a day leaves half a day's births unknown: 30 of some 400 news
articles (93 % known), 7 of 360 docs (98 %), 20 of 650 products (97 %). Ten minutes leave none, at
a price: each source costs 144 requests a day, so two sources take half the budget of the news site
and five more than that of the shop, and copies get older. The learned pace should know within a
point of what ten minutes know, with a tenth to a third of the looks, and have more up-to-date
copies than either on the news site; on docs and shop, where few pages are born, as many as once a
day to within a point.

The clocks stand still while this process does not run, so that a busy machine takes longer and
shows the same. Touches: a temporary folder, loopback, the terminal.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from dataclasses import dataclass, field
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from aiohttp import web

from recrawl.adapters.pictures import write_picture
from recrawl.crawl.running import running
from recrawl.frontier.sources import unknown_pages
from recrawl.plan.budget import Budget
from recrawl.report.charts.vega import (
    LIGHT,
    chart_title,
    panel_title,
    rounded,
    share_axis,
    themed,
)
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.store import create_store, open_store
from recrawl.units import SECONDS_A_DAY, epoch_days, http_text

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.waiting import PatientClock

if TYPE_CHECKING:
    from recrawl.frontier.sources import SourceTable
    from recrawl.report.charts.vega import Chart

START = 20_000.0
PACES = {"auto": 0.0, "1d": 1.0, "10m": 10 / 1440}
SAMPLES_A_DAY = 24
NEWEST = 20
MEDIAN, SPREAD = 1 / 10, 1.0
XML = "application/xml"


@dataclass
class World:
    """Pages of a site: where they are, when they come, change and go.

    Attributes:
        section: Sitemap that names each page.
        born: When each page comes; before the start for those there from the first.
        dies: When it goes.
        changes: When it changes.
        dated: Whether the index dates its sitemaps; None where one sitemap has all pages.
        feed: Whether there is a feed.
    """

    section: list[str]
    born: np.ndarray
    dies: np.ndarray
    dated: bool | None
    feed: bool = False
    changes: list[np.ndarray] = field(default_factory=list)

    def change_at_random(self, end: float, random: np.random.Generator) -> None:
        """Draw all changes up to an instant."""
        for born in self.born:
            rate = np.exp(random.normal(np.log(MEDIAN), SPREAD))
            times = random.poisson(rate * (end - born))
            self.changes.append(np.sort(random.uniform(born, end, times)))

    def alive(self, now: float) -> np.ndarray:
        """Which pages exist."""
        return (self.born <= now) & (now < self.dies)

    def changed(self, page: int, now: float) -> tuple[int, float]:
        """How often a page has changed, and when last."""
        version = int(np.searchsorted(self.changes[page], now, side="right"))
        return version, float(self.changes[page][version - 1] if version else self.born[page])


def news(end: float, random: np.random.Generator) -> World:
    """Articles, most of them by day."""
    old = START - random.uniform(0, 2, 120)
    new = START + np.floor(random.uniform(0, end - START, int(60 * (end - START))))
    hour = np.where(random.random(len(new)) < 0.75, random.uniform(8, 20, len(new)), 0)
    new += np.where(hour > 0, hour, random.uniform(0, 24, len(new))) / 24
    born = np.append(old, np.sort(new))
    return World(["all"] * len(born), born, np.full(len(born), inf), None, feed=True)


def docs(end: float, random: np.random.Generator) -> World:
    """Pages that come with releases."""
    born, section = [START - 5.0] * 300, ["guide", "v1", "v2"] * 100
    at = START + random.exponential(3)
    while at < end:
        born += [at] * 40
        section += ["v2"] * 40
        at += random.exponential(3)
    return World(section, np.array(born), np.full(len(born), inf), dated=True)


def shop(end: float, random: np.random.Generator) -> World:
    """Products that come and go."""
    count = int(40 * (end - START))
    born = np.append(np.full(600, START - 1.0), np.sort(random.uniform(START, end, count)))
    share = np.append(np.full(600, 0.25), np.full(count, 0.9))
    others = random.choice(["b", "c", "d"], len(born))
    section = np.where(random.random(len(born)) < share, "a", others).tolist()
    stays = random.exponential(20, len(born))
    return World(section, born, np.maximum(born, START) + stays, dated=False)


WORLDS = {"news": news, "docs": docs, "shop": shop}


class Site:
    """A site on loopback that serves a world, and counts."""

    def __init__(self, world: World, clock: PatientClock) -> None:
        self.world = world
        self.clock = clock
        self.requests = self.looks = 0
        self.served = np.full(len(world.born), -inf)
        self.origin = ""

    async def start(self) -> web.AppRunner:
        """Listen on a port of loopback."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self.answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    async def answer(self, request: web.Request) -> web.Response:
        """Answer, dated by the clock."""
        now = self.clock.now()
        self.requests += 1
        answer = self.respond(request, now)
        answer.headers["Date"] = http_text(now * SECONDS_A_DAY)
        return answer

    def respond(self, request: web.Request, now: float) -> web.Response:
        """What is at a path."""
        path = request.path
        if path == "/robots.txt":
            return web.Response(text=f"Sitemap: {self.origin}/sitemap.xml\n")
        if path == "/":
            link = '<link rel="alternate" type="application/rss+xml" href="/feed">'
            text = f"<title>Home</title>{link if self.world.feed else ''}<p>Welcome to this site."
            return web.Response(text=text, content_type="text/html")
        if path.startswith("/p"):
            return self.page(request, int(path.removeprefix("/p")), now)
        text = self.source(path, now)
        if text is None:
            return web.Response(status=404)
        self.looks += 1
        etag = f'"{hash(text)}"'
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        return web.Response(text=text, content_type=XML, headers={"ETag": etag})

    def page(self, request: web.Request, page: int, now: float) -> web.Response:
        """One page, with honest validators."""
        if not self.world.alive(now)[page]:
            return web.Response(status=404)
        version, changed = self.world.changed(page, now)
        self.served[page] = now
        etag = f'"{page}-{version}"'
        headers = {"ETag": etag, "Last-Modified": http_text(changed * SECONDS_A_DAY)}
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        words = np.random.default_rng((page, version)).integers(0, 5000, 60)
        text = " ".join(f"w{word}" for word in words)
        text = f"<title>Page {page}</title><p>{text}"
        return web.Response(text=text, content_type="text/html", headers=headers)

    def source(self, path: str, now: float) -> str | None:
        """A sitemap, an index or a feed as it is now; None for another path."""
        alive = np.flatnonzero(self.world.alive(now)).tolist()
        if path == "/feed" and self.world.feed:
            newest = sorted(alive, key=lambda page: self.world.born[page])[-NEWEST:]
            items = (
                f"<item><link>{self.origin}/p{page}</link>"
                f"<pubDate>{http_text(self.world.born[page] * SECONDS_A_DAY)}</pubDate></item>"
                for page in newest
            )
            return f"<rss><channel>{''.join(items)}</channel></rss>"
        if path == "/sitemap.xml" and self.world.dated is not None:
            return self.index(alive, now)
        sections = {f"/{each}.xml": each for each in set(self.world.section)}
        if path == "/sitemap.xml":
            ours = alive
        elif path in sections:
            ours = [page for page in alive if self.world.section[page] == sections[path]]
        else:
            return None
        entries = (
            f"<url><loc>{self.origin}/p{page}</loc>{dated(self.world.changed(page, now)[1])}</url>"
            for page in ours
        )
        return f"<urlset>{''.join(entries)}</urlset>"

    def index(self, alive: list[int], now: float) -> str:
        """The index, with the last change of any page of each sitemap if it dates them."""
        entries = []
        for section in sorted(set(self.world.section)):
            date = ""
            if self.world.dated:
                ours = (page for page in alive if self.world.section[page] == section)
                date = dated(max(self.world.changed(page, now)[1] for page in ours))
            entries.append(f"<sitemap><loc>{self.origin}/{section}.xml</loc>{date}</sitemap>")
        return f"<sitemapindex>{''.join(entries)}</sitemapindex>"


def dated(at: float) -> str:
    """A date as sitemaps have it."""
    return f"<lastmod>{np.datetime64(int(at * SECONDS_A_DAY), 's')}Z</lastmod>"


@dataclass
class Sampled:
    """How a crawl stood over time.

    Attributes:
        at: Instants.
        fresh: Share of the pages that exist of which there is a copy that is up to date.
        expected: Pages expected to exist that are not known, and the ends of the band.
    """

    at: list[float] = field(default_factory=list)
    fresh: list[float] = field(default_factory=list)
    expected: list[tuple[float, float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Crawled:
    """What one crawl found.

    Attributes:
        pace: How often it looked.
        line: Its row of the table.
        days: Days after the start.
        known: Share of the pages that existed then which were known.
    """

    pace: str
    line: str
    days: list[float]
    known: list[float]


async def crawl(world: World, pace: str, folder: Path, asked: argparse.Namespace) -> Crawled:
    """Crawl a world at one pace."""
    clock, days = PatientClock(asked.seconds_a_day, START), asked.days
    site, sampled = Site(world, clock), Sampled()
    runner = await site.start()
    rule = Rule(f"{site.origin}/", local=True)
    settings = Settings(
        "recrawl-benchmark (bench@example.org)",
        budget=Budget(asked.budget),
        delay=1 / SECONDS_A_DAY,
        discover=PACES[pace],
        rules=(rule,),
    )
    store = folder / f"{pace}.db"
    create_store(store).close()
    try:
        async with running(settings, store, clock, seed=1) as crawler:
            watching = asyncio.create_task(watch(site, sampled, crawler.crawl.sources))
            await crawler.run(until=START + days, found=lambda *_: None)
            watching.cancel()
    finally:
        await runner.cleanup()
    return row(pace, site, sampled, store, days)


async def watch(site: Site, sampled: Sampled, sources: SourceTable) -> None:
    """Note how a crawl stands, several times a day."""
    while True:
        await site.clock.sleep(1 / SAMPLES_A_DAY)
        now = site.clock.now()
        alive = np.flatnonzero(site.world.alive(now))
        changed = np.array([site.world.changed(page, now)[1] for page in alive.tolist()])
        sampled.at.append(now)
        sampled.fresh.append(float(np.mean(site.served[alive] >= changed)))
        unknown = unknown_pages(sources, now)
        sampled.expected.append((unknown.mean, unknown.low, unknown.high))


def row(pace: str, site: Site, sampled: Sampled, store: Path, days: float) -> Crawled:
    """One row of the table, and the share known over time."""
    world, found = site.world, np.full(len(site.world.born), inf)
    with open_store(store) as reader:
        at = epoch_days(reader.pages().found_at)
        for page, address in enumerate(each for some in reader.all_addresses() for each in some):
            number = address.removeprefix(f"{site.origin}/p")
            if number.isdigit():
                found[int(number)] = at[page]
    known, held, unknown = [], [], []
    for now, (_, low, high) in zip(sampled.at, sampled.expected, strict=True):
        alive = world.alive(now)
        known.append(float(np.mean(found[alive] <= now)))
        unknown.append(int(np.count_nonzero(found[alive] > now)))
        held.append(low <= unknown[-1] + 0.5 and unknown[-1] - 0.5 <= high)
    seen = (world.born > START + 1) & (found < inf)
    delay = float(np.median(found[seen] - world.born[seen])) * 24 if seen.any() else nan
    expected = np.mean([mean for mean, _, _ in sampled.expected])
    line = (
        f"{pace:<6}{100 * np.mean(known):>9.2f} %{100 * np.mean(sampled.fresh):>9.1f} %"
        f"{delay:>9.2f} h{site.requests / days:>10.0f}{site.looks / days:>9.1f}"
        f"{expected:>10.1f}{np.mean(unknown):>8.1f}{100 * np.mean(held):>7.0f} %"
    )
    return Crawled(pace, line, [at - START for at in sampled.at], known)


async def compare(name: str, asked: argparse.Namespace) -> list[Crawled]:
    """Crawl one site at all paces at once, so that a busy machine holds all of them up alike."""
    random = np.random.default_rng(asked.seed)
    world = WORLDS[name](START + asked.days, random)
    world.change_at_random(START + asked.days, random)
    with tempfile.TemporaryDirectory() as folder:
        work = (crawl(world, pace, Path(folder), asked) for pace in PACES)
        return await asyncio.gather(*work)


def coverage_chart(found: dict[str, list[Crawled]]) -> Chart:
    """Share of the pages that exist which are known, over time: one panel per site."""
    colours = LIGHT
    shades = [colours.blue, colours.orange, colours.purple]
    names = {"auto": "learned", "1d": "once a day", "10m": "every 10 minutes"}
    panels = []
    for site, crawls in found.items():
        rows = [
            {"pace": names[each.pace], "day": rounded(day), "known": rounded(share)}
            for each in crawls
            for day, share in zip(each.days, each.known, strict=True)
        ]
        colour = {
            "field": "pace",
            "type": "nominal",
            "sort": None,
            "scale": {"domain": list(names.values()), "range": shades},
            "legend": {"title": None, "orient": "top", "symbolType": "stroke"},
        }
        day = {"field": "day", "type": "quantitative", "axis": {"title": "day"}}
        lowest = min(row["known"] for row in rows)
        panels.append(
            {
                "title": panel_title(site),
                "width": 230,
                "height": 190,
                "data": {"values": rows},
                "mark": {"type": "line", "strokeWidth": 1.75},
                "encoding": {"x": day, "y": share_axis("known", [lowest, 1.0]), "color": colour},
            }
        )
    title = chart_title("Pages known, of those that exist", "at equal numbers of requests")
    return themed(
        {"title": title, "hconcat": panels, "resolve": {"scale": {"y": "independent"}}}, colours
    )


def main() -> None:
    """Print a table per site, and draw coverage over time if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=float, default=8.0)
    parser.add_argument("--seconds-a-day", type=float, default=15.0)
    parser.add_argument("--budget", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--site", choices=list(WORLDS))
    parser.add_argument("--plot", type=Path, help="draw coverage over time to this file")
    asked = parser.parse_args()
    found = {}
    for name in [asked.site] if asked.site else WORLDS:
        print(f"\n{name}")
        print(
            f"{'pace':<6}{'known':>11}{'up to date':>11}{'delay':>11}{'requests':>10}{'looks':>9}"
            f"{'expected':>10}{'unknown':>8}{'in band':>9}"
        )
        found[name] = asyncio.run(compare(name, asked))
        for each in found[name]:
            print(each.line, flush=True)
    if asked.plot is not None:
        write_picture(asked.plot, coverage_chart(found))


if __name__ == "__main__":
    main()
