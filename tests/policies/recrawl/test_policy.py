"""Our policy from end to end, against its description."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.plan.objectives import OBJECTIVES, Freshness, Harmonic
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.bank import bank
from recrawl.policies.recrawl.clocks import Trusting
from recrawl.policies.recrawl.learning import learn_trust
from recrawl.policies.recrawl.policy import Recrawl, _Known
from recrawl.units import epoch_days, instants_after_epoch
from tests.policies.crawls import outcomes
from tests.policies.recrawl.trees import Place, pages_below, tree_of
from tests.policies.scalar import Page, Scalar, fresh, harmonic

GAP = 16.0  # bins of a day
DAY = 20_480.0  # 2026-01-27
PLACES = [
    Place("", ("a",), "x.v1"),
    Place("", ("a",), "x.v2"),
    Place("", ("a",), "y.v1"),
    Place("", ("a", "c"), "z"),
    Place("", ("b",), "x.v1"),
    Place("", ("b",), "w"),
    Place("", ("b",), "w.old"),
    Place("", (), "index"),
]
# Visits: which page, how many sixteenths of a day after the visit before, whether it had changed.
one_visit = st.tuples(st.integers(0, 7), st.integers(0, 16 * 30), st.booleans())
crawls = st.lists(one_visit, min_size=1, max_size=20)
few = settings(max_examples=25)  # each is a crawl of its own
EVERY = np.arange(len(PLACES))


def at(*days):
    """Instants so many days after DAY."""
    return instants_after_epoch(DAY + np.array(days, np.float64))


def start(policy, places=PLACES, *, gap=GAP, first_seen=0.0, **columns):
    found = at(*np.broadcast_to(first_seen, len(places)))
    pages = Pages.of([place.address for place in places], found, **columns)
    return policy.start(pages, at(0)[0], gap)


def told(policy, state, crawl, *, day=0.0, unit=1 / 16):
    """State after visits one at a time, and the day of the last."""
    for row, wait, changed in crawl:
        day += wait * unit
        state = policy.seen(state, np.array([row]), at(day), outcomes(changed))
    return state, day


def test_what_a_visit_teaches_is_worth_what_the_reference_says():
    """Vector 5: last = 10, now = 24.5, a = .5, b = 15; without a clock 1.731794."""
    policy = Recrawl(Freshness(), trusting=Trusting(near=0.25, far=0.25))
    places = [Place("", (folder,), name) for folder, name in ("1a", "1b", "2c", "2d")]
    pages = Pages.of([p.address for p in places], instants_after_epoch(np.full(4, 10.0)))
    state = policy.start(pages, instants_after_epoch(np.array([20.0]))[0], GAP)
    state.relatives.exposure = 15.0
    for last, p, changed in ((12.0, 0.3, 1.0), (18.0, 0.1, 0.0)):
        node = state.sections.leaf[:1]
        spread = state.clocks.overlaps(np.array([last]), np.array([20.0]))
        spread /= state.clocks.elapsed(node, np.array([last]), 20.0)
        found = changed * spread * state.clocks.pace(node)
        state.clocks.learn(state.sections, node, np.array([found, p * spread]))
        state.clocks.read(state.sections, state.sections.levels, np.zeros(3))
    now = instants_after_epoch(np.array([24.5]))[0]

    assert policy.value(state, np.array([0]), now) == pytest.approx([2.944469], rel=1e-6)
    alone = bank(Freshness())
    state = alone.start(pages, instants_after_epoch(np.array([20.0]))[0], 15.0)
    assert alone.value(state, np.array([0]), now) == pytest.approx([1.731794], rel=1e-6)


@pytest.mark.parametrize(("changed", "log_odds"), [(True, 0.305417), (False, -0.113396)])
def test_trust_goes_to_the_clock_that_foretold_better(changed, log_odds):
    """16.809605 days on the near clock, 10.354996 on the far one; a = .5, b = 15."""
    state = start(bank(Freshness()), gap=30.0)
    prior = (0.5, np.array([15.0]))
    near, far = (
        state.memories.chance(np.array([0]), state.memories.states(np.array([0]), prior), days)[1]
        for days in (np.array([16.809605]), np.array([10.354996]))
    )
    assert near == pytest.approx([0.313301], abs=1e-6)
    assert far == pytest.approx([0.230845], abs=1e-6)

    learn_trust(state, np.array([0]), np.array([changed]), near, far)
    assert state.trust == pytest.approx([log_odds], abs=2e-6)


@given(st.lists(one_visit, min_size=1, max_size=10), st.sampled_from(["freshness", "harmonic"]))
@settings(max_examples=20)
def test_the_policy_is_what_its_description_says(crawl, objective):
    """Every visit, every number: memories, weights, trust, both clocks, priors, values."""
    of = {"freshness": fresh, "harmonic": harmonic}[objective]
    policy = Recrawl(OBJECTIVES[objective])
    state, plain, day = start(policy), Scalar(tree_of(PLACES), [DAY] * 8, DAY, GAP), 0.0
    for row, wait, changed in crawl:
        state, now = told(policy, state, [(row, wait, changed)], day=day)
        plain.seen(row, DAY + now, changed)
        day = now

        check_same(state, plain)
        values = policy.value(state, EVERY, at(day + 1.5)[0])
        assert values == pytest.approx(
            [plain.value(i, DAY + day + 1.5, of) for i in range(8)], rel=1e-8
        )


def check_same(state, plain):
    memories = state.memories
    more = [np.transpose(page.more) for page in plain.pages]
    np.testing.assert_allclose(memories.shape.T, [m[0] for m in more], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(memories.exposure.T, [m[1] for m in more], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(memories.share.T, [p.weights for p in plain.pages], rtol=1e-9)
    np.testing.assert_allclose(memories.site_share, [plain.site], rtol=1e-9)
    np.testing.assert_allclose(state.trust, [plain.trust], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.last, [page.last for page in plain.pages])
    assert state.clocks.newest == plain.newest
    for node, pages in enumerate(pages_below(state.sections)):
        for paces, expected in (
            (state.clocks.near, plain.near),
            (state.clocks.far, plain.far),
            (state.clocks.pace(np.arange(len(state.sections))), plain.pace),
        ):
            np.testing.assert_allclose(paces[node], list(expected[pages].values()), rtol=1e-9)
        assert state.relatives.node_ratio[node] == pytest.approx(plain.section_rate(pages))
    kin = state.relatives.kin_ratio[state.sections.kin]
    assert kin == pytest.approx([plain.kin_rate(group) for group in plain.kin], rel=1e-9)
    factors = [np.prod(plain.factors(row)) for row in range(len(PLACES))]
    np.testing.assert_allclose(state.corrections.factor(EVERY), factors, rtol=1e-9)


@given(crawls)
@few
def test_without_neighbours_every_page_learns_alone(crawl):
    """The bank: days are days, and pages share nothing but the weights of their memories."""
    policy = bank(Freshness())
    state, day = start(policy), 0.0
    site = [1 / 3] * 3
    pages = [Page(0.0, list(site)) for _ in PLACES]
    for row, wait, changed in crawl:
        state, day = told(policy, state, [(row, wait, changed)], day=day)
        if day > pages[row].last:
            pages[row].learn(site, (0.5, GAP), day - pages[row].last, changed)
            pages[row].last = day
    now = day + 3.0
    expected = [page.value(fresh, 0.5, GAP, now - page.last) for page in pages]

    np.testing.assert_allclose(policy.value(state, EVERY, at(now)[0]), expected, rtol=1e-8)
    np.testing.assert_allclose(state.memories.share.T, [page.weights for page in pages], rtol=1e-9)
    np.testing.assert_allclose(state.memories.site_share, [site], rtol=1e-9)


@given(crawls, st.floats(0.01, 0.9))
@few
def test_a_page_is_due_where_its_value_reaches_the_price(crawl, share):
    """A section keeps its pace until then, so no bin may begin on the way."""
    policy = Recrawl(Harmonic())
    state, day = told(policy, start(policy), crawl)
    price = share * float(policy.value(state, EVERY, at(day + 40)[0]).max())
    due = epoch_days(policy.due(state, EVERY, price))
    values = policy._value(state, EVERY, due, _Known.of(state, EVERY))

    assert (due >= state.last).all()
    np.testing.assert_allclose(values, price, rtol=1e-6)


@given(crawls, st.integers(1, 7))
@few
def test_pages_found_one_by_one_are_as_good_as_all_at_once(crawl, first):
    """Kin are related when a bin begins, so all pages must be there before the next one does."""
    policy = Recrawl()
    together = start(policy)
    apart = start(policy, PLACES[:first])
    for place in PLACES[first:]:
        apart = policy.found(apart, Pages.of([place.address], at(0)))
    crawl = [(0, 64, False), *crawl]
    together, day = told(policy, together, crawl)
    apart, _ = told(policy, apart, crawl)
    values = [policy.value(state, EVERY, at(day + 2.5)[0]) for state in (together, apart)]

    np.testing.assert_allclose(values[0], values[1], rtol=1e-9)


@given(crawls)
@few
def test_a_visit_no_later_than_the_last_teaches_nothing(crawl):
    policy = Recrawl()
    state, day = told(policy, start(policy), crawl)
    before = policy.value(state, EVERY, at(day + 3)[0])
    trust, last = state.trust.copy(), state.last.copy()
    early = instants_after_epoch(state.last[[0, 1]] - np.array([0.0, 2.0]))
    state = policy.seen(state, np.array([0, 1]), early, outcomes([True, False]))

    assert state.trust.tolist() == trust.tolist()
    assert state.last.tolist() == last.tolist()
    assert policy.value(state, EVERY, at(day + 3)[0]).tolist() == before.tolist()


def test_a_dated_change_counts_where_it_was():
    """Changed 3 days before a visit on day 8: all of it in day 5's bin, a + 1 and b + 3."""
    policy = Recrawl()
    state = start(policy)
    state = policy.seen(state, np.array([7]), at(8), outcomes(True, 3.0))
    days_off = np.abs(np.arange(64) - 60.0)

    assert state.clocks.newest == DAY + 8
    np.testing.assert_allclose(state.clocks.found[0], np.exp(-days_off / 2), rtol=1e-12)
    assert state.memories.shape[:, 7] == pytest.approx(1.0)
    assert state.memories.exposure[:, 7] == pytest.approx(3.0)


