"""A crawl taken up where it stopped: its pages, hosts, and all that it had learnt.

What a crawl has learnt is saved now and then. Visits made since are learnt again, in the order in
which they were made. Where the settings have moved pages to other rules or budgets, everything is.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.entries.entries import Checkpoint, PagesChanged
from recrawl.frontier.agenda import Agenda, KnownPages
from recrawl.frontier.frontier import Frontier, PolicyCheckpoint
from recrawl.frontier.host_table import HostTable
from recrawl.plan.objectives.methods import OBJECTIVES
from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.checkpoint import kept, resumed
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.pools import NOTHING, budgets, fingerprint, terms
from recrawl.state.announcements import ANNOUNCED, Announcements
from recrawl.state.trust import CHECKED, DIFFERED, Trust
from recrawl.units import SECONDS_A_DAY, epoch_days, instant_after_epoch
from recrawl.visits.status import Audit, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.columns import PageColumns
    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.settings.settings import Settings

_RULES, _LOOKED = "rules", "looked"
_COMPARED = [int(each) for each in VisitOutcome if each.compared]
_STRETCHES_A_GAP = 16
_SHORTEST_STRETCH = 60 / SECONDS_A_DAY


@dataclass(slots=True)
class Crawl:
    """A crawl as it stands.

    Attributes:
        settings: What a person asks of it.
        policy: What decides where visits are worth most.
        agenda: What to do next.
        hosts: Hosts by name, and when each may be asked.
        last: When each page was last compared with its copy, in days after 1970; nan if never.
        visit: Number of the last visit that the policy knew of when it was opened.
        trust: How far hosts and pages are believed.
        looked: When each site was last looked at for new pages, by its address.
        announcements: What hosts say of changes.
    """

    settings: Settings
    policy: Recrawl
    agenda: Agenda
    hosts: HostTable
    last: Floats
    visit: int
    trust: Trust
    looked: dict[str, float] = field(default_factory=dict)
    announcements: Announcements = field(default_factory=Announcements)

    def grow(self, pages: int) -> None:
        """Make room for pages that were found."""
        self.last = append_rows(self.last, np.full(pages, np.nan))
        self.trust.grow(pages)
        self.announcements.grow(pages)


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
        now: What time it is, in days after 1970.
        random: Breaks ties, spreads intervals, and draws the visits that are checked.
        on_replay: Called now and then with how many visits have been replayed.
    """
    hosts = HostTable(delay=settings.delay, together=settings.together, began=now)
    row_of_host = hosts.resume(reader.hosts())
    agenda = Agenda(hosts, terms(settings), random)
    policy = Recrawl(objective=OBJECTIVES[settings.objective])
    looked = _looked(settings, reader)
    learnt = _learnt(settings, reader)
    if learnt is None:
        _assign_rules(settings, store, reader, looked)
    crawl = Crawl(settings, policy, agenda, hosts, np.empty(0), 0, Trust(hosts, random), looked)
    crawl.grow(reader.page_count())
    _resume_beliefs(crawl, reader)
    pools = _add_pools(crawl, reader, learnt[0] if learnt else {}, now, random)
    for pages, last in pools:
        crawl.last[pages] = last
    known = _known(settings, reader, row_of_host, crawl.last)
    agenda.resume(known, [pages for pages, _ in pools], [last for _, last in pools])
    crawl.visit = learnt[1] if learnt else 0
    _learn_again(crawl, reader, known, on_replay)
    _resume_spending(crawl, reader, known.term, now)
    return crawl


def learnt_parts(crawl: Crawl) -> dict[str, Any]:
    """What a crawl has learnt, to be saved; its arrays are copies."""
    parts: dict[str, Any] = {
        _RULES: fingerprint(crawl.settings),
        _LOOKED: dict(crawl.looked),
        CHECKED: crawl.trust.checked.copy(),
        DIFFERED: crawl.trust.differed.copy(),
        **crawl.announcements.kept(),
    }
    for number in range(len(budgets(crawl.settings))):
        frontier = crawl.agenda.frontier(number)
        if not len(frontier):
            continue
        parts[f"{number}.pages"] = crawl.agenda.pages(number).astype(np.int32)
        state: Any = frontier.state
        parts |= {f"{number}.{name}": _own(part) for name, part in kept(state).items()}
    return parts


def _own(part: Any) -> Any:  # noqa: ANN401 - an array or any value that JSON can hold
    """A part that does not change when the policy goes on learning."""
    return part.copy() if isinstance(part, np.ndarray) else part


