"""What each method says of pages at the edge: a status and a flag, never nan with `ok`.

One table for all, so that a new method has to say where it stands.
"""

from __future__ import annotations

import numpy as np
import pytest

from recrawl import Flag, Histories, Priors, Status
from recrawl.rates import METHODS
from tests.rates.pages import regular_page
from tests.strategies import history_of

HALF_A_GAP = {"likelihood", "cho", "cho-exact", "beta", "lln", "sa", "sam"}  # or its like
FROM_PRIORS = {"gamma", "npmle", "bank", "grid", "classes", "malcolm-age", "last-modified"}
INFINITE = {"likelihood-plain", "moment-matching", "matloff", "malcolm"}
ZERO = {
    "likelihood",
    "likelihood-plain",
    "moment-matching",
    "ratio",
    "cho",
    "cho-exact",
    "matloff",
    "last-modified",
    "last-modified-raw",
    "lln",
}
DATED = {"malcolm-age", "last-modified", "last-modified-raw"}
AVERAGED = {"cho", "cho-exact", "matloff", "beta"}
FIGURES = ("rate", "low", "high", "shape", "exposure")

every_method = pytest.mark.parametrize("name", METHODS)


def estimates_of(name, *pages, **columns):
    """Estimates of some pages by the method of that name."""
    return METHODS[name](Priors.one(), 0.9).estimate(history_of(*pages, **columns))


@every_method
@pytest.mark.parametrize("gaps", [1, 4])
def test_where_every_gap_changed(name, gaps):
    """n = X: infinite as the formula has it, or the largest rate there is, and either is said."""
    estimates = estimates_of(name, regular_page(gaps, gaps))

    saturated = name in HALF_A_GAP
    assert estimates.status.tolist() == [Status.SATURATED if saturated else Status.ALL_CHANGED]
    assert np.isinf(estimates.rate[0]) == (name in INFINITE)
    assert estimates.rate[0] > 0
    own = DATED - {"last-modified"} if gaps == 1 else DATED  # the figures of `gamma` need no date
    assert bool(estimates.flags[0] & Flag.UNDATED) == (name in own)


@every_method
@pytest.mark.parametrize("gaps", [2, 9])
def test_where_no_gap_changed(name, gaps):
    """X = 0: a rate of 0 as the formula has it, or a small one from a prior, and either is said."""
    estimates = estimates_of(name, regular_page(0, gaps))

    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]
    assert (estimates.rate[0] == 0) == (name in ZERO)
    assert 0 < estimates.high[0] < np.inf
    assert bool(estimates.flags[0] & Flag.FALLBACK) == (name == "malcolm-age")


@every_method
def test_one_quiet_gap(name):
    """n = 1, X = 0: what needs two gaps or a date is left to `gamma`."""
    estimates = estimates_of(name, regular_page(0, 1))

    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]
    assert bool(estimates.flags[0] & Flag.FALLBACK) == (name in {"malcolm-age", "last-modified"})


@every_method
def test_one_visit_and_none(name):
    """n = 0: no rate, or that of the prior; a method without its own answer says whose it is."""
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = estimates_of(name, [], [], first_visit=first_visit)

    if name in FROM_PRIORS:
        assert estimates.status.tolist() == [Status.PRIOR_ONLY] * 2
        assert np.isfinite([getattr(estimates, figure) for figure in FIGURES]).all()
    else:
        assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]
        assert np.isnan([getattr(estimates, figure) for figure in FIGURES]).all()
    fallback = name in {"malcolm-age", "last-modified"}
    assert estimates.flags.tolist() == [Flag.FALLBACK * fallback] * 2


@every_method
@pytest.mark.parametrize("gaps", [1, 2, 5])
def test_changes_in_the_very_second_of_their_visits(name, gaps):
    """T = 0: all ages are 0, which no method may divide by."""
    estimates = estimates_of(name, [(1.0, True, 0.0)] * gaps)

    assert not np.isnan([estimates.rate, estimates.low, estimates.high]).any()
    assert estimates.rate[0] > 0
    assert estimates.status_names != ["ok"]
    few = {"last-modified-raw": (1, 2), "last-modified": (2,)}.get(name, ())
    assert bool(estimates.flags[0] & Flag.HEAVY_TAIL) == (gaps in few)


@every_method
@pytest.mark.parametrize("changed_first", [False, True])
def test_gaps_over_eight_orders_of_magnitude(name, changed_first):
    """Finite figures throughout; who takes the average gap for all of them flags the page."""
    page = [(10.0**power, (power % 2 == 0) == changed_first) for power in range(-4, 5)]
    estimates = estimates_of(name, page)

    assert estimates.status.tolist() == [Status.OK]
    assert np.isfinite([getattr(estimates, figure) for figure in FIGURES]).all()
    assert bool(estimates.flags[0] & Flag.IRREGULAR_GAPS) == (name in AVERAGED)


@every_method
def test_no_pages(name):
    estimates = METHODS[name](Priors.one(), 0.9).estimate(Histories.from_lists([]))

    assert len(estimates) == 0
