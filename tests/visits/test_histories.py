import pickle
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Histories
from recrawl.errors import InvalidHistory
from tests.strategies import Seen, history_of
from tests.visits.building import of_columns

DAY = np.datetime64("2026-01-01", "us")


def listed(histories):
    """Every column of every page as plain values, nan and NaT as None."""
    pages = []
    for page in range(len(histories)):
        rows = slice(int(histories.offsets[page]), int(histories.offsets[page + 1]))
        pages.append(
            [
                histories.gaps[rows].tolist(),
                histories.changed[rows].tolist(),
                [None if np.isnan(age) else age for age in histories.age[rows].tolist()],
                histories.count[rows].tolist(),
                histories.first_visit[page].item(),
                None if np.isnan(histories.first_age[page]) else histories.first_age[page].item(),
                histories.flags[page].item(),
            ]
        )
    return pages


_gaps = st.floats(1e-5, 1e4)
_seen = st.one_of(
    st.tuples(_gaps, st.booleans()).map(lambda pair: Seen(*pair)),
    st.builds(lambda gap: Seen(gap, changed=True, age=gap / 3), _gaps),
    st.builds(lambda gap, count: Seen(gap, count > 0, count=count), _gaps, st.integers(0, 9)),
)


@st.composite
def _histories(draw):
    """Pages with and without gaps; columns of pages known or not."""
    pages = draw(st.lists(st.lists(_seen, max_size=4), max_size=5))
    columns: dict[str, Any] = {}
    if draw(st.booleans()):
        columns["first_visit"] = DAY + np.arange(len(pages)).astype("timedelta64[h]")
    if draw(st.booleans()):
        columns["first_age"] = np.where(np.arange(len(pages)) % 2, np.nan, 1.5)
    if draw(st.booleans()):
        columns["flags"] = np.arange(len(pages))
    return history_of(*pages, **columns)


# What a history says.


def test_pages_lie_end_to_end():
    """Three gaps, none, two."""
    seen = Histories.from_lists([([1, 1, 7], [False, True, True]), ([], []), ([2, 3], [False] * 2)])

    assert seen.offsets.tolist() == [0, 3, 3, 5]
    assert seen.gaps_of_page.tolist() == [3, 0, 2]
    assert seen.page_of_gap.tolist() == [0, 0, 0, 2, 2]
    assert seen.changes.tolist() == [2, 0, 0]


def test_a_page_without_gaps_was_seen_once_if_at_all():
    """One visit makes no gap. Only its instant tells it from a page that was never seen."""
    first_visit = np.array([DAY, "NaT", DAY, "NaT"], "datetime64[us]")
    seen = of_columns(np.ones(2), np.zeros(2), [0, 1, 2, 2, 2], first_visit=first_visit)

    assert seen.visits.tolist() == [2, 2, 1, 0]


def test_the_last_visit_is_the_first_and_all_gaps():
    seen = of_columns([0.5, 1.0], [True, False], [0, 2, 2], first_visit=[DAY, DAY])

    assert seen.last_visit[0].item() == datetime(2026, 1, 2, 12)  # noqa: DTZ001 - numpy's are naive
    assert seen.last_visit[1] == DAY


def test_where_only_gaps_are_known_no_instant_is():
    assert np.isnat(Histories.from_lists([([1.0], [True])]).last_visit).all()


def test_totals_leave_pages_without_gaps_alone():
    """At the beginning, in the middle, at the end; reduceat gives them their neighbour's value."""
    seen = of_columns(np.ones(3), np.ones(3), [0, 0, 1, 1, 3, 3])

    assert seen.total(np.array([5.0, 2.0, 3.0])).tolist() == [0, 5, 0, 5, 0]
    assert seen.total(np.array([True, True, False])).tolist() == [0, 1, 0, 1, 0]


def test_totals_keep_whole_numbers_whole():
    seen = of_columns(np.ones(300), np.ones(300), [0, 300])

    assert seen.total(np.ones(300, np.int8)).tolist() == [300]
    assert seen.total(np.ones(300, np.bool_)).dtype == np.int64


