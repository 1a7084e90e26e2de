"""How a crawl stands, whether all of its copies are looked at or some."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest

from recrawl.detect.reliability import SignalRecord
from recrawl.entries.entries import (
    Checkpoint,
    HostBelieved,
    PageChange,
    PageEvent,
    PagesChanged,
    PagesFound,
    VisitMade,
)
from recrawl.entries.pushes import Subscription, SubscriptionsKnown
from recrawl.entries.sources import Source, SourceKind, SourcesKnown
from recrawl.inspect.status.values import HostThatLies, PushStanding, VisitCount
from recrawl.report.status.object import status_object
from recrawl.report.status.status import status_rows
from recrawl.settings.push_keys import PushSettings
from recrawl.settings.settings import read_settings
from recrawl.state import sampled
from recrawl.state.checkpoint import fitting_sample, samples_in, without_samples
from recrawl.store import add_hints, open_for_writing, open_store
from recrawl.visits.status import FeedKind, PageStatus, VisitOutcome
from tests.inspect.looked import (
    BEGAN,
    DAY,
    addresses,
    made,
    opened,
    overview_of,
    save,
    settings_text,
)

NOW = BEGAN + 10.25


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


@pytest.fixture
def few(monkeypatch):
    """Look at twenty copies only, as if there were a million."""
    monkeypatch.setattr(sampled, "LOOKED_AT", 20)


def test_all_is_counted(path):
    """60 pages, 4 rounds after the first, on days 0, 2, 4, 6 and 8; a week is from day 3 on."""
    status = overview_of(made(path), path, NOW)

    assert (status.pages, status.copies, status.looked_at) == (60, 60, 60)
    assert status.blocks == 1
    assert status.standing[PageStatus.COPIED] == 60
    assert status.overdue == 0
    assert status.visits == 180
    assert status.count(VisitOutcome.CHANGED) + status.unchanged == 180
    (spent,) = status.spent
    assert (spent.address, spent.budget, spent.today) == ("", 20.0, 0)
    assert spent.lately.a_day == pytest.approx(180 / 7)


def test_the_share_is_what_the_crawl_itself_says(path):
    settings = made(path)
    save(settings, path, NOW)
    fresh, copies = opened(settings, path, NOW).expected_fresh(NOW)
    said, low, high = overview_of(settings, path, NOW).fresh

    assert said == pytest.approx(fresh / copies, abs=0.002)
    assert 0 <= low < said < high <= 1


def test_each_budget_has_its_own_visits(path):
    status = overview_of(made(path, own=True), path, NOW)

    assert [(spent.address, spent.budget) for spent in status.spent] == [
        ("", 20.0),
        ("https://b.org/", 5.0),
    ]
    assert [round(7 * spent.lately.a_day) for spent in status.spent] == [180, 90]


def test_of_a_young_crawl_all_is_counted_since_the_first_visit(path):
    """90 minutes after noon, a visit every minute of the last 30: not twelve hours, nor a day."""
    settings = made(path, pages=30, rounds=0)
    noon, minute = BEGAN + 0.5, 1 / 1440
    with open_for_writing(path) as store:
        at = [noon + (60 + row) * minute for row in range(30)]
        store.write([VisitMade(row, when * DAY, VisitOutcome.FIRST) for row, when in enumerate(at)])
    status = overview_of(settings, path, noon + 90 * minute)

    assert status.days == pytest.approx(30 * minute, abs=1e-6)
    (spent,) = status.spent
    assert (spent.today, spent.lately.visits) == (30, 30)
    assert spent.lately.days == pytest.approx(30 * minute, abs=1e-6)


def test_visits_of_today_are_those_since_midnight(path):
    settings = made(path, own=True)
    with open_for_writing(path) as store:
        store.write(
            [
                VisitMade(0, (NOW - 0.5) * DAY, VisitOutcome.SAME),
                VisitMade(1, (NOW - 0.1) * DAY, VisitOutcome.SAME),
                VisitMade(60, (NOW - 0.1) * DAY, VisitOutcome.FAILED),
            ]
        )
    status = overview_of(settings, path, NOW)

    assert [spent.today for spent in status.spent] == [1, 1]
    assert status.count(VisitOutcome.FAILED) == 1


def test_pages_past_their_time_are_overdue(path):
    """One set time that has come, and all 30 of b.org, where 9 days are the most."""
    settings = made(path, own=True)
    with open_for_writing(path) as store:
        change = PageChange(PageStatus.SUSPECTED, 1, (NOW - 1) * DAY)
        store.write([PagesChanged([4], [change])])

    assert overview_of(settings, path, NOW).overdue == 1
    late = overview_of(settings, path, NOW + 9)
    assert late.overdue == 31
    assert late.next_visit == NOW + 9


def test_new_pages_come_at_once(path):
    """At 200 visits a day, of which 60 were made: the next is a visit's time after the last."""
    made(path)
    settings = read_settings(settings_text(200))
    before = overview_of(settings, path, BEGAN + 9.01).next_visit
    with open_for_writing(path) as store:
        store.write([PagesFound(["https://a.org/new"], ["a.org"], [0], NOW * DAY)])

    status = overview_of(settings, path, BEGAN + 9.01)
    assert status.standing[PageStatus.NEW] == 1
    assert status.next_visit == BEGAN + 9.01
    assert BEGAN + 9.01 <= before <= BEGAN + 9.01 + 1 / 200


