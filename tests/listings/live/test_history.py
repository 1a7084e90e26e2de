"""The history of a listing in a store, as a listing."""

import numpy as np

from recrawl.entries.listings import Event, EventKind, ListingHistory, Sync, SyncOutcome
from recrawl.listings.data.attributes import Labels
from recrawl.listings.live.history import listing_of_history

INSERT, UPDATE, DELETE = EventKind


def sync(number, day, outcome=SyncOutcome.DONE):
    return Sync(number, day * 86_400.0, outcome, "", 0.0, 1, 1, 1, 0.0, "", None)


def history(days, events, keys=("a", "b")):
    """Syncs on some days, and events as object, sync and kind with its attributes."""
    return ListingHistory(
        "jobs",
        [sync(number, day) for number, day in enumerate(days, 1)],
        dict(enumerate(keys, 1)),
        [Event(*each) for each in events],
    )


def test_spells_by_hand():
    """a comes first and goes at the third sync; b comes at the second and stays."""
    found = listing_of_history(
        history(
            [0, 1, 2, 3],
            [(1, 1, INSERT, {}), (2, 2, INSERT, {}), (1, 3, DELETE, None)],
        )
    )

    assert found.keys.tolist() == ["a", "b"]
    assert found.object.tolist() == [0, 1]
    assert (found.first.tolist(), found.gone.tolist()) == ([0, 1], [2, 4])


def test_syncs_that_were_not_accepted_are_no_crawls():
    told = history([0, 1, 3], [(1, 1, INSERT, {}), (1, 3, DELETE, None)], keys="a")
    told.syncs[1] = sync(2, 1, SyncOutcome.FAILED)

    found = listing_of_history(told)

    assert len(found.crawls) == 2
    assert (found.first.tolist(), found.gone.tolist()) == ([0], [1])


def test_a_short_absence_is_closed_and_a_long_one_is_not():
    """a is missed for a day, b for two."""
    events: list[tuple[object, ...]] = [
        *((1, 1, INSERT, {}), (2, 1, INSERT, {})),
        *((1, 2, DELETE, None), (2, 2, DELETE, None)),
        *((1, 3, INSERT, {}), (2, 4, INSERT, {})),
    ]

    found = listing_of_history(history([0, 1, 2, 3], events))

    assert found.object.tolist() == [0, 1, 1]
    assert (found.first.tolist(), found.gone.tolist()) == ([0, 0, 3], [4, 1, 4])
    whole = listing_of_history(history([0, 1, 2, 3], events), grace=0.0)
    assert whole.object.tolist() == [0, 0, 1, 1]


def test_objects_have_the_attributes_they_came_with_and_changes_are_told():
    found = listing_of_history(
        history(
            [0, 1, 2],
            [
                (1, 1, INSERT, {"city": "Bern", "pay": "1"}),
                (1, 2, UPDATE, {"city": "Bern", "pay": "2"}),
                (2, 2, INSERT, {"city": "", "pay": "3"}),
                (1, 3, UPDATE, {"city": "Zug", "pay": ""}),
            ],
        )
    )

    city, pay = found.attributes["city"], found.attributes["pay"]
    assert isinstance(city, Labels)
    assert isinstance(pay, Labels)
    assert city.codes.tolist() == [0, -1]
    assert pay.words.tolist() == ["1", "3"]
    changed = np.stack([found.updates.object, found.updates.crawl, found.updates.attribute], 1)
    assert changed.tolist() == [[0, 1, 1], [0, 2, 0]]


def test_nothing_is_nothing():
    found = listing_of_history(ListingHistory("jobs", [], {}, []))

    assert (len(found), len(found.crawls), found.status) == (0, 0, "empty")
