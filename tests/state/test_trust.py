"""What a crawl believes, counted over hosts and pages."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.frontier.host_table import HostTable
from recrawl.state.trust import Trust


@pytest.fixture
def trust():
    made = Trust(HostTable(delay=0.0), np.random.default_rng(1))
    made.grow(3)
    return made


def test_of_a_page_whose_masks_are_new_nothing_is_known(trust):
    trust.count_pair(0, 1, differed=False, masked=False, sampled=False)
    trust.count_pair(0, 1, differed=True, masked=False, sampled=False)
    doubted = trust.false_changes.chance(0, 1)

    trust.count_pair(0, 1, differed=True, masked=True, sampled=False)

    assert (trust.false_changes.checked[1], trust.false_changes.differed[1]) == (0, 0)
    assert trust.false_changes.chance(0, 1) == trust.false_changes.chance(0, 2) < doubted


def test_masks_that_come_from_neighbours_forget_nothing(trust):
    """A page that was the same twice keeps what it has shown, whatever masks it takes over."""
    trust.count_pair(0, 1, differed=False, masked=True, sampled=False)

    assert (trust.false_changes.checked[1], trust.false_changes.differed[1]) == (1, 0)
