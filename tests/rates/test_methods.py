"""The estimators by name."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl import Gamma, Histories, Likelihood, Priors, Ratio
from recrawl.errors import InvalidParameter
from recrawl.rates import (
    LLN,
    METHODS,
    NPMLE,
    SA,
    SAM,
    USES_PRIORS,
    Bank,
    Beta,
    Cho,
    Classes,
    Grid,
    LastModified,
    LastModifiedRaw,
    Malcolm,
    MalcolmAge,
    Matloff,
    MomentMatching,
    check_method,
)
from tests.strategies import history_of

SEEN = history_of([(1.0, True), (2.0, False), (4.0, True)])


def test_each_name_makes_the_estimator_it_says():
    priors = Priors.one(2.0, 10.0)
    made = {name: make(priors, 0.8) for name, make in METHODS.items()}

    assert made == {
        "gamma": Gamma(priors, level=0.8),
        "likelihood": Likelihood(singularity="half", level=0.8),
        "likelihood-plain": Likelihood(singularity="none", level=0.8),
        "ratio": Ratio(level=0.8),
        "npmle": NPMLE(priors, level=0.8),
        "bank": Bank(priors, level=0.8),
        "grid": Grid(priors, level=0.8),
        "moment-matching": MomentMatching(level=0.8),
        "cho": Cho(correction="half", level=0.8),
        "cho-exact": Cho(correction="exact", level=0.8),
        "matloff": Matloff(level=0.8),
        "beta": Beta(alpha=1.0, beta=1.0, level=0.8),
        "malcolm": Malcolm(singularity="none", level=0.8),
        "malcolm-age": MalcolmAge(priors, level=0.8),
        "last-modified": LastModified(priors, level=0.8),
        "last-modified-raw": LastModifiedRaw(level=0.8),
        "classes": Classes(level=0.8),
        "lln": LLN(level=0.8),
        "sa": SA(level=0.8),
        "sam": SAM(level=0.8),
    }


@pytest.mark.parametrize("name", METHODS)
def test_only_methods_that_use_priors_depend_on_them(name):
    """Otherwise `recrawl estimate` would fit priors for nothing, or leave them out.

    Some ask for them only where they have no answer themselves: one quiet gap without any date.
    """
    pages = Histories.joined([SEEN, history_of([(1.0, False)])])
    one, other = (
        METHODS[name](Priors.one(shape, 10.0), 0.9).estimate(pages).rate for shape in (0.5, 5.0)
    )

    np.testing.assert_equal((one != other).any(), name in USES_PRIORS)


@pytest.mark.parametrize("name", METHODS)
def test_a_higher_level_makes_a_wider_band(name):
    narrow, wide = (METHODS[name](Priors.one(), level).estimate(SEEN) for level in (0.5, 0.99))

    assert wide.low[0] < narrow.low[0] < narrow.high[0] < wide.high[0]


@pytest.mark.parametrize("name", METHODS)
def test_estimates_say_which_method_made_them(name):
    assert METHODS[name](Priors.one(), 0.9).estimate(SEEN).method == name


@pytest.mark.parametrize("name", METHODS)
def test_a_known_name_is_let_through(name):
    check_method(name)


@pytest.mark.parametrize("name", ["", "Gamma", "mle", "likelihood-half"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(InvalidParameter) as refused:
        check_method(name)

    assert str(refused.value) == (
        "method must be one of gamma, npmle, bank, grid, likelihood, likelihood-plain, "
        "moment-matching, ratio, cho, cho-exact, matloff, beta, malcolm, malcolm-age, "
        f"last-modified, last-modified-raw, classes, lln, sa, sam (got {name!r})"
    )


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, np.nan])
@pytest.mark.parametrize("name", METHODS)
def test_a_level_that_is_no_probability_is_refused(name, level):
    with pytest.raises(InvalidParameter, match=r"level must be between 0 and 1 \(got "):
        METHODS[name](Priors.one(), level)
