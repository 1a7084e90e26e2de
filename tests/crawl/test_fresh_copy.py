"""Copies that are fresh with a wanted chance: visited first only where they must be."""

import asyncio
from math import isnan

import pytest

from recrawl.clock import ScaledClock
from recrawl.crawl.fresh_copy import fresh_copy
from recrawl.errors import InvalidParameter, UnknownPage
from recrawl.plan.budget import Budget
from recrawl.store import open_for_writing, open_store
from recrawl.units import SECONDS_A_DAY
from tests.crawl.crawls import SECOND, START, crawl_once, page_rule, settings
from tests.servers import answers
from tests.servers.faults import FaultServer

FIRST, LATER = b"<p>Tea costs 5 euros</p>", b"<p>Tea costs 6 euros</p>"
EARLY = 0.005  # seconds: the two ends of a connection do not look at a clock at the same instant


def clock_after(days):
    """Real time, but so many days later."""
    return ScaledClock(SECONDS_A_DAY, START + days)


@pytest.fixture
def server():
    with FaultServer({"/p": answers.page(FIRST)}).in_thread() as server:
        yield server


@pytest.fixture
def asked(server, tmp_path):
    """Settings of a crawl that has just copied the page."""
    asked = settings(page_rule(server, "/p", interval=0.0), budget=Budget(10.0))
    asyncio.run(crawl_once(tmp_path, asked))
    return asked


def read(tmp_path, asked, server, at_least, days, **more):
    address = server.address("/p")
    store = tmp_path / "recrawl.db"
    return fresh_copy(asked, store, address, at_least, clock=clock_after(days), **more)


def visits_in(tmp_path):
    with open_store(tmp_path / "recrawl.db") as reader:
        return reader.last_visit()


def test_a_copy_that_is_fresh_enough_is_given_as_it_is(tmp_path, server, asked):
    server.pages["/p"] = answers.page(LATER)
    requests = len(server.requests)

    found = read(tmp_path, asked, server, 0.95, days=0.0001)

    assert (found.copy.body, found.visited, found.why_not) == (FIRST, False, "")
    assert found.fresh >= 0.95
    assert len(server.requests) == requests


def test_one_that_is_not_is_visited_first_and_the_visit_is_learned(tmp_path, server, asked):
    """After a hundred days at a budget of ten visits a day nobody is sure of a page."""
    server.pages["/p"] = answers.page(LATER)

    found = read(tmp_path, asked, server, 0.95, days=100.0)

    assert (found.copy.body, found.visited, found.why_not) == (LATER, True, "")
    assert found.fresh >= 0.95
    assert visits_in(tmp_path) == 2
    with open_store(tmp_path / "recrawl.db") as reader:
        assert [each.kind.label for batch in reader.events() for each in batch] == [
            "new",
            "changed",
        ]


def test_the_delay_is_kept(tmp_path, server):
    """Between robots.txt, which is read again after a day, and the page."""
    asked = settings(page_rule(server, "/p", interval=0.0), delay=0.3 * SECOND)
    asyncio.run(crawl_once(tmp_path, asked))

    assert read(tmp_path, asked, server, 0.95, days=100.0).visited
    assert min(server.gaps()) >= 0.3 - EARLY


def test_where_a_crawl_holds_the_store_it_says_how_sure_it_is(tmp_path, server, asked):
    with open_for_writing(tmp_path / "recrawl.db"):
        found = read(tmp_path, asked, server, 0.95, days=100.0)

    assert (found.copy.body, found.visited) == (FIRST, False)
    assert 0 < found.fresh < 0.95
    assert found.why_not.startswith("a crawl is running, and visits the page")


def test_without_budget_no_visit_is_made(tmp_path, server):
    """A visit a fortnight: the first copy has taken it."""
    asked = settings(page_rule(server, "/p", interval=0.0), budget=Budget(1 / 14))
    asyncio.run(crawl_once(tmp_path, asked))
    requests = len(server.requests)

    found = read(tmp_path, asked, server, 0.9999, days=7.0)

    assert not found.visited
    assert found.why_not == "its host and the budget allow a visit in 7.0d"
    assert len(server.requests) == requests


def test_a_visit_that_fails_is_told(tmp_path, server, asked):
    server.pages["/p"] = answers.status(500)

    found = read(tmp_path, asked, server, 0.95, days=100.0)

    assert (found.copy.body, found.visited) == (FIRST, True)
    assert found.fresh < 0.95
    assert found.why_not.startswith("the visit failed")


def test_a_policy_without_rates_visits_and_knows_no_chance(tmp_path, server):
    asked = settings(page_rule(server, "/p", interval=0.0), policy="uniform")
    asyncio.run(crawl_once(tmp_path, asked))
    server.pages["/p"] = answers.page(LATER)

    found = read(tmp_path, asked, server, 0.5, days=1.0)

    assert found.visited
    assert isnan(found.fresh)
    assert found.copy.body == LATER


def test_what_makes_no_sense_is_refused(tmp_path, server, asked):
    with pytest.raises(InvalidParameter, match="at_least must be between 0 and 1"):
        read(tmp_path, asked, server, 1.5, days=1.0)
    with pytest.raises(UnknownPage, match="no page"):
        fresh_copy(asked, tmp_path / "recrawl.db", server.address("/other"), 0.5)
