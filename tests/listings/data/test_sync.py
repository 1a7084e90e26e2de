"""What syncs see, against plain sets; and what they must not see."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.data.attributes import ObjectGroups
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Listing
from recrawl.listings.data.sync import Syncs, cycles
from tests.listings.worlds import daily, listed_on, listings


def rows_of(stock, counts=None):
    """Stock as a dictionary: (seen, before, group) to a count."""
    numbers = stock.count if counts is None else counts
    keys = zip(stock.seen.tolist(), stock.before.tolist(), stock.group.tolist(), strict=True)
    return {key: number for key, number in zip(keys, numbers.tolist(), strict=True) if number}


def test_cohort():
    """Seen at 17 and not at 10: on day 24 it is 7 to 13 days old, all alike."""
    grid = DayGrid.of(daily(30, [(0, 0, 30), (1, 12, 30)]))
    syncs = Syncs(grid, ObjectGroups.one(2))
    for day in (0, 10, 17, 24):
        syncs.next(day)
    stock = syncs.stock

    assert rows_of(stock) == {(0, -1, 0): 1, (17, 10, 0): 1}
    young, old = stock.day - stock.seen[1], stock.day - stock.before[1] - 1
    assert (young, old) == (7, 13)


def test_a_cycle_counts_by_cohort_and_group():
    """Groups of objects 0 to 3: 0, 1, 0, 1."""
    grid = DayGrid.of(daily(10, [(0, 0, 10), (1, 0, 4), (2, 2, 4), (3, 3, 10)], start="2026-01-06"))
    groups = ObjectGroups(np.array([0, 1, 0, 1]), ("even", "odd"))

    first, second = cycles(grid, groups, [0, 3, 7])

    assert rows_of(first.stock) == {(0, -1, 0): 1, (0, -1, 1): 1}
    assert first.deleted.tolist() == [0, 0]
    assert first.inserted.tolist() == [1, 1]
    assert (first.start, first.end, first.days, first.weekday) == (0, 3, 3, 1)
    assert rows_of(second.stock, second.deleted) == {(0, -1, 1): 1, (3, 0, 0): 1}
    assert second.inserted.tolist() == [0, 0]
    assert (second.survived, second.listed) == (2, 2)


def test_an_absence_that_no_sync_saw_did_not_happen():
    grid = DayGrid.of(daily(10, [(0, 0, 3), (0, 5, 10)]))

    (unseen,) = cycles(grid, ObjectGroups.one(1), [2, 6])
    *_, seen = cycles(grid, ObjectGroups.one(1), [2, 4, 6, 8])

    assert (unseen.survived, unseen.inserted.sum()) == (1, 0)
    assert rows_of(seen.stock) == {(6, 4, 0): 1}


def test_newcomers_of_a_change_of_keys_have_unknown_age():
    syncs = Syncs(DayGrid.of(daily(5, [(0, 0, 2), (1, 2, 5), (2, 3, 5)])), ObjectGroups.one(3))
    syncs.next(0)
    syncs.next(2)
    syncs.forget_ages()
    syncs.next(3)

    assert rows_of(syncs.stock) == {(2, -1, 0): 1, (3, 2, 0): 1}


def test_arrivals_of_an_earlier_day_can_be_forgotten():
    syncs = Syncs(DayGrid.of(daily(5, [(0, 0, 5), (1, 2, 5), (2, 3, 5)])), ObjectGroups.one(3))
    for day in (0, 2, 3):
        syncs.next(day)
    syncs.forget_ages(2)

    assert rows_of(syncs.stock) == {(0, -1, 0): 1, (2, -1, 0): 1, (3, 2, 0): 1}


def test_a_copy_goes_its_own_way():
    syncs = Syncs(DayGrid.of(daily(6, [(0, 0, 3), (1, 2, 5), (2, 4, 6)])), ObjectGroups.one(3))
    syncs.next(0)
    syncs.next(2)
    other = syncs.copy()
    other.next(3)
    other.forget_ages(2)
    other.next(5)

    assert (syncs.day, other.day) == (2, 5)
    assert rows_of(syncs.stock) == {(0, -1, 0): 1, (2, 0, 0): 1}
    assert rows_of(other.stock) == {(5, 3, 0): 1}
    syncs.next(5)
    assert rows_of(syncs.stock) == {(5, 2, 0): 1}


def test_an_object_that_leaves_twice_between_two_syncs_left_once():
    grid = DayGrid.of(daily(10, [(0, 0, 2), (0, 3, 5), (1, 0, 10)]))
    (cycle,) = cycles(grid, ObjectGroups.one(2), [1, 7])

    assert cycle.deleted.tolist() == [1]
    assert cycle.inserted.tolist() == [0]


def test_the_stock_before_the_first_sync_is_empty():
    syncs = Syncs(DayGrid.of(daily(5, [(0, 0, 2)])), ObjectGroups.one(1))

    assert (syncs.day, syncs.stock.listed) == (-1, 0)


@pytest.mark.parametrize("day", [2, 1, 5])
def test_a_sync_must_be_later_and_within_the_grid(day):
    syncs = Syncs(DayGrid.of(daily(5, [(0, 0, 2)])), ObjectGroups.one(1))
    syncs.next(2)

    with pytest.raises(
        InvalidParameter, match=rf"must be after day 2 and before day 5 \(got {day}\)"
    ):
        syncs.next(day)


def oracle(listing, grid, group, days):
    """Cycles from plain sets: (rows of stock, deleted, inserted) a cycle."""
    cohort, found, old, last = {}, [], None, None
    for day in days:
        now = listed_on(listing, grid.instants[day])
        if old is not None:
            stock: dict = {}
            deleted: dict = {}
            for row in old:
                key = (*cohort[row], group[row])
                stock[key] = stock.get(key, 0) + 1
                if row not in now:
                    deleted[key] = deleted.get(key, 0) + 1
            inserted = [sum(group[row] == g for row in now - old) for g in range(3)]
            found.append((stock, deleted, inserted))
        before = -1 if last is None else last
        cohort = {row: cohort[row] if old and row in old else (day, before) for row in now}
        old, last = now, day
    return found


@st.composite
def schedules(draw):
    listing = draw(listings(most_objects=8))
    grid = DayGrid.of(listing)
    chosen = draw(st.sets(st.integers(0, len(grid) - 1), min_size=1))
    group = [draw(st.integers(0, 2)) for _ in range(len(listing))]
    return listing, grid, group, sorted(chosen)


@given(schedules())
def test_cycles_are_those_of_plain_sets(drawn):
    listing, grid, group, days = drawn
    groups = ObjectGroups(np.array(group, np.int64), ("a", "b", "c"))

    found = [
        (rows_of(cycle.stock), rows_of(cycle.stock, cycle.deleted), cycle.inserted.tolist())
        for cycle in cycles(grid, groups, days)
    ]

    assert found == oracle(listing, grid, group, days)


@given(schedules(), st.data())
def test_what_happens_between_syncs_is_invisible(drawn, data):
    """Any other crawl may have seen anything: the same cycles come out."""
    listing, grid, group, days = drawn
    assume(len(listing.crawls) > 1)
    used = set((np.searchsorted(listing.crawls, grid.instants[days], side="right") - 1).tolist())
    seen = np.zeros((len(listing), len(listing.crawls)), np.bool_)
    for row, first, gone in zip(listing.object, listing.first, listing.gone, strict=True):
        seen[row, first:gone] = True
    for crawl in range(len(listing.crawls)):
        if crawl not in used:
            seen[:, crawl] = [data.draw(st.booleans()) for _ in range(len(listing))]
    other = from_flags(listing, seen)
    groups = ObjectGroups(np.array(group, np.int64), ("a", "b", "c"))

    one, two = (list(cycles(DayGrid.of(world), groups, days)) for world in (listing, other))

    for mine, theirs in zip(one, two, strict=True):
        assert rows_of(mine.stock) == rows_of(theirs.stock)
        assert rows_of(mine.stock, mine.deleted) == rows_of(theirs.stock, theirs.deleted)
        assert mine.inserted.tolist() == theirs.inserted.tolist()


def from_flags(listing, seen):
    edges = np.diff(np.pad(seen, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    first, gone = np.nonzero(edges == 1), np.nonzero(edges == -1)
    spells = list(zip(first[0].tolist(), first[1].tolist(), gone[1].tolist(), strict=True))
    return Listing.of(listing.keys.tolist(), listing.crawls, spells)
