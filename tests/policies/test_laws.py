"""What every policy obeys, whatever it believes of pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.plan.objectives import Freshness
from recrawl.policies import POLICIES
from recrawl.policies.named import parameters
from recrawl.policies.policy import Priced
from recrawl.policies.rivals.interval import IntervalPolicy
from recrawl.policies.rivals.malcolm import MalcolmPolicy
from recrawl.units import epoch_days
from tests.policies.crawls import GAP, START, due_days, later, outcomes, pages_at

OBJECTIVE = Freshness()
NAMES = sorted(set(POLICIES) - {"recrawl", "bank"})  # those have laws of their own
# Policies that look at all pages together; the others take each page for itself.
TOGETHER = {
    *("cho", "cho-naive", "cho-adaptive", "cho-naive-adaptive"),
    *("lambdacrawl", "lambdacrawl-poisson", "azar", "azar-floor"),
}
PRICED = {name for name in NAMES if isinstance(POLICIES[name](OBJECTIVE), Priced)}
ALONE = [name for name in NAMES if name not in TOGETHER and name not in PRICED]
WEIGHED = {"lambdacrawl", "lambdacrawl-poisson", "azar", "azar-floor"} | PRICED
# Pages that change too fast for the budget, or did not change in five visits.
GIVES_UP = {"azar", "cho", "cho-naive"}

PAGES = 4
PRICE = 0.5

# Crawls: (days since the step before, which pages were visited, which of them had changed).
flags = st.lists(st.booleans(), min_size=PAGES, max_size=PAGES).map(np.array)
crawls = st.lists(
    st.tuples(st.integers(1, 400).map(lambda quarter: quarter / 4), flags, flags),
    min_size=1,
    max_size=8,
)


def policy_named(name):
    return POLICIES[name](OBJECTIVE)


def run(policy, crawl, *, pages=None, shift=0.0, state=None, age=None):
    """State after a crawl, and when each page was last visited."""
    now, last = shift, np.full(PAGES, shift)
    if state is None:
        pages = pages_at(*np.full(PAGES, shift)) if pages is None else pages
        state = policy.start(pages, later(shift)[0], GAP)
    for days, visited, changed in crawl:
        now += days
        rows = np.flatnonzero(visited)
        ages = None if age is None else np.where(changed[rows], age * days, np.nan)
        seen = outcomes(changed[rows], ages)
        state = policy.seen(state, rows, np.full(len(rows), later(now)[0]), seen)
        last[rows] = now
    return state, last


ROWS = np.arange(PAGES)


@pytest.mark.parametrize("name", NAMES)
@given(crawl=crawls, age=st.sampled_from([None, 0.3]))
@settings(max_examples=20)
def test_no_page_is_due_before_its_last_visit(name, crawl, age):
    """And every page is due some time, unless its policy gives up pages."""
    policy = policy_named(name)
    state, last = run(policy, crawl, age=age)
    due = due_days(policy, state, ROWS, PRICE)

    assert (due[~np.isnan(due)] >= last[~np.isnan(due)] - 1e-9).all()
    if name not in GIVES_UP and name not in PRICED:
        assert not np.isnan(due).any()


@pytest.mark.parametrize("name", NAMES)
@given(crawl=crawls)
@settings(max_examples=12)
def test_the_date_does_not_matter(name, crawl):
    """Shifting all times shifts all due times. In eighths of days, which floats hold exactly."""
    policy = policy_named(name)
    early, _ = run(policy, crawl)
    late, _ = run(policy, crawl, shift=1024.0)
    due, shifted = due_days(policy, early, ROWS, PRICE), due_days(policy, late, ROWS, PRICE)

    np.testing.assert_allclose(shifted - 1024, due, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ALONE)
@given(crawl=crawls)
@settings(max_examples=12)
def test_pages_do_not_depend_on_their_company(name, crawl):
    """Visits told all at once are as good as visits told one by one."""
    policy = policy_named(name)
    together, _ = run(policy, crawl)
    one_by_one = [
        (days * (row == 0), visited & (row == ROWS), changed)
        for days, visited, changed in crawl
        for row in range(PAGES)
    ]
    apart, _ = run(policy, one_by_one)

    np.testing.assert_array_equal(due_days(policy, together, ROWS), due_days(policy, apart, ROWS))


@pytest.mark.parametrize("name", NAMES)
@given(crawl=crawls, first=st.integers(1, PAGES - 1))
@settings(max_examples=12)
def test_pages_may_be_found_later(name, crawl, first):
    """Found then visited is as good as there from the start."""
    policy = policy_named(name)
    pages = pages_at(*np.zeros(PAGES))
    state = policy.start(pages.take(np.arange(first)), START, GAP)
    state = policy.found(state, pages.take(np.arange(first, PAGES)))
    grown, _ = run(policy, crawl, state=state)
    whole, _ = run(policy, crawl, pages=pages)

    np.testing.assert_array_equal(
        due_days(policy, grown, ROWS, PRICE), due_days(policy, whole, ROWS, PRICE)
    )


@pytest.mark.parametrize("name", sorted(set(NAMES) - WEIGHED))
@given(crawl=crawls)
@settings(max_examples=10)
def test_fixed_rules_ignore_weights_and_prices(name, crawl):
    policy = policy_named(name)
    plain, _ = run(policy, crawl)
    weighed, _ = run(policy, crawl, pages=pages_at(*np.zeros(PAGES), weight=1.0 + ROWS))

    np.testing.assert_array_equal(
        due_days(policy, plain, ROWS, 1.0), due_days(policy, weighed, ROWS, 2.0)
    )


@pytest.mark.parametrize("name", sorted(PRICED))
@given(crawl=crawls)
@settings(max_examples=20)
def test_a_page_is_due_when_its_value_reaches_the_price(name, crawl):
    """Values grow with time and with weight, and shrink with cost."""
    policy = policy_named(name)
    state, _ = run(policy, crawl)
    due = policy.due(state, ROWS, PRICE)
    for row in np.flatnonzero(~np.isnat(due)):
        at_due = policy.value(state, ROWS[[row]], due[row])
        assert at_due == pytest.approx(PRICE, rel=1e-6)
    soon, late = (policy.value(state, ROWS, later(500.0 + days)[0]) for days in (0, 9))
    assert (soon <= late * (1 + 1e-9)).all()

    dear, _ = run(policy, crawl, pages=pages_at(*np.zeros(PAGES), cost=np.full(PAGES, 2.0)))
    np.testing.assert_allclose(policy.value(dear, ROWS, later(500.0)[0]), soon / 2)


@pytest.mark.parametrize(
    "name", ["nutch", "nutch-sync", "stormcrawler", "news-crawl", "heritrix", "heritrix-overdue"]
)
@given(crawl=crawls)
@settings(max_examples=20)
def test_a_changed_page_is_due_no_later_than_an_unchanged_one(name, crawl):
    policy = policy_named(name)
    days, visited, _ = crawl[-1]
    without, _ = run(policy, [*crawl[:-1], (days, visited, np.zeros(PAGES, np.bool_))])
    with_change, _ = run(policy, [*crawl[:-1], (days, visited, np.ones(PAGES, np.bool_))])

    # Nutch with sync counts the wait after an unchanged visit from before it.
    slack = 0.3 * 1200 if name == "nutch-sync" else 1e-9
    assert (due_days(policy, with_change, ROWS) <= due_days(policy, without, ROWS) + slack).all()


@pytest.mark.parametrize("name", NAMES)
def test_no_visits_change_nothing(name):
    policy = policy_named(name)
    state = policy.start(pages_at(*np.zeros(PAGES)), START, GAP)
    before = due_days(policy, state, ROWS, PRICE)
    none = np.empty(0, np.int64)
    state = policy.seen(state, none, later(0.0)[:0], outcomes(np.empty(0)))

    np.testing.assert_array_equal(due_days(policy, state, ROWS, PRICE), before)


@pytest.mark.parametrize("name", [*ALONE, "cho", "azar", "lambdacrawl"])
def test_pages_without_an_opinion_wait_for_the_mean_gap(name):
    """Also when the gap moves: twice as long, at most."""
    policy = policy_named(name)
    state = policy.start(pages_at(0.0), START, GAP)
    before = due_days(policy, state)[0]
    after = due_days(policy, policy.with_mean_gap(state, 2 * GAP))[0]

    assert after in (before, pytest.approx(2 * before))
    if before == pytest.approx(GAP):
        assert after == pytest.approx(2 * GAP)


def test_only_malcolm_as_published_stops():
    policy = IntervalPolicy(MalcolmPolicy(stop=3))
    crawl = [(1.0, np.ones(PAGES, np.bool_), ROWS < 2)] * 3
    state, _ = run(policy, crawl)

    assert np.isnan(due_days(policy, state, ROWS)).tolist() == [True, True, False, False]


@pytest.mark.parametrize("name", POLICIES)
def test_every_parameter_is_on_the_concept_page(name):
    page = Path(__file__).parents[2] / "docs" / "concepts" / "policies.md"
    table = page.read_text().partition("## Parameters")[2]

    for key in parameters(policy_named(name)):
        assert f"`{key}`" in table


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_on_the_concept_page(name):
    page = Path(__file__).parents[2] / "docs" / "concepts" / "policies.md"

    assert f"`{name}`" in page.read_text()


def test_states_begin_with_the_discovery_of_pages():
    """A page found later waits from then on, not from the start of the crawl."""
    for name in NAMES:
        policy = policy_named(name)
        state = policy.start(pages_at(0.0, 100.0), START, GAP)
        due = due_days(policy, state, [0, 1], PRICE)
        wait = due - [0.0, 100.0]
        if name != "lambdacrawl-poisson":
            assert wait[0] == pytest.approx(wait[1]), name
        assert epoch_days(START) + due[1] >= epoch_days(START) + 100.0
