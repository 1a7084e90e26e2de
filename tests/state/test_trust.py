"""What a crawl believes, counted over hosts and pages."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.detect.reliability import NOT_MODIFIED
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


def seen(trust, *, whole=False, times=1):
    for _ in range(times):
        trust.validators.seen(1, whole=whole)


def test_a_page_is_fetched_in_full_after_304s_in_a_row_ever_more_rarely(trust):
    """After 2, then 8, then 32, then 64 of them."""
    rows = []
    for _ in range(5):
        before = 0
        while trust.use_conditional(0, 1):
            seen(trust)
            before += 1
        rows.append(before)
        seen(trust, whole=True)

    assert rows == [2, 8, 32, 64, 64]


def test_a_page_that_is_seen_whole_by_itself_starts_to_count_again(trust):
    seen(trust)
    seen(trust, whole=True)
    seen(trust)

    assert not trust.must_be_whole(1)
    assert trust.validators.proved[1] == 0


def test_a_crawl_that_never_checks_believes_every_304(trust):
    trust.audited = False
    seen(trust, times=300)

    assert trust.use_conditional(0, 1)


def test_a_page_that_was_caught_leaves_its_neighbours_their_word_and_may_earn_its_own(trust):
    trust.count_signal(0, NOT_MODIFIED, right=5)
    trust.count_denied(0, 1)
    trust.count_denied(0, 1)

    assert trust.record(0, NOT_MODIFIED).wrong == 1
    assert trust.audit_304(0, 1)
    assert trust.use_conditional(0, 2)
    assert sum(trust.use_conditional(0, 1) for _ in range(1000)) in range(5, 50)

    trust.count_told(0, 1)
    assert trust.use_conditional(0, 1)


def test_what_pages_said_is_in_a_checkpoint(trust):
    seen(trust, times=3)
    trust.count_denied(0, 2)
    again = Trust(HostTable(delay=0.0), np.random.default_rng(1))
    again.grow(4)
    again.validators.resume(trust.validators.dump())

    assert again.validators.unchecked.tolist() == [0, 3, 0, 0]
    assert again.validators.caught.tolist() == [0, 0, 1, 0]
