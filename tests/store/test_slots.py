"""A slot of a store is a store: what a crawl reads of it is what it wrote, whoever else writes."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    HintsGiven,
    HintsTaken,
    HostBelieved,
    HostSeen,
    PageChange,
    PageEvent,
    PagesChanged,
    PagesFound,
    PagesRemoved,
    RobotsRead,
    VisitMade,
)
from recrawl.entries.filtering import ShapeJudged
from recrawl.entries.freshness import FreshnessNoted
from recrawl.entries.sources import Source, SourceKind, SourceLooked, SourcesKnown
from recrawl.entries.store import ReadStore
from recrawl.errors import InvalidParameter, StoreLocked
from recrawl.parse.addresses import host_of
from recrawl.parse.store_addresses import read_address
from recrawl.plan.shared_price import SlotDemand, SpendingCurve
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.settings.slots import SlotScope
from recrawl.store import create_store, open_store
from recrawl.store.postgres import connections
from recrawl.store.retention import Retention
from recrawl.store.slots.leases import SlotLease, lease_slots, open_slot
from recrawl.store.slots.read_slot import AS_IS, ReadSlot
from recrawl.visits.status import FeedKind, PageStatus, VisitOutcome
from tests.servers import postgres

if TYPE_CHECKING:
    from recrawl.store.slots.leases import SlotLeases

SITES = [f"https://site{number}.org" for number in range(6)]
SETTINGS = Settings(
    "test-bot (me@example.org)", rules=tuple(Rule(f"{site}/") for site in SITES), slots=2
)
SCOPES = SlotScope.all_of(SETTINGS, 2)
NEVER = 1e18  # seconds, when a lease of these tests is over


@pytest.fixture
def place():
    with postgres.divided_store(2) as place:
        yield place


def held(place, slot):
    leases = lease_slots(place, 600.0)
    fence = taken(leases, slot)
    leases.close()
    return SlotLease(fence, 600.0, NEVER)


def taken(leases: SlotLeases, slot: int) -> int:
    """Fence of a slot that is free."""
    fence = leases.take(slot)
    assert fence is not None
    return fence


def opened(stack, place, slot):
    scope = SCOPES[slot]
    return stack.enter_context(open_slot(place, scope, held(place, slot), Retention()))


def entries_of(scope, turn, pages):
    """What a crawl of a slot writes in one of its turns, by its own numbers.

    Args:
        scope: The slot.
        turn: Number of the turn.
        pages: How many pages it has before.
    """
    settings, at = scope.settings, 1000.0 * (turn + 1)
    site = settings.rules[turn % len(settings.rules)].address
    new = [f"{site}{turn}/{name}" for name in "abc"]
    rules = settings.rules_of(new)
    found = PagesFound(new, [host_of(each) for each in new], rules, at, depth=turn % 2)
    hub = Source(site + "feed", site.rstrip("/"), SourceKind.FEED)
    first, last = pages, pages + 2
    body = f"<p>turn {turn} of slot {scope.slot}</p>".encode()
    event = PageEvent(FeedKind.NEW, at)
    yield SourceLooked(hub, found) if turn % 2 else found
    yield VisitMade(
        *(first, at, VisitOutcome.FIRST, 200),
        copy=Copy(body[:8].ljust(8), body[-8:].rjust(8), etag=f"{turn}"),
        body=body,
        masks=f"mask {turn}",
        change=PageChange(),
        event=event,
    )
    yield VisitMade(last, at + 1, VisitOutcome.FAILED, 500, change=PageChange(PageStatus.NEW, 1))
    yield HostSeen(host_of(site), delay=0.1 * turn, latency_seconds=0.5)
    yield HostBelieved(host_of(site), {"etag": (1.0, 2.0, 3.0, 4.0 + turn)}, f"masks {turn}")
    yield RobotsRead(site.rstrip("/"), at, 200, b"User-agent: *", None)
    yield ShapeJudged(host_of(site), f"/{turn}/*", 3, 1)
    yield SourcesKnown([Source(site + "sitemap.xml", site.rstrip("/"), SourceKind.SITEMAP)])
    if turn > 2:
        yield VisitMade(turn, at + 2, VisitOutcome.SAME, 200, age=1.0)
        yield PagesChanged([first + 1], rules=[-1])
        yield Checkpoint({"pages": np.arange(last), "turn": turn})
    if turn == 4:
        yield PagesRemoved([1], at)


def write_all(store, made):
    """Write entries as a crawl does, which visits pages once it knows their numbers."""
    return [*store.write(made[:1]), *store.write(made[1:])]


def plain(value):
    """A value that is compared by what it holds."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype.kind), list(map(str, value))]  # nan is nan
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def without_positions(found):
    """Visits without their numbers, which are those of the whole store."""
    return [plain(replace(each, visit=np.arange(len(each.visit)))) for each in found]


