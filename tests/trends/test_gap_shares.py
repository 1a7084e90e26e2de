"""Gaps beside those of random changes."""

import numpy as np
import pytest

from recrawl.trends.gap_shares import gap_shares
from tests.trends.made import points_at_days


def test_gaps_are_counted_by_their_share_of_the_mean():
    """Inner gaps 1, 1, 1 and 5: the mean is 2. The first gap began with a visit."""
    shares = gap_shares([points_at_days([9.0, 10, 11, 12, 17])], width=1.0, bins=3)

    assert shares.gaps.tolist() == [3, 0, 1]
    assert shares.share.tolist() == [0.75, 0, 0.25]
    assert shares.pages == 1


def test_pages_with_few_gaps_are_left_out():
    shares = gap_shares([points_at_days([1.0, 2, 3, 4], [])])

    assert shares.pages == 0
    assert shares.gaps.sum() == 0
    assert not np.signbit(shares.exponential).any()


@pytest.mark.parametrize("count", [6, 40])
def test_random_changes_lie_on_the_line(count):
    """Also with few gaps to a page, whose mean knows each of them."""
    steps = np.random.default_rng(2).exponential(size=(2000, count))
    shares = gap_shares([points_at_days(*np.cumsum(steps, axis=1).tolist())])

    assert shares.exponential.sum() == pytest.approx(1)
    error = np.sqrt(shares.exponential / shares.gaps.sum())
    assert (np.abs(shares.share - shares.exponential) < 5 * error + 1e-9).all()


def test_pages_may_come_in_parts():
    """All figures are the same to the bit: only whole numbers are added up."""
    steps = np.random.default_rng(4).exponential(size=(60, 9))
    days = np.cumsum(steps, axis=1).tolist()
    whole = gap_shares([points_at_days(*days)])
    parts = gap_shares([points_at_days(*days[40:]), points_at_days(*days[:40])])

    assert parts.exponential.tolist() == whole.exponential.tolist()
    assert parts.share.tolist() == whole.share.tolist()
    assert parts.pages == whole.pages == 60
