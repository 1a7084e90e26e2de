"""Hints that pages have changed: what they do, and how far they are believed."""

import numpy as np
import pytest

from recrawl.detect.reliability import HINT, SignalRecord
from recrawl.entries.entries import Checkpoint
from recrawl.inspect.scenario import build_scenario
from recrawl.inspect.why.facts import signals
from recrawl.policies.recrawl.announced import NAMES, Announced
from recrawl.state.announcements import hear_hints
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_for_writing, open_store
from tests.inspect.looked import BEGAN, made, opened

NOW = BEGAN + 12
HINTED = 37
ADDRESS = f"https://a.org/s{HINTED // 10}/p{HINTED}.html"


@pytest.fixture
def crawl(tmp_path):
    """A crawl of sixty pages, and its store for reading."""
    path = tmp_path / "recrawl.db"
    settings = made(path)
    with open_store(path) as reader:
        yield opened(settings, path, NOW), reader


def rank(crawl):
    """Place of the hinted page among those that are worth a visit."""
    state = crawl.agenda.frontier(0).state
    value = crawl.policy.value(state, np.arange(60), np.datetime64(int(NOW), "D"))
    return int(np.sum(value > value[HINTED]))


def test_a_hint_makes_its_page_the_next(crawl):
    opened_crawl, reader = crawl
    before = rank(opened_crawl)

    assert hear_hints(opened_crawl, reader, [ADDRESS, "https://a.org/other"]) == [
        "https://a.org/other"
    ]

    assert before > 0
    assert rank(opened_crawl) == 0
    assert opened_crawl.announcements.take_hints(HINTED)
    assert not opened_crawl.announcements.take_hints(HINTED)


def test_a_hint_does_not_wait_for_the_next_tick(crawl, monkeypatch):
    """Of a large crawl that is hours off, and hundreds of visits; here it is thirty."""
    monkeypatch.setattr("recrawl.frontier.frontier._TICKS_A_GAP", 2)
    opened_crawl, reader = crawl
    minutes = iter(range(3000))

    def next_page():
        agenda = opened_crawl.agenda
        for minute in minutes:
            for lease in agenda.take(NOW + minute / 1440, 1):
                opened_crawl.hosts.end(lease.host, NOW + minute / 1440, None)
                agenda.freed(lease.host)
                return lease.page
        raise AssertionError

    first = next_page()
    hear_hints(opened_crawl, reader, [ADDRESS])

    assert first != HINTED
    assert next_page() == HINTED


def test_hints_that_were_wrong_do_little(crawl):
    """Ten wrong ones leave the chance that the eleventh is right at 1 in 11."""
    opened_crawl, reader = crawl
    before = rank(opened_crawl)
    opened_crawl.trust.count_signal(0, HINT, wrong=10.0)

    hear_hints(opened_crawl, reader, [ADDRESS])

    assert opened_crawl.trust.record(0, HINT) == SignalRecord(wrong=10.0)
    assert 0 < rank(opened_crawl) <= before


def test_a_hint_leaves_the_copy_fresh_as_often_as_it_is_wrong():
    """Where no time has passed: (1 + e'/b)^-a = 1 - p."""
    pages = Announced(*(np.zeros(2) for _ in NAMES))
    pages.hint(np.array([1]), np.array([0.8]))
    shape, exposure = np.full((1, 2), 2.0), np.full((1, 2), 20.0)

    days = pages.effective(np.arange(2), (shape, exposure), np.zeros(2), np.zeros(2))
    fresh = (1 + days / exposure) ** -shape

    np.testing.assert_allclose(fresh, [[1.0, 0.2]])
    pages.forget(np.array([1]))
    assert pages.hinted.tolist() == [0.0, 0.0]


def test_hints_last_until_the_visit(crawl, tmp_path):
    """Also across a restart, and whoever asks `why` is told."""
    opened_crawl, reader = crawl
    hear_hints(opened_crawl, reader, [ADDRESS])

    parts = opened_crawl.dump()
    path = tmp_path / "recrawl.db"
    with open_for_writing(path) as store:
        store.write([Checkpoint(parts)])
    with open_store(path) as other:
        snapshot = load_snapshot(opened_crawl.settings, other, NOW)
        said = signals(build_scenario(snapshot, other, HINTED))

    assert said is not None
    assert said["hint_chance"] == pytest.approx(0.999)  # the first is believed
    assert parts["announcements.hints"][HINTED] == 1
    assert parts["0.announced.hinted"].max() > 0
