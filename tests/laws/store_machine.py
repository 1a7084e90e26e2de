"""A store beside a model of it: plain dictionaries that the same entries are written to."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    Erased,
    Found,
    HostSeen,
    PageChange,
    PageEvent,
    PagesChanged,
    PagesErased,
    PagesFound,
    PagesRemoved,
    Prune,
    RobotsRead,
    VisitMade,
)
from recrawl.entries.manifests import ListedChunk, Manifest
from recrawl.entries.records import FeedEvent
from recrawl.entries.sources import Source, SourceKind, SourceLooked, SourcesKnown
from recrawl.errors import InvalidParameter
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.retention import Retention
from recrawl.visits.status import FeedKind, PageStatus, RemovalReason, RobotsTag, VisitOutcome
from tests.store.made import NOON

if TYPE_CHECKING:
    from tests.laws.store_backends import Backend

_addresses = st.integers(0, 30).map("https://a.org/{}".format)
_hosts = st.sampled_from(["a.org", "b.org", "c.org"])
_seconds = st.integers(0, 10**7).map(lambda steps: NOON + steps / 8)
_changes = st.builds(
    PageChange,
    status=st.sampled_from(list(PageStatus)[: PageStatus.REMOVED]),
    failures=st.integers(0, 5),
    next_at_seconds=st.none() | _seconds,
)
_copies = st.builds(
    Copy,
    bytes_signature=st.binary(max_size=8),
    text_signature=st.none() | st.binary(max_size=8),
    etag=st.none() | st.text(st.characters(codec="latin-1"), max_size=5),
    modified_seconds=st.none() | st.integers(0, 2**33),
    robots=st.sampled_from([RobotsTag(number) for number in range(8)]),
    unavailable_after_seconds=st.none() | st.integers(0, 2**33),
)
_events = st.builds(
    PageEvent,
    kind=st.sampled_from(list(FeedKind)[FeedKind.NEW :]),
    latest_seconds=_seconds,
    earliest_seconds=st.none() | _seconds,
    likely_seconds=st.none() | _seconds,
    reason=st.none() | st.sampled_from(RemovalReason),
    target=st.none() | _addresses,
    gist=st.none() | st.sampled_from(["figures", "edited"]),
    version=st.none() | st.binary(min_size=16, max_size=16),
)
_manifests = st.lists(st.tuples(st.integers(0, 9), st.text(max_size=3)), max_size=3).map(
    lambda chunks: Manifest(
        1,
        tuple(
            ListedChunk(str(UUID(int=number)), f"{number:064x}", ("Tea", name), number)
            for number, name in chunks
        ),
    )
)
_visit_events = st.builds(
    lambda event, manifest: replace(event, manifest=manifest), _events, st.none() | _manifests
)
_KEPT_DAYS = 5.0
RETENTION = Retention(events=_KEPT_DAYS)
_made = st.builds(
    VisitMade,
    page=st.integers(0, 39),
    at_seconds=_seconds,
    outcome=st.sampled_from(VisitOutcome),
    http=st.none() | st.sampled_from([200, 304, 404, 503]),
    size=st.none() | st.integers(0, 2**40),
    took_seconds=st.none() | st.integers(0, 1000).map(lambda steps: steps / 8),
    share=st.none() | st.integers(0, 10_000).map(lambda parts: parts / 10_000),
    copy=st.none() | _copies,
    body=st.none() | st.sampled_from([b"", b"one", b"two" * 1000]),
    change=st.none() | _changes,
    event=st.none() | _visit_events,
)


class StoreMachine(RuleBasedStateMachine):
    """The same calls to a store and to a model of it; a subclass names the backend."""

    backend: ClassVar[Backend]

    def __init__(self) -> None:
        super().__init__()
        self.place = self.backend.place()
        self.address = self.place.__enter__()
        self.patch = pytest.MonkeyPatch()
        self.backend.shrink(self.patch)
        self.store = create_store(self.address, RETENTION)
        self.pages: dict[str, list[Any]] = {}  # host, rule, found_at, standing
        self.visits: list[VisitMade] = []
        self.copies: dict[int, Copy] = {}
        self.versions: dict[int, list[bytes]] = {}
        self.tombstones: dict[int, PageStatus] = {}
        self.events: list[FeedEvent] = []
        self.told = 0  # events, also those that were pruned
        self.listed: dict[int, bytes | None] = {}
        self.known: dict[int, tuple[bytes | None, int | None]] = {}  # version, manifest
        self.manifests: dict[int, tuple[int, Manifest]] = {}  # page, manifest
        self.sources: dict[str, Source] = {}
        self.hosts: dict[str, HostSeen] = {}
        self.robots: dict[tuple[str, str], RobotsRead] = {}
        self.checkpoint: tuple[dict[str, Any], int] | None = None

    def teardown(self) -> None:
        self.store.close()
        self.patch.undo()
        self.place.__exit__(None, None, None)

    @initialize(addresses=st.lists(_addresses, min_size=1, max_size=3))
    def begin(self, addresses):
        self.find([(address, "a.org", 0) for address in addresses], NOON)

    @rule(found=st.lists(st.tuples(_addresses, _hosts, st.integers(0, 300))), at=_seconds)
    def find(self, found, at):
        known = len(self.pages)
        for address, host, under in found:
            if address not in self.pages:
                self.pages[address] = [host, under, at, PageChange(PageStatus.NEW)]
        numbers = {address: number for number, address in enumerate(self.pages)}
        expected = Found([numbers[address] for address, _, _ in found], known)

        addresses, hosts, rules = list(zip(*found, strict=True)) or [(), (), ()]
        assert self.store.write([PagesFound(addresses, hosts, rules, at)]) == [expected]

    @rule(
        number=st.integers(0, 3),
        kind=st.sampled_from(SourceKind),
        found=st.lists(_addresses, max_size=5),
        at=_seconds,
        others=st.integers(0, 2),
        stale=st.booleans(),
    )
    def look(self, number, kind, found, at, others, stale):
        """A look and the pages that it found are written together, and added to other looks."""
        address = f"https://a.org/{number}"
        known = len(self.pages)
        for each in found:
            if each not in self.pages:
                self.pages[each] = ["a.org", 0, at, PageChange(PageStatus.NEW)]
        numbers = {each: page for page, each in enumerate(self.pages)}
        expected = Found([numbers[each] for each in found], known)
        before = self.sources.get(address)
        began = Source(address, "https://a.org", kind) if stale or before is None else before
        pages = PagesFound(found, ["a.org"] * len(found), [0] * len(found), at)

        entry = SourceLooked(began, pages, others)
        assert self.store.write([entry]) == [expected]
        self.sources[address] = entry.learned(before, len(self.pages) - known)

    @rule(number=st.integers(0, 3), at=_seconds)
    def fail_or_forget(self, number, at):
        address = f"https://a.org/{number}"
        if address in self.sources and number:
            self.sources[address] = failed = self.sources[address].after_failure(at)
            self.store.write([SourcesKnown([failed])])
        else:
            self.sources.pop(address, None)
            self.store.write([SourcesKnown(dropped=[address])])

    def stand(self, page, change):
        list(self.pages.values())[page][3] = change

    @rule(made=st.lists(_made, max_size=6))
    def visit(self, made):
        if any(visit.page >= len(self.pages) or visit.page in self.tombstones for visit in made):
            with pytest.raises(InvalidParameter):
                self.store.write(made)
            return
        begun = len(self.visits) + 1
        assert self.store.write(made) == list(range(begun, begun + len(made)))
        for visit in made:
            self.visits.append(visit)
            if visit.copy is not None:
                self.copies[visit.page] = visit.copy
            if visit.change is not None:
                self.stand(visit.page, visit.change)
            kept = self.versions.setdefault(visit.page, [])
            archived = visit.copy is None or RobotsTag.NOARCHIVE not in visit.copy.robots
            if not archived:
                kept.clear()
                self.drop_manifests(visit.page)
            elif visit.body is not None and kept[-1:] != [visit.body]:
                kept.append(visit.body)
            if visit.event is not None:
                manifest = visit.event.manifest if archived else None
                event = replace(visit.event, manifest=manifest)
                self.tell(event, visit.page, visit.at_seconds, visit, len(self.visits))

    def tell(self, event, page, at, made=None, number=None):
        """What the feed has afterwards, and who is listed with which version."""
        before, listed_before = self.known.get(page, (None, None))
        body = None if made is None else made.body
        brought = event.version if body is None else sha256(body).digest()[:16]
        version, listed = brought or before, listed_before
        if brought is not None and not event.kind.ends:
            listed = None if event.manifest is None else number
            if listed is not None:
                self.manifests[listed] = (page, event.manifest)
        self.known[page] = version, listed
        self.told += 1
        self.events.append(
            FeedEvent(
                *(self.told, event.kind, page, list(self.pages)[page], at),
                *(event.earliest_seconds, event.latest_seconds, event.likely_seconds, number),
                *(None if event.kind.ends else version, before),
                *(None if made is None else made.share, event.gist, event.reason, event.target),
                *(None if event.kind.ends else listed, listed_before),
            )
        )
        self.listed.pop(page, None)
        if not event.kind.ends:
            self.listed[page] = version

    @rule(
        page=st.integers(0, 39),
        change=_changes,
        under=st.none() | st.integers(0, 9),
        event=st.none() | _events,
    )
    def change(self, page, change, under, event):
        if page < len(self.pages) and page not in self.tombstones:
            self.stand(page, change)
            rules = None if under is None else [under]
            if under is not None:
                list(self.pages.values())[page][1] = under
            self.store.write([PagesChanged([page], [change], rules, [event])])
            if event is not None:
                self.tell(event, page, event.latest_seconds)

    @rule(
        pages=st.sets(st.integers(0, 39), max_size=3),
        erase=st.booleans(),
        at=_seconds,
        event=st.none() | _events,
    )
    def take_out(self, pages, erase, at, event):
        pages = [page for page in pages if page < len(self.pages)]
        entry = (PagesErased if erase else PagesRemoved)(pages, at, [event] * len(pages))
        (receipt,) = self.store.write([entry])
        erased = [page for page in pages if erase and self.status(page) != PageStatus.ERASED]
        assert isinstance(receipt, Erased)
        assert receipt.versions == sum(len(self.versions.get(page, [])) for page in erased)
        status = PageStatus.ERASED if erase else PageStatus.REMOVED
        for page in pages:
            self.tombstones[page] = max(self.tombstones.get(page, status), status)
            self.stand(page, PageChange(self.tombstones[page]))
            list(self.pages.values())[page][1] = -1
        for page in erased:
            self.sources.pop(list(self.pages)[page], None)
            self.copies.pop(page, None)
            self.versions.pop(page, None)
            self.known.pop(page, None)
            self.drop_manifests(page)
            if page in self.listed:
                self.listed[page] = None
        if event is not None:
            for page in pages:
                self.tell(event, page, event.latest_seconds)
        if erase:
            self.forget(pages)

    def forget(self, pages):
        """No event tells anything of erased pages but that there was one."""
        gone = {address for page, address in enumerate(self.pages) if page in pages}
        for place, event in enumerate(self.events):
            if event.page in pages:
                bare = event._replace(version=None, before=None, share=None)
                bare = bare._replace(gist=None, target=None)
                self.events[place] = bare._replace(manifest=None, manifest_before=None)
            elif event.target in gone:
                self.events[place] = event._replace(target=None)

    @rule(days=st.floats(0, 20))
    def prune_events(self, days):
        kept = NOON + days * 86_400
        now = kept + _KEPT_DAYS * 86_400
        self.store.write([Prune(now)])
        for page, copy in self.copies.items():
            if copy.unavailable_after_seconds is not None and copy.unavailable_after_seconds <= now:
                self.versions.pop(page, None)
                self.drop_manifests(page)
        fresh = [place for place, event in enumerate(self.events) if event.at_seconds >= kept]
        self.events = self.events[fresh[0] :] if fresh else []
        needed = {name for event in self.events for name in event[-2:]}
        needed |= {name for _, name in self.known.values()}
        self.manifests = {name: made for name, made in self.manifests.items() if name in needed}

    def drop_manifests(self, page):
        self.manifests = {name: made for name, made in self.manifests.items() if made[0] != page}

    @rule(
        found=st.lists(st.tuples(_addresses, st.integers(0, 300)), max_size=2),
        at=_seconds,
        event=st.none() | _events,
    )
    def find_again(self, found, at, event):
        self.find([(address, "a.org", under) for address, under in found], at)
        addresses, rules = list(zip(*found, strict=True)) or [(), ()]
        hosts, events = ["a.org"] * len(addresses), [event] * len(addresses)
        self.store.write([PagesFound(addresses, hosts, rules, at, again=True, events=events)])
        numbers = {address: number for number, address in enumerate(self.pages)}
        if event is not None:
            for address in addresses:
                self.tell(event, numbers[address], event.latest_seconds)
        for address, under in found:
            page = numbers[address]
            if self.tombstones.pop(page, None) is not None:
                status = PageStatus.COPIED if page in self.copies else PageStatus.NEW
                self.stand(page, PageChange(status))
                self.pages[address][1] = under

    def status(self, page):
        return list(self.pages.values())[page][3].status

    @rule(name=_hosts, delay=st.none() | st.floats(0, 1), failures=st.integers(0, 5))
    def see_host(self, name, delay, failures):
        self.hosts[name] = HostSeen(name, delay, failures=failures)
        self.store.write([self.hosts[name]])

    @rule(
        scheme=st.sampled_from(["http", "https"]),
        name=_hosts,
        at=_seconds,
        body=st.none() | st.binary(max_size=20),
        delay=st.none() | st.floats(0, 1),
    )
    def read_robots(self, scheme, name, at, body, delay):
        self.robots[scheme, name] = RobotsRead(f"{scheme}://{name}", at, 200, body, delay)
        self.store.write([self.robots[scheme, name]])

    @rule(parts=st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), max_size=3)))
    def save(self, parts):
        self.checkpoint = (parts, len(self.visits))
        self.store.write([Checkpoint(parts)])

    @rule()
    def reopen(self):
        self.store.close()
        self.store = open_for_writing(self.address, RETENTION)

    @rule()
    @precondition(lambda self: self.visits)
    def crash(self):
        self.store.abandon()
        self.store = open_for_writing(self.address, RETENTION)

    @invariant()
    def holds_what_the_model_holds(self):
        with open_store(self.address) as reader:
            hosts = {host.number: host for host in reader.hosts()}
            assert list(hosts) == list(range(len(hosts)))
            self.check_pages(reader.pages(), hosts)
            addresses = list(self.pages)
            assert reader.find_pages(addresses) == list(range(len(addresses)))
            for page, name in enumerate(reader.addresses(range(len(addresses)))):
                erased = self.tombstones.get(page) is PageStatus.ERASED
                assert name.startswith("erased:") if erased else name == addresses[page]
            told = {each.page: each.status for each in reader.tombstones()}
            assert told == self.tombstones
            tagged = {page: copy.robots for page, copy in self.copies.items() if copy.robots}
            assert dict(zip(*map(np.ndarray.tolist, reader.robots_tags()), strict=True)) == tagged
            self.check_visits(reader)
            self.check_feed(reader)
            assert reader.checkpoint() == self.checkpoint
            assert {each.address: each for each in reader.sources()} == self.sources
            self.check_robots(reader)
        for host in hosts.values():
            seen = self.hosts.get(host.name, HostSeen(host.name))
            assert (host.delay, host.failures) == (seen.delay, seen.failures)
        named = {*self.hosts, *(name for _, name in self.robots)}
        assert named <= {host.name for host in hosts.values()}

    def check_feed(self, reader):
        """Every event after any position, in order; the snapshot is what events lead to."""
        erased = {page for page, status in self.tombstones.items() if status is PageStatus.ERASED}
        expected = [
            each._replace(address="") if each.page in erased else each for each in self.events
        ]
        oldest = expected[0].number if expected else self.told + 1
        assert reader.feed_range()[1:] == (oldest, self.told)
        for after in {0, oldest, self.told}:
            found = [event for batch in reader.events(after, rows=2) for event in batch]
            assert found == [event for event in expected if event.number > after]
        since = expected[len(expected) // 2].at_seconds if expected else 0.0
        first = next((event.number for event in expected if event.at_seconds >= since), 0)
        outdated = [each for each in expected if each.number >= first and each.kind.outdates]
        oldest_at = expected[0].at_seconds if expected else None
        assert reader.count_changes(since) == (len(outdated), oldest_at)
        copies = {event.page: event for batch in reader.snapshot(rows=2) for event in batch}
        assert np.flatnonzero(reader.pages().listed).tolist() == list(copies) == sorted(self.listed)
        assert {page: copy.version for page, copy in copies.items()} == self.listed
        for page, copy in copies.items():
            assert copy.manifest == self.known.get(page, (None, None))[1]
        for name in range(len(self.visits) + 1):
            assert reader.manifest(name) == self.manifests.get(name, (0, None))[1]
        self.check_latest(reader, expected)

    def check_latest(self, reader, expected):
        """Of each page the newest event after a position, and the first."""
        after = expected[len(expected) // 3].number if expected else 0
        later = [event for event in expected if event.number > after]
        newest = {event.page: event.number for event in later}
        first = {event.page: event.number for event in reversed(later)}
        found, begun = reader.latest_events(after)
        assert found.tolist() == sorted(newest.values())
        assert dict(zip(found.tolist(), begun.tolist(), strict=True)) == {
            newest[page]: first[page] for page in newest
        }

    def check_robots(self, reader):
        """Each origin has its own, also where two are of one host."""
        light = {read.origin: read for read in reader.robots_read()}
        assert light.keys() == {read.origin for read in self.robots.values()}
        for read in self.robots.values():
            assert reader.robots(read.origin) == read
            assert light[read.origin] == replace(read, body=None)

    def check_pages(self, known, hosts):
        rows = list(self.pages.values())
        assert [hosts[number].name for number in known.host.tolist()] == [row[0] for row in rows]
        assert known.rule.tolist() == [row[1] for row in rows]
        assert known.found_at.tolist() == instants([row[2] for row in rows])
        assert known.status.tolist() == [row[3].status for row in rows]
        assert known.failures.tolist() == [row[3].failures for row in rows]
        assert known.next_at.tolist() == instants([row[3].next_at_seconds for row in rows])

    def check_visits(self, reader):
        batches = list(reader.visits(rows=5))
        for name, expected in {
            "page": [visit.page for visit in self.visits],
            "outcome": [visit.outcome for visit in self.visits],
            "http": [visit.http or 0 for visit in self.visits],
            "at": instants([visit.at_seconds for visit in self.visits]),
            "size": [-1 if visit.size is None else visit.size for visit in self.visits],
        }.items():
            assert [cell for batch in batches for cell in getattr(batch, name).tolist()] == expected
        for page in range(len(self.pages)):
            chain = [number for number, visit in enumerate(self.visits, 1) if visit.page == page]
            assert reader.history(page).visit.tolist() == chain
            assert reader.copies([page]) == [self.copies.get(page)]
            kept = [reader.body(version.digest) for version in reader.versions(page)]
            assert kept == self.versions.get(page, [])


def instants(seconds):
    """Epoch seconds as numpy lists them; None for NaT."""
    whole = [None if one is None else round(one * 1e6) for one in seconds]
    return [None if one is None else np.datetime64(one, "us").tolist() for one in whole]
