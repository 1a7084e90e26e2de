"""How fresh copies truly were, against a check of every copy by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.demo.truth import Belief, CopyVisits, calibration, tenths, truly_fresh
from recrawl.demo.world import ExampleWorld

# On a grid: what differs by less than a rounding is no difference.
instants = st.integers(0, 160).map(lambda ticks: ticks / 16)


def look(at: float, *chances: float) -> Belief:
    return Belief(at, np.arange(len(chances)), np.array(chances))


@given(
    st.lists(st.lists(instants, max_size=4), min_size=2, max_size=2),
    st.lists(st.tuples(st.integers(0, 1), instants), max_size=8),
    instants,
)
def test_a_copy_is_as_old_as_its_last_request(changes, visits, now):
    """A request takes a tenth of a day; the copy is what the page was when it began."""
    world = ExampleWorld.of([("/a", 0, 1.0), ("/b", 0, 1.0)], changes, start=0.0, end=11.0)
    visits = sorted([(0, 0.0), (1, 0.0), *visits], key=lambda visit: visit[1])
    page, asked = (np.array(each) for each in zip(*visits, strict=True))
    now += 0.1

    (fresh,) = truly_fresh(world, CopyVisits(page, asked, asked + 0.1), [look(now, 0.5, 0.5)])

    for row in range(2):
        last = max(at for each, at in visits if each == row and at + 0.1 <= now)
        assert fresh[row] == (world.version(row, last) == world.version(row, now))


def test_a_change_during_a_request_makes_the_copy_stale():
    world = ExampleWorld.of([("/a", 0, 1.0)], [[1.05]], start=0.0, end=9.0)
    visits = CopyVisits(np.array([0]), np.array([1.0]), np.array([1.1]))

    assert truly_fresh(world, visits, [look(1.2, 0.5)])[0].tolist() == [False]


def test_tenths_are_means_of_their_own_time():
    beliefs = [look(0.5, 0.2, 0.4), look(0.9, 0.6, 0.8), look(10.0, 1.0, 1.0)]
    fresh = [np.array([True, False]), np.array([True, True]), np.array([False, False])]

    found = tenths(beliefs, fresh, start=0.0, end=10.0)

    assert found.expected[[0, 9]] == pytest.approx([0.5, 1.0])
    assert found.true[[0, 9]] == pytest.approx([0.75, 0.0])
    assert np.isnan(found.true[1:9]).all()


@given(st.lists(st.floats(0, 1), min_size=10, max_size=60), st.randoms(use_true_random=False))
def test_calibration_loses_nothing(chances, random):
    """Groups of nearly equal size: their means weighed by size are the mean of all."""
    fresh = np.array([random.random() < chance for chance in chances])

    found = calibration([look(0.0, *chances)], [fresh])

    sizes = [len(part) for part in np.array_split(np.arange(len(chances)), 10)]
    assert np.average(found.expected, weights=sizes) == pytest.approx(np.mean(chances))
    assert np.average(found.true, weights=sizes) == pytest.approx(np.mean(fresh))
    assert (np.diff(found.expected) >= -1e-12).all()
