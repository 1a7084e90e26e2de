"""What any policy has learned can be kept, and gone on from."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recrawl.plan.objectives import Freshness
from recrawl.policies import POLICIES
from recrawl.policies.checkpoint import dump_state, load_state
from tests.policies.crawls import GAP, START, due_days, later, outcomes, pages_at

NAMES = sorted(set(POLICIES) - {"recrawl", "bank"})  # those say themselves what is kept of them
PAGES = 6
ROWS = np.arange(PAGES)


def learned(policy, state, days):
    """State after a visit to every page on each day, of which some found a change."""
    random = np.random.default_rng(len(days))
    for day in days:
        flags = random.random(PAGES) < 0.5
        seen = outcomes(flags, np.where(flags, 0.1, np.nan))
        state = policy.seen(state, ROWS, np.full(PAGES, later(day)[0]), seen)
    return state


def kept(parts):
    """Parts as a store gives them back: arrays as they were, values through JSON."""
    return {
        name: part.copy() if isinstance(part, np.ndarray) else json.loads(json.dumps(part))
        for name, part in parts.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_goes_on_from_what_was_kept(name):
    """To the bit: the same due times now, after more visits, more pages and another gap."""
    policy = POLICIES[name](Freshness())
    pages = pages_at(*np.zeros(PAGES), first_age=np.arange(PAGES) * 3.0)
    whole = learned(policy, policy.start(pages, START, GAP), [5.0, 12.0, 30.0, 41.0, 60.0, 66.0])
    resumed = load_state(policy, kept(dump_state(policy, whole)), list)
    for more in (lambda state: state, lambda state: learned(policy, state, [70.0, 81.0])):
        whole, resumed = more(whole), more(resumed)
        one, other = (due_days(policy, state, ROWS, 0.5) for state in (whole, resumed))
        np.testing.assert_array_equal(one, other)
    grown = [
        policy.with_mean_gap(policy.found(state, pages_at(90.0)), 2 * GAP)
        for state in (whole, resumed)
    ]
    one, other = (due_days(policy, state, [*ROWS, PAGES], 0.5) for state in grown)
    np.testing.assert_array_equal(one, other)


def test_what_was_kept_is_not_the_state_itself():
    """A policy that goes on leaves the checkpoint as it was."""
    policy = POLICIES["nutch"](Freshness())
    state = learned(policy, policy.start(pages_at(*np.zeros(PAGES)), START, GAP), [5.0])
    parts = kept(dump_state(policy, state))
    before = parts["last"].copy()
    learned(policy, load_state(policy, parts, list), [9.0])

    np.testing.assert_array_equal(parts["last"], before)
