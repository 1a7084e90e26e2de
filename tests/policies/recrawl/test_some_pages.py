"""A copy with some of the pages goes on with these as all of them would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.beliefs import Beliefs, let_clocks_run
from recrawl.policies.recrawl.some_pages import some_pages
from recrawl.simulate.next_visit import own
from recrawl.units import instants_after_epoch
from tests.policies.recrawl.test_beliefs import BEGAN, crawl

POLICY, WHOLE = crawl(90)[:2]


def same(few, whole, rows, now):
    """What is believed of pages, and what visits to them are worth, in both."""
    every = np.arange(len(rows))
    one, other = Beliefs.of(few, every, now), Beliefs.of(whole, rows, now)
    np.testing.assert_allclose(one.fresh, other.fresh, rtol=1e-12)
    np.testing.assert_allclose(one.rate, other.rate, rtol=1e-12)
    np.testing.assert_allclose(one.rate_band(), other.rate_band(), rtol=1e-12)
    at = instants_after_epoch(np.array([now]))[0]
    np.testing.assert_allclose(
        POLICY.value(few, every, at), POLICY.value(whole, rows, at), rtol=1e-12
    )


@given(st.lists(st.integers(0, 89), min_size=1, unique=True), st.data())
def test_visits_teach_what_they_would_teach_among_all(some, data):
    """Sections and kin of the pages also have what the others tell, whatever is learned."""
    rows, now = np.array(some), BEGAN + 5.0
    few, whole = some_pages(WHOLE, rows), own(WHOLE)
    for state in (few, whole):
        let_clocks_run(state, now)
    same(few, whole, rows, now)

    seen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    changed = np.array(data.draw(st.lists(st.booleans(), min_size=len(seen), max_size=len(seen))))
    at = instants_after_epoch(np.full(len(seen), now + 1e-3))
    few = POLICY.seen(few, np.array(seen), at, Outcomes.existence(changed))
    whole = POLICY.seen(whole, rows[seen], at, Outcomes.existence(changed))
    same(few, whole, rows, now + 2e-3)


def test_the_whole_is_left_as_it_was():
    before = WHOLE.clocks.found.copy(), WHOLE.last.copy(), WHOLE.relatives.for_node.copy()
    few, at = some_pages(WHOLE, np.array([7, 3])), instants_after_epoch(np.array([BEGAN + 6.0]))
    POLICY.seen(few, np.array([0]), at, Outcomes.existence(np.array([True])))

    after = WHOLE.clocks.found, WHOLE.last, WHOLE.relatives.for_node
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