def _learnt(settings: Settings, reader: ReadStore) -> SavedCheckpoint | None:
    """What was saved, if it still fits the settings."""
    learnt = reader.checkpoint()
    if learnt is None or learnt[0].get(_RULES) != fingerprint(settings):
        return None
    return learnt


def _looked(settings: Settings, reader: ReadStore) -> dict[str, float]:
    """When sites were last looked at, as far as they are still wanted."""
    learnt = reader.checkpoint({_LOOKED})
    known = learnt[0].get(_LOOKED, {}) if learnt else {}
    return {rule.address: known[rule.address] for rule in settings.rules if rule.address in known}


def _assign_rules(
    settings: Settings, store: WriteStore, reader: ReadStore, looked: dict[str, float]
) -> None:
    """Find the rule of every page anew."""
    if store.last_visit():
        # Whatever comes now, a crash or other settings: what was learnt before fits no longer.
        beliefs = reader.checkpoint({CHECKED, DIFFERED, *ANNOUNCED})
        parts = beliefs[0] if beliefs else {}
        store.write([Checkpoint({**parts, _RULES: "", _LOOKED: looked}, visit=0)])
    had = reader.pages().rule
    first = 0
    for addresses in reader.all_addresses():
        rules = settings.rules_of(addresses)
        moved = np.flatnonzero(had[first : first + len(rules)] != rules).tolist()
        if moved:
            pages = [first + row for row in moved]
            store.write([PagesChanged(pages, rules=[rules[row] for row in moved])])
        first += len(rules)


def _add_pools(
    crawl: Crawl, reader: ReadStore, parts: dict[str, Any], now: float, random: np.random.Generator
) -> list[tuple[Ints, Floats]]:
    """A frontier for each budget; returns its pages and when each was last visited."""
    found = []
    for number, budget in enumerate(budgets(crawl.settings)):
        inner = _inner(parts, number)
        if inner:
            pages = inner["pages"].astype(np.int64)
            state = resumed(crawl.policy, inner, _addresses(reader, pages))
            learnt = PolicyCheckpoint(state, len(pages), state.gap)
            frontier = Frontier.resumed(crawl.policy, budget, random, learnt)
            found.append((pages, state.last.copy()))
        else:
            frontier = Frontier(crawl.policy, budget, random)
            found.append((np.empty(0, np.int64), np.empty(0)))
        crawl.agenda.add_pool(frontier, budget, now)
    crawl.agenda.add_pool(Frontier(crawl.policy, NOTHING, random), NOTHING, now)
    return [*found, (np.empty(0, np.int64), np.empty(0))]


def _inner(parts: dict[str, Any], number: int) -> dict[str, Any]:
    start = f"{number}."
    ours = (name for name in parts if name.startswith(start))
    return {name.removeprefix(start): parts[name] for name in ours}


def _addresses(reader: ReadStore, pages: Ints) -> Callable[[], Sequence[str]]:
    return lambda: reader.addresses(pages.tolist())


def _known(
    settings: Settings, reader: ReadStore, row_of_host: dict[int, int], last: Floats
) -> KnownPages:
    columns = reader.pages()
    rows = np.zeros(max(row_of_host, default=0) + 1, np.int64)
    for number, row in row_of_host.items():
        rows[number] = row
    ruled = (columns.rule >= 0) & (columns.rule < len(settings.rules))
    term = np.where(ruled, columns.rule, len(settings.rules))
    longest = np.array([each.interval or each.maximum for each in terms(settings)])[term]
    # A page without a rule is left where it is: refused, with no time set to ask again.
    return KnownPages(
        host=rows[columns.host],
        term=term,
        status=np.where(ruled, columns.status, PageStatus.REFUSED),
        failures=columns.failures,
        set=np.where(ruled, _set_times(columns, longest, reader, last), np.inf),
    )


def _set_times(columns: PageColumns, longest: Floats, reader: ReadStore, last: Floats) -> Floats:
    """When pages are visited at the latest, by the intervals of now; retries and rechecks stay.

    A page waits no longer after its last visit than the interval says, and where there is none it
    is left to the policy.
    """
    found = np.where(np.isnat(columns.next_at), np.inf, epoch_days(columns.next_at))
    well = (columns.status == PageStatus.COPIED) & (columns.failures == 0)
    # Only pages visited since the crawl was saved, or whose interval is shorter now, are looked up.
    late = np.flatnonzero(well & np.isfinite(longest) & ~(found <= last + longest))
    visited = reader.latest_visits(late) / SECONDS_A_DAY
    found[late] = np.fmin(found[late], visited + longest[late])
    return np.where(well & np.isinf(longest), np.inf, found)


