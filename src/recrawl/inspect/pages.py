"""What a crawl believes of each of its pages.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.inspect.left_out import LeftOut
from recrawl.policies.recrawl.beliefs import Beliefs, for_each_block
from recrawl.state.announcements import HINTED_AT
from recrawl.state.checkpoint import some_parts
from recrawl.state.hints import read_hints, saved_heard, stand
from recrawl.state.replay import COMPARED
from recrawl.units import SECONDS_A_DAY, instants_after_epoch
from recrawl.visits.status import WITH_A_COPY, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Instants, Ints, Statuses
    from recrawl.entries.store import ReadStore
    from recrawl.state.snapshot import PoolSnapshot, Snapshot

# How pages are shown: by their status, and apart those without a rule, copies that are empty, pages
# without a copy whose last visit failed, and those that a filter or a trap leaves out.
UNLISTED, SHELL, FAILED, LEFT_OUT = range(len(PageStatus), len(PageStatus) + 4)
STATUS_LABELS = (
    *(each.label for each in PageStatus),
    *("unlisted", "shell", "failed", "left_out"),
)
_OK = 200
_REDIRECTS = range(300, 400)
TAKEN_OUT = (PageStatus.REMOVED, PageStatus.ERASED)
_FIGURES = ("rate", "low", "high", "shape", "exposure", "fresh")


@dataclass(frozen=True, slots=True, eq=False)
class PageRows:
    """Facts about pages: one row per page, nan and NaT where nothing is.

    Args:
        status: How each is shown, as places of `STATUS_LABELS`.
        visits: Visits made.
        changes: How many of them found a change.
        rate: Changes a day, while the section is as active as usual.
        low: Lower end of its band.
        high: Upper end.
        shape: Shape of the Gamma distribution with the same mean and variance as the rate.
        exposure: Its exposure, in days.
        fresh: Chance that the copy is fresh.
        last_visit: When page and copy were last compared.
        last_change: When a visit last found a change.
        weight: How much a fresh copy matters.
        robots: `RobotsTag` of what it asks of crawlers.
        listing: Name of the listing whose object's detail page it is; empty for none.
        failure: What the last visit met in place of the page, in a word; empty where it met it.
        last_attempt: When that visit was made.
        moved_to: Where a page that has moved is now; empty where that is unknown.
        duplicate_of: Address of the page that it is a copy of; empty for none.
        left_out: Why a page is left out of the crawl; empty where it is not.
    """

    status: Ints
    visits: Ints
    changes: Ints
    rate: Floats
    low: Floats
    high: Floats
    shape: Floats
    exposure: Floats
    fresh: Floats
    last_visit: Instants
    last_change: Instants
    weight: Floats
    robots: Ints
    listing: np.ndarray[Any, np.dtype[np.object_]]
    failure: np.ndarray[Any, np.dtype[np.object_]]
    last_attempt: Instants
    moved_to: np.ndarray[Any, np.dtype[np.object_]]
    duplicate_of: np.ndarray[Any, np.dtype[np.object_]]
    left_out: np.ndarray[Any, np.dtype[np.object_]]

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.status)

    def take(self, rows: Ints) -> PageRows:
        """Some of the pages."""
        return PageRows(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class VisitCounts:
    """Visits to each page and the changes that they found, up to a visit.

    Args:
        visit: Number of that visit.
        visits: Visits made.
        changes: How many of them found a change.
        last_change: When the last of these was; NaT where there was none.
    """

    visit: int
    visits: Ints
    changes: Ints
    last_change: Instants

    @classmethod
    def of(cls, reader: ReadStore, before: VisitCounts | None = None) -> VisitCounts:
        """Count the visits of a store.

        Args:
            reader: The store.
            before: What was counted earlier: only later visits are read.
        """
        pages, visit = reader.page_count(), before.visit if before else 0
        visits, changes = np.zeros(pages, np.int64), np.zeros(pages, np.int64)
        last = np.full(pages, np.datetime64("NaT", "us"))
        if before is not None:
            known = len(before.visits)
            visits[:known], changes[:known] = before.visits, before.changes
            last[:known] = before.last_change
        for some in reader.outcomes(after=visit):
            # Pages may have been found and visited meanwhile: those visits count the next time.
            unknown = np.flatnonzero(some.page >= pages)
            until = slice(int(unknown[0]) if len(unknown) else None)
            page, found = some.page[until], some.outcome[until] == VisitOutcome.CHANGED
            visits += np.bincount(page, minlength=pages)
            changes += np.bincount(page[found], minlength=pages)
            last[page[found]] = some.at[until][found]  # in order: the last one stays
            visit += len(page)  # visits are numbered one by one
            if len(unknown):
                break
        return cls(visit, visits, changes, last)


def page_rows(snapshot: Snapshot, reader: ReadStore, counts: VisitCounts | None = None) -> PageRows:
    """All pages of a snapshot.

    Args:
        snapshot: The crawl.
        reader: Its store.
        counts: Visits to its pages, where they were counted already.
    """
    count = len(snapshot.rule)
    counts = counts or VisitCounts.of(reader)
    figures = {name: np.full(count, np.nan) for name in _FIGURES}
    for pool in snapshot.pools:
        if pool.state is not None:
            _believe(pool, snapshot.now, figures)
    gone = ~np.isin(snapshot.columns.status, (PageStatus.COPIED, PageStatus.SUSPECTED))
    figures["fresh"][gone | (snapshot.rule >= len(snapshot.settings.rules))] = np.nan
    robots, (tagged, tags) = np.zeros(count, np.int64), reader.robots_tags()
    robots[tagged[tagged < count]] = tags[tagged < count]
    status = shown_status(
        snapshot.columns.status,
        snapshot.rule < len(snapshot.settings.rules),
        reader.shells(),
        snapshot.columns.failures > 0,
    )
    reasons = _left_out(snapshot, reader, np.flatnonzero(status == UNLISTED))
    status[reasons.astype(np.bool_)] = LEFT_OUT
    return PageRows(
        status=status,
        visits=counts.visits[:count],
        changes=counts.changes[:count],
        **figures,
        last_visit=instants_after_epoch(np.where(np.isnan(snapshot.last), np.inf, snapshot.last)),
        last_change=counts.last_change[:count],
        weight=snapshot.weight,
        robots=robots,
        listing=_listings(snapshot),
        **_troubles(snapshot, reader),
        duplicate_of=_originals(reader, count),
        left_out=reasons,
    )


def shown_status(status: Statuses, ruled: Bools, shells: Ints, failing: Bools) -> Ints:
    """How pages are shown, as places of `STATUS_LABELS`, but for why they have no rule.

    Args:
        status: Numbers of `PageStatus`.
        ruled: Whether a rule holds for each.
        shells: Pages whose copies are empty JavaScript shells.
        failing: Whether the last visit to each failed.
    """
    status = status[: len(ruled)]
    shown = status.astype(np.int64)
    shown[(status == PageStatus.NEW) & failing[: len(ruled)]] = FAILED
    some = shells[shells < len(shown)]
    shown[some[status[some] == PageStatus.COPIED]] = SHELL
    return np.where(~ruled & ~np.isin(status, TAKEN_OUT), UNLISTED, shown)


def _left_out(
    snapshot: Snapshot, reader: ReadStore, pages: Ints
) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Why pages without a rule are left out, by page; empty where no block covers them."""
    found = np.full(len(snapshot.rule), "", np.object_)
    if len(pages):
        left_out = LeftOut.of(snapshot.settings, reader)
        for page, address in zip(pages.tolist(), reader.addresses(pages.tolist()), strict=True):
            found[page] = left_out.words(address)
    return found


