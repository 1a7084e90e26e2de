"""Spells from events, from lifetimes and from snapshots."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable
from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.listings.data.snapshots import Sightings, listing_of
from recrawl.listings.data.spells import (
    EVENTS,
    REMOVE,
    UPDATE,
    Listing,
    Updates,
    raise_wrong,
    spells_of_events,
    spells_of_lifetimes,
)
from tests.listings.worlds import daily, listings, presences, spells_of


def events(*rows, objects=1, crawls=10):
    """Spells of (object, crawl, whether it is a removal)."""
    row, crawl, removal = (np.array(column) for column in zip(*rows, strict=True))
    return spells_of_events(row, crawl, removal, objects=objects, crawls=crawls)


def test_a_spell_knows_the_crawls_around_its_arrival_and_removal():
    """Object 0 was there before we looked, object 1 still is."""
    listing = daily(4, [(0, 0, 2), (1, 2, 4)])

    assert days(listing.first_seen) == ["2026-01-01", "2026-01-03"]
    assert days(listing.before) == ["NaT", "2026-01-02"]
    assert days(listing.last_seen) == ["2026-01-02", "2026-01-04"]
    assert listing.listed.tolist() == [False, True]


def days(instants):
    return instants.astype("datetime64[D]").astype(str).tolist()


def test_events_alternate():
    found = events((0, 3, True), (0, 1, False), (0, 5, False), (1, 0, False), objects=2)

    assert found.object.tolist() == [0, 0, 1]
    assert (found.first.tolist(), found.gone.tolist()) == ([1, 5, 0], [3, 10, 10])
    assert not found.wrong.any()


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 1, True), (0, 2, False)],
        [(0, 1, False), (0, 2, False)],
        [(0, 1, False), (0, 2, True), (0, 3, True)],
        [(0, 1, False), (0, 1, True)],
    ],
    ids=["removed first", "appears twice", "removed twice", "at the same time"],
)
def test_an_object_whose_events_do_not_alternate_is_wrong(rows):
    """The other object is not touched by it."""
    found = events(*rows, (1, 4, False), objects=2)

    assert found.wrong.tolist() == [True, False]
    assert found.object.tolist() == [1]


def test_an_object_without_events_is_wrong():
    assert events((1, 0, False), objects=2).wrong.tolist() == [True, False]


def test_a_lifetime_that_ends_before_it_begins_is_wrong():
    found = spells_of_lifetimes(np.array([0, 3, 2]), np.array([1, 2, 2]))

    assert found.wrong.tolist() == [False, True, True]
    assert found.object.tolist() == [0]


def test_the_first_wrong_object_is_named():
    with pytest.raises(InvalidTable, match=r"^object 'b': must be right$"):
        raise_wrong(np.array([False, True]), Texts.of(["a", "b"]), "must be right")


def test_nothing_seen_is_empty_and_one_crawl_is_one_snapshot():
    assert daily(3, []).status == "empty"
    assert daily(1, [(0, 0, 1)]).status == "one-snapshot"
    assert daily(2, [(0, 0, 1)]).status == "ok"


def test_some_objects_alone():
    updates = Updates(np.array([0, 2, 2]), np.array([1, 1, 2]), np.array([0, 0, 0]))
    colour = {"colour": Labels.of(["red", "blue", "red"])}
    listing = daily(4, [(0, 0, 2), (1, 0, 4), (2, 1, 4)], updates=updates, attributes=colour)

    some = listing.only(np.array([False, True, True]))

    assert some.keys.tolist() == ["1", "2"]
    assert some.object.tolist() == [0, 1]
    assert some.attributes["colour"].values()[0].tolist() == [1, 0]
    assert some.updates.object.tolist() == [1, 1]


def sightings(rows, crawls=6, attributes=None, start="2026-01-01"):
    """A listing of (object, day) rows."""
    instants = np.datetime64(start, "us") + np.arange(crawls) * np.timedelta64(1, "D")
    row, day = np.array(rows, np.int64).reshape(-1, 2).T
    found = Sightings(instants, day, row, attributes or {})
    return found, Texts.of([f"object {number}" for number in range(int(row.max(initial=-1)) + 1)])


def test_a_missed_day_is_closed_and_two_are_an_absence():
    """The default grace time is 1.5 days."""
    found, keys = sightings([(0, 0), (0, 2), (0, 5)])

    listing = listing_of(found, keys)

    assert (listing.first.tolist(), listing.gone.tolist()) == ([0, 5], [3, 6])


def test_without_grace_every_absence_counts():
    found, keys = sightings([(0, 0), (0, 2), (0, 5)])

    listing = listing_of(found, keys, grace=0.0)

    assert (listing.first.tolist(), listing.gone.tolist()) == ([0, 2, 5], [1, 3, 6])


def test_a_key_that_repeats_within_a_snapshot_is_named():
    found, keys = sightings([(0, 0), (1, 2), (1, 2), (1, 2)])

    with pytest.raises(
        InvalidTable,
        match=r"snapshot 2026-01-03T00:00:00: key 'object 1' occurs 3 times, expected once",
    ):
        listing_of(found, keys)


def test_attributes_are_those_of_the_first_sighting_and_updates_say_which_changed():
    """A missing value is no change, and does not hide one."""
    rows = [(0, 3), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2)]
    columns = {
        "price": Numbers(np.array([8.0, 9.0, np.nan, 8.0, 5.0, 5.0])),
        "colour": Labels.of(["red", "red", "red", "", "blue", "green"]),
    }
    found, keys = sightings(rows, attributes=columns)

    listing = listing_of(found, keys)
    updates = listing.updates

    assert listing.attributes["price"].values()[1] == ["5", "9"]
    changes = zip(updates.object, updates.crawl, updates.attribute, strict=True)
    assert [tuple(map(int, row)) for row in changes] == [(0, 2, 0), (1, 2, 1)]


def test_no_sightings_are_an_empty_listing():
    found, keys = sightings([])

    assert listing_of(found, keys).status == "empty"


@given(st.data())
def test_snapshots_without_grace_give_back_the_spells(data):
    crawls, objects = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 5))
    flags = data.draw(presences(crawls, objects))
    rows = [(row, day) for row, seen in enumerate(flags) for day in np.flatnonzero(seen).tolist()]
    order = data.draw(st.permutations(rows))
    found, keys = sightings(order, crawls=crawls)

    listing = listing_of(found, keys, grace=0.0)

    expected = [(row, *spell) for row, seen in enumerate(flags) for spell in spells_of(seen)]
    assert list(zip(listing.object, listing.first, listing.gone, strict=True)) == expected


@given(listings())
def test_events_give_back_the_spells(listing):
    row, crawl, kind = listing.events()
    assert (np.diff(crawl) >= 0).all()

    told = kind != UPDATE
    found = spells_of_events(
        row[told],
        crawl[told],
        kind[told] == REMOVE,
        objects=len(listing),
        crawls=len(listing.crawls),
    )

    assert found.object.tolist() == listing.object.tolist()
    assert found.first.tolist() == listing.first.tolist()
    assert found.gone.tolist() == listing.gone.tolist()


def test_an_update_is_one_event_however_many_attributes_changed():
    updates = Updates(np.array([0, 0]), np.array([1, 1]), np.array([0, 1]))
    listing = daily(3, [(0, 0, 3)], updates=updates)

    assert [EVENTS[kind] for kind in listing.events()[2].tolist()] == ["appear", "update"]


def test_a_listing_may_be_written_by_hand_in_any_order():
    listing = Listing.of(["a", "b"], np.array(["2026-01-01"], "M8[us]"), [(1, 0, 1), (0, 0, 1)])

    assert listing.object.tolist() == [0, 1]
