"""Crawls of hosts that announce changes: rates in their bands, freshness as expected."""

from __future__ import annotations

import numpy as np
import pytest

from tests.policies.recrawl.telling import crawl_telling


def of_crawls(share, *, seeds=(1, 2), **more):
    """Share of rates in their bands, rates over true ones, and what freshness was off by."""
    crawls = [crawl_telling(share, seed=seed, **more) for seed in seeds]
    held, off = [], []
    for crawled in crawls:
        low, high = crawled.beliefs.rate_band(0.9)
        held.append((low <= crawled.rate) & (crawled.rate <= high))
        later = crawled.looks[:, 0] > crawled.looks[-1, 0] / 10
        _, expected, fresh = crawled.looks[later].T
        off.append(np.mean(expected - fresh))
    rates = sum(crawled.beliefs.rate.sum() for crawled in crawls)
    recall = np.mean([crawled.recall.mean() for crawled in crawls])
    true = sum(crawled.rate.sum() for crawled in crawls)
    return np.mean(held), rates / true, np.mean(off), recall


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 1.0])
def test_bands_hold_and_freshness_is_as_expected_however_much_is_announced(share):
    """Visits follow announcements, so what they find is no fair sample of what changes."""
    held, rates, off, recall = of_crawls(share)

    assert held > 0.9
    assert rates == pytest.approx(1.0, abs=0.1)
    assert abs(off) < 0.03
    assert recall == pytest.approx(share, abs=0.1)


def test_hosts_are_not_believed_more_for_being_visited_when_they_announce():
    """With few visits nearly all follow announcements, and nearly all changes found were named."""
    _, _, off, recall = of_crawls(0.3, budget=0.1, days=60.0)

    assert recall == pytest.approx(0.3, abs=0.12)
    assert abs(off) < 0.1


def test_false_alarms_are_no_changes():
    held, rates, off, _ = of_crawls(0.9, alarms=0.2)

    assert held > 0.9
    assert rates == pytest.approx(1.0, abs=0.2)
    assert abs(off) < 0.03