def test_pages_that_are_gone_are_no_copies(path):
    settings = made(path)
    with open_for_writing(path) as store:
        store.write([PagesChanged([0, 1], [PageChange(PageStatus.GONE)] * 2)])
    save(settings, path, NOW)

    assert overview_of(settings, path, NOW).copies == 58


def test_a_store_without_visits_has_nothing_to_say(path):
    status = overview_of(made(path, rounds=0), path, NOW)

    assert isnan(status.fresh[0])
    assert isnan(status.age)
    assert status.visits == 0
    assert [spent.lately for spent in status.spent] == [VisitCount(0, 0.0)]


def test_pages_of_a_block_that_was_removed_are_nobody_s(path):
    """They stay in the store, and no budget pays for them."""
    made(path, own=True)
    one, two = (
        read_settings(settings_text() + block)
        for block in ("", '[[site]]\naddress = "https://c.org/"\nbudget = "1/1d"\n')
    )

    assert overview_of(one, path, NOW).copies == 60
    assert overview_of(two, path, NOW).copies == 60
    save(two, path, NOW)
    assert [each.lately.a_day for each in overview_of(two, path, NOW).spent] == [180 / 7, 0.0]


def test_hosts_that_lie_are_named(path):
    """a.org denied two changes of three; b.org one of ten, as one page may, and misdates them."""
    made(path, own=True)
    with open_for_writing(path) as store:
        store.write(
            [
                HostBelieved("a.org", {"not_modified": (1, 2, 9, 0.0), "modified": (5, 1, 0, 0)}),
                HostBelieved("b.org", {"not_modified": (9, 1, 0, 0.0), "modified": (0, 2, 0, 0)}),
            ]
        )

    found = overview_of(read_settings(settings_text()), path, NOW).hosts_that_lie

    assert found == [
        HostThatLies("a.org", "not_modified", 2, 3, *SignalRecord(right=1, wrong=2).band()),
        HostThatLies("b.org", "modified", 2, 2, *SignalRecord(wrong=2).band()),
    ]


def test_what_was_foretold_stands_beside_what_was_found(path):
    """Half of the pages change at every visit, the others at none: 120 of 240 visits."""
    status = overview_of(made(path), path, NOW)

    assert sum(tenth.visits for tenth in status.tenths) == pytest.approx(240, rel=0.02)
    found = sum(tenth.visits * tenth.found for tenth in status.tenths)
    assert found == pytest.approx(4 * 27, abs=15)
    for tenth in status.tenths:
        assert tenth.chance <= tenth.forecast <= tenth.chance + 0.1


def test_what_was_foretold_is_kept(path, few):
    """What is saved counts for all copies, not only for those that are looked at."""
    settings = made(path)
    before = overview_of(settings, path, NOW).tenths
    save(settings, path, NOW)
    after = overview_of(settings, path, NOW).tenths

    assert sum(tenth.visits for tenth in after) == pytest.approx(
        sum(tenth.visits for tenth in before), rel=0.01
    )