def _troubles(snapshot: Snapshot, reader: ReadStore) -> dict[str, Any]:
    """What the last visits met to pages that have trouble, and where pages have moved to."""
    status, count = snapshot.columns.status, len(snapshot.rule)
    failure, moved_to = np.full(count, "", np.object_), np.full(count, "", np.object_)
    attempts = np.full(count, np.inf)
    pages = np.flatnonzero((snapshot.columns.failures > 0) & ~np.isin(status, TAKEN_OUT))
    outcome, http, seconds = reader.latest_responses(pages)
    for page, found, code in zip(pages.tolist(), outcome.tolist(), http.tolist(), strict=True):
        failure[page] = failure_word(found, code)
    failed = np.array([bool(failure[page]) for page in pages.tolist()], np.bool_)
    attempts[pages[failed]] = seconds[failed] / SECONDS_A_DAY
    moved = np.flatnonzero(status == PageStatus.MOVED)
    moved_to[moved] = np.array(reader.moves(moved.tolist()), np.object_)
    instants = instants_after_epoch(attempts)
    return {"failure": failure, "last_attempt": instants, "moved_to": moved_to}


def failure_word(outcome: int, http: int) -> str:
    """What a visit met in place of a page, in a word; empty where it met the page.

    >>> [failure_word(VisitOutcome.FAILED, http) for http in (401, 0, 302)]
    ['unauthorized (401)', 'no answer', 'redirect loop or dead end (302)']
    >>> failure_word(VisitOutcome.WALLED, 200), failure_word(VisitOutcome.MOVED, 301)
    ('wall', '')
    """
    if outcome == VisitOutcome.WALLED:
        return "wall"
    if outcome == VisitOutcome.FAILED:
        if http in _REDIRECTS:
            return f"redirect loop or dead end ({http})"
        return "unreadable" if http == _OK else _code_words(http) if http else "no answer"
    return _code_words(http) if outcome == VisitOutcome.GONE and http != _OK else ""


