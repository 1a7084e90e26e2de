"""What `recrawl simulate` goes by where nobody says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recrawl.analysis.simulation_terms import terms_of
from recrawl.entries.entries import PagesFound, VisitMade
from recrawl.errors import InvalidSettings
from recrawl.plan.budget import Budget
from recrawl.simulate.world import World
from recrawl.store import create_store
from recrawl.visits.status import VisitOutcome
from tests.cli.running import run_here
from tests.inspect.looked import BEGAN, DAY, made

START = np.datetime64("2026-01-01", "us")
MINUTE = 1 / 1440


def world_of(days, pages=10):
    end = START + np.timedelta64(round(days * 86_400e6), "us")
    changes = np.arange(pages), np.repeat(START + (end - START) // 2, pages)
    address = [f"https://a.org/{row}" for row in range(pages)]
    return World.of(address, np.repeat(START, pages), changes, end=end)


@pytest.fixture
def young(tmp_path):
    """A store of forty pages, copied and visited within 25 minutes; no settings beside it."""
    path = tmp_path / "recrawl.db"
    names = [f"https://a.org/{row}" for row in range(40)]
    with create_store(path) as store:
        store.write([PagesFound(names, ["a.org"] * 40, [0] * 40, BEGAN * DAY)])
        first = [(page, 0.1 * (page + 1), VisitOutcome.FIRST) for page in range(40)]
        kinds = (VisitOutcome.CHANGED, VisitOutcome.SAME, VisitOutcome.SAME)
        again = [(row % 40, 5 + 0.1 * row, kinds[row % 3]) for row in range(201)]
        store.write(
            [
                VisitMade(page, (BEGAN + at * MINUTE) * DAY, outcome, 200)
                for page, at, outcome in (*first, *again)
            ]
        )
    return path


def test_a_store_without_settings_has_the_budget_that_its_crawl_spent(young):
    """201 visits to copies in 24.9 minutes from the first copy to the last visit."""
    ended = run_here("simulate", "store", young, "--policy", "uniform", "--json")

    row = json.loads(ended.out)
    assert row["visits"] == pytest.approx(201, abs=3)
    assert row["found"] > 20
    assert "per day: the crawl made 201 visits to pages with a copy in 25m." in ended.err
    assert "Policies decide every 15s." in ended.err


def test_a_store_has_the_budget_of_the_settings_beside_it(tmp_path):
    """20 visits a day and 5 of b.org's own."""
    made(tmp_path / "recrawl.db", own=True)
    ended = run_here("simulate", "store", tmp_path / "recrawl.db", "--policy", "uniform", "--json")

    assert "a budget of 25 visits per day (from recrawl.toml); the crawl made 360" in ended.err


def test_settings_of_another_store_are_not_those_of_this(tmp_path):
    made(tmp_path / "recrawl.db", own=True)
    (tmp_path / "recrawl.db").rename(tmp_path / "old.db")
    ended = run_here("simulate", "store", tmp_path / "old.db", "--policy", "uniform", "--json")

    assert "recrawl.toml" not in ended.err
    assert "visits per day: the crawl made 360 visits to pages with a copy in 9.0d" in ended.err


def test_a_budget_that_is_too_small_for_the_history_is_said_to_be(young):
    ended = run_here(
        "simulate", "store", young, "--budget", "300/1d", "--policy", "uniform", "--json"
    )

    said = "That is 5 visits in all, fewer than there are pages; --budget raises it."
    assert said in ended.err


def test_a_budget_a_page_stays_one(tmp_path):
    settings = made(tmp_path / "recrawl.db")
    assert settings.budget == Budget(20.0)
    text = (tmp_path / "recrawl.toml").read_text().replace("20/1d", "0.5/page/1d")
    (tmp_path / "recrawl.toml").write_text(text)

    terms = terms_of(world_of(9.0), tmp_path / "recrawl.db", None, None)
    assert terms.budget == Budget(0.5, "page")


def test_what_is_asked_for_holds(tmp_path):
    made(tmp_path / "recrawl.db")
    words = ["--budget", "7/1d", "--step", "6h", "--policy", "uniform", "--json"]
    ended = run_here("simulate", "store", tmp_path / "recrawl.db", *words)

    assert (
        "a budget of 7 visits per day; the crawl made 240 visits to pages with a copy in 9.0d"
        in ended.err
    )
    assert "Decisions" not in ended.err


def test_settings_that_are_wrong_are_said_to_be(tmp_path):
    made(tmp_path / "recrawl.db")
    (tmp_path / "recrawl.toml").write_text("budget = 3")

    with pytest.raises(InvalidSettings, match="budget"):
        terms_of(world_of(9.0), tmp_path / "recrawl.db", None, None)
