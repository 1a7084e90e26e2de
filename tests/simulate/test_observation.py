"""What visits show, truly and falsely."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.simulate.observation import Observation, Observer
from recrawl.simulate.sections import sections
from tests.simulate.made import Recorded, run, world


def seen(some, observation=None, **more):
    record = Recorded()
    found = run(some, policy=record, observation=observation, **more)
    return record, found


def test_existence_tells_no_dates():
    record, _ = seen(world([0.5, 2.5], end=4.0))

    assert [changed for changed, _ in record.outcomes(0)] == [False, True, False, True]
    assert all(np.isnan(age) for _, age in record.outcomes(0))


def test_dates_are_those_of_the_last_change():
    record, _ = seen(world([0.25, 0.5, 2.5], end=4.0), Observation(dated=True))

    ages = [age for _, age in record.outcomes(0)]
    assert np.isnan(ages[0])
    assert ages[1:] == [0.5, 1.5, 0.5]


def test_a_liar_names_the_time_of_the_visit():
    record, _ = seen(world([0.25, 2.5], end=4.0), Observation(dated=True, lying=1.0))

    assert [age for _, age in record.outcomes(0)] == [0.0, 0.0, 0.0, 0.0]


def test_pages_of_a_section_lie_together():
    addresses = [f"{page // 5}/{page}" for page in range(100)]
    some = world(*([] for _ in range(100)), end=2.0, address=addresses)
    record, _ = seen(some, Observation(dated=True, lying=0.5), budget="100/1d")

    lies = np.array([record.outcomes(page)[0][1] == 0 for page in range(100)]).reshape(20, 5)
    assert (lies.all(axis=1) | ~lies.any(axis=1)).all()
    assert 0 < lies.all(axis=1).sum() < 20


def test_a_change_that_is_overlooked_leaves_the_copy_as_it_was():
    some = world([0.5], end=4.0)

    record, found = seen(some, Observation(missed=1.0))

    assert not any(changed for changed, _ in record.outcomes(0))
    assert (found.found, found.visits) == (0, 4)
    assert found.stale_days.tolist() == [3.5]


def test_a_change_that_is_overlooked_may_be_found_later():
    """Each visit overlooks it with a chance of a half: it is found two visits later on average."""
    some = world(*([0.5] for _ in range(2000)), end=30.0)

    found = run(some, budget="2000/1d", observation=Observation(missed=0.5))

    assert found.found == 2000
    assert found.stale_days.mean() == pytest.approx(1.5, abs=0.1)


def test_dates_of_what_is_overlooked_are_not_told():
    """A host that says "not modified" names the date that it named before."""
    record, _ = seen(world([0.5], end=3.0), Observation(dated=True, missed=1.0))

    assert all(np.isnan(age) for _, age in record.outcomes(0))


def test_a_false_change_is_premature():
    some = world([], end=4.0)

    record, found = seen(some, Observation(false=1.0))

    assert all(changed for changed, _ in record.outcomes(0))
    assert (found.found, found.premature) == (0, 4)


def test_false_changes_come_as_often_as_said():
    some = world(*([] for _ in range(1000)), end=10.0)
    record, _ = seen(some, Observation(false=0.2), budget="1000/1d")

    changed = np.concatenate([outcomes.changed for _, _, outcomes in record.visits])
    assert changed.mean() == pytest.approx(0.2, abs=0.015)


@pytest.mark.parametrize("name", ["lying", "missed", "false"])
@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_chances_are_probabilities(name, share):
    with pytest.raises(InvalidParameter, match=f"{name} must be a probability from 0 to 1"):
        Observation(**{name: share})


def test_a_section_is_an_address_up_to_its_last_slash():
    addresses = [f"{folder}/{page}" for folder in "abcdefghijkl" for page in range(3)]
    number, count = sections(addresses)

    assert count == 12
    assert number.tolist() == [folder for folder in range(12) for _ in range(3)]


def test_a_page_without_a_folder_is_a_section_of_its_own():
    assert sections([str(page) for page in range(30)])[1] == 30


def test_the_pages_of_a_large_folder_are_sections_of_their_own():
    number, count = sections([f"all/{page}" for page in range(20)])

    assert count == 20
    assert sorted(number.tolist()) == list(range(20))


def test_pages_come_with_the_age_that_they_have():
    """A change two days before the page is found: dates go back to it until the next one."""
    some = world([-2.0, 1.5], end=3.0)
    record, _ = seen(some, Observation(dated=True))

    assert some.first_age.tolist() == [2.0]
    assert [age for _, age in record.outcomes(0)] == [2.0, 3.0, 0.5]


@pytest.mark.parametrize(
    ("observation", "age"),
    [
        (Observation(), np.nan),
        (Observation(dated=True), 2.0),
        (Observation(dated=True, lying=1.0), 0.0),
    ],
)
def test_policies_are_told_of_first_ages_where_visits_tell_dates(observation, age):
    observer = Observer(world([-2.0], end=3.0), observation, np.random.default_rng(0))

    np.testing.assert_array_equal(observer.pages.first_age, [age])
