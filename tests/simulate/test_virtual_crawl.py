"""A virtual crawl does what the agenda does, and leaves the crawl as it is."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.inspect.scenario import build_scenario
from recrawl.inspect.why.binding import moved
from recrawl.inspect.why.changes import (
    budget_times,
    even_section,
    free_host,
    maximum_of,
    minimum_of,
    neighbour_changed,
    weight_times,
    without_hours,
)
from recrawl.inspect.why.facts import value_at
from recrawl.simulate.next_visit import NextVisit, allowed_from, is_held, simulate_next_visit
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.visits.status import PageStatus
from tests.inspect.looked import BEGAN, made

# Sixty pages, copied in the order of their numbers two days ago, 20 visits a day: one every 72
# minutes, and an order of pages holds for a 64th of three days.
NOW = BEGAN + 2.5
BETWEEN, TICK = 1 / 20, 3 / 64


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "recrawl.db"
    made(path, rounds=1)
    return path


@pytest.fixture(scope="module")
def scenario_of(path):
    asked = made(path.with_name("other.db"), rounds=1)

    def of(page, most=2_000):
        with open_store(path) as reader:
            return build_scenario(load_snapshot(asked, reader, NOW), reader, page, most=most)

    return of


@pytest.mark.parametrize("page", [0, 1, 7, 30, 59])
def test_equal_pages_come_in_turn_one_visit_after_the_other(scenario_of, page):
    """Nothing was spent for a day, so that the first visit is allowed a visit's time from now."""
    found = simulate_next_visit(scenario_of(page))

    assert found.before == page
    assert found.at == pytest.approx(NOW + (page + 1) * BETWEEN, abs=TICK)
    assert not found.set


def test_a_visit_that_nobody_wants_to_know_of_is_never(scenario_of):
    assert simulate_next_visit(scenario_of(30), until=NOW + 0.5).at == inf
    assert simulate_next_visit(scenario_of(30)).at < inf


def test_twice_the_budget_halves_the_wait(scenario_of):
    page = 39
    found = simulate_next_visit(budget_times(scenario_of(page), 2.0))

    assert found.at - NOW == pytest.approx((page + 1) * BETWEEN / 2, abs=TICK)


def test_a_minimum_holds(scenario_of):
    scenario = scenario_of(0)
    days = NOW - scenario.last[0] + 1.0

    assert simulate_next_visit(minimum_of(scenario, days)).at == pytest.approx(
        NOW + 1, abs=TICK + BETWEEN
    )


def test_a_minimum_holds_that_ends_long_after_the_rehearsal(scenario_of):
    """Six gaps of three days are simulated."""
    scenario = scenario_of(0)
    far = minimum_of(scenario, 100.0)

    assert simulate_next_visit(far).at == pytest.approx(scenario.last[0] + 100)
    assert allowed_from(far, NOW) == scenario.last[0] + 100


def test_a_minimum_holds_where_no_other_page_is_visited(scenario_of):
    scenario = scenario_of(0, most=1)

    assert simulate_next_visit(minimum_of(scenario, 4_000.0)).at == pytest.approx(
        scenario.last[0] + 4_000
    )


def test_an_interval_begins_with_the_first_copy(scenario_of):
    scenario = scenario_of(0)
    scenario = scenario.with_terms(replace(scenario.own_terms, interval=0.01))

    assert is_held(scenario)
    assert not is_held(scenario.with_status(PageStatus.NEW))


def test_seconds_count_where_pages_are_visited_every_minute(scenario_of):
    """Sixty pages: every three days, then every 26 seconds."""
    scenario, second = scenario_of(0), 1 / 86_400
    late, soon = NextVisit(NOW + 40 * second), NextVisit(NOW + 18 * second)

    assert not moved(scenario, late, soon)
    assert moved(budget_times(scenario, 10_000.0), late, soon)
    assert not moved(budget_times(scenario, 10_000.0), late, NextVisit(NOW + 39 * second))


def test_a_set_time_outside_the_hours_waits_for_them(scenario_of):
    """A set time three weeks and a half from now, beyond what is simulated."""
    scenario = scenario_of(0)
    scenario = scenario.with_terms(replace(scenario.own_terms, interval=24.5, hours=(20, 22)))
    scenario = scenario.with_set_time(np.floor(NOW) + 24)

    assert simulate_next_visit(scenario).at == pytest.approx(np.floor(NOW) + 24 + 20 / 24)


def test_a_visit_that_the_policy_chooses_is_worth_its_price(scenario_of):
    for page in (5, 30, 59):
        scenario = scenario_of(page)
        found = simulate_next_visit(scenario)
        (value,) = value_at(scenario, scenario.pool.state, [found.at])

        assert value >= found.price * (1 - 1e-9)


def test_a_maximum_holds(scenario_of):
    """Counted from the last visit, as a crawl does that begins again with other settings."""
    scenario = scenario_of(50)
    found = simulate_next_visit(maximum_of(scenario, NOW + 0.5 - scenario.last[scenario.page]))

    assert found.set
    assert found.at == pytest.approx(NOW + 0.5, abs=BETWEEN)


def test_hours_hold(scenario_of):
    """It is noon: the hours begin at eight in the evening."""
    scenario = scenario_of(0)
    evening = scenario.with_terms(replace(scenario.own_terms, hours=(20, 22)))

    assert simulate_next_visit(evening).at == pytest.approx(np.floor(NOW) + 20 / 24, abs=TICK)
    assert simulate_next_visit(without_hours(evening)).at == simulate_next_visit(scenario).at


def test_a_page_that_matters_more_comes_sooner(scenario_of):
    scenario = scenario_of(40)

    assert simulate_next_visit(weight_times(scenario, 2.0)).at < simulate_next_visit(scenario).at


def test_a_change_nearby_brings_a_page_forward(scenario_of):
    """Pages are ten to a folder; one of another folder tells less."""
    scenario = scenario_of(25)
    near, far = (simulate_next_visit(neighbour_changed(scenario, row)).at for row in (20, 50))

    assert near < simulate_next_visit(scenario).at - BETWEEN
    assert near <= far


def test_changes_leave_the_scene_as_it_is(scenario_of):
    scenario = scenario_of(25)
    before = simulate_next_visit(scenario)
    for changed in (
        budget_times(scenario, 3.0),
        weight_times(scenario, 3.0),
        neighbour_changed(scenario, 20),
        even_section(scenario),
        free_host(scenario),
    ):
        simulate_next_visit(changed)

    assert simulate_next_visit(scenario) == before


@settings(max_examples=15, deadline=None)
@given(page=st.integers(0, 59), factor=st.floats(1.0, 10.0))
def test_more_of_anything_never_comes_later(scenario_of, page, factor):
    """Budget and weight bring a visit forward, within a turn and a tick."""
    scenario = scenario_of(page)
    at = simulate_next_visit(scenario).at

    assert simulate_next_visit(weight_times(scenario, factor)).at <= at + BETWEEN + TICK
    assert simulate_next_visit(budget_times(scenario, factor)).at <= at + BETWEEN + TICK


def test_without_a_budget_there_is_no_visit(scenario_of):
    assert simulate_next_visit(budget_times(scenario_of(3), 0.0)).at == inf


def test_some_pages_drawn_by_lot_take_part_with_their_share_of_the_budget(scenario_of):
    scenario = scenario_of(59, most=20)

    assert len(scenario.last) == 20
    assert scenario.share == pytest.approx(1 / 3)
    # A visit is three times as rare, and the last of them comes within two of those.
    assert simulate_next_visit(scenario).at == pytest.approx(NOW + 60 * BETWEEN, abs=6 * BETWEEN)
