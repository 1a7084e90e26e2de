"""Which events a visit makes, and when what it found has happened."""

from math import inf, isnan, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.state.events import Gap, visit_event
from recrawl.visits.status import FeedKind, PageStatus, RemovalReason, VisitOutcome

GAP = Gap(last=20_000.0, now=20_002.0)
NEVER_COPIED = Gap(last=nan, now=20_002.0)
COPIED = PageStatus.COPIED
DAY = 86_400.0


def made_by(*what: Any, **more: Any) -> Any:
    """The event of a visit, which a test looks into."""
    return visit_event(*what, **more)


def kind_of(outcome, status=COPIED, gap=GAP, *, listed=True):
    event = made_by(outcome, status, gap, listed=listed)
    return None if event is None else (event.kind.label, event.reason and event.reason.label)


@pytest.mark.parametrize(
    ("outcome", "status", "expected"),
    [
        (VisitOutcome.CHANGED, COPIED, ("changed", None)),
        (VisitOutcome.SAME, COPIED, None),
        (VisitOutcome.NOT_MODIFIED, COPIED, None),
        (VisitOutcome.COSMETIC, COPIED, None),
        (VisitOutcome.FAILED, COPIED, None),
        (VisitOutcome.WALLED, COPIED, None),
        (VisitOutcome.GONE, PageStatus.SUSPECTED, None),
        (VisitOutcome.FAILED, PageStatus.SUSPECTED, None),
        (VisitOutcome.GONE, PageStatus.GONE, ("removed", "gone")),
        (VisitOutcome.REFUSED, PageStatus.REFUSED, ("removed", "refused")),
        (VisitOutcome.MOVED, PageStatus.MOVED, ("moved", "moved")),
        (VisitOutcome.DUPLICATE, PageStatus.DUPLICATE, ("moved", "duplicate")),
    ],
)
def test_what_readers_who_have_a_copy_are_told(outcome, status, expected):
    assert kind_of(outcome, status) == expected


@pytest.mark.parametrize("outcome", list(VisitOutcome))
def test_readers_without_a_copy_are_told_of_one_and_of_nothing_else(outcome):
    """What was gone and is gone still is no news; what is there again is back, however it looks."""
    statuses = {
        VisitOutcome.GONE: PageStatus.GONE,
        VisitOutcome.REFUSED: PageStatus.REFUSED,
        VisitOutcome.MOVED: PageStatus.MOVED,
        VisitOutcome.FAILED: PageStatus.GONE,
        VisitOutcome.WALLED: PageStatus.GONE,
        VisitOutcome.DUPLICATE: PageStatus.DUPLICATE,
    }
    has_copy = outcome not in statuses

    found = kind_of(outcome, statuses.get(outcome, COPIED), listed=False)

    assert found == (("back", None) if has_copy else None)


def test_the_first_copy_is_new():
    assert kind_of(VisitOutcome.FIRST, gap=NEVER_COPIED, listed=False) == ("new", None)


def test_nothing_is_known_of_the_past_of_a_new_page():
    event = made_by(VisitOutcome.FIRST, COPIED, NEVER_COPIED, listed=False)

    assert event.latest_seconds == 20_002 * DAY
    assert event.earliest_seconds is event.likely_seconds is None


def test_a_change_lies_in_its_gap_where_the_rate_puts_it():
    """One change expected in two days: 2 (1 - 1 / (e - 1)) = 0.836 days before the visit."""
    event = made_by(VisitOutcome.CHANGED, COPIED, GAP, listed=True, rate=0.5)

    assert event.earliest_seconds == 20_000 * DAY
    assert event.latest_seconds == 20_002 * DAY
    assert (event.latest_seconds - event.likely_seconds) / DAY == pytest.approx(0.836047, abs=1e-5)


def test_without_a_rate_a_change_is_most_likely_in_the_middle():
    event = made_by(VisitOutcome.CHANGED, COPIED, GAP, listed=True)

    assert event.likely_seconds == 20_001 * DAY


def test_a_date_that_is_believed_is_when_it_happened_to_the_second():
    gap = Gap(20_000.0, 20_002.0, age=0.25)

    event = made_by(VisitOutcome.CHANGED, COPIED, gap, listed=True, rate=3.0)

    assert event.earliest_seconds == event.likely_seconds == 20_001.75 * DAY
    assert event.latest_seconds == pytest.approx(20_001.75 * DAY + 1, abs=0.01)


@given(
    outcome=st.sampled_from(VisitOutcome),
    status=st.sampled_from(PageStatus),
    gap=st.tuples(st.just(nan) | st.floats(0, 40_000), st.floats(0, 4000)),
    age=st.just(nan) | st.floats(0, 1e4),
    rate=st.just(nan) | st.floats(0, 1e9),
    listed=st.booleans(),
)
def test_instants_are_in_order_whatever_came(outcome, status, gap, age, rate, listed):
    """Earliest, likely, latest, visit; a page that is listed is never new, and ends once."""
    last, waited = gap
    now = waited if isnan(last) else last + waited
    event = made_by(outcome, status, Gap(last, now, age), listed=listed, rate=rate)

    if event is None:
        return
    earliest = -inf if event.earliest_seconds is None else event.earliest_seconds
    likely = earliest if event.likely_seconds is None else event.likely_seconds
    assert earliest <= likely <= event.latest_seconds <= now * DAY
    assert (event.reason is not None) == event.kind.ends
    assert listed == (event.kind in (FeedKind.CHANGED, FeedKind.REMOVED, FeedKind.MOVED))
    assert event.reason is not RemovalReason.ERASED