def read(store):
    """All that a crawl reads of its store."""
    pages = np.arange(store.page_count())
    numbers = pages.tolist()
    hosts = list(store.hosts())
    saved = store.checkpoint()
    everything = {
        "pages": store.pages(),
        "addresses": store.addresses(numbers),
        "all": [each for some in store.all_addresses(2) for each in some],
        "found": store.find_pages([*store.addresses(numbers), "https://nobody.org/"]),
        "depth": [store.depth(page) for page in numbers],
        "rules": store.rules(),
        "rules and hosts": store.rules_and_hosts(pages[::-1]),
        "tombstones": [replace(each, visit=0) for each in store.tombstones()],
        "waiting": [store.waiting_pages(host.number) for host in hosts],
        "duplicates": store.duplicates(),
        "signatures": store.signatures(),
        "shapes": sorted(map(str, store.address_shapes())),
        "copies": store.copies(numbers),
        "masks": store.masks(numbers),
        "moves": store.moves(numbers),
        "versions": [store.versions(page) for page in numbers],
        "bodies": [store.newest_body(page) for page in numbers],
        "lines": [store.newest_lines(page) for page in numbers],
        "latest": store.latest_visits(pages),
        "responses": store.latest_responses(pages),
        "counts": store.recent_visit_counts(pages, 3000.0),
        "hosts": hosts,
        "by name": [store.host(each.name) for each in hosts],
        "robots": store.robots_read(),
        "sources": store.sources(),
        "delays": store.host_delays(np.arange(len(hosts))),
        "host masks": store.host_masks(),
        "signals": store.signal_records(),
        "etags": store.signal_records_of("etag"),
        "parts": None if saved is None else dict(saved.parts),
        "subscriptions": store.subscriptions(),
    }
    everything = {name: plain(each) for name, each in everything.items()}
    everything["history"] = without_positions([store.history(page) for page in numbers])
    everything["visits"] = rows_of(store.visits())
    everything["outcomes"] = rows_of(store.outcomes())
    return everything


def rows_of(found):
    """Pages, instants and outcomes of visits, a row each."""
    rows = (zip(each.page, each.at, each.outcome, strict=True) for each in found)
    return [tuple(map(str, row)) for some in rows for row in some]


def in_order(found):
    """Sources in the order of their addresses: a store has them in that of all of them."""
    return found | {"sources": sorted(found["sources"], key=lambda each: each["address"])}


def test_a_slot_reads_as_a_store_of_its_own(place, tmp_path):
    scopes = SCOPES
    assert all(scope.settings.rules for scope in scopes)
    with ExitStack() as stack:
        slots = [opened(stack, place, slot) for slot in range(2)]
        alone = [stack.enter_context(create_store(tmp_path / f"{slot}.db")) for slot in range(2)]
        for turn in range(6):
            for scope, (written, _), single in zip(scopes, slots, alone, strict=True):
                made = list(entries_of(scope, turn, single.page_count()))
                ours, theirs = write_all(written, made), write_all(single, made)
                found = [plain(each) for each in ours if is_dataclass(each)]
                assert found == [plain(each) for each in theirs if is_dataclass(each)]
                assert written.page_count() == single.page_count()

        for number, (_, reader) in enumerate(slots):
            with open_store(tmp_path / f"{number}.db") as whole, reader.clone() as clone:
                assert in_order(read(reader)) == in_order(read(whole))
                assert in_order(read(clone)) == in_order(read(whole))


def test_everything_that_names_pages_or_hosts_is_translated_or_refused():
    names = {name for name in vars(ReadStore) if not name.startswith("_")}
    own = {name for name in vars(ReadSlot) if not name.startswith("_")}
    assert own.isdisjoint(AS_IS)
    assert names >= AS_IS
    # What nobody asks of a slot: views of the whole crawl for people and programs.
    assert names - own - AS_IS == {
        *("page_counts", "pages_with_copy", "pages_without_content", "appointed_pages"),
        *("refused_addresses", "robots_tags", "shells", "failing_pages", "events"),
        *("latest_events", "first_event_since", "count_changes", "snapshot", "check"),
        *("listings_of_page", "object_events", "first_object_event_since", "object_snapshot"),
        *("pages_holding", "pages_by_address", "saved_slots", "slot"),
    }


def test_numbers_of_the_whole_store_have_no_gaps(place):
    with ExitStack() as stack:
        for slot in (0, 1):
            written, _ = opened(stack, place, slot)
            scope = SCOPES[slot]
            for turn in range(3):
                write_all(written, list(entries_of(scope, turn, written.page_count())))
    with postgres.reading(place) as reader:
        assert [each for each in reader.check() if each.found] == []
        assert reader.page_count() == 18
        visits = [number for some in reader.visits() for number in some.visit.tolist()]
        assert visits == list(range(1, len(visits) + 1))
        events = [each.number for some in reader.events() for each in some]
        assert events == list(range(1, len(events) + 1))


