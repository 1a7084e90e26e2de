"""Targets are met or missed, and have a cost."""

from math import isnan

import numpy as np
import pytest
from scipy.optimize import brentq

from recrawl.entries.entries import VisitMade
from recrawl.inspect.status import targets as overview_targets
from recrawl.inspect.status.values import VisitCount
from recrawl.plan import Freshness, Rates, allocate
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.settings.settings import read_settings
from recrawl.state import sampled
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_for_writing, open_store
from recrawl.visits.status import VisitOutcome
from tests.inspect.looked import BEGAN, DAY, made, overview_of, save

NOW = BEGAN + 10.25
TOP = 'agent = "bot (me@example.org)"\nbudget = "20/1d"\nobjective = "freshness"\n'


def asked(*blocks):
    text = "".join(f'[[site]]\naddress = "https://{address}"\n{keys}\n' for address, keys in blocks)
    return read_settings(TOP + text)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "recrawl.db"
    made(found, pages=20, own=True)
    return found


def rates_of(path, wishes, rule):
    with open_store(path) as reader:
        snapshot = load_snapshot(wishes, reader, NOW)
    for pool in snapshot.pools:
        if pool.state is not None:
            rows = np.flatnonzero(snapshot.rule[pool.pages] == rule)
            if len(rows):
                return Rates.gamma(*Beliefs.of(pool.state, rows, NOW).as_one)
    raise AssertionError


def test_only_what_has_a_target_is_judged(path):
    wishes = asked(("a.org/", ""), ("b.org/", "target = 0.9"))
    (target,) = overview_of(wishes, path, NOW).targets

    assert (target.address, target.wanted, target.copies) == ("https://b.org/", 0.9, 10)


def test_a_target_is_met_or_missed(path):
    low, high = asked(("a.org/", "target = 0.05")), asked(("a.org/", "target = 0.98"))
    met, missed = (overview_of(each, path, NOW).targets[0] for each in (low, high))

    assert met.met
    assert met.sure
    assert not missed.met
    assert met.fresh == missed.fresh
    assert met.fresh[1] < met.fresh[0] < met.fresh[2]
    assert met.needed < missed.needed


def test_a_plan_with_the_cost_reaches_the_target(path):
    wishes = asked(("a.org/", "target = 0.8"), ("b.org/", ""))
    (target,) = overview_of(wishes, path, NOW).targets
    plan = allocate(rates_of(path, wishes, 0), target.needed, objective=Freshness())

    assert plan.mean_freshness == pytest.approx(0.8, abs=1e-3)


def test_scipy_finds_the_same_cost(path):
    wishes = asked(("b.org/", "target = 0.7"), ("a.org/", ""))
    (target,) = overview_of(wishes, path, NOW).targets
    rates = rates_of(path, wishes, 0)

    def short(visits):
        return allocate(rates, visits, objective=Freshness()).mean_freshness - 0.7

    assert target.needed == pytest.approx(brentq(short, 1e-3, 1e4), rel=2e-3)


def test_a_target_may_be_out_of_reach_of_a_polite_crawl(path):
    """Four hours between requests: six visits a day to twenty pages."""
    slow = f'{TOP}[politeness]\ndelay = "4h"\n[[site]]\naddress = "https://a.org/"\ntarget = 0.99\n'
    wishes = read_settings(slow)
    (target,) = overview_of(wishes, path, NOW).targets
    best = allocate(rates_of(path, wishes, 0), 6.0, objective=Freshness())

    assert isnan(target.needed)
    assert target.most == pytest.approx(best.mean_freshness, abs=1e-6)


def test_a_target_may_be_out_of_reach_within_its_bounds(path):
    wishes = asked(("a.org/", 'minimum = "9d"\ntarget = 0.99'))
    (target,) = overview_of(wishes, path, NOW).targets

    assert isnan(target.needed)
    assert 0 < target.most < 0.99


def test_what_it_gets_are_the_visits_of_the_last_week(path):
    """20 pages on days 4, 6 and 8 of the week before day 10.25, and two visits more."""
    with open_for_writing(path) as store:
        store.write([VisitMade(page, (NOW - 0.1) * DAY, VisitOutcome.SAME) for page in (2, 2)])
    (target,) = overview_of(asked(("a.org/", "target = 0.9")), path, NOW).targets

    assert target.lately == VisitCount(62, 7.0)


def test_a_site_without_copies_is_neither(path):
    (target,) = overview_of(asked(("c.org/", "target = 0.9")), path, NOW).targets

    assert (target.copies, target.lately.visits) == (0, 0)
    assert isnan(target.fresh[0])
    assert not target.met


def test_of_many_targets_the_furthest_missed_have_costs(path, monkeypatch):
    monkeypatch.setattr(overview_targets, "_MOST_COSTS", 1)
    wishes = asked(("a.org/", "target = 0.1"), ("b.org/", "target = 0.99"))
    easy, hard = overview_of(wishes, path, NOW).targets

    assert isnan(easy.needed)
    assert hard.needed > 0


def test_a_few_pages_of_a_large_crawl_are_looked_at_all_the_same(path, monkeypatch):
    """A sample of five copies may miss the ten of b.org; its target needs them."""
    wishes = asked(("a.org/", ""), ("b.org/", "target = 0.9"))
    save(wishes, path, NOW)
    (every,) = overview_of(wishes, path, NOW).targets
    monkeypatch.setattr(sampled, "LOOKED_AT", 5)
    status = overview_of(wishes, path, NOW)
    (some,) = status.targets

    assert status.looked_at == 5
    assert some.copies == 10
    assert some.fresh == pytest.approx(every.fresh, abs=0.02)
    assert some.needed == pytest.approx(every.needed, rel=0.05)
    assert some.lately == every.lately
