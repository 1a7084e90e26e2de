"""A live crawl: a snapshot that goes on, with hosts, trust, announcements and an agenda.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.entries.entries import Checkpoint, PagesChanged, PagesFound
from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier
from recrawl.frontier.host_table import HostTable
from recrawl.frontier.sources import SourceTable
from recrawl.parse.addresses import host_of
from recrawl.policies.checkpoint import dump_state
from recrawl.policies.recrawl.beliefs import ExpectedFreshness, freshness
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.state import RecrawlState
from recrawl.settings.pools import NOTHING, fingerprint, terms
from recrawl.settings.rules import NO_RULE
from recrawl.state import sampled
from recrawl.state.announcements import ANNOUNCED, Announcements
from recrawl.state.checkpoint import (
    FINGERPRINT,
    PAGES,
    POLICY,
    fitting,
    pool_numbers,
    pool_parts,
    some_parts,
    with_pool,
    with_samples,
)
from recrawl.state.contents import KEYS, ContentIndex
from recrawl.state.events import told_event
from recrawl.state.false_changes import PAIRS
from recrawl.state.hints import HEARD, HintPosition
from recrawl.state.page_validators import VALIDATED
from recrawl.state.pages import known_pages, paying_pools, recent_visits
from recrawl.state.refitting import refitted
from recrawl.state.sampled import draw_samples
from recrawl.state.shapes import ShapeBook
from recrawl.state.snapshot import replay, rules_anew
from recrawl.state.sources import wanted_sources
from recrawl.state.trust import Trust
from recrawl.state.weights import Factors, look_up
from recrawl.units import SECONDS_A_DAY, instant_after_epoch
from recrawl.visits.status import FeedKind, PageStatus, RemovalReason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.policies.policy import Policy
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot


_PAGES_AT_A_TIME = 1 << 17
_SMALL_PART = 32  # of the pages: so many are read one by one


@dataclass(slots=True)
class Crawl:
    """A crawl as it stands.

    Attributes:
        settings: What a person asks of it.
        policy: What decides when pages are visited.
        agenda: What to do next.
        hosts: Hosts by name, and when each may be asked.
        last: When each page was last compared with its copy, in days after 1970; nan if never.
        visit: Number of the last visit that the policy knew of when it was opened.
        trust: How far hosts and pages are believed.
        discovered: When each site was last surveyed for sources of new pages, by its address.
        sources: Sources of new pages.
        announcements: What hosts say of changes.
        listed: Whether readers of the change feed have a copy of each page.
        named: How many of its pages the file of weights names.
        shapes: Which shapes of addresses lead nowhere.
        contents: Which pages show the same.
        unsaved: How many visits no checkpoint knew of when it was opened.
        hints: How far it has come with the hints of its store.
    """

    settings: Settings
    policy: Policy[Any]
    agenda: Agenda
    hosts: HostTable
    last: Floats
    visit: int
    trust: Trust
    discovered: dict[str, float] = field(default_factory=dict)
    sources: SourceTable = field(default_factory=SourceTable)
    announcements: Announcements = field(default_factory=Announcements)
    listed: Bools = field(default_factory=lambda: np.empty(0, np.bool_))
    named: int = 0
    shapes: ShapeBook = field(default_factory=ShapeBook)
    contents: ContentIndex = field(default_factory=ContentIndex)
    unsaved: int = 0
    hints: HintPosition = field(default_factory=HintPosition)

    def take_in(self, addresses: Sequence[str], host: Ints, term: Ints) -> None:
        """Let the agenda know of pages that were found, and make room for them."""
        pages = len(addresses)
        factors = look_up(self.settings, addresses)
        self.agenda.found(host, term, factors.factor)
        self.named += factors.named
        self.last = append_rows(self.last, np.full(pages, np.nan))
        self.listed = append_rows(self.listed, np.zeros(pages, np.bool_))
        self.trust.grow(pages)
        self.announcements.grow(pages)
        self.contents.grow(pages)

    def dump(self) -> dict[str, Any]:
        """Parts of a checkpoint; arrays are copies."""
        parts: dict[str, Any] = {
            FINGERPRINT: fingerprint(self.settings),
            POLICY: self.settings.policy,
            HEARD: self.hints.heard,
            **self.trust.false_changes.dump(),
            **self.trust.validators.dump(),
            **self.announcements.dump(),
            **Factors(self.agenda.factors, self.named).dump(self.settings),
            **(self.contents.dump() if _finds_duplicates(self.settings) else {}),
        }
        for number, state in self._states():
            pages = self.agenda.pages(number).astype(np.int32)
            parts |= with_pool(number, {PAGES: pages, **dump_state(self.policy, state)})
        if len(self.agenda) > sampled.LOOKED_AT and isinstance(self.policy, Recrawl):
            agenda, numbers = self.agenda, pool_numbers(parts)
            pools = {number: pool_parts(parts, number) for number in numbers}
            samples = draw_samples(self.settings, pools, agenda.have_copies, agenda.terms_of)
            parts |= with_samples(samples)
        return parts

    def expected_fresh(self, now: float) -> tuple[float, int]:
        """Copies that are expected to be fresh at an instant, and how many copies there are.

        nan where the policy is one that knows no rates.
        """
        instant, policy = instant_after_epoch(now), self.policy
        fresh, count = 0.0, 0
        for _, state in self._states():
            rows = np.arange(len(state.last))
            count += len(rows)
            if isinstance(policy, Recrawl):
                fresh += float(np.sum(policy.fresh(state, rows, instant)))
            else:
                fresh = np.nan
        return fresh, count

    def freshness(self, now: float, most: int) -> ExpectedFreshness:
        """How fresh the copies are expected to be at an instant, and how sure that is.

        Args:
            now: The instant, in days after 1970.
            most: Copies that are looked at; where there are more, some are drawn at random.
        """
        found = ExpectedFreshness()
        for pool, state in self._states():
            if not isinstance(state, RecrawlState):
                continue
            rows = np.flatnonzero(self.agenda.have_copies(self.agenda.pages(pool)))
            count = len(rows)
            if count > most:
                rows = np.sort(np.random.default_rng(count).choice(rows, most, replace=False))
            found += freshness(state, now, rows=rows, of=count)
        return found

    def _states(self) -> list[tuple[int, Any]]:
        """What the policy knows of each pool that has a copy, by the pool's number."""
        frontiers = ((pool, self.agenda.frontier(pool)) for pool in range(self.agenda.pools - 1))
        return [(pool, each.state) for pool, each in frontiers if len(each)]