def test_whoever_lost_a_slot_writes_nothing(place):
    scope = SCOPES[0]
    with ExitStack() as stack:
        late, _ = opened(stack, place, 0)
        write_all(late, list(entries_of(scope, 0, 0)))
        leases = lease_slots(place, 600.0)
        with open_store(place) as reader:
            before = reader.last_visit()
        # The lease is over by the server's clock, and another worker takes the slot.
        _end_leases(place)
        fence = leases.take(0)
        leases.close()
        assert fence == 2

        with pytest.raises(StoreLocked, match="slot 0 is another worker's by now"):
            write_all(late, list(entries_of(scope, 1, 3)))
        with open_store(place) as reader:
            assert reader.last_visit() == before


def _end_leases(place):
    from recrawl.store.postgres.connections import connect

    with connect(read_address(place)) as connection:
        connection.execute("update slots set until = clock_timestamp() - interval '1 second'")


def test_a_slot_that_is_held_is_not_taken(place):
    one, two = (lease_slots(place, 600.0) for _ in range(2))
    fence = taken(one, 0)
    assert two.take(0) is None
    assert one.renew({0: fence}).held == {0}
    assert two.renew({0: fence}).held == set()
    one.release(0, fence)
    assert two.take(0) == fence + 1
    assert one.renew({0: fence}).held == set()
    assert set(two.renew({0: fence + 1}).free) == {1}
    for each in (one, two):
        each.leave()
        each.close()


def test_whoever_joins_waits_for_a_long_write_and_holds_nobody_up(place, monkeypatch):
    """Locks are taken in one order: first the right to write, then the slots."""
    monkeypatch.setattr(connections, "_LOCK_MILLISECONDS", 300)
    with ExitStack() as stack:
        written, _ = opened(stack, place, 0)
        joins, renews = (stack.enter_context(closing(lease_slots(place, 600.0))) for _ in range(2))
        threads = stack.enter_context(ThreadPoolExecutor(1))
        with written.transaction():
            joined = threads.submit(joins.prepare, len(SCOPES))
            time.sleep(1.0)  # longer than a lock is waited for otherwise
            assert not joined.done()
            renews.renew({})
        joined.result(timeout=60)


def test_what_slots_would_spend_and_have_learned_is_read_by_all(place):
    one, two = (lease_slots(place, 600.0) for _ in range(2))
    fence = taken(one, 0)
    curve = SpendingCurve(np.array([0.5, 1.0, 4.0]), np.array([20.0, 10.0, 0.5]))
    one.publish({0: (fence, SlotDemand(curve, 7, 3, learned=(5.0, 0.25, 1.5, 4.0)))})
    one.publish({1: (fence + 1, SlotDemand(curve, 9, 9))})  # a fence that nobody has
    said = two.demands()
    (demand,) = said.values()

    assert list(said) == [0]
    assert (demand.pages, demand.spent, demand.live) == (7, 3, True)
    assert demand.learned == (5.0, 0.25, 1.5, 4.0)
    assert demand.curve.prices.tolist() == [0.5, 1.0, 4.0]
    assert demand.curve.visits.tolist() == [20.0, 10.0, 0.5]
    for each in (one, two):
        each.leave()
        each.close()


def test_pages_of_other_slots_are_refused(place):
    scope = SCOPES[0]
    other = next(site for site in SITES if not scope.has(f"{site}/"))
    with ExitStack() as stack:
        written, _ = opened(stack, place, 0)

        with pytest.raises(InvalidParameter, match="does not lie in slot 0"):
            written.write([PagesFound([f"{other}/"], [host_of(f"{other}/")], [0], 0.0)])
        with pytest.raises(InvalidParameter, match="slot 0 has 0 pages"):
            written.write([VisitMade(0, 0.0, VisitOutcome.FIRST)])


def test_a_slot_takes_its_own_hints(place):
    scope = SCOPES[0]
    pages = [f"{site}/x" for site in SITES]
    own = [each for each in pages if scope.has(each)]
    with ExitStack() as stack:
        (mine, reader), (_, other) = (opened(stack, place, slot) for slot in range(2))
        mine.write([HintsGiven(pages, 0.0)])
        found = reader.hints(0, 100)
        assert [address for *_, address in found] == own

        mine.write([HintsTaken(found[-1][0])])

        assert reader.hints(0, 100) == []
        assert [address for *_, address in other.hints(0, 100)] == [
            each for each in pages if each not in own
        ]


def test_freshness_of_the_crawl_is_that_of_all_slots(place):
    with ExitStack() as stack:
        (one, reader), (two, _) = (opened(stack, place, slot) for slot in range(2))
        one.write([FreshnessNoted(3600.0, 10, 1.0, 0.9, 1.0)])
        two.write([FreshnessNoted(3600.0, 30, 0.6, 0.5, 0.8)])

        (noted,) = reader.freshness_noted()

    assert (noted.copies, noted.fresh) == (40, pytest.approx(0.7))
    assert (noted.low, noted.high) == (pytest.approx(0.6), pytest.approx(0.85))
