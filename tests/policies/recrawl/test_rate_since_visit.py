"""The rate of one page is that of many, read one by one."""

import numpy as np
import pytest

from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.units import epoch_days

FIRST = np.datetime64("2026-01-01T00:00", "us")
PAGES = 40


@pytest.fixture
def state():
    """Forty pages in eight sections, of which some change in a burst."""
    policy, random = Recrawl(), np.random.default_rng(4)
    addresses = [f"https://a.org/s{page % 8}/{page}" for page in range(PAGES)]
    found = policy.start(Pages.of(addresses, np.full(PAGES, FIRST)), FIRST, gap=2.0)
    for day in range(1, 12):
        rows = np.flatnonzero(random.random(PAGES) < 0.6)
        at = np.full(len(rows), FIRST + np.timedelta64(day, "D"))
        changed = random.random(len(rows)) < 0.1 + 0.5 * (rows % 8 == 3)
        found = policy.seen(found, rows, at, Outcomes.existence(changed))
    return policy, found


@pytest.mark.parametrize("days", [0.5, 12.0, 40.0])
def test_it_is_the_expected_changes_of_the_section_clock_over_the_gap(state, days):
    policy, found = state
    rows, now = np.arange(PAGES), float(epoch_days(FIRST)) + days
    last = found.last
    elapsed = found.clocks.elapsed(found.sections.leaf, last, np.full(PAGES, now))
    expected = policy.rates(found, rows) * np.maximum(elapsed, 0) / np.maximum(now - last, 1e-9)

    one_by_one = [policy.rate_since_visit(found, row, now) for row in range(PAGES)]

    np.testing.assert_allclose(one_by_one, expected, rtol=1e-12)


def test_nothing_is_learned_by_asking(state):
    policy, found = state
    before = {name: np.copy(part) for name, part in policy.dump(found).items()}

    policy.rate_since_visit(found, 3, float(epoch_days(FIRST)) + 90.0)

    for name, part in policy.dump(found).items():
        np.testing.assert_array_equal(part, before[name])
