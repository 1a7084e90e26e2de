"""Rows with equal keys: all of them, together and in their order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.equal_keys import Groups, distinct, nth_occurrences

columns = st.lists(st.integers(0, 5), max_size=20).map(lambda keys: np.array(keys, np.int64))


def test_equal_keys_lie_together_in_the_order_they_came_in():
    groups = Groups.of(np.array([3, 0, 3]))

    assert groups.order.tolist() == [1, 0, 2]
    assert (groups.starts.tolist(), groups.counts.tolist()) == ([0, 1], [1, 2])


@given(columns)
def test_groups_are_those_of_a_plain_search(keys):
    groups = Groups.of(keys)
    stretches = zip(groups.starts.tolist(), groups.counts.tolist(), strict=True)

    found = [groups.order[start : start + count].tolist() for start, count in stretches]
    assert found == [np.flatnonzero(keys == key).tolist() for key in np.unique(keys)]


@given(columns)
def test_what_came_before_is_counted(keys):
    assert Groups.of(keys).before.tolist() == [
        keys[:row].tolist().count(key) for row, key in enumerate(keys.tolist())
    ]


@given(columns)
def test_a_round_has_each_key_once_and_all_rounds_have_every_row(keys):
    found = nth_occurrences(keys)

    assert sorted(row for each in found for row in each.tolist()) == list(range(len(keys)))
    for each in found:
        assert len(each)
        assert len(set(keys[each].tolist())) == len(each)


@given(columns)
def test_distinct_keys_are_numpys(keys):
    assert distinct(keys).tolist() == np.unique(keys).tolist()
