"""The frontier: what it hands out, what it learns, and what it never does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from recrawl.frontier.frontier import Frontier, PolicyCheckpoint, tick_of
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.units import epoch_days, instants_after_epoch
from tests.frontier.toys import Fixed, Worth

DAY = 20_480.0
BUDGET = Budget(2.0)
NOBODY = np.empty(0, np.int64)
NO_ONE = Pages.of([], np.empty(0, "datetime64[us]"))


def at(day):
    return instants_after_epoch(np.array([DAY + day]))[0]


def pages(*first_seen, weight=None):
    found = np.array([at(day) for day in first_seen], "datetime64[us]")
    addresses = [f"{day}/{number}" for number, day in enumerate(first_seen)]
    return Pages.of(addresses, found, weight=None if weight is None else np.array(weight))


def frontier(policy, *first_seen, budget=BUDGET, seed=0, weight=None):
    made = Frontier(policy, budget, np.random.default_rng(seed))
    made.add(pages(*first_seen, weight=weight), at(0))
    return made


def visited(made, rows, day, changed=False):
    rows = np.asarray(rows)
    outcomes = Outcomes.existence(np.full(len(rows), changed))
    made.seen(rows, np.full(len(rows), at(day)), outcomes)


def diary(made: Frontier) -> Any:
    return made.state


def test_the_pages_of_most_value_come_first():
    """Days waited times weight: 4, 6 and 3 on day 6."""
    made = frontier(Worth(), 2, 3, 0, weight=[1.0, 2.0, 0.5])

    assert made.take(at(6), 2).tolist() == [1, 0]
    assert made.take(at(6), 2).tolist() == [2]
    assert made.take(at(6), 2).tolist() == []


def test_the_most_overdue_come_first_and_spare_visits_go_to_the_next():
    """Due on days 7, 5 and 6; on day 1 none is due, and all are handed out for all that."""
    made = frontier(Fixed(), 2, 0, 1)

    assert made.take(at(1), 5).tolist() == [1, 2, 0]


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_a_page_that_is_never_worth_a_visit_is_left_alone(policy):
    made = frontier(policy, 0, 0, weight=[0.0, 1.0])

    assert made.take(at(100), 2).tolist() == [1]


@pytest.mark.parametrize("policy", [Worth(), Fixed(), Recrawl(), Recrawl(Freshness())])
def test_pages_of_no_weight_at_all_are_never_handed_out(policy):
    made = frontier(policy, 0, 0, weight=[0.0, 0.0])

    assert made.take(at(100), 2).tolist() == []


def test_within_a_tick_pages_keep_the_order_of_its_beginning():
    """A tick is a 64th of the gap: 128 pages, 2 visits a day, a day a tick."""
    made = frontier(Worth(), *np.linspace(0, 1, 128))
    made.take(at(2), 1)
    visited(made, [0], 2.1)
    scored = dict(diary(made).scored)
    assert made.take(at(2.5), 2).tolist() == [1, 2]
    assert diary(made).scored == scored

    made.take(at(3.0), 1)
    assert diary(made).scored != scored
    assert diary(made).visits == [(0, pytest.approx(DAY + 2.1), False)]


def test_a_policy_may_ask_to_be_heard_at_every_step():
    """What it knows may be new at every moment, so its pages are scored at each."""

    class Restless(Worth):
        every_step = True

    made = frontier(Restless(), *np.linspace(0, 1, 128))
    made.take(at(2), 1)
    scored = diary(made).scored
    made.take(at(2.1), 1)

    assert diary(made).scored is not scored


def test_a_tick_lasts_a_minute_at_least():
    made = frontier(Worth(), *np.zeros(100), budget=Budget(1e9))
    made.take(at(1), 1)
    scored = diary(made).scored

    made.take(at(1 + 59 / 86_400), 1)
    assert diary(made).scored is scored
    made.take(at(1 + 61 / 86_400), 1)
    assert diary(made).scored is not scored


def test_what_is_there_sets_the_gap():
    """2 visits a day; the policy is told of moves by more than a fifth."""
    made = frontier(Worth(), *np.zeros(10))
    assert made.gap == 5

    made.add(pages(0, 0), at(1))
    assert made.gap == 5  # 6 would be a fifth more, and no more than that
    made.add(pages(0), at(1))
    assert made.gap == 6.5
    made.remove(np.arange(7))
    assert made.gap == 3
    assert diary(made).gaps == [5, 6.5, 3]
    assert len(made) == 6


def test_a_budget_a_page_sets_the_gap_by_itself():
    made = frontier(Fixed(), *np.zeros(10), budget=Budget(0.25, "page"))
    made.add(pages(*np.zeros(90)), at(1))

    assert made.gap == 4
    assert diary(made).gaps == [4]


@pytest.mark.parametrize("policy", [Worth(), Fixed(), Recrawl()])
def test_ties_are_broken_by_lot(policy):
    """The same lots give the same order, others another: each page comes first now and then."""

    def order(seed):
        return tuple(frontier(policy, *np.zeros(4), seed=seed).take(at(3), 4).tolist())

    assert order(7) == order(7)
    firsts = [order(seed)[0] for seed in range(60)]
    assert set(firsts) == {0, 1, 2, 3}
    assert max(firsts.count(row) for row in range(4)) < 35


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_a_lot_never_outweighs_a_difference(policy):
    """Half a minute of waiting decides, whatever the lots."""
    for seed in range(20):
        made = frontier(policy, 0, -30 / 86_400, seed=seed)
        assert made.take(at(1), 2).tolist() == [1, 0]


@pytest.mark.parametrize("policy", [Worth(), Fixed(), Recrawl()])
def test_the_last_page_may_go_and_others_come(policy):
    made = frontier(policy, 0)
    made.remove(np.array([0]))
    assert len(made) == 0
    assert made.take(at(3), 2).tolist() == []

    assert made.add(pages(3, 3), at(3)).tolist() == [1, 2]
    assert sorted(made.take(at(5), 3).tolist()) == [1, 2]


@pytest.mark.parametrize("policy", [Worth(), Fixed(), Recrawl()])
def test_a_frontier_may_begin_with_no_pages(policy):
    made = frontier(policy)
    assert made.take(at(0), 3).tolist() == []

    assert made.add(pages(1, 1), at(1)).tolist() == [0, 1]
    assert sorted(made.take(at(2), 3).tolist()) == [0, 1]


def test_what_is_seen_of_a_page_that_is_gone_is_learnt_still():
    """It was out when it was removed: it tells of its neighbours, and does not come back."""
    made = frontier(Worth(), 0, 0)
    rows = made.take(at(1), 1)
    made.remove(rows)
    visited(made, rows, 1.5, changed=True)

    assert diary(made).visits == [(int(rows[0]), DAY + 1.5, True)]
    assert rows[0] not in made.take(at(9), 5)


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_before_the_first_page_there_is_nothing_to_hand_out_or_forget(policy):
    made = Frontier(policy, BUDGET, np.random.default_rng(0))
    made.remove(NOBODY)

    assert made.take(at(0), 1).tolist() == []


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_no_pages_are_handed_out_where_none_are_asked_for(policy):
    made = frontier(policy, 0, 0)

    assert made.take(at(3), 0).tolist() == []
    assert len(made.take(at(3), 2)) == 2


def test_adding_no_pages_changes_nothing():
    made = frontier(Recrawl(), 0, 0)
    assert made.add(NO_ONE, at(1)).tolist() == []

    assert len(made.take(at(5), 2)) == 2


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_an_order_is_asked_for_without_handing_out_anything(policy):
    made = frontier(policy, 2, 0, 1)

    assert made.ranked(at(6), 2).tolist() == [1, 2]
    assert made.ranked(at(6), 9).tolist() == [1, 2, 0]
    assert made.take(at(6), 9).tolist() == [1, 2, 0]


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_an_order_may_be_asked_for_of_some_pages_only(policy):
    """They are told best first: here, every other one fits."""
    made = frontier(policy, *range(6))
    order = made.ranked(at(9), 2, fits=lambda rows: np.arange(len(rows)) % 2 == 1)

    assert order.tolist() == [1, 3]


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_a_page_that_is_held_is_in_no_order_until_it_is_released(policy):
    made = frontier(policy, 0, 1, 2)
    made.hold(0)
    assert made.ranked(at(6), 9).tolist() == [1, 2]
    assert made.take(at(6), 1).tolist() == [1]

    made.release(0)
    assert made.ranked(at(6), 9).tolist() == [0, 2]


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_a_page_may_be_released_from_an_instant_on(policy):
    made = frontier(policy, 0, 1)
    made.hold(0)
    made.release(0, DAY + 8)

    assert made.ranked(at(7.999), 9).tolist() == [1]
    assert made.ranked(at(8), 9).tolist() == [0, 1]


def test_where_all_pages_are_held_the_order_is_empty():
    made = frontier(Worth(), 0)
    made.hold(0)

    assert made.ranked(at(5), 9).tolist() == []
    assert made.take(at(5), 9).tolist() == []


@pytest.mark.parametrize("policy", [Worth(), Fixed(), Recrawl()])
def test_a_frontier_goes_on_from_what_its_policy_had_learnt(policy):
    """The same pages in the same order, and pages that come later find their place."""
    made = frontier(policy, 3, 1, 2)
    visited(made, [1], 4, changed=True)
    learned = PolicyCheckpoint(made.state, 3, made.gap)
    again = Frontier.resumed(policy, BUDGET, np.random.default_rng(9), learned)

    assert (len(again), again.gap) == (3, 1.5)
    assert again.ranked(at(9), 9).tolist() == made.ranked(at(9), 9).tolist()
    assert again.add(pages(5, 5), at(5)).tolist() == [3, 4]
    assert sorted(again.take(at(9), 9).tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("policy", [Worth(), Fixed()])
def test_a_frontier_that_goes_on_tells_its_policy_of_another_budget(policy):
    made = frontier(policy, 3, 1, 2)
    learned = PolicyCheckpoint(made.state, 3, made.gap)
    again = Frontier.resumed(policy, Budget(6.0), np.random.default_rng(9), learned)

    assert again.gap == 0.5
    assert diary(again).gaps == [1.5, 0.5]


def test_an_order_holds_for_a_64th_of_a_gap_and_a_minute_at_least():
    assert tick_of(6.4) == pytest.approx(0.1)
    assert tick_of(1e-9) == pytest.approx(1 / 1440)


class Crawling(RuleBasedStateMachine):
    """Anything may happen in any order; a few sets say what must be true."""

    policy: Any = Worth()

    def __init__(self):
        super().__init__()
        self.frontier = Frontier(self.policy, BUDGET, np.random.default_rng(1))
        self.day = 0.0
        self.pages = 0
        self.waiting: set[int] = set()
        self.leased: set[int] = set()
        self.gone: set[int] = set()
        self.back: set[int] = set()  # since pages were last scored
        self.told: list[tuple[int, float, bool]] = []
        self.gap: float | None = None

    @property
    def started(self):
        return self.pages > 0

    def peek(self) -> Any:
        """What the policy knows so far; `Frontier.state` would tell it the rest first."""
        return self.frontier._turns._state

    def set_gap(self):
        gap = max(len(self.waiting | self.leased), 1) / 2.0
        if self.gap is None or not 1 / 1.2 <= gap / self.gap <= 1.2:
            self.gap = gap

    @rule(weights=st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0]), min_size=1, max_size=40))
    def add(self, weights):
        rows = self.frontier.add(pages(*[self.day] * len(weights), weight=weights), at(self.day))
        assert rows.tolist() == list(range(self.pages, self.pages + len(weights)))
        self.pages += len(weights)
        self.waiting |= set(rows.tolist())
        self.set_gap()

    @rule(sixteenths=st.integers(1, 16 * 8))
    def wait(self, sixteenths):
        self.day += sixteenths / 16

    @precondition(lambda self: self.started)
    @rule(drawn=st.data())
    def remove(self, drawn):
        some = drawn.draw(st.sets(st.integers(0, self.pages - 1), max_size=5))
        self.frontier.remove(np.array(sorted(some), np.int64))
        self.gone |= some
        self.waiting -= some
        self.leased -= some
        self.set_gap()

    @precondition(lambda self: self.started)
    @rule(most=st.integers(1, 30))
    def take(self, most):
        scored = self.peek().scored
        rows = self.frontier.take(at(self.day), most).tolist()
        if self.peek().scored is not scored:
            self.back = set()

        assert len(rows) == len(set(rows)) <= most
        assert set(rows) <= self.waiting
        self.waiting -= set(rows)
        self.leased |= set(rows)
        self.check_best(rows, most)

    def check_best(self, rows, most):
        """None that stays behind was worth more when pages were last scored."""
        value = self.peek().scored
        if rows:
            got = [value[row] for row in rows]
            assert all(a >= b * (1 - 2e-9) for a, b in pairwise(got))
            left = [value[row] for row in self.waiting - self.back if row in value]
            assert max(left, default=0) <= got[-1] * (1 + 2e-9)
        if len(rows) < most:
            assert all(value[row] == 0 for row in self.waiting)

    @precondition(lambda self: self.leased)
    @rule(drawn=st.data(), changed=st.booleans())
    def seen(self, drawn, changed):
        some = sorted(drawn.draw(st.sets(st.sampled_from(sorted(self.leased)), min_size=1)))
        visited(self.frontier, some, self.day, changed)
        self.told += [(row, DAY + self.day, changed) for row in some]
        self.come_back(some)

    def come_back(self, rows):
        self.leased -= set(rows)
        self.waiting |= set(rows)
        self.back |= set(rows)

    @invariant()
    def count(self):
        assert len(self.frontier) == len(self.waiting) + len(self.leased)

    @precondition(lambda self: self.started)
    @invariant()
    def told_the_gap(self):
        assert self.frontier.gap == self.gap

    def teardown(self):
        """All visits were learned, once, in order; the last gap told is the one that holds."""
        if self.started:
            assert diary(self.frontier).visits == self.told
            assert diary(self.frontier).gaps[-1] == self.gap
            assert len(diary(self.frontier).last) == self.pages


class CrawlingByDueTime(Crawling):
    policy = Fixed()

    def check_best(self, rows, most):
        """None that stays behind was due earlier, by more than the second or two of a lot."""
        state = diary(self.frontier)
        everything = np.arange(self.pages)
        due = epoch_days(self.policy.due(state, everything, np.inf))
        got = due[rows]
        assert (np.diff(got) > -1e-4).all()
        left = np.array([due[row] for row in self.waiting if not np.isnan(due[row])])
        if len(rows) and len(left):
            assert got[-1] < left.min() + 1e-4
        if len(rows) < most:
            assert len(left) == 0


_MANY = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestByValue = Crawling.TestCase
TestByValue.settings = _MANY
TestByDueTime = CrawlingByDueTime.TestCase
TestByDueTime.settings = _MANY