@pytest.mark.parametrize(("age", "exposure"), [(0.0, 0.0), (8.0, 8.0), (100.0, 8.0)])
def test_a_change_is_no_older_than_the_visit_before(age, exposure):
    policy = Recrawl()
    state = policy.seen(start(policy), np.array([7]), at(8), outcomes(True, age))

    assert state.memories.exposure[:, 7] == pytest.approx(exposure, abs=1e-9)


@given(crawls, st.sampled_from([0.1, 0.5, 1.0, 3.0]))
@few
def test_a_gap_that_moves_leaves_what_is_known_of_rates(crawl, ratio):
    """Only the clocks are told: bins are a 16th of a gap."""
    policy = Recrawl()
    state, day = told(policy, start(policy), crawl)
    memories = [state.memories.shape.copy(), state.memories.exposure.copy()]
    state = policy.with_mean_gap(state, GAP * ratio)

    assert state.gap == GAP * ratio
    assert state.clocks.width == pytest.approx(ratio)
    np.testing.assert_array_equal(memories, [state.memories.shape, state.memories.exposure])
    values = policy.value(state, EVERY, at(day + 1)[0])
    assert np.isfinite(values).all()
    assert (values >= 0).all()


def test_pages_matter_by_weight_over_cost():
    policy = Recrawl()
    weight, cost = np.array([2.0, 0, 1, 1, 1, 1, 1, 1]), np.array([1.0, 1, 4, 1, 1, 1, 1, 1])
    state = start(policy, weight=weight, cost=cost)
    values = policy.value(state, EVERY, at(5)[0])

    np.testing.assert_allclose(values[:3] / values[3], [2, 0, 0.25])


