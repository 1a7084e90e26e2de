"""What is said of a crawl whose policy has no rates and no values: all that can be said."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
import pytest

from recrawl.adapters.stores.rates import rates_of_store
from recrawl.entries.entries import Checkpoint
from recrawl.inspect.next_visits import next_visits, priced_next_visits
from recrawl.inspect.pages import believed, page_rows
from recrawl.inspect.status.overview import overview
from recrawl.inspect.why.why import reasons
from recrawl.report.status.status import status_rows
from recrawl.report.why.words import why_rows
from recrawl.simulate.virtual_crawl import virtual_visits
from recrawl.state.opening import open_crawl
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_for_writing, open_store
from recrawl.units import epoch_days
from tests.inspect.looked import BEGAN, made

NOW, PAGES = BEGAN + 10.5, 60
TICK = 3 / 64  # days: a 64th of the mean gap


@pytest.fixture(scope="module", params=["nutch", "cho-adaptive", "gamma"])
def stored(request, tmp_path_factory):
    """A store with a checkpoint of another policy, and its settings."""
    path = tmp_path_factory.mktemp("other") / "recrawl.db"
    asked = replace(made(path), policy=request.param)
    with open_for_writing(path) as store, open_store(path) as reader:
        opened = open_crawl(asked, store, reader, NOW, random=np.random.default_rng(0))
        store.write([Checkpoint(opened.dump())])
    return path, asked


@pytest.fixture
def crawl(stored):
    """The store, its settings and what they say."""
    path, asked = stored
    with open_store(path) as reader:
        yield path, asked, reader, load_snapshot(asked, reader, NOW)


def test_the_next_visit_is_the_one_that_the_crawl_makes(crawl):
    """But for a tick, in which pages that are due together may change places."""
    path, asked, reader, snapshot = crawl
    said = epoch_days(next_visits(snapshot, reader, np.arange(PAGES)))
    with open_for_writing(path) as store, open_store(path) as own:
        opened = open_crawl(asked, store, own, NOW, random=np.random.default_rng(0))
    visits = virtual_visits(opened.agenda, NOW, NOW + 20)
    made_at: dict[int, float] = {}
    for lease in visits:
        opened.agenda.answered(lease, lease.at)
        made_at.setdefault(lease.page, lease.at)
        if len(made_at) == 10:
            break
        opened.agenda.seen(lease.page, lease.at, changed=False)

    assert min(made_at.values()) == pytest.approx(said.min(), abs=TICK)
    first = min(made_at, key=made_at.__getitem__)
    assert said[first] == pytest.approx(made_at[first], abs=TICK)


def test_times_of_many_pages_are_those_of_the_simulation(crawl):
    """Of large crawls: the most overdue first, one after the other."""
    _, _, reader, snapshot = crawl
    every = np.arange(PAGES)
    simulated, reckoned = (
        epoch_days(each)
        for each in (next_visits(snapshot, reader, every), priced_next_visits(snapshot, every))
    )
    soon = np.argsort(simulated)[:20]

    assert np.isfinite(reckoned).all()
    assert np.abs(reckoned - simulated)[soon].max() < 0.5


def test_status_says_that_freshness_is_unknown(crawl):
    _, asked, reader, _ = crawl
    status = overview(asked, reader, NOW)
    rows = dict(status_rows(status))

    assert (status.copies, isnan(status.fresh[0]), status.outlooks) == (PAGES, True, [])
    told = f"unknown for 60 copies: the policy {asked.policy} estimates no change rates"
    assert rows["fresh"] == told
    assert "staleness" not in rows
    assert NOW <= status.next_visit < NOW + 1


def test_why_says_when_and_what_decides_and_no_values(crawl):
    _, asked, reader, snapshot = crawl
    why = reasons(snapshot, reader, 7)
    rows = why_rows(why)

    assert (why.policy, why.valued) == (asked.policy, False)
    assert (why.estimate, why.worth, why.section) == (None, None, None)
    assert why.constraint in ("budget", "pace")
    assert "weight" not in [each.change for each in why.what_ifs]
    (twice,) = [each for each in why.what_ifs if each.change == "budget"]
    assert twice.at <= why.next_visit
    said = dict(rows)
    assert "worth" not in said["because"]
    assert said["policy"].startswith(
        f"{asked.policy}, which estimates neither change rates nor values"
    )


def test_pages_have_no_rates_and_a_plan_has(crawl):
    """A plan is made from the visits, whatever policy they were made by."""
    path, _, reader, snapshot = crawl
    rows = page_rows(snapshot, reader)

    assert np.isnan(rows.rate).all()
    assert (rows.visits > 0).all()
    assert believed(snapshot, 3) is None
    assert (rates_of_store(path).figures["rate_per_day"] > 0).all()
