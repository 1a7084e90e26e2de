"""Hints that pages have changed: what they do, and how far they are believed."""

import numpy as np
import pytest

from recrawl.detect.reliability import HINT, SignalRecord
from recrawl.policies.recrawl.announced import NAMES, Announced
from recrawl.state.announcements import hear_hints
from recrawl.store import open_store
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


def test_hints_last_until_the_visit(crawl):
    """Also across a restart."""
    opened_crawl, reader = crawl
    hear_hints(opened_crawl, reader, [ADDRESS])

    parts = opened_crawl.dump()

    assert parts["announcements.hints"][HINTED] == 1
    assert parts["0.announced.hinted"].max() > 0
