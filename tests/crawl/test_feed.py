"""What a crawl tells readers of its feed, from servers that change, vanish, move and come back."""

import asyncio

import pytest

from recrawl.clock import ScaledClock
from recrawl.crawl.removal import PageSelection, erase_pages, remove_pages
from recrawl.entries.records import digest_of
from recrawl.scheduler import Scheduler
from recrawl.store import open_for_writing, open_store
from recrawl.visits.status import VisitOutcome
from tests.crawl.crawls import START, crawl_once, page_rule, settings, visits
from tests.scheduler.test_scheduler import HandClock
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import PatientClock

FIRST, SECOND = b"<p>Tea costs 5 euros</p>", b"<p>Tea costs 6 euros</p>"
ROBOTS = b"User-agent: *\nDisallow: /p\n"


def events_in(folder):
    with open_store(folder / "recrawl.db") as reader:
        return [event for batch in reader.events() for event in batch]


def listed_in(folder):
    with open_store(folder / "recrawl.db") as reader:
        return {copy.address: copy.version for batch in reader.snapshot() for copy in batch}


def told(events):
    return [(event.kind.label, event.reason and event.reason.label) for event in events]


def fed_by(tmp_path, behaviour, count, paths=("/p",), **more):
    """Events of a page that behaves so."""

    async def crawl():
        async with FaultServer({"/p": behaviour, "/q": answers.page(FIRST)}) as server:
            rules = [page_rule(server, path) for path in paths]
            await visits(tmp_path, settings(*rules, **more), count)
            return server.address("/p"), server.address("/q")

    addresses = asyncio.run(crawl())
    return events_in(tmp_path), addresses


def test_new_and_changed_tell_versions_share_gist_and_gap(tmp_path):
    async def crawl():
        async with FaultServer({"/p": answers.page(FIRST)}) as server:
            asked = settings(page_rule(server, "/p"))
            await visits(tmp_path, asked, 2)
            server.pages["/p"] = answers.page(SECOND)
            await visits(tmp_path, asked, 1, PatientClock(1.0, START + 10))
            return server.address("/p")

    address = asyncio.run(crawl())

    new, changed = events_in(tmp_path)
    assert told([new, changed]) == [("new", None), ("changed", None)]
    assert (new.address, new.page, new.visit, new.number) == (address, 0, 1, 1)
    assert (new.version, new.before) == (digest_of(FIRST), None)
    assert (changed.version, changed.before) == (digest_of(SECOND), digest_of(FIRST))
    assert (changed.share, changed.gist) == (0.25, "figures")
    with open_store(tmp_path / "recrawl.db") as reader:
        made = reader.history(0)
    last = made.visit.tolist().index(changed.visit)
    gap = made.at[last - 1 : last + 1].astype("datetime64[ms]").astype(float) / 1000
    earliest, latest = changed.earliest_seconds, changed.latest_seconds
    assert [earliest, latest] == pytest.approx(gap, abs=0.01)
    assert earliest < changed.likely_seconds < latest
    assert listed_in(tmp_path) == {address: digest_of(SECOND)}


def test_a_page_is_removed_when_it_is_found_gone_twice_and_then_back(tmp_path):
    """An hour passes before the second look; the copy that is back is the one that was."""
    gone = answers.status(404, b"<p>no such page</p>")
    behaviour = answers.in_turn(answers.page(FIRST), gone, gone, gone, answers.page(FIRST))

    events, (address, _) = fed_by(tmp_path, behaviour, 5)

    assert told(events) == [("new", None), ("removed", "gone"), ("back", None)]
    assert [event.visit for event in events] == [1, 3, 5]
    assert (events[1].version, events[1].before) == (None, digest_of(FIRST))
    assert events[2].version == digest_of(FIRST)
    assert listed_in(tmp_path) == {address: digest_of(FIRST)}


def test_a_page_that_is_gone_once_tells_nothing(tmp_path):
    gone = answers.status(404, b"<p>no such page</p>")
    trouble = answers.status(500)
    behaviour = answers.in_turn(answers.page(FIRST), gone, answers.page(FIRST), trouble)

    events, _ = fed_by(tmp_path, behaviour, 4)

    assert told(events) == [("new", None)]


def test_a_page_that_was_never_there_is_not_removed(tmp_path):
    gone = answers.status(404, b"<p>no such page</p>")

    events, _ = fed_by(tmp_path, gone, 4)

    assert events == []


