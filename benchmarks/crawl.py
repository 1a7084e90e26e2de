"""What a page costs: our crawler against Scrapy, same nginx, detection and store.

    python benchmarks/crawl.py                       CPU a page at 2 kB and 40 kB, bytes on the wire
    python benchmarks/crawl.py --pages 5000 --rounds 5
    python benchmarks/crawl.py --table cpu --change edited
    python benchmarks/before_after.py v0.2.0 crawl.py --table cpu --sides ours

A site of static pages is crawled once; then half of the pages are changed, and a second crawl
revisits all of them. Changed pages are rewritten from top to bottom, which is the dearest change,
or *edited*, as most pages are: one paragraph is another, and one more follows it. *Ours* and
*scrapy* send validators, decide by the same signatures of bytes and visible text, and write the
same visits, copies and versions to a store of the same kind in batches of a hundred. *Scrapy by
hash* is Scrapy as its users run it: it fetches every page, and a pipeline compares a hash of the
body with that of a table in SQLite, and keeps what is new. It does far less than the others, and
neither knows text from markup nor a change from noise. Each crawl is a process of its own; what is
measured is the CPU time (user and system, all threads) of the process from its first to its last
request, divided by the pages, and the ratio to ours. Rounds alternate.
Bytes on the wire are nginx's own count.

Needs nginx, and Scrapy (the extra `scrapy`). Touches: a temporary folder, loopback, processes.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from before_after import record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from recrawl.detect.verdict import Verdict
    from recrawl.entries.entries import Copy
    from recrawl.entries.store import ReadStore
    from recrawl.parse.messages import Response
    from recrawl.settings.rules import Rule

sys.path.insert(0, str(Path(__file__).parent.parent))

AGENT = "recrawl-benchmark (bench@example.org)"
SIZES = (2_000, 40_000)
LEAST_RATIO = {2_000: 7.0, 40_000: 3.5}  # of Scrapy with the same detection
AT_ONCE = 100
_SCRAPY = {
    "USER_AGENT": AGENT,
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": AT_ONCE,
    "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE,
    "DOWNLOAD_DELAY": 0,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}


# --- one side in a process of its own: prints seconds of CPU and wall, and pages ---


def crawl_ours(folder: Path, address: str, days: float) -> dict[str, float]:
    from recrawl.clock import ScaledClock
    from recrawl.crawl.running import running
    from recrawl.entries.entries import PagesFound
    from recrawl.plan.budget import Budget
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings
    from recrawl.store import create_store
    from recrawl.units import SECONDS_A_DAY

    path = folder / "ours.db"
    settings = Settings(
        AGENT,
        budget=Budget(1e9),
        delay=0.0,
        together=AT_ONCE,
        rules=(Rule(address, interval=1.0, local=True),),
    )
    if not path.exists():
        addresses = (folder / "addresses").read_text().split()
        host = address.split("/")[2]
        with create_store(path) as store:
            count = len(addresses)
            store.write([PagesFound(addresses, [host] * count, [0] * count, time.time())])

    async def run() -> dict[str, float]:
        clock = ScaledClock(SECONDS_A_DAY, time.time() / SECONDS_A_DAY + days)
        async with running(settings, path, clock) as crawler:
            crawler.crawl.trust.audited = False  # a request a page on both sides
            cpu, wall = time.process_time(), time.perf_counter()
            await crawler.run(once=True)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        outcomes = {each.label: count for each, count in crawler.tally.outcomes.items() if count}
        return {"cpu": cpu, "wall": wall, "pages": crawler.tally.visits, **outcomes}

    return asyncio.run(run())


def conditions(copy: Copy | None) -> dict[str, str]:
    """Headers under which an unchanged page need not be sent."""
    from recrawl.units import http_text

    headers = {}
    if copy is not None and copy.etag:
        headers["If-None-Match"] = copy.etag
    if copy is not None and copy.modified_seconds is not None:
        headers["If-Modified-Since"] = http_text(copy.modified_seconds)
    return headers


def decide(
    answer: Response, copy: Copy | None, store: ReadStore, page: int, rule: Rule, now: float
) -> Verdict:
    """What an answer says of its page, as our crawler decides it."""
    from recrawl.detect.reading import ReadPage, has_kept_lines, read_response, reading_of
    from recrawl.detect.verdict import (
        PageFacts,
        verdict_by_content,
        verdict_by_signature,
        verdict_unread,
    )

    settled = verdict_unread(answer.address, answer, copy)
    if settled is not None:
        return settled
    kept = store.newest_lines(page) if copy and has_kept_lines(answer.body) else None
    seen, known = read_response(answer, rule.criteria, kept=kept), PageFacts(copy)
    settled = verdict_by_signature(answer.address, answer, seen, known)
    if settled is not None:
        return settled
    old = None
    if kept is not None and kept.reading == reading_of(answer, rule.criteria):
        old = ReadPage(kept.lines)
    elif (body := store.newest_body(page)) is not None:
        old = read_response(answer, rule.criteria, body)
    return verdict_by_content(answer.address, answer, seen, known, rule.criteria, old=old, at=now)


def crawl_scrapy(folder: Path, address: str, days: float) -> dict[str, float]:
    import scrapy
    from scrapy.crawler import CrawlerProcess

    from recrawl.entries.entries import PagesFound, VisitMade
    from recrawl.parse.messages import Response
    from recrawl.settings.rules import Rule
    from recrawl.store import create_store, open_for_writing, open_store
    from recrawl.store.retention import Retention

    path, rule = folder / "scrapy.db", Rule(address, local=True)
    addresses = (folder / "addresses").read_text().split()
    if not path.exists():
        host, count = address.split("/")[2], len(addresses)
        with create_store(path) as store:
            store.write([PagesFound(addresses, [host] * count, [0] * count, time.time())])
    reader = open_store(path)
    copies = reader.copies(range(len(addresses)))
    store = open_for_writing(path, Retention(10, 90.0, 2 * 2**30))  # as our settings have it
    counted = {"pages": 0}
    times: list[float] = []

    class Spider(scrapy.Spider):
        name = "bench"
        handle_httpstatus_list = [304]  # noqa: RUF012 - Scrapy's way

        async def start(self) -> AsyncIterator[scrapy.Request]:
            times.extend([time.process_time(), time.perf_counter()])
            for page, (target, copy) in enumerate(zip(addresses, copies, strict=True)):
                headers = conditions(copy)
                yield scrapy.Request(target, headers=headers, meta={"page": page}, dont_filter=True)

        def parse(self, response: scrapy.http.Response) -> Iterator[dict[str, object]]:
            page, now = response.meta["page"], time.time() + days * 86_400
            headers = {
                name.decode().lower(): value[0].decode() for name, value in response.headers.items()
            }
            answer = Response(response.url, response.status, headers, response.body)
            judgement = decide(answer, copies[page], reader, page, rule, now)
            yield {"page": page, "now": now, "status": response.status, "judgement": judgement}

    class Pipeline:
        def open_spider(self) -> None:
            self.batch: list[VisitMade] = []

        def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
            judgement = item["judgement"]
            self.batch.append(
                VisitMade(
                    item["page"],
                    item["now"],
                    judgement.outcome,
                    http=item["status"],
                    copy=judgement.copy,
                    body=judgement.body,
                    lines=judgement.lines,
                )
            )
            counted["pages"] += 1
            label = judgement.outcome.label
            counted[label] = counted.get(label, 0) + 1
            if len(self.batch) >= 100:
                store.write(self.batch)
                self.batch.clear()
            return item

        def close_spider(self) -> None:
            if self.batch:
                store.write(self.batch)
            times.extend([time.process_time(), time.perf_counter()])

    process = CrawlerProcess(_SCRAPY | {"ITEM_PIPELINES": {Pipeline: 1}})
    process.crawl(Spider)
    process.start()
    store.close()
    return {"cpu": times[2] - times[0], "wall": times[3] - times[1], **counted}


def crawl_by_hash(folder: Path, _: str, __: float) -> dict[str, float]:
    """Scrapy with a pipeline that compares hashes of bodies."""
    import scrapy
    from scrapy.crawler import CrawlerProcess

    addresses = (folder / "addresses").read_text().split()
    counted = {"pages": 0, "changed": 0}
    times: list[float] = []

    class Spider(scrapy.Spider):
        name = "bench"
        start_urls = addresses

        def parse(self, response: scrapy.http.Response) -> Iterator[dict[str, object]]:
            yield {"url": response.url, "body": response.body}

    class Pipeline:
        def open_spider(self) -> None:
            times.extend([time.process_time(), time.perf_counter()])
            self.store = sqlite3.connect(folder / "hashes.db")
            self.store.execute("create table if not exists pages (url primary key, hash, body)")

        def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
            found = hashlib.sha256(item["body"]).digest()
            known = self.store.execute("select hash from pages where url = ?", (item["url"],))
            if known.fetchone() != (found,):
                row = (item["url"], found, item["body"])
                self.store.execute("insert or replace into pages values (?, ?, ?)", row)
                counted["changed"] += 1
            counted["pages"] += 1
            if counted["pages"] % 100 == 0:
                self.store.commit()
            return item

        def close_spider(self) -> None:
            self.store.commit()
            self.store.close()
            times.extend([time.process_time(), time.perf_counter()])

    process = CrawlerProcess(_SCRAPY | {"ITEM_PIPELINES": {Pipeline: 1}})
    process.crawl(Spider)
    process.start()
    return {"cpu": times[2] - times[0], "wall": times[3] - times[1], **counted}


SIDES = {"ours": crawl_ours, "scrapy": crawl_scrapy, "by hash": crawl_by_hash}


# --- the site and the rounds ---


def page_of(number: int, version: int, size: int) -> str:
    """A page of about `size` bytes in paragraphs, menus and links, as pages are."""
    words = ("rate", "visit", "change", "page", "fresh", "copy", "host", "budget", "price", "lease")
    parts, length, at = [], 0, number * 7919 + version * 104729
    while length < size - 300:
        line = " ".join(words[(at + step * step) % len(words)] for step in range(14))
        part = f'<div class="c{at % 17}"><p>{line} {at}</p><a href="/p/{at % 999}">more</a></div>\n'
        parts.append(part)
        length += len(part)
        at += 31
    body = "".join(parts)
    return f"<html><head><title>{number}</title></head><body><nav>menu</nav>{body}</body></html>"


def edited_page(number: int, size: int) -> str:
    """The first version of a page with another paragraph in its middle, and one more behind it."""
    lines = page_of(number, 0, size).splitlines(keepends=True)
    middle = len(lines) // 2
    lines[middle] = (
        f"<div><p>Another price of page {number} stands here since this morning.</p></div>\n"
    )
    lines.insert(middle + 1, f"<div><p>One more paragraph, of page {number}, is new.</p></div>\n")
    return "".join(lines)


CHANGED = {"rewritten": lambda number, size: page_of(number, 1, size), "edited": edited_page}


def child(side: str, folder: Path, address: str, days: float) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", side, str(folder), address, str(days)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{side} failed:\n{done.stderr[-3000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    assert figures["pages"], done.stderr[-3000:]
    return figures


def compare(size: int, asked: argparse.Namespace) -> None:
    from tests.servers.nginx import Nginx

    pages, rounds, change, sides = asked.pages, asked.rounds, asked.change, asked.sides
    found: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    with tempfile.TemporaryDirectory() as scratch, Nginx(Path(scratch) / "nginx") as site:
        old = time.time() - 10 * 86_400
        names = [f"/p{number % 10}/{number}.html" for number in range(pages)]
        for turn in range(rounds):
            folder = Path(scratch) / f"round{turn}"
            folder.mkdir()
            (folder / "addresses").write_text("\n".join(map(site.address, names)))
            for number, name in enumerate(names):
                site.write(name, page_of(number, 0, size), modified=old)
            for side in sides:
                child(side, folder, site.address(), 0.0)
            for number, name in enumerate(names):
                if number % 2:
                    site.write(name, CHANGED[change](number, size), modified=old + 86_400)
            for side in sides[:: 1 if turn % 2 else -1]:
                found[side].append(child(side, folder, site.address(), 1.5))
    print(f"\n{size / 1000:.0f} kB a page, {pages} pages, half of them {change}, {rounds} rounds")
    for side, each in found.items():
        cpu = [1e6 * one["cpu"] / one["pages"] for one in each]
        speed = median(one["pages"] / one["wall"] for one in each)
        shown = {key: value for key, value in each[-1].items() if key not in ("cpu", "wall")}
        record(f"{size / 1000:.0f} kB, {change}, {side}: µs of CPU a page", median(cpu))
        print(
            f"  {side:<8}{median(cpu):8.0f} µs of CPU a page ({min(cpu):.0f} to {max(cpu):.0f})"
            f"{speed:8.0f} pages a second   {shown}"
        )
    for side in sides:
        if side == "ours" or "ours" not in sides:
            continue
        ratios = [
            b["cpu"] / b["pages"] / (a["cpu"] / a["pages"])
            for a, b in zip(found["ours"], found[side], strict=True)
        ]
        ratio, least = median(ratios), LEAST_RATIO[size]
        limit = "" if side == "by hash" else f"; asked {least:g}"
        verdict = "" if not limit else "holds: " if ratio >= least else "FALLS SHORT: "
        what = "Scrapy" if limit else "Scrapy by hash of the body"
        print(
            f"  {verdict}{what} costs {ratio:.1f} times as much ({min(ratios):.1f} to "
            f"{max(ratios):.1f}{limit})"
        )


def wire(size: int, pages: int) -> None:
    """Bytes of bodies that nginx sent for a revisit, with and without validators and gzip."""
    print(f"\nbytes of bodies on the wire, {pages} pages of {size / 1000:.0f} kB, half changed")
    for packed in (True, False):
        for validators in (True, False):
            sent = asyncio.run(revisited(size, pages, packed=packed, validators=validators))
            words = [f"gzip {'yes' if packed else 'no'}"]
            words.append(f"validators {'yes' if validators else 'no'}")
            print(f"  {words[0]:<10}{words[1]:<16}{sent:12,}")


async def revisited(size: int, pages: int, *, packed: bool, validators: bool) -> int:
    from recrawl.fetch.http.client import HttpFetcher
    from recrawl.parse.messages import Request
    from tests.servers.nginx import Nginx

    names = [f"/{number}.html" for number in range(pages)]
    more = "" if packed else "gzip off;"
    with tempfile.TemporaryDirectory() as scratch, Nginx(Path(scratch) / "n", more=more) as site:
        for number, name in enumerate(names):
            site.write(name, page_of(number, 0, size), modified=1e9)
        fetcher = HttpFetcher(AGENT)
        tags = {}
        for name in names:
            answer = await fetcher.fetch(Request(site.address(name), local=True))
            tags[name] = answer.headers.get("etag", "") if validators else ""
        for number, name in enumerate(names):
            if number % 2:
                site.write(name, page_of(number, 1, size), modified=1.1e9)
        for name in names:
            await fetcher.fetch(Request(site.address(name), tags[name], local=True))
        await fetcher.close()
        return sum(line.body_bytes for line in site.log(2 * pages)[pages:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", choices=("all", "cpu", "wire"), default="all")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--change", choices=[*CHANGED], default="rewritten")
    parser.add_argument("--sides", nargs="+", choices=[*SIDES], default=[*SIDES])
    parser.add_argument("--side", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.side:
        side, folder, address, days = asked.side
        print(json.dumps(SIDES[side](Path(folder), address, float(days))))
        return
    if asked.table in ("all", "cpu"):
        for size in SIZES:
            compare(size, asked)
    if asked.table in ("all", "wire"):
        wire(2_000, 500)
        wire(40_000, 200)


if __name__ == "__main__":
    main()
