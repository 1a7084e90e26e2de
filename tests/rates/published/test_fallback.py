"""Pages that a method has no answer for get the figures of `gamma`."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl import Flag, Gamma, Priors, Ratio
from recrawl.errors import InvalidParameter
from recrawl.rates import LastModified, MalcolmAge
from recrawl.rates.published.dated import with_fallback
from tests.strategies import history_of

SEEN = history_of(
    [(1.0, True)],
    [(2.0, False), (2.0, True)],
    [(5.0, False)],
    flags=np.array([0, Flag.GONE, Flag.LM_STALE], np.uint32),
)
SITES = Priors(np.array([1.0, 4.0]), np.array([10.0, 2.0]), np.array([0, 1, 1]))
FIGURES = ("rate", "low", "high", "shape", "exposure", "changes", "visits", "status")


def test_named_pages_get_gammas_figures_and_the_others_keep_theirs():
    """Each page from the prior of its own site, whatever pages are named."""
    own, gamma = Ratio().estimate(SEEN), Gamma(SITES, level=0.8).estimate(SEEN)
    mixed = with_fallback(own, SEEN, np.array([2, 0]), SITES, 0.8)

    for figure in FIGURES:
        expected = [
            getattr(source, figure)[page] for page, source in enumerate((gamma, own, gamma))
        ]
        assert getattr(mixed, figure).tolist() == expected
    assert mixed.method == own.method


def test_the_flag_is_added_to_those_of_the_page():
    mixed = with_fallback(Ratio().estimate(SEEN), SEEN, np.array([0, 2]), SITES, 0.9)

    assert mixed.flags.tolist() == [
        Flag.FALLBACK,
        Flag.GONE,
        Flag.LM_STALE | Flag.FALLBACK,
    ]


def test_the_estimates_given_stay_as_they_are():
    own = Ratio().estimate(SEEN)
    before = own.rate.tolist(), own.flags.tolist()
    with_fallback(own, SEEN, np.array([0]), SITES, 0.9)

    assert (own.rate.tolist(), own.flags.tolist()) == before
    assert SEEN.flags.tolist() == [0, Flag.GONE, Flag.LM_STALE]


def test_where_no_page_is_named_nothing_is_copied():
    own = Ratio().estimate(SEEN)

    assert with_fallback(own, SEEN, np.array([], np.int64), SITES, 0.9) is own


@pytest.mark.parametrize("method", [LastModified, MalcolmAge])
@pytest.mark.parametrize("pages", [2, 4])
def test_priors_made_for_other_pages_are_refused(method, pages):
    """As `gamma` does, whether or not some page needs them: never another page's prior."""
    priors = Priors(np.array([1.0]), np.array([10.0]), np.zeros(pages, np.int64))

    with pytest.raises(InvalidParameter, match=f"made for {pages} pages and must meet as many"):
        method(priors).estimate(SEEN)