# A large crawl, of which some copies are looked at.


def test_some_copies_tell_of_all(path, few):
    settings = made(path, own=True)
    save(settings, path, NOW)
    fresh, copies = opened(settings, path, NOW).expected_fresh(NOW)
    status = overview_of(settings, path, NOW)

    assert (status.copies, status.looked_at) == (90, 20)
    assert status.fresh[1] < fresh / copies < status.fresh[2]


def test_the_same_crawl_is_seen_by_the_same_copies(path, few):
    settings = made(path)
    save(settings, path, NOW)

    assert overview_of(settings, path, NOW) == overview_of(settings, path, NOW)


def test_what_is_kept_of_some_copies_says_what_the_whole_says(path, few):
    """A store that was saved before samples were kept has the whole alone."""
    settings = made(path, own=True)
    save(settings, path, NOW)
    with open_store(path) as reader:
        kept = reader.checkpoint()
    assert kept is not None
    assert samples_in(kept.parts).keys() == {0, 1}
    quick = overview_of(settings, path, NOW)
    with open_for_writing(path) as store:
        store.write([Checkpoint(without_samples(kept.parts))])

    whole = overview_of(settings, path, NOW)
    assert (quick.copies, quick.looked_at) == (whole.copies, whole.looked_at)
    assert quick.fresh == pytest.approx(whole.fresh, rel=1e-6)
    assert quick.age == pytest.approx(whole.age, rel=1e-6)


def test_pages_lost_since_the_saving_are_no_copies(path, few):
    settings = made(path)
    save(settings, path, NOW)
    with open_for_writing(path) as store:
        store.write([PagesChanged(list(range(30)), [PageChange(PageStatus.GONE)] * 30)])
    status = overview_of(settings, path, NOW)

    assert status.copies == 30
    assert 0 < status.looked_at < 20


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("sample.0.drawn", np.ones(3, np.bool_)),
        ("sample.0.pages", np.array([7] * 20, np.int32)),
        ("sample.0.ratios.node", np.array([-1.0])),
        ("sample.0.last", np.full(20, np.nan)),
    ],
)
def test_a_sample_that_contradicts_itself_is_not_used(path, few, name, wrong):
    """The whole is looked at in its place."""
    settings = made(path)
    save(settings, path, NOW)
    before = overview_of(settings, path, NOW)
    with open_store(path) as reader:
        kept = reader.checkpoint()
    assert kept is not None
    assert name in kept.parts
    with open_for_writing(path) as store:
        store.write([Checkpoint({**kept.parts, name: wrong})])

    with open_store(path) as reader:
        assert fitting_sample(settings, reader) is None
    assert overview_of(settings, path, NOW).fresh == pytest.approx(before.fresh, rel=1e-6)


def test_visits_since_the_saving_count_for_some_copies(path, few):
    """All pages were visited a moment ago, which nothing saved knows of."""
    settings = made(path)
    save(settings, path, NOW)
    with open_for_writing(path) as store:
        store.write([VisitMade(page, NOW * DAY, VisitOutcome.SAME) for page in range(60)])

    assert overview_of(settings, path, NOW).fresh[0] > 0.99


def test_hints_count_for_some_copies_as_they_do_for_all(path, monkeypatch):
    """All pages were hinted, half of them before a visit."""
    settings = made(path)
    save(settings, path, NOW)
    add_hints(path, addresses(60), NOW * DAY)
    with open_for_writing(path) as store:
        at = (NOW + 0.01) * DAY
        store.write([VisitMade(page, at, VisitOutcome.SAME) for page in range(0, 60, 2)])
    all_of_them = overview_of(settings, path, NOW + 0.01)
    monkeypatch.setattr(sampled, "LOOKED_AT", 50)
    save(settings, path, NOW)  # with a sample; the hints are in it
    add_hints(path, addresses(60), (NOW + 0.02) * DAY)

    some = overview_of(settings, path, NOW + 0.02)

    assert 0.5 < all_of_them.fresh[0] < 0.65
    assert some.looked_at == 50
    assert some.fresh[0] < 0.2


