"""Lists compared with their copies, and what of it is accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.entries.listings import ForecastInterval
from recrawl.listings.live.comparing import (
    Doubt,
    ListingDifference,
    alike,
    doubt_of,
    is_confirmed,
    sketch_of,
)

HOUR = 1 / 24
objects = st.dictionaries(st.text(max_size=3), st.dictionaries(st.just("a"), st.text(max_size=2)))


def lost(count, of, found=None):
    """A list that lost so many of its objects."""
    return ListingDifference(of, of - count if found is None else found, deleted=["x"] * count)


def doubted_for(differs, pages=(1, 1)):
    """Days for which a list is doubted of which nothing was forecast."""
    found = doubt_of(differs, None, pages)
    assert found is not None
    return found.days


def test_precision_and_recall_by_hand():
    """Of a, b, c the last two are left, beside d and e: 2 of 3, and 2 of 4."""
    copy, now = {key: {"x": "1"} for key in "abc"}, {key: {"x": "1"} for key in "bcde"}

    differs = ListingDifference.of(copy, now)

    assert (differs.precision, differs.recall) == (2 / 3, 2 / 4)
    assert (list(differs.inserted), differs.deleted, differs.updated) == (["d", "e"], ["a"], {})


@given(objects, objects)
def test_what_differs_makes_the_one_from_the_other(copy, now):
    differs = ListingDifference.of(copy, now)

    made = {key: each for key, each in copy.items() if key not in differs.deleted}
    assert {**made, **differs.inserted, **differs.updated} == now
    assert 0 <= differs.precision <= 1
    assert 0 <= differs.recall <= 1


@given(objects)
def test_a_list_that_is_its_copy_is_accepted(copy):
    differs = ListingDifference.of(copy, copy)

    assert doubt_of(differs, None) is None
    assert (differs.precision, differs.recall) == (1.0, 1.0)


@pytest.mark.parametrize(("known", "days"), [(1, 1.0), (9, 1.0), (10, 7.0), (5000, 7.0)])
def test_an_empty_list_is_doubted_the_longer_the_more_there_was(known, days):
    doubt = doubt_of(lost(known, of=known), None)

    assert doubt == Doubt(f"list is empty, expected about {known:,} objects", days)


def test_a_list_of_new_keys_alone_is_doubted():
    differs = ListingDifference(
        50, 60, inserted={key: {} for key in map(str, range(60))}, deleted=["x"] * 50
    )

    doubt = doubt_of(differs, ForecastInterval(0.0, 0.1, 0.5))

    assert doubt == Doubt("all 60 keys are new, expected known ones", HOUR)


@pytest.mark.parametrize(
    ("count", "of", "interval", "doubted"),
    [
        (10, 100, None, False),
        (21, 100, None, True),  # more than a fifth
        (10, 12, None, False),  # not more than ten
        (30, 100, ForecastInterval(0.85, 0.9, 0.95), False),  # 20 beyond the 10 that were to go
        (31, 100, ForecastInterval(0.85, 0.9, 0.95), True),
        (31, 100, ForecastInterval(0.6, 0.9, 0.95), False),  # within the band
    ],
)
def test_a_fall_is_doubted_beyond_forecast_and_band(count, of, interval, doubted):
    assert (doubt_of(lost(count, of), interval) is not None) == doubted


def test_a_fall_by_more_than_half_takes_a_day():
    assert doubted_for(lost(50, of=100)) == HOUR
    assert doubted_for(lost(51, of=100)) == 1.0


def test_a_list_that_ends_after_its_first_page_takes_a_week():
    """The link to the next page is no longer found."""
    doubt = doubt_of(lost(75, of=100), None, (4, 1))

    assert doubt == Doubt("list ends after its first page, expected about 4 pages", 7.0)
    assert doubted_for(lost(75, of=100), (4, 2)) == 1.0
    assert doubt_of(lost(5, of=100), None, (4, 1)) is None


def test_a_list_that_grows_by_thousands_at_once_is_doubted():
    """A site that makes keys up at each sync would fill the disk."""
    grown: dict[str, dict[str, str]] = {str(number): {} for number in range(2001)}

    doubt = doubt_of(ListingDifference(150, 2151, inserted=grown), None)

    assert doubt == Doubt("list grew from 150 objects by 2,001", HOUR)
    assert doubt_of(ListingDifference(250, 2251, inserted=grown), None) is None


def test_of_few_objects_all_may_be_gone_where_the_band_says_so():
    assert doubt_of(lost(3, of=3), ForecastInterval(0.0, 0.8, 1.0)) is None
    assert doubt_of(lost(3, of=3), ForecastInterval(0.3, 0.8, 1.0)) is not None


def test_an_empty_copy_can_become_anything():
    assert doubt_of(ListingDifference(0, 900, inserted={"x": {}}), None) is None


def test_a_doubt_is_over_when_a_later_sync_finds_much_the_same():
    doubt, found = Doubt("...", HOUR), sketch_of("abcdef")

    assert not is_confirmed(doubt, found, 10.0, [])
    assert not is_confirmed(doubt, found, 10.0, [(9.99, found)])  # a quarter of an hour
    assert is_confirmed(doubt, found, 10.0, [(10.0 - HOUR, sketch_of("abcdeg"))])
    assert not is_confirmed(doubt, found, 10.0, [(9.0, sketch_of("uvwxyz"))])


@given(st.sets(st.integers(0, 2000), max_size=400), st.sets(st.integers(0, 2000), max_size=400))
def test_sketches_tell_what_has_much_in_common(one, other):
    """An oracle: the share of what both have in what either has, where it is not close to half."""
    either = len(one | other)
    share = len(one & other) / either if either else 1.0
    first, second = (sketch_of(map(str, each)) for each in (one, other))

    if share > 0.8 or share < 0.2:
        assert alike(first, second) == (share > 0.5)
    assert alike(first, first)
    assert alike(first, second) == alike(second, first)
