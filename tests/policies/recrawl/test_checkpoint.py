"""What was learned can be kept and gone on from."""

import numpy as np
import pytest

from recrawl.policies import Outcomes, Pages
from recrawl.policies.recrawl.checkpoint import dump, load
from recrawl.policies.recrawl.policy import Recrawl

START = np.datetime64("2026-01-01T00:00", "us")
HOUR = np.timedelta64(1, "h")


def addresses(count, first=0):
    numbers = range(first, first + count)
    return [f"https://h{n % 3}.org/s{n % 5}/p{n % 11}-{n}.html" for n in numbers]


def crawled(policy, state, *, hours, pages, seed):
    """State after a visit an hour to a page drawn at random, found changed half of the time."""
    random = np.random.default_rng(seed)
    for hour in hours:
        row = random.integers(pages, size=1)
        now = np.array([START + hour * HOUR])
        state = policy.seen(state, row, now, Outcomes.existence(random.random(1) < 0.5))
    return state


def test_what_was_kept_values_pages_as_before():
    policy, names = Recrawl(), addresses(90)
    state = policy.start(Pages.of(names, np.full(90, START)), START, gap=4.0)
    state = crawled(policy, state, hours=range(1, 600), pages=90, seed=1)
    again = load(policy, dump(state), lambda: names)
    now, rows = START + 700 * HOUR, np.arange(90)

    assert policy.value(again, rows, now) == pytest.approx(
        policy.value(state, rows, now), rel=1e-5, abs=1e-7
    )
    assert policy.fresh(again, rows, now) == pytest.approx(policy.fresh(state, rows, now), abs=1e-6)
    assert policy.rates(again, rows) == pytest.approx(policy.rates(state, rows), rel=1e-5)


def test_a_crawl_that_was_taken_up_again_learns_and_grows_as_one_that_never_stopped():
    """Sections are built from the addresses only when they must grow, and then as they were."""
    policy, names, more = Recrawl(), addresses(60), addresses(40, first=60)
    state = policy.start(Pages.of(names, np.full(60, START)), START, gap=4.0)
    state = crawled(policy, state, hours=range(1, 300), pages=60, seed=2)
    again = load(policy, dump(state), lambda: names)
    found = Pages.of(more, np.full(40, START + 300 * HOUR))
    both = [policy.found(each, found) for each in (state, again)]
    both = [crawled(policy, each, hours=range(301, 600), pages=100, seed=3) for each in both]
    now, rows = START + 700 * HOUR, np.arange(100)
    first, second = (policy.value(each, rows, now) for each in both)

    assert second == pytest.approx(first, rel=1e-4, abs=1e-6)
    assert both[1].sections.leaf.tolist() == both[0].sections.leaf.tolist()
    assert both[1].sections.site.tolist() == both[0].sections.site.tolist()
    assert both[1].sections.kin.tolist() == both[0].sections.kin.tolist()


def test_a_copy_is_fresh_right_after_a_visit_and_less_so_later():
    policy = Recrawl()
    state = policy.start(Pages.of(addresses(3), np.full(3, START)), START, gap=4.0)
    rows = np.arange(3)
    at_once = policy.fresh(state, rows, START)
    later = policy.fresh(state, rows, START + 48 * HOUR)

    assert at_once == pytest.approx(np.ones(3))
    assert (later < 1).all()
    assert (later > 0).all()


def test_of_very_many_sections_the_largest_keep_their_clocks(monkeypatch):
    """Six folders of 2 to 12 pages, room for three clocks: the crawl's and those of the largest."""
    names = [f"f{folder}/p{n}" for folder in range(1, 7) for n in range(2 * folder)]
    policy = Recrawl()
    state = policy.start(Pages.of(names, np.full(len(names), START)), START, gap=4.0)
    monkeypatch.setattr("recrawl.policies.recrawl.checkpoint._FEWEST_CLOCKS", 3)
    monkeypatch.setattr("recrawl.policies.recrawl.checkpoint._PAGES_A_CLOCK", 1000)
    parts = dump(state)
    leaf = state.sections.leaf

    assert len(parts["clocks.nodes"]) == 3
    assert 0 in parts["clocks.nodes"]
    assert leaf[-1] in parts["clocks.nodes"]
    assert leaf[0] not in parts["clocks.nodes"]
    assert len(load(policy, parts, lambda: names).clocks.found) >= len(state.sections)


def test_a_crawl_that_was_kept_while_it_grew_finds_the_kin_of_its_new_pages():
    """Kin are looked for when a bin of the clocks begins, which may be after the crawl stopped."""
    policy, names, more = Recrawl(), addresses(30), addresses(30, first=30)
    state = policy.start(Pages.of(names, np.full(30, START)), START, gap=4.0)
    state = policy.found(state, Pages.of(more, np.full(30, START + HOUR)))
    again = load(policy, dump(state), lambda: names + more)
    now, rows = START + 96 * HOUR, np.arange(60)

    assert policy.value(again, rows, now) == pytest.approx(policy.value(state, rows, now), rel=1e-5)
    assert again.sections.kin.tolist() == state.sections.kin.tolist()