def test_a_page_that_moves_says_where_to(tmp_path):
    behaviour = answers.in_turn(answers.page(FIRST), answers.redirect("/q"))

    events, (old, new) = fed_by(tmp_path, behaviour, 6, paths=("/p", "/q"))

    moved = next(event for event in events if event.kind.ends)
    assert told([moved]) == [("moved", "moved")]
    assert (moved.address, moved.target) == (old, new)
    assert listed_in(tmp_path) == {new: digest_of(FIRST)}


def test_a_page_that_robots_txt_forbids_is_removed_and_comes_back(tmp_path):
    """A robots.txt is asked for once a day, so a crawl a week later finds another one."""

    async def crawl():
        async with FaultServer({"/p": answers.page(FIRST)}) as server:
            asked = settings(page_rule(server, "/p", interval=1.0))
            for week, robots in enumerate([b"", ROBOTS, b""]):
                server.pages["/robots.txt"] = answers.page(robots, content_type="text/plain")
                await crawl_once(tmp_path, asked, ScaledClock(86_400.0, START + 7 * week))

    asyncio.run(crawl())

    expected = [("new", None), ("removed", "refused"), ("back", None)]
    assert told(events_in(tmp_path)) == expected


def test_a_block_that_leaves_the_settings_ends_its_pages_and_one_that_returns_brings_them_back(
    tmp_path,
):
    async def crawl():
        async with FaultServer({"/p": answers.page(FIRST), "/q": answers.page(SECOND)}) as server:
            both = [page_rule(server, path) for path in ("/p", "/q")]
            for day, rules in enumerate([both, both[1:], both]):
                asked = settings(*rules)
                await crawl_once(tmp_path, asked, ScaledClock(86_400.0, START + day / 1000))
            return both[0].address

    address = asyncio.run(crawl())

    events = [event for event in events_in(tmp_path) if event.address == address]
    assert told(events) == [("new", None), ("removed", "unlisted"), ("back", None)]
    assert events[2].version == digest_of(FIRST)
    assert set(listed_in(tmp_path).values()) == {digest_of(FIRST), digest_of(SECOND)}


def test_versions_are_told_though_none_is_kept(tmp_path):
    behaviour = answers.in_turn(answers.page(FIRST), answers.page(SECOND * 9))

    (new, changed), _ = fed_by(tmp_path, behaviour, 3, versions=0)

    assert (new.version, changed.before) == (digest_of(FIRST), digest_of(FIRST))
    assert changed.version == digest_of(SECOND * 9)


def test_pages_taken_out_by_a_person_are_told_and_erased_ones_without_a_trace(tmp_path):
    events, (address, other) = fed_by(tmp_path, answers.page(FIRST), 4, paths=("/p", "/q"))
    path = tmp_path / "recrawl.db"
    with open_for_writing(path) as store, open_store(path) as reader:
        chosen = PageSelection.of(reader, [address, other])
        remove_pages(store, reader, PageSelection.of(reader, [address]), START * 86_400 + 1e6)
        erase_pages(store, reader, chosen, START * 86_400 + 2e6, {})

    ends = events_in(tmp_path)[len(events) :]
    assert [event.reason.label for event in ends] == ["removed", "erased", "erased"]
    assert all(event.at_seconds == event.likely_seconds for event in ends)
    assert {event.address for event in events_in(tmp_path)} == {""}
    assert {event.version for event in events_in(tmp_path)} == {None}
    assert listed_in(tmp_path) == {}


def test_a_crawler_of_ones_own_tells_the_feed_too(tmp_path):
    """Without bodies there are no versions; all else is told, and goes on after a restart."""
    from tests.scheduler.test_scheduler import PAGES, SETTINGS

    clock, path = HandClock(), tmp_path / "recrawl.db"
    found = [None, VisitOutcome.CHANGED, VisitOutcome.GONE, VisitOutcome.GONE]
    for outcome in found:
        with Scheduler.open(path, settings=SETTINGS, clock=clock) as scheduler:
            scheduler.add(PAGES[:1])
            while not (due := scheduler.due()):
                clock.at = max(scheduler.status().next_visit, clock.at + 1e-6)
            scheduler.seen(due[0], outcome=outcome)

    events = events_in(tmp_path)
    assert told(events) == [("new", None), ("changed", None), ("removed", "gone")]
    assert [event.visit for event in events] == [1, 2, 4]