def test_a_page_found_later_than_now_is_worth_nothing_yet():
    policy = Recrawl()
    state = start(policy, first_seen=[0, 9, 0, 0, 0, 0, 0, 0])
    values = policy.value(state, EVERY, at(5)[0])

    assert values[1] == 0
    assert (np.delete(values, 1) > 0).all()


@pytest.mark.parametrize("gap", [5 / 86_400, 1e-2, 365.0, 1e5])
def test_gaps_of_seconds_and_of_centuries_are_gaps(gap):
    """A visit every gap, for a hundred gaps: all numbers stay numbers, and some pages are due."""
    policy = Recrawl()
    state, rng = start(policy, gap=gap), np.random.default_rng(1)
    for n in range(1, 100):
        now = at(min(n * gap, 50_000.0 + n))
        state = policy.seen(state, np.array([n % 8]), now, outcomes(rng.random() < 0.5))
    values = policy.value(state, EVERY, now[0])

    assert np.isfinite(values).all()
    assert (values >= 0).all()
    assert values.max() > 0


def test_no_pages_and_no_visits_are_fine():
    policy = Recrawl()
    nobody = np.empty(0, np.int64)
    state = start(policy)
    state = policy.seen(state, nobody, at(), Outcomes.existence(np.empty(0, np.bool_)))

    assert policy.value(state, nobody, at(3)[0]).tolist() == []
    assert policy.due(state, nobody, 1.0).tolist() == []


