"""Stores to serve: one like the demo's, with hostile content; an empty one; a large one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import apsw
import numpy as np

from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    HostBelieved,
    HostSeen,
    PageChange,
    PageEvent,
    PagesFound,
    RobotsRead,
    VisitMade,
)
from recrawl.entries.filtering import AddressesRefused, RefusedAddresses
from recrawl.entries.freshness import FreshnessNoted
from recrawl.entries.listings import ListingSynced, SyncOutcome
from recrawl.entries.sources import Source, SourceKind, SourcesKnown
from recrawl.settings.settings import read_settings
from recrawl.state.opening import open_crawl
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.rows.pages import key_of
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import FeedKind, PageStatus, Refusal, VisitOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.entries.entries import Entry

DAYS = 30
SCRIPT = "<script>window.hacked = true</script>"
IMAGE = '<img src="https://evil.example/x.png" onerror="window.hacked = true">'
TEXT = """agent = "bot (me@example.org)"
budget = "40/1d"

[[site]]
address = "https://a.org/"
target = 0.9

[[site]]
address = "https://b.org/"
weight = 2

[[listing]]
name = "jobs"
address = "https://a.org/board"
items = "li"
key = "@id"
"""
# Addresses may hold what they like, as long as it is an address.
HOSTILE = "https://a.org/news/'onmouseover=alert(1)'?q=%22%3E%3Cscript%3E"


def settings_in(folder: Path, text: str = TEXT) -> Path:
    """Write settings, and return their file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "recrawl.toml"
    file.write_text(text)
    return file


def empty(folder: Path) -> Path:
    """A store in which nothing happened yet."""
    file = settings_in(folder)
    create_store(folder / "recrawl.db").close()
    return file


def example(folder: Path) -> Path:
    """A crawl of a month: two hosts, changes, versions, a listing, and hostile content."""
    file = settings_in(folder)
    settings = read_settings(TEXT)
    addresses = [
        *(
            f"https://a.org/{part}/{row}"
            for part in ("news", "docs", "prices")
            for row in range(12)
        ),
        HOSTILE,
        *(f"https://b.org/{row}" for row in range(6)),
    ]
    hosts = [each.split("/")[2] for each in addresses]
    start = time.time() - DAYS * SECONDS_A_DAY
    random = np.random.default_rng(5)
    rates = random.choice([0.02, 0.2, 1.0], len(addresses))
    with create_store(folder / "recrawl.db") as store:
        store.write([PagesFound(addresses, hosts, settings.rules_of(addresses), start)])
        visits: list[VisitMade] = [
            made
            for page, rate in enumerate(rates.tolist())
            for made in _visits(page, addresses[page], rate, start, random)
        ]
        visits.sort(key=lambda made: made.at_seconds)
        store.write(visits)
        store.write([_failed(len(addresses) - 1, start)])
        store.write(_about_hosts(start))
        store.write(_jobs(start, random))
        store.write(
            [
                FreshnessNoted(
                    start + hour * 3600.0, len(addresses), share, share - 0.1, share + 0.1
                )
                for hour, share in enumerate(np.linspace(0.9, 0.6, DAYS * 24).tolist())
            ]
        )
    _save(folder)
    return file


def _visits(
    page: int, address: str, rate: float, start: float, random: np.random.Generator
) -> list[VisitMade]:
    """First a copy, then a visit every day or two that finds what a Poisson process does."""
    found: list[VisitMade] = []
    version, at = 0, start + 60.0 * page
    while at < start + DAYS * SECONDS_A_DAY - 3600:
        changed = bool(found) and random.random() < 1 - np.exp(-rate * 1.5)
        outcome = VisitOutcome.CHANGED if changed else VisitOutcome.SAME
        if not found:
            outcome = VisitOutcome.FIRST
        version += changed
        body = copy = event = None
        if outcome is not VisitOutcome.SAME:
            body = _body(address, version)
            copy = Copy(body[:8], body[-8:])
            kind = FeedKind.CHANGED if changed else FeedKind.NEW
            event = PageEvent(kind, at, at - SECONDS_A_DAY, at - 3600.0)
        found.append(
            VisitMade(
                *(page, at, outcome, 200),
                size=2000,
                took_seconds=0.2,
                share=0.25 if changed else None,
                copy=copy,
                body=body,
                change=PageChange(PageStatus.COPIED) if outcome is VisitOutcome.FIRST else None,
                event=event,
            )
        )
        at += random.uniform(1.0, 2.0) * SECONDS_A_DAY
    return found


def _body(address: str, version: int) -> bytes:
    lines = "".join(f"<p>Line {line} of version {max(version - line, 0)}.</p>" for line in range(9))
    title = f"{SCRIPT} of {address}"
    head, body = f"<title>{title}</title>", f"<h1>{title}</h1>{IMAGE}{lines}"
    return f"<html><head>{head}</head><body>{body}</body></html>".encode()


def _failed(page: int, start: float) -> VisitMade:
    at = start + (DAYS - 0.01) * SECONDS_A_DAY
    change = PageChange(PageStatus.COPIED, 1, at + SECONDS_A_DAY)
    return VisitMade(page, at, VisitOutcome.FAILED, 401, change=change)


