"""Due times, the budget curve, and noisy signals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.plan import (
    OBJECTIVES,
    Detected,
    Freshness,
    SignalCounts,
    Signals,
    budget_curve,
)
from recrawl.plan.solver.demand import NEVER, log_due
from recrawl.plan.solver.inverse_value import PERIODIC, RANDOMISED


def one(figure):
    return np.array([figure], np.float64)


def due_after(objective, shape, exposure, value):
    """Days from a visit until the next is worth `value`; infinite where it never is."""
    log = log_due(objective, shape, value / exposure**objective.power)
    return np.where(log < NEVER, exposure * np.exp(log), np.inf)


@pytest.mark.parametrize("name", list(OBJECTIVES))
@given(
    st.floats(-1.5, 4).map(lambda p: float(10**p)),
    st.floats(-4, 4).map(lambda p: float(10**p)),
    st.floats(-6, 6).map(lambda p: float(10**p)),
)
def test_a_page_is_due_when_it_is_worth_the_price(name, shape, exposure, u):
    """The root of E V = price is the time that the price was taken from."""
    objective, elapsed = OBJECTIVES[name], one(u * exposure)
    price = objective.expected_value(one(shape), one(exposure), elapsed)
    due = due_after(objective, one(shape), one(exposure), price)
    again = objective.expected_value(one(shape), one(exposure), due)

    assert again[0] == pytest.approx(price[0], rel=2e-10)


def test_a_page_that_is_never_worth_the_price_is_never_due():
    """A visit for freshness is worth at most b / (a - 1), one for detected changes at most 1."""
    assert due_after(Freshness(), one(3.0), one(2.0), 1.0)[0] == np.inf
    assert due_after(Freshness(), one(3.0), one(2.0), 0.999)[0] < np.inf
    assert due_after(Detected(), one(3.0), one(2.0), 1.0)[0] == np.inf


@pytest.mark.parametrize("paces", [PERIODIC, RANDOMISED])
@pytest.mark.parametrize("gain", ["fresh", "harmonic", "age", "missed"])
def test_slopes_of_visits_by_differences(paces, gain):
    pace = paces[gain]
    y = 10.0 ** np.linspace(-8, -0.1 if gain == "fresh" else 8, 200)
    x, more = (pace.changes(y, price) for price in (1.0, 1.00001))

    np.testing.assert_allclose(np.log(more / x) / np.log(1.00001), pace.elasticity(x, y), rtol=1e-3)


def test_what_budgets_buy():
    """More budget, more freshness, a lower price; the price is the slope of the loss."""
    rates = np.random.default_rng(2).lognormal(-1, 1.5, 300)
    budgets = np.array([50.0, 100.0, 100.01, 200.0])
    curve = budget_curve(rates, budgets, objective=Freshness())

    assert (np.diff(curve.freshness) > 0).all()
    assert (np.diff(curve.price) < 0).all()
    assert (np.diff(curve.starved) <= 0).all()
    assert (curve.freshness > curve.uniform).all()
    gained = (curve.freshness[2] - curve.freshness[1]) * len(rates) / 0.01
    assert gained == pytest.approx(curve.price[1], rel=1e-3)
    assert len(budget_curve(rates, []).budget) == 0


class TestSignals:
    """Section 5.4 of the specification."""

    def test_no_signals_leave_the_value_of_freshness(self):
        elapsed = np.array([0.1, 1.0, 5.0])
        for silent in (Signals(one(0), one(0)), Signals(one(1e-7), one(1e-9))):
            value = silent.value(one(1.0), elapsed, np.zeros(3, int))
            np.testing.assert_allclose(value, Freshness().value(one(1.0), elapsed), rtol=1e-5)

    def test_signals_that_are_all_false_say_nothing(self):
        noise = Signals(one(0.0), one(2.0))

        assert noise.value(one(1.0), one(1.0), np.array([4])) == pytest.approx(1 - 2 / np.e)
        assert noise.effective_age(one(1.0), one(1.0), np.array([4]))[0] == 1.0

    def test_a_signal_without_false_alarms_settles_it(self):
        """Nu = 0: the copy is out of date for certain, and a visit is worth 1 / rate."""
        sure = Signals(one(0.6), one(0.0))

        assert sure.value(one(2.0), one(0.1), np.array([1]))[0] == pytest.approx(0.5)
        assert sure.fresh(one(2.0), one(0.1), np.array([1]))[0] == 0

    def test_a_source_that_announces_every_change_is_still_a_number(self):
        complete = Signals(one(1.0), one(0.1))
        values = complete.value(one(1.0), one(1.0), np.array([0, 1, 2]))

        assert np.isfinite(values).all()
        assert (np.diff(values) > 0).all()

    def test_the_chance_to_be_fresh_by_drawing(self):
        random = np.random.default_rng(3)
        changes = random.poisson(1.0 * 0.7, 400_000)
        signals = random.binomial(changes, 0.6) + random.poisson(0.3 * 0.7, len(changes))
        noisy = Signals(one(0.6), one(0.3))
        for seen in (0, 1, 2):
            drawn = (changes[signals == seen] == 0).mean()
            fresh = noisy.fresh(one(1.0), one(0.7), np.array([seen]))[0]
            assert fresh == pytest.approx(drawn, abs=0.005)

    def test_the_value_by_drawing(self):
        """Psi is the mean time until the effective age is x, Phi the mean time fresh until then."""
        recall, false, x = 0.6, 0.3, 1.4
        noisy = Signals(one(recall), one(false))
        beta = noisy.effective_age(one(1.0), one(0.0), np.array([1]))[0]
        random = np.random.default_rng(4)
        cycles, fresh = [], []
        for _ in range(20_000):
            now, age, change = 0.0, 0.0, np.inf
            while True:
                step = random.exponential(1 / (1.0 + false))
                if age + step >= x:
                    now += x - age
                    break
                now, age = now + step, age + step
                if random.random() < 1 / (1.0 + false):
                    change = min(change, now)
                    told = random.random() < recall
                else:
                    told = True
                age += beta if told else 0
                if age >= x:
                    break
            cycles.append(now)
            fresh.append(min(now, change))
        # V = Phi - e^(-alpha x) psi
        expected = np.mean(fresh) - np.exp(-0.4 * x) * np.mean(cycles)
        # An elapsed time of x without a signal has the effective age x.
        assert noisy.value(one(1.0), one(x), np.array([0]))[0] == pytest.approx(expected, abs=0.01)

    def test_heeding_signals_keeps_copies_fresher(self):
        heeded, ignored = (self.freshness(heed=heed) for heed in (True, False))

        assert ignored == pytest.approx(0.806, abs=0.015)
        assert heeded > ignored + 0.05

    @staticmethod
    def freshness(*, heed: bool) -> float:
        """Share of time fresh of 100 pages, the one of most value visited next, 2.2 a change."""
        random = np.random.default_rng(5)
        count, step = 100, 1 / 220
        rates = np.ones(count)
        noisy = Signals(np.full(count, 0.6), np.full(count, 0.3))
        last, signals, stale = np.zeros(count), np.zeros(count, int), np.zeros(count, bool)
        fresh = []
        for turn in range(5000):
            now = turn * step
            changed = random.random(count) < -np.expm1(-step)
            stale |= changed
            signals += changed & (random.random(count) < 0.6)
            signals += random.random(count) < 0.3 * step
            fresh.append(1 - stale.mean())
            value = Freshness().value(rates, now - last)
            if heed:
                value = noisy.value(rates, now - last, signals)
            page = int(np.argmax(value))
            last[page], signals[page], stale[page] = now, 0, False
        return float(np.mean(fresh[1000:]))

    def test_recall_and_false_alarms_are_learnt_by_site(self):
        random = np.random.default_rng(6)
        counts = SignalCounts(*np.zeros((4, 3)))
        assert counts.learned().recall.tolist() == [0, 0, 0]
        for row, (recall, false) in enumerate([(0.9, 0.02), (0.3, 0.4)]):
            for _ in range(400):
                changes = random.poisson(0.2)
                told = random.binomial(changes, recall)
                extra = random.poisson(false)
                counts = counts.seen(row, changed=changes > 0, signals=told + extra, gap=1.0)
        signals = counts.learned()

        assert signals.recall[:2] == pytest.approx([0.9, 0.3], abs=0.3)
        assert signals.recall[0] > signals.recall[2] > signals.recall[1]
        assert signals.false_alarms[:2] == pytest.approx([0.02, 0.4], abs=0.1)
        assert signals.false_alarms[0] < signals.false_alarms[2] < signals.false_alarms[1]

    @pytest.mark.parametrize(("recall", "false"), [(1.1, 0.0), (0.5, -1.0), (np.nan, 0.0)])
    def test_what_is_no_probability_is_refused(self, recall, false):
        with pytest.raises(InvalidParameter):
            Signals(one(recall), one(false))
