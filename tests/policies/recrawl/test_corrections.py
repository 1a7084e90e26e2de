"""Changes found over changes expected, by plain facts of pages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.checkpoint import check, dump, load
from recrawl.policies.recrawl.corrections import BINS, Corrections
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.sampling import sampled
from recrawl.simulate.made import log_normal_rates, make_world
from recrawl.simulate.run import Simulation
from recrawl.units import instants_after_epoch

BEGAN = 20_000.0


def tables(pages=4, strength=10.0):
    made = Corrections.start(strength)
    made.grow(pages)
    return made


def visit(made, row, *, changed, rate=1.0, chance=0.5):
    """Let one page be visited, with the same chance of a change whatever the factors."""
    rows, found = np.array([row]), np.array([float(changed)])
    made.learn(rows, found, lambda factor: np.full(factor.shape, chance))
    made.visited(rows, found, np.array([rate]))


def test_a_factor_is_what_was_found_over_what_was_expected():
    """One change where half of one was expected: (K + 1) / (K + .5) for new pages, in two tables.

    A single visit says nothing of how far a table is to be believed. Its variance is 1/4, and with
    the 1/3 of another change that is assumed, K = 30 (1/4 + 1/3) / (1/2 + 1).
    """
    made = tables()
    visit(made, 0, changed=True)
    strength = 30 * (1 / 4 + 1 / 3) / 1.5

    factor = ((strength + 1) / (strength + 0.5)) ** 2
    assert made.factor(np.array([1])) == pytest.approx([factor], rel=1e-4)
    assert made.factor_of(1) == made.factor_of_new == pytest.approx(made.factor(np.array([1]))[0])
    assert made.factor(np.array([0])) == pytest.approx([1]), (
        "of pages visited once nothing is known"
    )


def test_a_bin_forgets_a_little_at_each_visit_to_it():
    """Found .995 + 1, expected (.995 + 1) / 2, with a variance of (.995^2 + 1) / 4."""
    made = tables()
    visit(made, 0, changed=True)
    visit(made, 1, changed=True)

    assert made.sums[0] == pytest.approx([1.995, 1.995 / 2, (0.995**2 + 1) / 4])
    assert made.sums[10] == pytest.approx(made.sums[0])


def test_a_table_is_believed_as_far_as_it_differs_from_chance():
    """Bins that are off by 40 % say so. Bins that are off by a deviation or less are not believed.

    In each bin 100 changes were expected, give or take 6 by chance.
    """
    made = tables(1)
    made.sums[:10] = [[100 + more, 100, 36] for more in 5 * [40, -40]]
    made.read()
    believed = made.factor_of_new
    made.sums[:10] = [[100 + more, 100, 36] for more in 5 * [6, -6]]
    made.read()

    assert believed == pytest.approx(150 / 110)
    assert made.factor_of_new == pytest.approx(1, abs=0.02)


def test_each_table_learns_what_the_others_leave_to_it():
    """The chance that a table is told has the factors of the other two only."""
    made, told = tables(), []
    for row in range(3):
        visit(made, row, changed=True)
    alike = made.factor_of_new**0.5  # both tables of new pages have seen the same

    def chance(factor):
        told.append(factor[:, 0].tolist())
        return np.full(factor.shape, 0.5)

    made.learn(np.array([3]), np.ones(1), chance)
    assert alike > 1.04
    assert told[0] == pytest.approx([alike, alike, alike**2])


@pytest.mark.parametrize(
    ("outcomes", "visits", "since"),
    [
        ([], 0, -1),
        ([0, 0], 2, -1),
        ([1], 1, 0),
        ([1, 0, 0, 0], 4, 3),
        ([0, 1, 0, 1], 4, 0),
    ],
)
def test_the_facts_of_a_page(outcomes, visits, since):
    made = tables()
    for changed in outcomes:
        visit(made, 0, changed=changed)

    assert (made.visits[0], made.since_change[0]) == (visits, since)


@pytest.mark.parametrize(
    ("rate", "level"), [(0.0, 1), (2**-8, 1), (2**-6.5, 2), (1.0, 9), (2**5.5, 14), (1e9, 14)]
)
def test_the_level_of_a_rate_is_counted_in_doublings(rate, level):
    """From 1, for a change in 256 mean gaps or more, to 14."""
    made = tables()
    visit(made, 0, changed=False, rate=rate)

    assert made.level[0] == level


def test_of_the_level_of_a_page_that_was_never_visited_nothing_is_learned():
    made = tables()
    visit(made, 0, changed=True)

    assert not made.sums[23].any()


history = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.floats(0.01, 0.99)), max_size=60)


@given(history)
def test_infinite_strength_corrects_nothing(visits):
    made = tables(6, strength=np.inf)
    for row, changed, chance in visits:
        visit(made, row, changed=changed, chance=chance)

    assert made.factor(np.arange(6)).tolist() == [1] * 6
    assert made.off(np.arange(6)).tolist() == [0] * 6


@given(history)
def test_visits_learned_together_are_those_learned_one_after_the_other_in_one_bin(visits):
    """As long as the chances are given: the folds of a bin are the same sums."""
    rows = np.arange(len(visits))
    together, singly = tables(len(visits)), tables(len(visits))
    found = np.array([float(changed) for _, changed, _ in visits])
    chances = np.array([chance for *_, chance in visits])
    together.learn(rows, found, lambda factor: np.broadcast_to(chances, factor.shape))
    for row, changed, chance in zip(rows, found, chances, strict=True):
        singly.learn(
            np.array([row]),
            np.array([changed]),
            lambda factor, chance=chance: np.full(factor.shape, chance),
        )

    np.testing.assert_allclose(together.sums, singly.sums, rtol=1e-9)


def crawled(policy, days=120.0):
    """A state after a crawl of made pages whose rates are far from what is first assumed."""
    random = np.random.default_rng(4)
    rates = log_normal_rates(120, every=20.0, spread=1.6, random=random)
    world = make_world("poisson", rates, days=days, random=random)
    simulation = Simulation(world, policy, Budget(1.0, "change"), random=random)
    for _ in simulation.steps():
        pass
    return world, simulation._frontier.state


def test_what_was_learned_is_kept_with_a_checkpoint():
    policy = Recrawl(Freshness())
    world, state = crawled(policy)
    parts = dump(state)
    check(parts, len(world), 3)
    again = load(policy, parts, lambda: world.address)
    rows = np.arange(len(world))

    assert np.ptp(state.corrections.factor(rows)) > 0.1
    assert again.corrections.factor(rows).tolist() == state.corrections.factor(rows).tolist()
    few, _ = sampled(policy, parts, rows[5:9])
    assert few.corrections.factor(rows[:4]).tolist() == state.corrections.factor(rows[5:9]).tolist()


def test_a_checkpoint_from_before_there_were_corrections_corrects_nothing():
    policy = Recrawl(Freshness())
    world, state = crawled(policy, days=20.0)
    old = {name: part for name, part in dump(state).items() if "corrections" not in name}
    check(old, len(world), 3)
    again = load(policy, old, lambda: world.address)

    assert again.corrections.factor(np.arange(len(world))).tolist() == [1] * len(world)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("sums", np.zeros((BINS, 2))),
        ("sums", np.full((BINS, 3), -1.0)),
        ("sums", np.full((BINS, 3), np.nan)),
        ("visits", np.full(3, -1)),
        ("since_change", np.full(3, -2)),
        ("level", np.full(3, 15)),
        ("level", np.zeros(2, np.int32)),
        ("level", np.zeros(3)),
    ],
)
def test_corrections_that_nobody_saved_are_refused(name, part):
    policy, first = Recrawl(), instants_after_epoch(np.full(3, BEGAN))
    state = policy.start(Pages.of(["a", "b", "c"], first), first[0], gap=4.0)
    parts = dump(state)
    check(parts, 3, 3)

    with pytest.raises(ValueError, match="corrections"):
        check({**parts, f"corrections.{name}": part}, 3, 3)


def test_chances_and_values_go_by_the_factor():
    """New pages that change twice as often as the model says are as stale as after twice the time.

    With no visits of their own, and a value that is divided by the root of the factor.
    """
    policy, first = Recrawl(Freshness()), instants_after_epoch(np.full(3, BEGAN))
    plain = policy.start(Pages.of(["a", "b", "c"], first), first[0], gap=4.0)
    twice = policy.start(Pages.of(["a", "b", "c"], first), first[0], gap=4.0)
    twice.corrections.sums[0] = 10.0, 0.0, 0.0
    twice.corrections.read()
    rows, now = np.arange(3), instants_after_epoch(BEGAN + np.array([3.0, 6.0]))

    assert twice.corrections.factor(rows).tolist() == [2] * 3
    np.testing.assert_allclose(policy.fresh(twice, rows, now[0]), policy.fresh(plain, rows, now[1]))
    np.testing.assert_allclose(policy.rates(twice, rows), 2 * policy.rates(plain, rows))
    before, after = policy.value(twice, rows, now[0]), policy.value(plain, rows, now[1])
    np.testing.assert_allclose(before, after / np.sqrt(2), rtol=1e-9)


def test_pages_that_are_new_are_expected_to_change_as_others_did():
    """A site that hardly ever changes: the first visits teach what to expect of the rest."""
    policy, first = Recrawl(Freshness()), instants_after_epoch(np.full(80, BEGAN))
    names = [f"https://a.org/{'xyzw'[n % 4]}/{n}" for n in range(80)]
    state = policy.start(Pages.of(names, first), first[0], gap=4.0)
    rows, now = np.arange(40), instants_after_epoch(BEGAN + np.full(40, 3.5))
    before = state.corrections.factor_of_new
    state = policy.seen(state, rows, now, Outcomes.existence(np.zeros(40, np.bool_)))

    assert before == 1
    assert state.corrections.factor_of_new < 0.4


def sites_of(counts, site_strength=20.0):
    """Tables of sites with so many pages each."""
    made = Corrections.start(10.0, site_strength)
    made.grow(sum(counts))
    made.put_on_sites(np.repeat(np.arange(len(counts)), counts), len(counts))
    return made


def test_a_site_is_believed_against_the_crawl():
    """Of 10 pages 5 are on each site, so K_s = 40. New pages: 30 found of 20 expected on one site.

    The crawl has a factor of 2 for them. On the first site w = 1/40, D - F E = -10 and F E = 40.
    """
    made = sites_of([5, 5])
    made.sums[0] = 10.0, 0.0, 0.0
    made.of_sites[0, 0] = 30.0, 20.0, 5.0
    made.read()

    assert made.factor(np.array([0, 5])) == pytest.approx([2 * (1 - (10 / 40) / (1 + 1)), 2.0])
    assert made.factor_of(0) == pytest.approx(1.75)
    assert made.factor_of_new == 2, "on a site that is not known yet"
    assert made.off(np.array([0])) == pytest.approx(
        made.off(np.array([5])) / 4 + 5 / 40**2 / (1 + 30 / 40) ** 2
    )


def test_a_site_that_is_all_of_the_crawl_counts_once():
    """Its tables would be the crawl's once more. What is visited elsewhere makes it a part."""
    alone, part = sites_of([0, 9]), sites_of([0, 9])
    part.pages_elsewhere = 9.0
    part.put_on_sites(part.site, 2)
    for made in (alone, part):
        for row in range(8):
            visit(made, row, changed=True)

    assert not alone.of_sites.any()
    assert part.of_sites[1, 0, 0] == pytest.approx(part.sums[0, 0])
    assert part.factor_of(8) > alone.factor_of(8) > 1


