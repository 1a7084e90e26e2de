"""Patience diff, and the subsequences that it is made of."""

import time
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.patience import (
    Hunk,
    heaviest_increasing_subsequence,
    hunks_between,
    longest_common_subsequence,
    longest_increasing_subsequence,
    patience_align,
    runs,
    slide,
    trim,
    unique_pairs,
)

few = st.lists(st.sampled_from("abcd"), max_size=12)
many = st.lists(st.sampled_from("abcdefghijklmnop"), max_size=25)


def length_by_table(old, new):
    """Length of a longest common subsequence, by the table that textbooks have."""
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for row, one in enumerate(old):
        for column, other in enumerate(new):
            best = max(table[row][column + 1], table[row + 1][column])
            table[row + 1][column + 1] = table[row][column] + 1 if one == other else best
    return table[-1][-1]


def is_alignment(pairs, old, new):
    equal = all(old[one] == new[other] for one, other in pairs)
    return equal and all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))


def test_the_item_stays_around_which_more_stays():
    """Both `one` and `two` are there once; only one of them can stay."""
    assert patience_align(["x", "one", "x", "two"], ["two", "x", "one", "x"]) == [
        (0, 1),
        (1, 2),
        (2, 3),
    ]


@given(few, few)
def test_a_common_subsequence_is_as_long_as_the_table_says(old, new):
    pairs = longest_common_subsequence(old, new)

    assert is_alignment(pairs, old, new)
    assert len(pairs) == length_by_table(old, new)


@given(many, many)
def test_pairs_are_equal_and_never_cross(old, new):
    assert is_alignment(patience_align(old, new), old, new)


@given(few, few, few)
def test_only_what_was_inserted_or_deleted_in_the_middle_is_not_paired(head, middle, tail):
    assert len(patience_align(head + tail, head + middle + tail)) == len(head + tail)
    assert len(patience_align(head + middle + tail, head + tail)) == len(head + tail)


@given(st.permutations(range(9)))
def test_an_increasing_subsequence_is_the_longest(order):
    """That of a permutation is its longest common subsequence with its sorted self."""
    found = longest_increasing_subsequence(list(enumerate(order)))

    assert all(one < other for one, other in pairwise(number for _, number in found))
    assert len(found) == length_by_table(order, sorted(order))


@given(st.permutations(range(7)), st.lists(st.integers(0, 9), min_size=7, max_size=7))
def test_the_heaviest_increasing_subsequence_is_found(order, weights):
    """Of all choices of places, tried one by one."""
    choices = [
        rows
        for count in range(8)
        for rows in combinations(range(7), count)
        if all(order[one] < order[other] for one, other in pairwise(rows))
    ]
    found = heaviest_increasing_subsequence(order, weights)

    assert tuple(found) in choices
    assert sum(weights[row] for row in found) == max(
        sum(weights[row] for row in rows) for rows in choices
    )


def test_a_slider_begins_with_its_rarest_item():
    """Both ways: of three that end alike the middle one is new, or gone."""
    short, long = ["A", "m", "C", "m"], ["A", "m", "B", "m", "C", "m"]
    wrong = [(0, 0), (1, 3), (2, 4), (3, 5)]

    assert slide(wrong, short, long) == [(0, 0), (1, 1), (2, 4), (3, 5)]
    reverse = [(other, one) for one, other in wrong]
    assert slide(reverse, long, short) == [(0, 0), (1, 1), (4, 2), (5, 3)]


def test_a_slider_at_the_end_slides_up():
    assert slide([(0, 0), (1, 1), (2, 4)], list("Amx"), list("AmBmx")) == [(0, 0), (1, 1), (2, 4)]
    assert slide([(0, 0), (1, 3)], list("Am"), list("AmBm")) == [(0, 0), (1, 1)]


@given(few, few)
def test_as_many_equal_items_are_paired_as_before(old, new):
    before = patience_align(old, new)
    found = slide(before, old, new)

    assert len(found) == len(before)
    assert all(old[one] == new[other] for one, other in found)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))


@given(many, many)
def test_hunks_and_runs_of_an_alignment_are_the_whole_of_both_sequences(old, new):
    pairs = patience_align(old, new)
    ranges = [tuple(hunk) for hunk in hunks_between(pairs, (len(old), len(new)))]
    ranges += [(row, row + many, row_new, row_new + many) for row, row_new, many in runs(pairs)]

    assert [row for hunk in sorted(ranges) for row in range(*hunk[:2])] == list(range(len(old)))
    assert [row for hunk in sorted(ranges) for row in range(*hunk[2:])] == list(range(len(new)))


@given(few, few)
def test_what_is_trimmed_is_equal_and_what_is_left_differs_at_both_ends(old, new):
    left = trim(old, new, Hunk(0, len(old), 0, len(new)))
    middle, middle_new = old[left.start : left.end], new[left.new_start : left.new_end]

    assert old[: left.start] == new[: left.new_start]
    assert old[left.end :] == new[left.new_end :]
    if middle and middle_new:
        assert middle[0] != middle_new[0]
        assert middle[-1] != middle_new[-1]


@given(many, many)
def test_unique_items_are_those_that_both_have_once(old, new):
    wanted = [item for item in old if old.count(item) == new.count(item) == 1]

    assert [old[row] for row, _ in unique_pairs(old, new)] == wanted
    assert [new[row] for _, row in unique_pairs(old, new)] == wanted


def coins(seed, count):
    return np.random.default_rng(seed).choice(["a", "b"], count).tolist()


@pytest.mark.parametrize(
    "kind", ["equal", "different", "reversed", "alternating", "of two", "gaps"]
)
def test_a_hundred_thousand_items_take_seconds(kind):
    numbers = [str(number) for number in range(100_000)]
    old, new = {
        "equal": (["x"] * 100_000, ["x"] * 99_991),
        "different": (numbers, [f"n{number}" for number in numbers]),
        "reversed": (numbers, numbers[::-1]),
        "alternating": (["a", "b"] * 50_000, ["b", "a"] * 50_000),
        "of two": (coins(1, 100_000), coins(2, 100_000)),
        "gaps": tuple(
            [item for number in range(25) for item in (f"at {number}", *coins(side + number, 4000))]
            for side in (0, 100)
        ),
    }[kind]
    began = time.process_time()
    pairs = patience_align(old, new)

    assert is_alignment(pairs, old, new)
    assert time.process_time() - began < 20  # a square of it would be hours
