"""The world that the visits of a store have seen."""

import numpy as np
import pytest

from recrawl.adapters.stores.world import world_of_store
from recrawl.entries.entries import PagesFound, VisitMade
from recrawl.errors import InvalidHistory
from recrawl.store import create_store
from recrawl.visits.status import VisitOutcome

DAY = 86_400.0
START = 1_767_225_600.0  # the first of January 2026


def store_of(path, *visits, pages=2):
    """A store with visits: number of the page, day, outcome, age in days."""
    addresses = [f"https://a.org/{page}" for page in range(pages)]
    with create_store(path) as store:
        store.write([PagesFound(addresses, ["a.org"] * pages, [0] * pages, START)])
        store.write(
            [
                VisitMade(page, START + day * DAY, outcome, 200, age=age)
                for page, day, outcome, age in visits
            ]
        )
    return path


def days(instants):
    return ((instants - np.datetime64("2026-01-01", "us")) / np.timedelta64(1, "D")).tolist()


def test_a_dated_change_is_where_the_host_says_and_another_between_two_visits(tmp_path):
    """The first page changed on day 3.5; the second once between days 2 and 6."""
    store = store_of(
        tmp_path / "a.db",
        (0, 0, VisitOutcome.FIRST, None),
        (1, 1, VisitOutcome.FIRST, None),
        (1, 2, VisitOutcome.SAME, None),
        (0, 4, VisitOutcome.CHANGED, 0.5),
        (0, 5, VisitOutcome.FAILED, None),
        (1, 6, VisitOutcome.CHANGED, None),
        (0, 8, VisitOutcome.NOT_MODIFIED, None),
    )
    world = world_of_store(store, np.random.default_rng(0))

    assert world.address == ("https://a.org/0", "https://a.org/1")
    assert days(world.first_seen) == [0, 1]
    assert days(world.changes)[0] == pytest.approx(3.5, abs=1e-4)
    assert 2 < days(world.changes)[1] <= 6
    assert days(np.array([world.end])) == [8]


def test_a_date_outside_of_the_gap_is_not_believed(tmp_path):
    """A page found changed on day 4 cannot have changed before the visit on day 2 alone."""
    store = store_of(
        tmp_path / "a.db",
        (0, 0, VisitOutcome.FIRST, None),
        (0, 2, VisitOutcome.SAME, None),
        (0, 4, VisitOutcome.CHANGED, 3.0),
    )
    world = world_of_store(store, np.random.default_rng(0))

    assert 2 < days(world.changes)[0] <= 4


def test_pages_without_a_copy_are_no_part_of_it(tmp_path):
    store = store_of(
        tmp_path / "a.db", (1, 1, VisitOutcome.FIRST, None), (0, 2, VisitOutcome.FAILED, None)
    )

    assert world_of_store(store, np.random.default_rng(0)).address == ("https://a.org/1",)


@pytest.mark.parametrize(
    "visits", [[], [(0, 1, VisitOutcome.FAILED, None)]], ids=["none", "failed"]
)
def test_a_store_without_copies_is_refused(tmp_path, visits):
    store = store_of(tmp_path / "a.db", *visits)

    with pytest.raises(
        InvalidHistory, match=r"a\.db: no (visits|copies) yet; run `recrawl crawl` first"
    ):
        world_of_store(store, np.random.default_rng(0))