@given(_histories())
def test_totals_are_sums_over_each_page(histories):
    totals = histories.total(histories.gaps)

    np.testing.assert_allclose(totals, [sum(page[0]) for page in listed(histories)])


# Parts and wholes.


@given(_histories(), st.data())
def test_take_names_pages_in_any_order(histories, data):
    """Pages may be named twice or not at all."""
    some = st.lists(st.integers(0, max(len(histories) - 1, 0)), max_size=8)
    pages = data.draw(some if len(histories) else st.just([]))

    taken = histories.take(np.array(pages, np.int64))

    whole = listed(histories)
    assert listed(taken) == [whole[page] for page in pages]


@given(st.lists(_histories(), max_size=4))
def test_joined_lays_pages_end_to_end(parts):
    """Parts that know a column and parts that do not, parts without pages, no parts."""
    joined = Histories.joined(parts)

    assert listed(joined) == [page for part in parts for page in listed(part)]


@given(_histories())
def test_pages_taken_one_by_one_join_to_the_whole(histories):
    parts = [histories.take(np.array([page])) for page in range(len(histories))]

    assert listed(Histories.joined(parts)) == listed(histories)


@given(_histories())
def test_pickling_keeps_every_column(histories):
    back = pickle.loads(pickle.dumps(histories))  # noqa: S301 - our own bytes

    assert listed(back) == listed(histories)
    assert back.knows_age == histories.knows_age
    assert back.knows_count == histories.knows_count


# What nobody knows.


def test_unknown_columns_take_no_memory():
    """A view without steps: one value stands for all."""
    seen = of_columns(np.ones(10_000), np.zeros(10_000), [0, *[10_000] * 5000])

    for name in ("age", "count", "first_visit", "first_age", "flags"):
        assert getattr(seen, name).strides == (0,)
    assert not seen.knows_age
    assert not seen.knows_count


def test_unknown_columns_stay_unknown():
    """Taking pages and joining parts makes no columns of them."""
    seen = of_columns(np.ones(100), np.zeros(100), np.arange(101))
    again = Histories.joined([seen.take(np.arange(50)), seen.take(np.arange(50, 100))])

    assert not again.knows_age
    assert not again.knows_count
    assert again.first_visit.strides == (0,)


def test_a_pickle_is_as_small_as_the_memory():
    """Gaps take 8 bytes, flags 1; ages and counts would take 16 more."""
    seen = of_columns(np.ones(10_000), np.zeros(10_000), [0, 10_000])

    assert len(pickle.dumps(seen)) < 10_000 * 9.5


def test_columns_that_say_the_same_of_every_row_are_known():
    """`broadcast_to` is the thrifty way to write them; they must not pass for unknown ones."""
    seen = of_columns(
        np.ones(3),
        np.ones(3),
        [0, 1, 3],
        age=np.broadcast_to(0.25, 3),
        count=np.broadcast_to(2, 3),
        first_visit=np.broadcast_to(DAY, 2),
        flags=np.broadcast_to(np.uint32(4), 2),
    )
    back = pickle.loads(pickle.dumps(seen))  # noqa: S301 - our own bytes

    assert seen.knows_age
    assert seen.knows_count
    assert back.first_visit.tolist() == seen.first_visit.tolist()
    assert back.flags.tolist() == [4, 4]


@pytest.mark.parametrize("gaps", [0, 1, 2])
def test_a_column_of_nothing_but_unknown_values_may_be_given(gaps):
    seen = of_columns(np.ones(gaps), np.ones(gaps), [0, gaps], age=np.full(gaps, np.nan))

    assert np.isnan(seen.age).all()


# What cannot be.


@pytest.mark.parametrize("gap", [0.0, -3.0, np.inf, -np.inf, np.nan])
def test_a_gap_must_be_positive_and_finite(gap):
    """The sentence names the page and its gap: where, what must hold, what came."""
    with pytest.raises(InvalidHistory) as refusal:
        of_columns([1.0, 1.0, 1.0, gap], np.ones(4), [0, 2, 2, 4])

    sentence = f"page 2: gap 1 must be a positive, finite number of days (got {gap})"
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("age", [-0.1, 2.0, 2.5, np.inf])
def test_an_age_must_lie_in_its_gap(age):
    with pytest.raises(InvalidHistory, match=r"^page 1: gap 0 must .* \(got .*\)$"):
        of_columns([1.0, 2.0], [True, True], [0, 1, 2], age=[np.nan, age])


