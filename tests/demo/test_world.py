"""The world of the demonstration: known rates, versions, sweeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.demo.world import FEWEST_PAGES, SECTIONS, ExampleWorld, draw_world
from recrawl.errors import InvalidParameter

# On a grid: what differs by less than a rounding is no difference.
instants = st.integers(0, 640).map(lambda ticks: ticks / 32)


def one_page(*changes: float) -> ExampleWorld:
    return ExampleWorld.of([("/a", 0, 1.0)], [changes], start=0.0, end=20.0)


def number_of(name: str) -> int:
    return [section.name for section in SECTIONS].index(name)


def test_a_version_counts_changes_and_a_change_counts_at_its_own_instant():
    world = one_page(2.0, 5.0)

    assert [world.version(0, at) for at in (0.0, 1.9, 2.0, 4.9, 5.0, 20.0)] == [0, 0, 1, 1, 2, 2]
    assert [world.changed_at(0, at) for at in (1.0, 2.0, 9.0)] == [-1.0, 2.0, 5.0]


@given(st.lists(st.lists(instants, max_size=6), min_size=1, max_size=5), instants, instants)
def test_a_copy_is_fresh_if_its_page_has_the_same_version(changes, one, other):
    pages = [(f"/{number}", 0, 1.0) for number in range(len(changes))]
    world = ExampleWorld.of(pages, changes, start=0.0, end=20.0)
    since, now = min(one, other), max(one, other)
    rows = range(len(world))

    fresh = world.unchanged(np.array(rows), np.full(len(rows), since), now)

    assert fresh.tolist() == [world.version(row, since) == world.version(row, now) for row in rows]


def test_the_same_seed_gives_the_same_world_wherever_it_starts():
    one = draw_world(100, start=20_000.0, days=40.0, seed=5)
    other = draw_world(100, start=0.0, days=40.0, seed=5)

    np.testing.assert_allclose(one.changes - 20_000.0, other.changes, atol=1e-9)
    assert one.path == other.path
    assert len(draw_world(100, start=0.0, days=40.0, seed=6).changes) != len(one.changes)


@pytest.mark.parametrize("pages", [FEWEST_PAGES, 37, 300])
def test_there_are_as_many_pages_as_asked_for(pages):
    world = draw_world(pages, start=0.0, days=5.0, seed=0)

    assert len(world) == len(set(world.path)) == pages
    assert set(world.section.tolist()) == set(range(len(SECTIONS)))


@pytest.mark.parametrize("pages", [FEWEST_PAGES - 1, 10_001])
def test_too_few_or_too_many_pages_are_refused(pages):
    with pytest.raises(InvalidParameter, match=f"got {pages}"):
        draw_world(pages, start=0.0, days=5.0, seed=0)


def test_pages_change_as_often_as_their_rates_say():
    """Over 3,000 days; sections whose pages change together vary most."""
    days = 3_000.0
    world = draw_world(200, start=0.0, days=days, seed=1)

    for number in range(len(SECTIONS)):
        pages = world.section == number
        seen = np.diff(world.offsets)[pages].sum() / days
        assert seen == pytest.approx(world.rate[pages].sum(), rel=0.15)


def test_a_sweep_changes_a_whole_section_within_an_hour():
    world = draw_world(300, start=0.0, days=60.0, seed=1)
    prices = np.flatnonzero(world.section == number_of("prices"))
    at = np.concatenate([world.changes[world.offsets[p] : world.offsets[p + 1]] for p in prices])

    busiest = max(np.count_nonzero((at >= t) & (at < t + 1 / 24)) for t in at)

    assert busiest >= len(prices)


def test_a_section_that_wakes_up_is_busier_on_some_days_than_chance_allows():
    """Counts of a Poisson process have a variance of their mean."""
    world = draw_world(300, start=0.0, days=200.0, seed=2)
    news = np.flatnonzero(world.section == number_of("news"))
    at = np.concatenate([world.changes[world.offsets[p] : world.offsets[p + 1]] for p in news])

    a_day = np.bincount(at.astype(int), minlength=200)

    assert a_day.var() > 3 * a_day.mean()
