"""Laws of a crawl's state: opening a crawl and looking at it are one thing.

For any store, whatever was visited, saved or changed in the settings, who opens the crawl and who
only looks believe the same, to the bit, and name one next visit.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.entries.entries import Checkpoint, HintsGiven, PageChange, PagesFound, VisitMade
from recrawl.inspect.next_visits import next_visit_of_any, next_visits
from recrawl.scheduler.waiting_hints import hear_waiting
from recrawl.settings.settings import read_settings
from recrawl.simulate.virtual_crawl import virtual_visits
from recrawl.state.opening import open_crawl
from recrawl.state.snapshot import load_snapshot
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.units import epoch_days
from recrawl.visits.status import Audit, PageStatus, VisitOutcome

BEGAN, DAY = 20_000.0, 86_400.0
MINUTE = 1 / 1440
TERMS = ("", 'maximum = "2d"\n', 'interval = "1d"\n', "weight = 3\n", 'budget = "9/1d"\n')
COMPARED = [each for each in VisitOutcome if each.compared]


POLICIES = (
    *("recrawl", "recrawl:prior_rate=0.2:prior_shape=0.9", "nutch", "malcolm-last-modified"),
    *("cho-adaptive", "gamma", "newsblur:seed=3"),
)


def text_of(budget, terms, policy="recrawl"):
    blocks = (
        f'[[site]]\naddress = "https://{host}.org/"\n{term}'
        for host, term in zip("ab", terms, strict=True)
    )
    top = f'agent = "bot (me@example.org)"\nbudget = "{budget}/1d"\npolicy = "{policy}"\n'
    return top + "".join(blocks)


@st.composite
def histories(draw):
    """Pages of two hosts with random visits, a checkpoint somewhere, and settings that may move."""
    return {
        "pages": draw(st.integers(1, 30)),
        "visits": draw(st.integers(0, 120)),
        "saved_after": draw(st.floats(0, 1)),
        "budget": draw(st.sampled_from([5, 40, 2_000])),
        "terms": draw(st.tuples(st.sampled_from(TERMS), st.sampled_from(TERMS))),
        "policy": draw(st.sampled_from(POLICIES)),
        "moved": draw(st.booleans()),
        "idle": draw(st.floats(0, 3)),
        "hints": draw(st.lists(st.tuples(st.integers(0, 40), st.floats(0, 7)), max_size=8)),
        "hinted_after": draw(
            st.sampled_from(["the checkpoint", "all visits", "its own checkpoint"])
        ),
        "seed": draw(st.integers(0, 1 << 16)),
    }


def written(path, history):
    """Write a history down; returns its settings, and when all of it is over."""
    random = np.random.default_rng(history["seed"])
    asked = read_settings(text_of(history["budget"], history["terms"], history["policy"]))
    pages, visits = history["pages"], history["visits"]
    names = [f"https://{'ab'[row % 2]}.org/s{row % 3}/{row}" for row in range(pages)]
    hosts = [name.split("/")[2] for name in names]
    at = BEGAN + np.sort(random.random(visits)) * 6
    saved_after = int(history["saved_after"] * visits)
    copied = np.zeros(pages, np.bool_)
    with create_store(path) as store:
        store.write([PagesFound(names, hosts, asked.rules_of(names), BEGAN * DAY)])
        store.write([visit(random, copied, each) for each in at[:saved_after]])
    with open_for_writing(path) as store, open_store(path) as reader:
        now = at[saved_after - 1] if saved_after else BEGAN
        crawl = open_crawl(asked, store, reader, now, random=np.random.default_rng(1))
        if history["hinted_after"] == "its own checkpoint":
            hint(store, history["hints"])
            while hear_waiting(crawl, reader) is not None:
                pass
        store.write([Checkpoint(crawl.dump())])
        if history["hinted_after"] == "the checkpoint":
            hint(store, history["hints"])
        store.write([visit(random, copied, each) for each in at[saved_after:]])
        if history["hinted_after"] == "all visits":
            hint(store, history["hints"])
    if history["moved"]:
        asked = read_settings(text_of(history["budget"], history["terms"][::-1], history["policy"]))
    return asked, (at[-1] if visits else BEGAN) + history["idle"]


def hint(store, hints):
    """Give hints for pages, some of which there are not, at instants in days since it began."""
    for page, days in hints:
        name = f"https://{'ab'[page % 2]}.org/s{page % 3}/{page}"
        store.write([HintsGiven([name], (BEGAN + days) * DAY)])


def visit(random, copied, at):
    page = int(random.integers(len(copied)))
    if not copied[page]:
        failed = random.random() < 0.2
        copied[page] = not failed
        outcome = VisitOutcome.FAILED if failed else VisitOutcome.FIRST
        change = PageChange(PageStatus.NEW, 1, (at + 0.1) * DAY) if failed else PageChange()
        first_age = None if failed or random.random() < 0.5 else 10 * random.random()
        return VisitMade(page, at * DAY, outcome, change=change, age=first_age)
    outcome = COMPARED[int(random.integers(len(COMPARED)))]
    audit = Audit.NOISE if random.random() < 0.1 else Audit.NONE
    age = 0.01 if outcome is VisitOutcome.CHANGED and random.random() < 0.5 else None
    return VisitMade(page, at * DAY, outcome, http=200, age=age, audit=audit)


def assert_equal(one: Any, other: Any, name: str = "state") -> None:
    """The same values, to the bit."""
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        assert np.array_equal(one, other, equal_nan=one.dtype.kind in "fM"), name
    elif is_dataclass(one):
        for field in fields(one):
            if field.name != "_unbuilt":  # gives addresses when they are first needed
                mine, theirs = (getattr(part, field.name) for part in (one, other))
                assert_equal(mine, theirs, f"{name}.{field.name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), name
        for part, counterpart in zip(one, other, strict=True):
            assert_equal(part, counterpart, name)
    elif not callable(one) and type(one).__module__ == "builtins":
        assert one == other, name


@settings(max_examples=40)
@given(histories())
def test_who_opens_a_crawl_and_who_looks_at_it_believe_the_same(tmp_path_factory, history):
    path = tmp_path_factory.mktemp("law") / "recrawl.db"
    asked, now = written(path, history)
    with open_store(path) as reader:
        snapshot = load_snapshot(asked, reader, now)
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(asked, store, reader, now, random=np.random.default_rng(0))

    for number, pool in enumerate(snapshot.pools):
        frontier = crawl.agenda.frontier(number)
        assert crawl.agenda.pages(number).tolist() == pool.pages.tolist()
        assert_equal(frontier.state, pool.learned)
        assert frontier.gap == pool.frontier.gap
    assert_equal(crawl.last, snapshot.last)
    assert crawl.hints.heard == snapshot.hints.last
    hinted = np.flatnonzero(crawl.announcements.hints)
    for pool in snapshot.pools:
        if pool.state is not None:  # what a visit is to be compared with is what is believed
            believed = pool.pages[np.flatnonzero(pool.state.announced.hinted)]
            assert np.isin(believed, hinted).all()


@settings(max_examples=40)
@given(histories())
def test_who_opens_a_crawl_and_who_looks_at_it_name_one_next_visit(tmp_path_factory, history):
    """But that a crawl which is opened lets the delay of its hosts pass once more."""
    path = tmp_path_factory.mktemp("law") / "recrawl.db"
    asked, now = written(path, history)
    with open_store(path) as reader:
        snapshot = load_snapshot(asked, reader, now)
        named = next_visit_of_any(snapshot, reader)
        due = epoch_days(next_visits(snapshot, reader, np.arange(history["pages"])))
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(asked, store, reader, now, random=np.random.default_rng(0))
    made = next((lease.at for lease in virtual_visits(crawl.agenda, now, now + 50)), np.inf)

    # A clock that waits goes on by a second at least; a set time that is far off is told as it is.
    assert np.nanmin(due, initial=np.inf) == pytest.approx(named, abs=1.01 / DAY)
    if named < now + 40:
        assert made == pytest.approx(max(named, now + asked.delay), abs=2 / DAY)