def open_crawl(
    settings: Settings,
    store: WriteStore,
    reader: ReadStore,
    now: float,
    *,
    random: np.random.Generator,
    on_replay: Callable[[int], object] = int,
) -> Crawl:
    """Take up the crawl of a store.

    Args:
        settings: What a person asks of it.
        store: Where it was written down.
        reader: The same, for reading.
        now: The current time, in days after 1970.
        random: Breaks ties, spreads intervals, and draws the visits that are checked.
        on_replay: Called now and then with how many visits have been replayed.
    """
    discovered = _discovered(settings, reader)
    checkpoint = fitting(settings, reader)
    if checkpoint is None:
        checkpoint = _assign_rules(settings, store, reader, now)
    snapshot = replay(
        settings,
        reader,
        now,
        columns=reader.pages(),
        checkpoint=checkpoint,
        random=random,
        on_replay=on_replay,
    )
    hosts = HostTable(
        delay=settings.delay, together=settings.together, delays=settings.delays, began=now
    )
    hosts.resume(reader.hosts())
    crawl = Crawl(
        settings,
        snapshot.policy,
        open_agenda(snapshot, reader, hosts, random),
        hosts,
        last=snapshot.last,
        visit=snapshot.visit,
        trust=Trust(hosts, random),
        discovered=discovered,
        sources=SourceTable(wanted_sources(settings, reader)),
        listed=snapshot.columns.listed,
        named=snapshot.factors.named,
        shapes=ShapeBook(reader.address_shapes()),
        unsaved=snapshot.since,
        hints=HintPosition(snapshot.hints.last, unsaved=len(snapshot.hints)),
    )
    crawl.trust.grow(len(snapshot.last))
    crawl.trust.load(reader)
    crawl.announcements.grow(len(snapshot.last))
    crawl.announcements.resume(some_parts(reader, *ANNOUNCED))
    if checkpoint is None:
        crawl.announcements.repeat_all()
    crawl.announcements.unvisited[snapshot.replayed] = 0
    crawl.announcements.hints[snapshot.replayed] = 0
    for each in snapshot.hints.batches:  # the policy has heard them
        crawl.announcements.hinted(each.pages, each.at)
    crawl.contents.grow(len(snapshot.last))
    if _finds_duplicates(settings):
        _load_contents(crawl.contents, snapshot, reader)
    return crawl


def open_agenda(
    snapshot: Snapshot, store: ReadStore, hosts: HostTable, random: np.random.Generator
) -> Agenda:
    """The agenda of a crawl that goes on from a snapshot."""
    agenda = Agenda(hosts, terms(snapshot.settings), random)
    for pool in snapshot.pools:
        agenda.add_pool(pool.frontier, pool.budget, snapshot.now)
    agenda.add_pool(Frontier(snapshot.policy, NOTHING, random), NOTHING, snapshot.now)
    pages = [*(pool.pages for pool in snapshot.pools), np.empty(0, np.int64)]
    agenda.resume(known_pages(snapshot), pages, [snapshot.last[each] for each in pages])
    visits = recent_visits(snapshot, store)
    paid_by = paying_pools(snapshot)[visits.page]
    for number in range(len(snapshot.pools)):
        ours = visits.take(paid_by == number)
        agenda.budget_pool(number).bucket.resume(ours.at, ours.first, snapshot.now)
    return agenda