def _code_words(http: int) -> str:
    """A status code with what it is called."""
    try:
        return f"{HTTPStatus(http).phrase.lower()} ({http})"
    except ValueError:  # not one of the registered codes
        return f"status {http}"


def _listings(snapshot: Snapshot) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Name of the listing of each page that is the detail page of an object; empty for others."""
    names = [*(rule.listing for rule in snapshot.settings.rules), ""]
    return np.array(names, np.object_)[snapshot.rule]


def _originals(reader: ReadStore, pages: int) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Address of the page that each page is a copy of; empty where it is none."""
    found = np.full(pages, "", np.object_)
    known = {page: each.page for page, each in reader.duplicates().items() if page < pages}
    found[list(known)] = reader.addresses(list(known.values()))
    return found


def believed(snapshot: Snapshot, page: int) -> Beliefs | None:
    """What is believed of one page, counted from 0; None where it has no copy."""
    for pool in snapshot.pools:
        rows = np.flatnonzero(pool.pages == page)
        if len(rows) and pool.state is not None:
            return Beliefs.of(pool.state, rows, snapshot.now)
    return None


def hinted_at(snapshot: Snapshot, reader: ReadStore, page: int) -> float:
    """When somebody last said that a page has changed, if no visit has told since whether it has.

    In days after 1970; nan where nobody did, or where it is unknown when.
    """
    stands = False
    for pool in snapshot.pools:
        if pool.state is not None:
            stands |= bool(pool.state.announced.hinted[pool.pages == page].any())
    at = snapshot.hints.hinted_at(page)
    if not stands or not isnan(at):
        return at
    saved = {} if snapshot.settings.divided else some_parts(reader, HINTED_AT)
    seconds = saved.get(HINTED_AT, np.empty(0))[page : page + 1].max(initial=0.0)
    return float(seconds) / SECONDS_A_DAY or nan


def _believe(pool: PoolSnapshot, now: float, figures: dict[str, Floats]) -> None:
    """Write down what is believed of the pages of a pool."""

    def work(some: slice, beliefs: Beliefs) -> None:
        pages = pool.pages[some]
        figures["rate"][pages], figures["fresh"][pages] = beliefs.rate, beliefs.fresh
        figures["shape"][pages], figures["exposure"][pages] = beliefs.as_one
        figures["low"][pages], figures["high"][pages] = beliefs.rate_band()

    assert pool.state is not None  # noqa: S101 - asked before
    for_each_block(pool.state, now, work)


def chance_fresh(snapshot: Snapshot, page: int, now: float | None = None) -> float:
    """Chance that the copy of a page is what the page is; 0 without a copy, nan where unknown.

    Args:
        snapshot: The crawl.
        page: Number of the page.
        now: The instant, in days after 1970; by default that of the crawl. What was learned since
            then is not counted: a copy that was visited meanwhile is fresher than this says, and
            one of a page that was hinted less so (`knows_hints`).
    """
    if snapshot.columns.status[page] not in WITH_A_COPY:
        return 0.0
    for pool in snapshot.pools:
        row = np.flatnonzero(pool.pages == page)
        if len(row) and pool.state is not None:
            at = snapshot.now if now is None else max(now, snapshot.now)
            return float(Beliefs.of(pool.state, row, at).fresh[0])
    return nan


def knows_hints(snapshot: Snapshot, reader: ReadStore, page: int) -> bool:
    """Whether nothing was hinted of a page that a snapshot which was read before does not know of.

    Args:
        snapshot: The crawl, as it stood.
        reader: Its store, as it stands.
        page: Number of the page.
    """
    settings, heard = snapshot.settings, snapshot.hints
    if settings.divided or saved_heard(reader) != heard.saved:  # some are not in the store any more
        return False
    (outcome,), _, seconds = reader.latest_responses(np.array([page]))
    last = seconds / SECONDS_A_DAY if outcome >= 0 and COMPARED[outcome] else snapshot.last[[page]]
    since = read_hints(settings, reader, heard.last)
    return not any(stand(each.at[each.pages == page], last).any() for each in since)
