"""The speeds of a site's clock: found again on made sites, even where little is known."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl import Histories
from recrawl.errors import InvalidParameter
from recrawl.trends.clock import SiteClock
from recrawl.trends.clock_fit import fit_clock
from recrawl.trends.visit_instants import visit_instants
from tests.strategies import Seen, history_of
from tests.trends.made import MONDAY, week

TRUE = week(slice(8, 18), 6.0)


def site(chance, pages=40, visits=400, gap=0.25, rate=0.7, dated=False):
    """Visits to pages whose changes follow the clock `TRUE`."""
    gaps = chance.uniform(0.5, 1.5, pages * visits) * gap
    first = MONDAY + chance.integers(0, 10**6, pages) * np.timedelta64(1, "s")
    offsets = np.arange(pages + 1) * visits
    bare = Histories(gaps, np.zeros(len(gaps), bool), offsets, first_visit=first)
    expected = rate * TRUE.on_clock(bare).gaps
    changed = chance.random(len(gaps)) < -np.expm1(-expected)
    age = None
    if dated:
        back = -np.log1p(chance.random(len(gaps)) * np.expm1(-expected)) / rate
        end = visit_instants(bare)[1]
        age = (end - TRUE.later(end, -back)) / np.timedelta64(1, "D")
        age = np.where(changed, np.clip(age, 0, np.nextafter(gaps, 0)), np.nan)
    return Histories(gaps, changed, offsets, age=age, first_visit=first)  # type: ignore[arg-type]


@pytest.mark.parametrize("dated", [False, True])
def test_a_site_s_week_is_found(dated):
    """Mondays from eight to six are six times as fast, seen through gaps of six hours."""
    fitted = fit_clock(site(np.random.default_rng(3), dated=dated)).speeds[0]

    assert np.corrcoef(fitted, TRUE.speeds[0])[0, 1] > 0.8
    assert fitted.mean() == pytest.approx(1)
    assert fitted[9:17].mean() / fitted[24:].mean() > 2.5


def test_the_fitted_clock_predicts_other_pages():
    """Log score of the outcomes of pages that were not used."""
    chance = np.random.default_rng(4)
    fitted, other = fit_clock(site(chance)), site(chance)

    def score(clock):
        expected = 0.7 * clock.on_clock(other).gaps
        return np.where(other.changed, np.log(-np.expm1(-expected)), -expected).mean()

    even, best = score(SiteClock.even()), score(TRUE)
    assert score(fitted) > even + 0.6 * (best - even)


def test_few_changes_make_an_even_clock():
    """199 changes are not enough, nor are any number of them in gaps of more than a week."""
    first = np.array([MONDAY])
    few = Histories(np.ones(199), np.ones(199, bool), np.array([0, 199]), first_visit=first)
    long = Histories(np.full(300, 8.0), np.ones(300, bool), np.array([0, 300]), first_visit=first)
    unknown = Histories(np.ones(300), np.ones(300, bool), np.array([0, 300]))

    for histories in (few, long, unknown, Histories.from_lists([])):
        assert (fit_clock(histories).speeds == 1).all()


def test_sites_are_fitted_on_their_own():
    """A site with a week, one without changes enough, and one without pages between them."""
    busy = site(np.random.default_rng(5))
    quiet = history_of([Seen(1.0, True)], first_visit=np.array([MONDAY]))
    both = Histories.joined([busy, quiet])

    clock = fit_clock(both, np.array([0] * 40 + [2]))

    assert (clock.speeds == 1).all(axis=1).tolist() == [False, True, True]
    assert clock.speeds[0] == pytest.approx(fit_clock(busy).speeds[0])
    assert clock.on_clock(both).gaps[-1] == 1.0


def test_counts_weigh_as_many_changes():
    """Two changes in the first six hours of every day, none in the rest."""
    page = [Seen(0.25, True, np.nan, 2), *[Seen(0.25, False, np.nan, 0)] * 3] * 200
    speeds = fit_clock(history_of(page, first_visit=np.array([MONDAY]))).speeds.reshape(7, 24)

    assert speeds[:, :6].min() > 2.5
    assert speeds[:, 6:].max() < 0.5


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: fit_clock(history_of([]), np.array([0, 1])), "expected 1 sites, one per page"),
        (lambda: fit_clock(history_of([]), np.array([0.5])), "whole numbers"),
        (lambda: fit_clock(history_of([]), smoothing=0.0), "smoothing"),
    ],
    ids=["too many sites", "half a site", "no smoothing"],
)
def test_what_cannot_be_fitted_is_refused(make, rule):
    with pytest.raises(InvalidParameter, match=rule):
        make()