def test_sites_learn_apart():
    """All pages of one site have changed, none of the other; the crawl's factor is between."""
    made = sites_of([40, 40])
    for row in range(30):
        visit(made, row, changed=True)
        visit(made, 40 + row, changed=False)

    one, other = made.factor(np.array([39, 79]))
    assert one > 1.3 * made.factor_of_new
    assert other < made.factor_of_new / 1.3


@given(history)
def test_sites_of_infinite_strength_have_the_factors_of_the_crawl(visits):
    several, one = sites_of([3, 3], np.inf), tables(6)
    for row, changed, chance in visits:
        visit(several, row, changed=changed, chance=chance)
        visit(one, row, changed=changed, chance=chance)

    assert several.factor(np.arange(6)).tolist() == one.factor(np.arange(6)).tolist()


def test_tables_of_sites_are_kept_with_a_checkpoint_and_a_sample():
    policy, count = Recrawl(Freshness()), 60
    first = instants_after_epoch(np.full(count, BEGAN))
    names = [f"https://{'ab'[n % 2]}.example/{n}" for n in range(count)]
    state = policy.start(Pages.of(names, first), first[0], gap=2.0)
    rows, now = np.arange(50), instants_after_epoch(BEGAN + np.full(50, 3.5))
    state = policy.seen(state, rows, now, Outcomes.existence(rows % 2 == 0))
    parts, every = dump(state), np.arange(count)
    check(parts, count, 3)
    factors = state.corrections.factor(every)

    assert factors[58] > 1 > factors[59]
    assert load(policy, parts, lambda: names).corrections.factor(every).tolist() == factors.tolist()
    few, _ = sampled(policy, parts, every[[3, 58, 59]])
    assert few.corrections.factor(every[:3]).tolist() == factors[[3, 58, 59]].tolist()
    assert state.corrections.take(every[55:]).factor(every[:5]).tolist() == factors[55:].tolist()
    for name, part in {
        "of_sites": np.zeros((2, BINS, 3)),
        "weight": np.zeros((3, 2)),
        "pages_elsewhere": -1.0,
    }.items():
        with pytest.raises(ValueError, match=f"corrections.{name}"):
            check({**parts, f"corrections.{name}": part}, count, 3)


def test_a_crawl_of_one_host_is_one_site_after_a_checkpoint_too():
    """Pages without a large host would be a second site; there are none."""
    policy, first = Recrawl(Freshness()), instants_after_epoch(np.full(30, BEGAN))
    names = [f"https://a.example/{n}" for n in range(30)]
    state = policy.start(Pages.of(names, first), first[0], gap=4.0)
    state = load(policy, dump(state), lambda: names)
    rows, now = np.arange(30), instants_after_epoch(BEGAN + np.full(30, 3.5))
    state = policy.seen(state, rows, now, Outcomes.existence(rows % 2 == 0))

    assert state.sections.sites == 2
    assert not state.corrections.weight.any()
    assert not state.corrections.of_sites.any()