@given(crawls, st.randoms())
@few
def test_the_order_of_pages_does_not_matter(crawl, shuffler):
    """Rows are only rows: the same pages in another order learn the same."""
    order = list(range(8))
    shuffler.shuffle(order)
    policy = Recrawl()
    state, day = told(policy, start(policy), crawl)
    moved = [(order.index(row), wait, changed) for row, wait, changed in crawl]
    other, _ = told(policy, start(policy, [PLACES[row] for row in order]), moved)
    values = policy.value(other, EVERY, at(day + 2)[0])

    np.testing.assert_allclose(values, policy.value(state, np.array(order), at(day + 2)[0]), 1e-9)


@given(crawls, st.integers(1, 1000).map(float))
@few
def test_a_shift_by_whole_bins_changes_no_value(crawl, shift):
    """Bins are numbered from 1970, a day each here; days in sixteenths are exact."""
    policy = Recrawl()
    state, day = told(policy, start(policy), crawl)
    pages = Pages.of([place.address for place in PLACES], at(*[shift] * 8))
    late = policy.start(pages, at(shift)[0], GAP)
    late, _ = told(policy, late, crawl, day=shift)
    values = policy.value(late, EVERY, at(day + shift + 2)[0])

    np.testing.assert_allclose(values, policy.value(state, EVERY, at(day + 2)[0]), rtol=1e-9)


def test_a_shift_by_any_time_hardly_changes_values():
    """Bins begin elsewhere, so paces are told a little differently."""
    policy, random, moved = Recrawl(), np.random.default_rng(5), []
    for _ in range(30):
        visits = zip(random.integers(0, 8, 20), random.integers(1, 40, 20), strict=True)
        crawl = [(int(row), int(wait), bool(random.random() < 0.3)) for row, wait in visits]
        state, day = told(policy, start(policy), crawl)
        pages = Pages.of([place.address for place in PLACES], at(*[0.4] * 8))
        late, _ = told(policy, policy.start(pages, at(0.4)[0], GAP), crawl, day=0.4)
        values = policy.value(late, EVERY, at(day + 6.4)[0])
        moved.append(np.abs(np.log(values / policy.value(state, EVERY, at(day + 6)[0]))))

    assert np.mean(moved) < 0.05
    assert np.quantile(moved, 0.99) < 0.3


