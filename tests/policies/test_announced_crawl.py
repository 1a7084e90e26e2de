"""Crawls of hosts that announce changes: rates in their bands, freshness as expected."""

from __future__ import annotations

import numpy as np
import pytest

from tests.policies.telling import crawl_telling


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 1.0])
def test_bands_hold_and_freshness_is_as_expected_however_much_is_announced(share):
    """Visits follow announcements, so what they find is no fair sample of what changes."""
    crawls = [crawl_telling(share, seed=seed) for seed in (1, 2, 3)]

    held, off = [], []
    sums = [(crawled.beliefs.rate.sum(), crawled.rate.sum()) for crawled in crawls]
    for crawled in crawls:
        low, high = crawled.beliefs.rate_band(0.9)
        held.append((low <= crawled.rate) & (crawled.rate <= high))
        _, expected, fresh = crawled.looks[crawled.looks[:, 0] > 3].T
        off.append(np.mean(expected - fresh))
    assert np.mean(held) > 0.88
    rates, true = (sum(each) for each in zip(*sums, strict=True))
    assert rates == pytest.approx(true, rel=0.1)
    assert abs(np.mean(off)) < 0.03
