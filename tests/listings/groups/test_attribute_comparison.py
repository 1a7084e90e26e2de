"""Several attributes looked at: chance finds are told from real ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.groups.goodness import compare_attributes
from recrawl.listings.groups.partition import Categories


def drawn(rng, rate_of_category, objects=200):
    category = np.repeat(np.arange(len(rate_of_category)), objects)
    lifetime = rng.exponential(1 / np.asarray(rate_of_category)[category])
    return Categories.of(Lifetimes.of(lifetime, lifetime), category, len(rate_of_category))


def test_what_matters_is_found_among_what_does_not():
    """Of what is kept at 5 %, about 5 % is chance; uncorrected, half of it is."""
    rng = np.random.default_rng(1)
    real, false, plain = 0, [], []
    for _ in range(60):
        many = {f"noise {number}": drawn(rng, [0.05] * 4) for number in range(20)}
        many["make"] = drawn(rng, [0.05, 0.06, 0.08, 0.05])
        found = compare_attributes(many)
        kept = [test.attribute for test in found if test.false_finds < 0.05]
        lax = [test.attribute for test in found if test.chance < 0.05]
        real += "make" in kept
        false.append(len([name for name in kept if name != "make"]) / max(len(kept), 1))
        plain.append(len([name for name in lax if name != "make"]) / max(len(lax), 1))

    assert real == 60
    assert np.mean(false) < 0.1
    assert np.mean(plain) > 0.25


def test_a_chance_is_that_of_a_chi_square():
    found = compare_attributes({"make": drawn(np.random.default_rng(4), [0.05] * 4)})[0]

    assert found.freedom == 3
    assert found.chance == pytest.approx(stats.chi2.sf(found.statistic, 3))
    assert found.bonferroni == found.false_finds == found.chance


def test_chances_are_even_where_nothing_matters():
    rng = np.random.default_rng(2)
    found = compare_attributes({str(number): drawn(rng, [0.05] * 3) for number in range(400)})

    assert stats.kstest([test.chance for test in found], "uniform").pvalue > 0.01


def test_one_category_tells_nothing():
    alone = compare_attributes({"make": drawn(np.random.default_rng(3), [0.05])})[0]

    assert (alone.statistic, alone.freedom, alone.chance) == (0, 0, 1)
    assert compare_attributes({}) == []
