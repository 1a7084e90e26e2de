"""What visits of the example site tell: sizes saved, rates."""

import numpy as np
import pytest

from recrawl.crawl.example_visits import ExampleVisits
from recrawl.crawl.example_world import ExampleWorld
from recrawl.rates.gamma import Gamma
from recrawl.rates.priors import fit_prior
from recrawl.visits.histories import Histories
from recrawl.visits.status import Outcome

FIRST, SAME, CHANGED = Outcome.FIRST, Outcome.SAME, Outcome.CHANGED
UNMODIFIED, GONE, COSMETIC = Outcome.NOT_MODIFIED, Outcome.GONE, Outcome.COSMETIC


def visits(*rows: tuple[int, float, Outcome, int], age: float = np.nan) -> ExampleVisits:
    page, at, outcome, size = (np.array(each) for each in zip(*rows, strict=True))
    ages = np.where(outcome == CHANGED, age, np.nan)
    return ExampleVisits(page, at - 0.01, at, outcome, ages, size)


def test_saved_bytes_are_those_of_the_copy_at_hand():
    seen = visits(
        (0, 1.0, FIRST, 100),
        (1, 1.0, FIRST, 7),
        (0, 2.0, UNMODIFIED, -1),
        (0, 3.0, CHANGED, 120),
        (0, 4.0, UNMODIFIED, -1),
        (-1, 5.0, GONE, 20),
    )

    assert seen.saved_bytes == 100 + 120


def test_other_bytes_are_nothing_new():
    seen = visits(
        (0, 1.0, FIRST, 9), (0, 2.0, COSMETIC, 9), (0, 3.0, SAME, 9), (0, 4.0, CHANGED, 9)
    )

    assert seen.found_nothing_new.tolist() == [False, True, True, False]
    assert seen.count(COSMETIC) == 1


def test_visits_without_a_page_are_no_visits_to_copies():
    seen = visits((1, 2.0, SAME, 9), (0, 1.0, FIRST, 9), (-1, 3.0, SAME, 9), (0, 4.0, GONE, 9))

    assert seen.of_copies.page.tolist() == [0, 1]
    assert seen.of_copies.asked.tolist() == pytest.approx([0.99, 1.99])


def test_rates_are_those_of_the_default_estimator():
    """A page that failed in between has one long gap."""
    world = ExampleWorld.of([("/a", 0, 1.0), ("/b", 1, 1.0)], [[], []], start=0.0, end=9.0)
    seen = visits(
        (0, 1.0, FIRST, 9),
        (1, 1.0, FIRST, 9),
        (0, 2.0, CHANGED, 9),
        (0, 3.0, GONE, 9),
        (0, 5.0, SAME, 9),
        age=0.25,
    )
    wanted = Histories(
        np.array([1.0, 3.0]), np.array([True, False]), np.array([0, 2, 2]), np.array([0.25, np.nan])
    )

    rates = seen.estimates(world).rate

    prior = fit_prior(wanted, np.array([0, 1]))
    np.testing.assert_allclose(rates, Gamma(prior).estimate(wanted).rate, rtol=1e-9)