@given(crawls, st.sampled_from([0.5, 2.0, 8.0]))
@few
def test_there_is_no_unit_of_time(crawl, stretch):
    """Times from 1970 and gap stretched alike: values stretch alike, so the order stays."""
    policy = Recrawl()
    values = []
    for factor in (1.0, stretch):
        days = factor * np.cumsum([1000.0] + [wait / 16 for _, wait, _ in crawl])
        first = instants_after_epoch(np.full(8, days[0]))
        pages = Pages.of([place.address for place in PLACES], first)
        state = policy.start(pages, first[0], GAP * factor)
        for (row, _, changed), now in zip(crawl, instants_after_epoch(days[1:]), strict=True):
            state = policy.seen(state, np.array([row]), np.array([now]), outcomes(changed))
        now = instants_after_epoch(days[-1:] + 2 * factor)[0]
        values.append(policy.value(state, EVERY, now) / factor)

    np.testing.assert_allclose(values[0], values[1], rtol=1e-9)


@given(crawls, st.lists(st.integers(0, 400), min_size=2, max_size=2, unique=True))
@few
def test_equal_pages_of_a_leaf_go_by_last_visit(crawl, waits):
    """Pages 5 and 6 were never visited: equal memories, one section, no kin."""
    policy = Recrawl()
    state = start(policy, first_seen=[0, 0, 0, 0, 0, *(-wait / 16 for wait in waits), 0])
    state, day = told(policy, state, [(row % 5, wait, changed) for row, wait, changed in crawl])
    values = policy.value(state, np.array([5, 6]), at(day + 1)[0])

    assert (values[0] > values[1]) == (waits[0] > waits[1])


@given(crawls)
@few
def test_where_nothing_ever_changes_no_clock_runs_fast(crawl):
    policy = Recrawl()
    state, _ = told(policy, start(policy), [(row, wait, False) for row, wait, _ in crawl])

    assert (state.clocks.pace(np.arange(len(state.sections))) <= 1).all()


@given(crawls)
@few
def test_visits_told_at_once_are_all_learnt(crawl):
    """One visit a page at one time: each page's last visit, and about what one by one teaches."""
    policy = Recrawl()
    state, day = told(policy, start(policy), crawl)
    changed = np.array([row % 3 == 0 for row in range(8)])
    now = at(*[day + 5] * 8)
    state = policy.seen(state, EVERY, now, outcomes(changed))

    assert state.last.tolist() == epoch_days(now).tolist()
    assert state.relatives.visited.all()
    assert (policy.value(state, EVERY, now[0]) == 0).all()


def test_large_sites_learn_for_themselves_and_small_ones_together():
    """Three hosts of 25 pages and ten of 2: four rows of trust and of weights."""
    policy, rng = Recrawl(), np.random.default_rng(5)
    places = [Place(f"{host}.org", (f"{n % 2}",), f"p{n}") for host in range(3) for n in range(25)]
    places += [Place(f"small{host}.org", (), f"p{n}") for host in range(10) for n in range(2)]
    state = start(policy, places)
    rows = np.arange(95)
    for day in range(1, 40):
        some = rng.choice(rows, 20, replace=False)
        changed = (state.sections.site[some] == 1) & (day % 7 == 0)
        state = policy.seen(state, some, at(*[day] * 20), outcomes(changed))
    values = policy.value(state, rows, at(41)[0])

    assert state.sections.sites == len(state.trust) == len(state.memories.site_share) == 4
    assert len(set(state.trust.tolist())) == 4
    assert np.isfinite(values).all()
    assert values[:25].mean() > values[25:].mean()