def test_copies_made_since_the_saving_are_counted(path, few):
    settings = made(path)
    save(settings, path, NOW)
    with open_for_writing(path) as store:
        store.write([PagesFound(["https://a.org/new"], ["a.org"], [0], NOW * DAY)])
        change = PageChange(PageStatus.COPIED)
        store.write([VisitMade(60, NOW * DAY, VisitOutcome.FIRST, change=change)])
    status = overview_of(settings, path, NOW)

    assert (status.copies, status.looked_at) == (61, 21)


def test_late_and_gone_pages_are_counted_among_all(path, few):
    settings = made(path, own=True)
    with open_for_writing(path) as store:
        store.write([PagesChanged([0, 1], [PageChange(PageStatus.GONE)] * 2)])
    save(settings, path, NOW)
    status = overview_of(settings, path, NOW + 9)

    assert status.copies == 88
    assert status.overdue == 30


def test_settings_that_have_moved_are_looked_at_in_full(path, few):
    settings = made(path, own=True)
    save(settings, path, NOW)
    moved = read_settings(settings_text() + '[[site]]\naddress = "https://b.org/"\n')

    assert overview_of(moved, path, NOW).looked_at == 90


def events_of(pages, kind, at):
    """Visits that made an event of the change feed each."""
    return [
        VisitMade(page, at * DAY, VisitOutcome.CHANGED, event=PageEvent(kind, at * DAY))
        for page in pages
    ]


def test_the_feed_has_what_was_seen_of_all_that_is_outdated(path):
    """10 changes and a removal in the week, 5 changes before; new pages are no copies outdated."""
    settings = made(path)
    with open_for_writing(path) as store:
        store.write(events_of(range(5), FeedKind.CHANGED, BEGAN + 1.0))
        store.write(events_of(range(20, 30), FeedKind.NEW, BEGAN + 9.0))
        store.write(events_of(range(10), FeedKind.CHANGED, BEGAN + 9.5))
        store.write(events_of([10], FeedKind.REMOVED, BEGAN + 9.6))
    status = overview_of(settings, path, NOW)

    unseen = status.copies * (1 - status.fresh[0])
    assert status.feed is not None
    assert status.feed.seen == 11
    assert status.feed.days == 7.0
    assert status.feed.unseen[0] == pytest.approx(unseen)
    assert status.feed.share[0] == pytest.approx(11 / (11 + unseen))
    assert 0 < status.feed.share[1] < status.feed.share[0] < status.feed.share[2] <= 1


def test_a_feed_that_has_just_begun_is_counted_from_its_first_event(path):
    settings = made(path)
    assert overview_of(settings, path, NOW).feed is None

    with open_for_writing(path) as store:
        store.write(events_of([0], FeedKind.CHANGED, NOW - 2.0))
    feed = overview_of(settings, path, NOW).feed
    assert feed is not None
    assert feed.days == pytest.approx(2.0, abs=0.01)


def test_pushes_are_counted_where_somebody_may_push(path):
    settings = made(path)
    feeds = [
        Source(f"https://a.org/{name}", "https://a.org", SourceKind.FEED, push_hub=hub)
        for name, hub in (("f", "https://b.org/"), ("g", "https://b.org/"), ("h", ""))
    ]
    known = (
        Subscription(feeds[0].address, "https://b.org/", (NOW + 1) * DAY, 3, (NOW - 0.5) * DAY),
        Subscription(feeds[1].address, "https://b.org/", (NOW - 1) * DAY, 2),  # it has ended
    )
    with open_for_writing(path) as store:
        store.write([SourcesKnown(feeds), SubscriptionsKnown(known)])
    push = PushSettings(("127.0.0.1", 8085), "https://me.example.org/push")
    told = overview_of(replace(settings, push=push), path, NOW)

    assert overview_of(settings, path, NOW).pushes is None
    assert told.pushes == PushStanding(2, 1, 5, NOW - 0.5)
    said = "1 of 2 feeds with a hub subscribed to; 5 pushes taken, the last 12h ago"
    assert dict(status_rows(told))["pushes"] == said
    assert status_object(told)["pushes"]["subscribed"] == 1