def _resume_beliefs(crawl: Crawl, reader: ReadStore) -> None:
    """Take up how far hosts and pages were believed, whatever became of the rules."""
    learnt = reader.checkpoint({CHECKED, DIFFERED, *ANNOUNCED})
    parts = learnt[0] if learnt else {}
    pairs = (parts[CHECKED], parts[DIFFERED]) if CHECKED in parts else None
    crawl.trust.resume(reader.signal_records(), reader.host_masks(), pairs)
    crawl.announcements.resume(parts)


def _learn_again(
    crawl: Crawl, reader: ReadStore, known: KnownPages, on_replay: Callable[[int], object]
) -> None:
    """Learn from visits made since the crawl was saved, but for pages without a rule."""
    done = 0
    if not crawl.visit:
        crawl.announcements.forget_told()
    ruled = known.term < len(crawl.settings.rules)
    for visits in reader.visits(after=crawl.visit):
        page, at = visits.page, epoch_days(visits.at)
        first = (visits.outcome == VisitOutcome.FIRST) & ruled[page]
        again = np.isin(visits.outcome, _COMPARED) & ruled[page]
        addresses = reader.addresses(visits.page[first].tolist())
        for each in zip(page[first].tolist(), addresses, at[first].tolist(), strict=True):
            crawl.agenda.enter(*each)
        compared = np.flatnonzero(again)
        changed, age = visits.outcome == VisitOutcome.CHANGED, visits.age
        # A change that was looked at twice is one; of others the host's pages tell.
        unsure = np.flatnonzero(changed & (visits.audit == Audit.NONE))
        false = np.zeros(len(changed))
        false[unsure] = crawl.trust.false_changes_of(known.host[page[unsure]], page[unsure])
        # A stretch at a time: what sections do is learnt from visits of about the same time.
        for some in np.split(compared, _cuts(crawl, at[compared])):
            outcomes = Outcomes(changed[some], age[some], false[some])
            crawl.agenda.learn_many(page[some], at[some], outcomes)
        # Visits come in the order of time, so the last of a page stays.
        seen = np.flatnonzero(first | again)
        crawl.last[page[seen]] = at[seen]
        crawl.announcements.told[page[seen]] = 0
        crawl.visit = int(visits.visit[-1])
        done += len(visits.visit)
        on_replay(done)


def _cuts(crawl: Crawl, at: Floats) -> Ints:
    """Where a new stretch of time begins, a sixteenth of the shortest gap between visits."""
    pools = range(len(budgets(crawl.settings)))
    gaps = [crawl.agenda.bucket(number).visits_a_day for number in pools]
    width = max(len(crawl.agenda) / max(*gaps, 1.0) / _STRETCHES_A_GAP, _SHORTEST_STRETCH)
    return np.flatnonzero(np.diff(np.floor(at / width))) + 1


def _resume_spending(crawl: Crawl, reader: ReadStore, term: Ints, now: float) -> None:
    """Count the visits of the last window against the budgets."""
    # What was spent on pages that have no rule any more came out of the common budget, or might.
    pools = np.array([*(each.pool for each in terms(crawl.settings)[:-1]), 0])
    numbers = range(int(pools.max()) + 1)
    longest = max(crawl.agenda.bucket(number).window for number in numbers)
    since = reader.first_visit_since((now - longest) * SECONDS_A_DAY)
    for visits in reader.visits(after=since - 1):
        # A second request was a visit of the budget, too.
        twice = np.repeat(np.arange(len(visits.page)), 1 + (visits.audit != Audit.NONE))
        pool, at = pools[term[visits.page[twice]]], epoch_days(visits.at[twice])
        first = visits.outcome[twice] == VisitOutcome.FIRST
        for number in np.unique(pool).tolist():
            ours = pool == number
            crawl.agenda.bucket(number).resume(at[ours], first[ours], now)


def expected_fresh(crawl: Crawl, now: float) -> tuple[float, int]:
    """Copies that are expected to be fresh, and how many copies there are."""
    instant = instant_after_epoch(now)
    fresh, count = 0.0, 0
    for number in range(len(budgets(crawl.settings))):
        frontier = crawl.agenda.frontier(number)
        if len(frontier):
            state: RecrawlState = frontier.state  # type: ignore[assignment] # of our own policy
            rows = np.arange(len(state.last))
            fresh += float(np.sum(crawl.policy.fresh(state, rows, instant)))
            count += len(rows)
    return fresh, count
