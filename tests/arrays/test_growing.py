"""States that grow keep what they hold, at a cost that does not grow with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.growing import append_rows, with_rows


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_rows_come_after_each_other(counts):
    parts = [np.full((count, 2), number) for number, count in enumerate(counts)]
    whole = parts[0].copy()
    for part in parts[1:]:
        whole = append_rows(whole, part)

    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_spare_room_is_used():
    """Of a thousand single rows, ten or so copy what is there."""
    rows = np.zeros(1)
    rooms = set()
    for number in range(1000):
        rows = append_rows(rows, np.array([float(number)]))
        rooms.add(id(rows.base))

    assert len(rooms) < 12


@dataclass
class Inner:
    count: Any


@dataclass
class Outer:
    last: Any
    gap: float = 1.0
    inner: Inner = field(default_factory=lambda: Inner(np.zeros((1, 3))))


def test_states_within_states_grow_too():
    state = with_rows(Outer(np.zeros(1)), Outer(np.ones(1), 2.0, Inner(np.ones((1, 3)))))

    assert state.last.tolist() == [0.0, 1.0]
    assert state.inner.count.tolist() == [[0.0] * 3, [1.0] * 3]
    assert state.gap == 1.0
