"""When pages are said to be visited next, beside what a virtual crawl of the crawl does."""

from functools import partial

import numpy as np
import pytest

from recrawl.inspect.next_visits import next_visit_of_any, next_visits, priced_next_visits
from recrawl.inspect.scenario import build_scenario
from recrawl.settings.settings import read_settings
from recrawl.simulate.next_visit import simulate_next_visit
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.units import epoch_days
from tests.cpu import cpu_seconds
from tests.inspect.looked import BEGAN, made, settings_text

# Sixty pages, 20 visits a day: one page after the other every 72 minutes, each every three days.
NOW = BEGAN + 10.5
GAP, BETWEEN = 3.0, 1 / 20
DEAR = np.arange(6)


@pytest.fixture
def crawl(tmp_path):
    """Six pages are worth ten thousand times as much, as those whose changes are announced."""
    path = tmp_path / "recrawl.db"
    settings = made(path)
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        state = snapshot.pools[0].state
        assert state is not None
        state.worth[DEAR] *= 1e4
        yield snapshot, reader


def test_every_copied_page_has_a_time_though_some_are_worth_far_more(crawl):
    snapshot, _ = crawl
    due = epoch_days(priced_next_visits(snapshot, np.arange(60)))

    assert np.isfinite(due).all()
    assert due.min() == pytest.approx(NOW, abs=1e-6)
    assert due[DEAR].max() == pytest.approx(NOW + (len(DEAR) - 1) * BETWEEN, abs=1e-6)
    assert due[len(DEAR) :].min() >= due[DEAR].max()


def test_no_more_visits_are_said_to_come_soon_than_the_budget_pays_for(crawl):
    snapshot, _ = crawl
    due = np.sort(epoch_days(priced_next_visits(snapshot, np.arange(60))))
    soon = due[due <= NOW + GAP / 4]

    assert len(soon) == pytest.approx(GAP / 4 / BETWEEN, abs=2)
    np.testing.assert_allclose(soon, NOW + BETWEEN * np.arange(len(soon)), atol=1e-6)


def test_some_pages_have_the_times_that_they_have_among_all(crawl):
    snapshot, reader = crawl
    some, every = np.array([40, 3, 17]), np.arange(60)

    for times in (partial(next_visits, snapshot, reader), partial(priced_next_visits, snapshot)):
        assert times(some).tolist() == times(every)[some].tolist()


def test_an_equal_crawl_is_visited_as_a_rehearsal_says(tmp_path):
    """Pages that were copied once: nothing tells them apart but when."""
    path = tmp_path / "recrawl.db"
    settings = made(path, rounds=1)
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, BEGAN + 2.5)
        pages = np.array([0, 5, 12])
        due = epoch_days(priced_next_visits(snapshot, pages))
        simulated = [
            simulate_next_visit(build_scenario(snapshot, reader, page)).at
            for page in pages.tolist()
        ]

    # The first visit of a virtual crawl comes after a visit's time, and an order holds for a tick.
    np.testing.assert_allclose(due, simulated, atol=2 * BETWEEN + GAP / 64)


def test_a_minimum_holds_where_all_pages_have_one(tmp_path):
    path = tmp_path / "recrawl.db"
    made(path)
    settings = read_settings(settings_text() + 'minimum = "30d"\n')
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        due = epoch_days(priced_next_visits(snapshot, np.arange(60)))

    np.testing.assert_allclose(due, snapshot.last + 30, rtol=0, atol=1e-6)


def test_the_first_of_all_next_visits_is_the_next_visit(crawl):
    snapshot, reader = crawl
    due = epoch_days(next_visits(snapshot, reader, np.arange(60)))

    assert due.min() == pytest.approx(next_visit_of_any(snapshot, reader), abs=1e-9)
    assert due.argmin() in DEAR


def test_pages_have_the_next_visit_that_why_explains(crawl):
    snapshot, reader = crawl
    pages = np.array([3, 20, 59])
    due = epoch_days(next_visits(snapshot, reader, pages))

    explained = [
        simulate_next_visit(build_scenario(snapshot, reader, page)).at for page in (3, 20, 59)
    ]
    np.testing.assert_allclose(due, explained, rtol=0, atol=1e-9)


def test_what_is_simulated_and_what_is_reckoned_from_the_price_agree(tmp_path):
    """Within a few visits: a price leaves out hosts, ticks and what is saved up of the budget."""
    path = tmp_path / "recrawl.db"
    settings, pages = made(path), np.arange(60)
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        simulated, priced = (
            epoch_days(each)
            for each in (next_visits(snapshot, reader, pages), priced_next_visits(snapshot, pages))
        )
    soon = priced < NOW + GAP / 4

    assert np.median(np.abs(simulated - priced)[soon]) < 3 * BETWEEN


def test_a_large_budget_holds_up_no_answer_about_a_small_one(tmp_path):
    """Pages with a visit a day are looked for half a year, in which the others have millions."""
    path = tmp_path / "recrawl.db"
    made(path, own=True)
    own = np.arange(60, 90)

    def due(budget):
        text = settings_text(budget, own=True).replace("5/1d", "1/1d").replace('"9d"', '"9000d"')
        with open_store(path) as reader:
            snapshot = load_snapshot(read_settings(text), reader, NOW)
            return epoch_days(next_visits(snapshot, reader, own))

    alike = due(20)
    spent = cpu_seconds(lambda: np.testing.assert_allclose(due(20_000), alike, rtol=0, atol=1.0))
    assert spent < 20
    assert np.isfinite(alike).all()


def test_a_host_that_pools_share_is_kept_busy_by_all_of_them(tmp_path):
    """24 requests a day, of which the other pool wants a thousand: the page waits for its turn."""
    path = tmp_path / "recrawl.db"
    made(path)
    slow = '[politeness]\ndelay = "1h"\n[[site]]\naddress = "https://a.org/s5/"\nbudget = "1/1d"\n'
    with open_store(path) as reader:
        snapshot = load_snapshot(read_settings(settings_text(1000) + slow), reader, NOW)
        found = simulate_next_visit(build_scenario(snapshot, reader, 55))

    waited = found.at - NOW
    assert waited > 2
    assert found.at_host == pytest.approx(24 * waited, abs=3)
    assert found.busy > 0.9 * waited
