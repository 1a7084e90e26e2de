"""Items of two sequences that stand for each other."""

import time
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.alignment import aligned, heaviest, longest, rising

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
    assert aligned(["x", "one", "x", "two"], ["two", "x", "one", "x"]) == [(0, 1), (1, 2), (2, 3)]


@given(few, few)
def test_the_longest_is_as_long_as_the_table_says(old, new):
    pairs = longest(old, new)

    assert is_alignment(pairs, old, new)
    assert len(pairs) == length_by_table(old, new)


@given(many, many)
def test_pairs_are_equal_and_never_cross(old, new):
    assert is_alignment(aligned(old, new), old, new)


@given(few, few, few)
def test_what_was_put_in_the_middle_or_taken_out_is_all_that_is_missing(head, middle, tail):
    assert len(aligned(head + tail, head + middle + tail)) == len(head + tail)
    assert len(aligned(head + middle + tail, head + tail)) == len(head + tail)


@given(st.permutations(range(9)))
def test_a_rise_is_the_longest(order):
    """The longest rise of a permutation is what it has in common with its sorted self."""
    found = rising(list(enumerate(order)))

    assert all(one < other for one, other in pairwise(number for _, number in found))
    assert len(found) == length_by_table(order, sorted(order))


@given(st.permutations(range(7)), st.lists(st.integers(0, 9), min_size=7, max_size=7))
def test_the_heaviest_rise_is_found(order, weights):
    """Of all choices of places, tried one by one."""
    choices = [
        rows
        for count in range(8)
        for rows in combinations(range(7), count)
        if all(order[one] < order[other] for one, other in pairwise(rows))
    ]
    found = heaviest(order, weights)

    assert tuple(found) in choices
    assert sum(weights[row] for row in found) == max(
        sum(weights[row] for row in rows) for rows in choices
    )


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
    pairs = aligned(old, new)

    assert is_alignment(pairs, old, new)
    assert time.process_time() - began < 20  # a square of it would be hours