def _about_hosts(start: float) -> list[Entry]:
    robots = f"User-agent: *\nDisallow: /private/\n# {SCRIPT}\n".encode()
    source = Source("https://a.org/sitemap.xml", "https://a.org", SourceKind.SITEMAP)
    seen = source.after_look(start, 20).after_look(start + SECONDS_A_DAY, 3)
    refused = RefusedAddresses(Refusal.TRAP, SCRIPT, b"", "https://a.org/1/1/1/")
    return [
        HostSeen("a.org", 2 / SECONDS_A_DAY, None, 0.2),
        HostSeen("b.org", None, None, 1.5, failures=9),
        HostBelieved("b.org", {"not_modified": (1.0, 9.0, 0.0, 0.0), "modified": (5.0, 1.0, 0, 0)}),
        RobotsRead("https://a.org", start, 200, robots, 2 / SECONDS_A_DAY),
        SourcesKnown([seen]),
        AddressesRefused("a.org", [_counted(refused)]),
    ]


def _counted(refused: RefusedAddresses) -> RefusedAddresses:
    from dataclasses import replace

    from recrawl.arrays.distinct import DistinctCount

    count = DistinctCount()
    count.add("https://a.org/1/1/1/")
    return replace(refused, sketch=count.dump())


def _jobs(start: float, random: np.random.Generator) -> list[ListingSynced]:
    """A listing of jobs that is synced every day."""
    listed: dict[str, dict[str, str]] = {}
    found, number = [], 0
    for day in range(DAYS - 1):
        gone = [key for key in listed if random.random() < 0.1]
        for key in gone:
            del listed[key]
        new = {}
        for _ in range(60 if not day else int(random.poisson(6))):
            number += 1
            city = str(random.choice(["Bern", "Basel", "Genève", SCRIPT]))
            new[f"job-{number}"] = {"title": f"Job {number}", "city": city}
        listed |= new
        at = start + (day + 0.5) * SECONDS_A_DAY
        outcome = SyncOutcome.DONE if day else SyncOutcome.FIRST
        found.append(
            ListingSynced(
                *("jobs", at, outcome, at + SECONDS_A_DAY),
                reason="recall",
                pages=1,
                items=len(listed),
                inserted=new,
                deleted=gone,
            )
        )
    return found


# Every tenth page is visited twice, three days apart; three of ten of these have changed by then.
_FILL = """
    create temp table every (page integer primary key);
    insert into every
        with recursive some(page) as (
            select 0 union all select page + 1 from some where page + 1 < :pages
        )
        select page from some;
    insert into hosts (id, name)
        select page + 1, 'h' || page || '.org' from every where page < :hosts;
    insert into pages (id, address, key, host, rule, found_at, status)
        select page + 1, address, key_of(address), host + 1, host, :start,
            case when page % 10 then :new else :copied end
        from (
            select page, page % :hosts as host,
                'https://h' || (page % :hosts) || '.org/s' || (page % 7) || '/p' || page as address
            from every
        );
    insert into visits (id, page, before, at, outcome, http, size)
        select page / 10 + 1, page + 1, 0, :start + page * 86400000 / :pages, :first, 200, 100
        from every where page % 10 = 0;
    insert into visits (id, page, before, at, outcome, http, size)
        select (:pages + page) / 10 + 1, page + 1, page / 10 + 1,
            :start + (3 * :pages + page) * 86400000 / :pages,
            case when page * 7919 % 100 < 30 then :changed else :same end, 200, 100
        from every where page % 10 = 0;
    insert into days select at / 86400000, outcome, count(*) from visits group by 1, 2;
"""


def large(folder: Path, pages: int = 1_000_000, hosts: int = 200) -> Path:
    """A crawl of many pages on some hosts, one in ten of them visited twice, the others new.

    The rows are made by SQLite itself, which takes some seconds; written by entries they would take
    minutes, and so would learning from visits to all of them.
    """
    sites = "".join(f'[[site]]\naddress = "https://h{host}.org/"\n' for host in range(hosts))
    text = f'agent = "bot (me@example.org)"\nbudget = "{pages}/1d"\n{sites}'
    file = settings_in(folder, text)
    create_store(folder / "recrawl.db").close()
    connection = apsw.Connection(str(folder / "recrawl.db"))
    seed = connection.execute("select value from meta where name = 'seed'").get

    def key(*values: apsw.SQLiteValue) -> int:
        return key_of(str(values[0]), seed)

    connection.create_scalar_function("key_of", key, 1)
    values = {
        "hosts": hosts,
        "pages": pages,
        "start": round((time.time() - 10 * SECONDS_A_DAY) * 1000),
        "new": int(PageStatus.NEW),
        "copied": int(PageStatus.COPIED),
        "first": int(VisitOutcome.FIRST),
        "changed": int(VisitOutcome.CHANGED),
        "same": int(VisitOutcome.SAME),
    }
    with connection:
        connection.execute(_FILL, values)
    connection.close()
    _save(folder)
    return file


def _save(folder: Path) -> None:
    """Save what was learned from all visits, as a crawl does when it is stopped."""
    settings = read_settings((folder / "recrawl.toml").read_text())
    path = folder / "recrawl.db"
    now = time.time() / SECONDS_A_DAY
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(settings, store, reader, now, random=np.random.default_rng(0))
        store.write([Checkpoint(crawl.dump())])


def one_more_change(folder: Path) -> None:
    """Write one more visit that found a change."""
    with open_for_writing(folder / "recrawl.db") as store:
        at = time.time()
        event = PageEvent(FeedKind.CHANGED, at, at - SECONDS_A_DAY, at - 3600.0)
        body = b"<html><body><p>Something else.</p></body></html>"
        copy = Copy(body[:8], body[-8:])
        made = VisitMade(0, at, VisitOutcome.CHANGED, 200, copy=copy, body=body, event=event)
        store.write([made])