def _finds_duplicates(settings: Settings) -> bool:
    return any(rule.filters.duplicates for rule in settings.rules)


def _load_contents(contents: ContentIndex, snapshot: Snapshot, reader: ReadStore) -> None:
    """What pages show: as a checkpoint knows it and by the copies made since, or by all copies."""
    host, since = snapshot.columns.host, np.flatnonzero(snapshot.replayed)
    few = len(since) <= max(len(host) // _SMALL_PART, _PAGES_AT_A_TIME // _SMALL_PART)
    if not few or not contents.resume(some_parts(reader, KEYS)):
        pages, signatures = reader.signatures()
        contents.load(pages, host[pages], signatures)
        return
    for page, copy in zip(since.tolist(), reader.copies(since.tolist()), strict=True):
        if copy is not None:
            contents.put(page, host=int(host[page]), signature=copy.signature)


def _discovered(settings: Settings, reader: ReadStore) -> dict[str, float]:
    """When new pages of sites were last looked for, as far as the sites are still wanted."""
    wanted = {rule.address for rule in settings.rules}
    known = reader.discovered().items()
    return {address: at / SECONDS_A_DAY for address, at in known if address in wanted}


def _assign_rules(
    settings: Settings, store: WriteStore, reader: ReadStore, now: float
) -> SavedCheckpoint | None:
    """Find the rule of every page anew; the checkpoint if it can be made to fit them.

    Readers of the change feed are told of pages that have lost their rule, and of those that have
    one again and still a copy.
    """
    columns = reader.pages()
    rules = rules_anew(settings, reader, columns)
    fits = refitted(settings, reader, columns.rule, rules)
    moved = np.flatnonzero(columns.rule != rules)
    at, lost = now * SECONDS_A_DAY, moved[rules[moved] == NO_RULE]
    renamed = _renamed(settings, reader, lost.tolist(), at)
    if fits is not None:
        changed = PagesChanged(moved.tolist(), rules=rules[moved].tolist())
        # Together: rules and what was learned go by the same numbers, whatever comes now.
        parts = {**fits.parts, FINGERPRINT: fingerprint(settings)}
        store.write([changed, *renamed, Checkpoint(parts, fits.visit)])
        return fits
    if store.last_visit():
        # Whatever comes now, a crash or other settings: what was learned before fits no longer.
        store.write([unlearned(reader)])
    store.write(renamed)  # before the pages lose their rules: who is killed here finds them again
    ends = columns.listed & (rules == NO_RULE)
    begins = ~columns.listed & (columns.rule == NO_RULE) & (columns.status == PageStatus.COPIED)
    unlisted = told_event(FeedKind.REMOVED, at, RemovalReason.UNLISTED)
    back = told_event(FeedKind.BACK, at)
    for some in np.array_split(moved, len(moved) // _PAGES_AT_A_TIME + 1):
        if len(some):
            events = [
                unlisted if end else back if begin else None
                for end, begin in zip(ends[some].tolist(), begins[some].tolist(), strict=True)
            ]
            entry = PagesChanged(some.tolist(), rules=rules[some].tolist(), events=events)
            store.write([entry])
    return None


def _renamed(
    settings: Settings, reader: ReadStore, pages: list[int], at_seconds: float
) -> list[PagesFound]:
    """Pages under the address that they have from now on, where something of it is dropped."""
    by_depth: dict[int, dict[str, int]] = {}
    for start in range(0, len(pages), _PAGES_AT_A_TIME):
        some = pages[start : start + _PAGES_AT_A_TIME]
        for page, address in zip(some, reader.addresses(some), strict=True):
            admission = settings.admit(address)
            if admission.address != address and admission.rule != NO_RULE:
                by_depth.setdefault(reader.depth(page), {})[admission.address] = admission.rule
    return [
        PagesFound(list(found), list(map(host_of, found)), list(found.values()), at_seconds, depth)
        for depth, found in by_depth.items()
    ]


def unlearned(reader: ReadStore) -> Checkpoint:
    """A checkpoint after which all visits are replayed; what they do not tell is kept."""
    parts = some_parts(reader, *PAIRS, *VALIDATED, *ANNOUNCED)
    return Checkpoint({**parts, FINGERPRINT: ""}, visit=0)