def test_the_first_prior_follows_the_gap_until_rates_are_known():
    """A crawl begins with a page or two and finds thousands: the gap grows a thousandfold.

    Pages are assumed to change every second gap while nothing is known, whatever the gap was when
    there was one page. Otherwise rates and clocks keep a wrong scale, and copies are 3 % staler.
    """
    policy = Recrawl()
    state = policy.with_mean_gap(start(policy, gap=0.02), 20.0)

    assert state.relatives.exposure == pytest.approx(20.0)


def beyond_the_prior(state):
    """Shape and exposure of each page beyond the prior, by its longest memory."""
    return state.memories.shape[0].tolist(), state.memories.exposure[0].tolist()


def test_a_first_age_counts_for_a_change_so_long_ago():
    """As `Gamma(use_first_age=True)` has it: a + 1, b + age."""
    age = np.array([3.0, np.nan, 40.0, 0.0, *[np.nan] * 4])

    assert beyond_the_prior(start(Recrawl(), first_age=age)) == (
        [1.0, 0.0, 1.0, 0.0, *[0.0] * 4],
        [3.0, 0.0, 40.0, 0.0, *[0.0] * 4],
    )
    untouched = start(Recrawl(use_first_age=False), first_age=age)
    assert beyond_the_prior(untouched) == ([0.0] * 8, [0.0] * 8)


def test_a_change_belies_a_wrong_first_age():
    """A page called four years old that is found changed every day is none of four years.

    It had been expected to change once in a year after three changes, and its copy to be fresh.
    """
    policy = Recrawl()
    state = start(policy, first_age=np.array([1400.0, *[np.nan] * 7]))
    for day in (1, 2, 3):
        state = policy.seen(state, np.array([0]), at(day), outcomes([True]))

    assert state.memories.exposure[0, 0] < 4  # three days, on a clock that may run faster
    assert policy.rates(state, np.array([0])) > 0.2
    assert policy.fresh(state, np.array([0]), at(4)[0]) < 0.8


def test_so_it_does_after_visits_that_called_it_unmodified():
    policy = Recrawl()
    state = start(policy, first_age=np.array([1400.0, *[np.nan] * 7]))
    for day in range(1, 7):
        state = policy.seen(state, np.array([0]), at(day), outcomes([False]))
    for day in (7, 8, 9):
        state = policy.seen(state, np.array([0]), at(day), outcomes([True]))

    assert policy.rates(state, np.array([0])) > 0.2


def test_a_first_age_stays_where_a_change_has_a_date_or_is_no_wonder():
    policy = Recrawl()
    age = np.array([1400.0, 8.0, *[np.nan] * 6])
    dated, likely = start(policy, first_age=age), start(policy, first_age=age)
    dated = policy.seen(dated, np.array([0]), at(1), outcomes([True], age=[0.5]))
    likely = policy.seen(likely, np.array([1]), at(1), outcomes([True]))

    assert dated.memories.exposure[0, 0] > 1400
    assert likely.memories.exposure[0, 1] > 8


def test_what_lies_within_the_crawl_does_not_count():
    """A page found ten days after the crawl began, six days old, may have been found as new."""
    policy = Recrawl()
    state = start(policy)
    found = Pages.of(["/late", "/new"], at(10, 10), first_age=np.array([14.0, 6.0]))
    state = policy.found(state, found)

    assert state.memories.exposure[0, -2:].tolist() == [4.0, 0.0]
    assert state.memories.shape[0, -2:].tolist() == [1.0, 0.0]


def test_dates_of_a_build_do_not_count():
    """All pages dated in the same minute were written then, and may be as before."""
    state = start(Recrawl(), first_age=np.array([3.0, 3.0, 3.0, 5.0, 5.0, *[np.nan] * 3]))

    assert state.memories.shape[0].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, *[0.0] * 3]