def test_the_age_of_a_change_at_the_visit_itself_is_zero():
    assert of_columns([1.0], [True], [0, 1], age=[0.0]).age.tolist() == [0.0]


def test_what_did_not_change_has_no_age():
    with pytest.raises(InvalidHistory) as refusal:
        of_columns([1.0], [False], [0, 1], age=[0.5])

    assert str(refusal.value) == "page 0: gap 0 must have changed to have an age (got 0.5)"


@pytest.mark.parametrize(("changed", "count"), [(True, 0), (False, 1), (True, -2), (False, -2)])
def test_a_count_must_agree_with_the_change(changed, count):
    with pytest.raises(InvalidHistory) as refusal:
        of_columns([1.0], [changed], [0, 1], count=[count])

    sentence = f"page 0: gap 0 must have a count that agrees with changed (got {count})"
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("first_age", [-1.0, np.inf])
def test_a_first_age_must_be_finite(first_age):
    with pytest.raises(InvalidHistory) as refusal:
        of_columns([1.0], [True], [0, 0, 1], first_age=[0.0, first_age])

    sentence = "page 1: first_age must be a finite number of days, at least 0"
    assert str(refusal.value) == f"{sentence} (got {first_age})"


@pytest.mark.parametrize("offsets", [[], [0], [0, 1], [0, 3], [1, 2], [0, 2, 1, 2], [-1, 2]])
def test_offsets_must_rise_from_nothing_to_all_gaps(offsets):
    with pytest.raises(InvalidHistory) as refusal:
        of_columns([1.0, 1.0], [True, False], np.array(offsets, np.int64))

    sentence = "offsets must rise from 0 to the number of gaps, 2"
    assert str(refusal.value) == f"{sentence} (got {np.array(offsets, np.int64)})"


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"changed": [True]}, "changed must be one column of 2 rows (got shape (1,))"),
        ({"age": [np.nan] * 3}, "age must be one column of 2 rows (got shape (3,))"),
        ({"count": [[1, 1]]}, "count must be one column of 2 rows (got shape (1, 2))"),
        ({"flags": [0, 0]}, "flags must be one column of 1 rows (got shape (2,))"),
        ({"first_age": []}, "first_age must be one column of 1 rows (got shape (0,))"),
        ({"first_visit": [DAY] * 2}, "first_visit must be one column of 1 rows (got shape (2,))"),
    ],
)
def test_columns_must_be_as_long_as_their_rows(columns, sentence):
    with pytest.raises(InvalidHistory) as refusal:
        of_columns(**{"gaps": [1.0, 1.0], "changed": [True, True], "offsets": [0, 2]} | columns)

    assert str(refusal.value) == sentence


def test_lists_must_be_equally_long():
    with pytest.raises(InvalidHistory) as refusal:
        Histories.from_lists([([1.0], [True]), ([1.0, 2.0], [True])])

    sentence = "page 1: gaps and changed must be equally long (got 2 and 1)"
    assert str(refusal.value) == sentence


def test_a_pickle_is_checked_like_anything_else():
    """Bytes from elsewhere may hold anything."""
    seen = of_columns([1.0], [True], [0, 1])
    rebuild, (_, *others) = seen.__reduce__()

    with pytest.raises(InvalidHistory, match="page 0: gap 0 must be a positive"):
        rebuild(np.array([-1.0]), *others)


def test_every_gap_has_one_outcome():
    """Counted before dated: a count says all there is to say."""
    seen = of_columns(
        [1.0] * 5,
        [False, True, True, True, False],
        [0, 2, 5],
        age=[np.nan, np.nan, 0.5, 0.5, np.nan],
        count=[-1, -1, -1, 2, 0],
    )

    names = [seen.outcome(gap).name for gap in range(5)]
    assert names == ["UNCHANGED", "CHANGED", "CHANGED_AT", "COUNTED", "COUNTED"]
