"""The state of one page against exact Bayes on a grid of rates, on a clock that always runs evenly.

By hand: with recall rho, S silent days, W days in which a change was announced and Z days since the
host was last asked, a rate r makes what a visit shows as likely as

    unchanged               exp(-r (S + Z))
    changed, announced      exp(-rho r S) (1 - exp(-rho r W))
    changed, unannounced    exp(-rho r S) (1 - exp(-r ((1 - rho) S + Z)))
"""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.clocks import Trusting
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.units import instant_after_epoch

START, GAP = 20_480.0, 5.0
RATES = np.exp(np.linspace(np.log(1e-4), np.log(50.0), 4_001))
ROW = np.array([0])


class Exact:
    """Facts about a rate: its likelihood by a grid, from the prior that the policy has."""

    def __init__(self):
        self.known = -0.5 * np.log(RATES) - RATES * GAP
        self.silent = self.span = 0.0

    def ask(self, days, *, named):
        if self.span:
            return
        if named:
            self.span = days
        else:
            self.silent += days

    def visit(self, recall, since, waited, *, changed, age=np.nan):
        told = recall * RATES * self.silent
        if not changed:
            self.known -= RATES * waited
        elif self.span:
            self.known += np.log(-np.expm1(-recall * RATES * self.span)) - told
        elif np.isnan(age):
            gap = (1 - recall) * self.silent + since
            self.known += np.log(-np.expm1(-RATES * gap)) - told
        else:
            gap = min(age, since) + (1 - recall) * max(age - since, 0.0)
            self.known += np.log(RATES) - RATES * gap - told
        self.silent = self.span = 0.0

    def mean(self, recall):
        known = self.known - recall * RATES * self.silent
        weight = np.exp(known - known.max()) * np.gradient(RATES)
        return (weight * RATES).sum() / weight.sum()


def crawled(seed, recalls, *, announced, dated=False, days=30):
    """Mean rate of a page after a month, by the policy and exactly."""
    random = np.random.default_rng(seed)
    rate = np.exp(random.normal(np.log(0.25), 0.8))
    changes = np.sort(random.uniform(0, days, random.poisson(rate * days)))
    said = changes[random.random(len(changes)) < announced]
    even = Trusting(root=inf, near=inf, far=inf)
    policy, exact = Recrawl(memories=(1.0,), deepest=0, trusting=even), Exact()
    began = instant_after_epoch(START)
    state = policy.start(Pages.of(["x"], np.array([began])), began, GAP)
    last, recall = 0.0, 0.0
    asked = 0.0
    for day in range(1, days):
        now, recall = day + random.uniform(-0.3, 0.3), recalls[min(day, len(recalls)) - 1]
        since = max(last, asked)
        named = bool(((said > since) & (said <= now)).any())
        exact.ask(now - since, named=named)
        word = np.array([recall]), np.array([0.01])
        at = instant_after_epoch(START + now)
        state = policy.announced(state, ROW, np.array([float(named)]), word, at)
        asked = now
        if exact.span or random.random() < 1 / 8:
            now += random.uniform(0.05, 0.6)
            inside = changes[(changes > last) & (changes <= now)]
            changed = len(inside) > 0
            age = now - inside[-1] if changed and dated else np.nan
            exact.visit(recall, now - asked, now - last, changed=changed, age=age)
            outcomes = Outcomes(np.array([changed]), np.array([age]))
            seen = np.array([instant_after_epoch(START + now)])
            state, last = policy.seen(state, ROW, seen, outcomes), now
    # What was learned beyond the prior, and the prior of the beginning.
    shape, exposure = state.memories.shape[0, 0] + 0.5, state.memories.exposure[0, 0] + GAP
    return shape / exposure / exact.mean(recall)


@pytest.mark.parametrize(
    ("recalls", "announced", "dated"),
    [
        ([0.5], 0.5, False),
        ([0.9], 0.9, False),
        ([0.7], 0.7, True),
        ([0.001, 0.001, 0.001, 0.001, 0.3, 0.5, 0.7, 0.8, 0.9], 0.7, False),
        ([0.9, 0.8, 0.7, 0.5, 0.3, 0.05], 0.7, False),
    ],
    ids=["half", "most", "dated", "rising", "falling"],
)
def test_rates_are_those_of_exact_bayes(recalls, announced, dated):
    """But for changes that no date tells of: a Gamma distribution stands for what they leave."""
    ratios = [crawled(seed, recalls, announced=announced, dated=dated) for seed in range(16)]

    assert np.median(ratios) == pytest.approx(1.0, abs=0.005)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.02)
