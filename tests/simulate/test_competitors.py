"""Names of those that can be sent through a world."""

from __future__ import annotations

import pytest

from recrawl.errors import InvalidParameter
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies import POLICIES
from recrawl.simulate.competitors import DEFAULT_POLICIES, ORACLES, parse_policies, policy_named
from tests.simulate.made import run, world


def test_all_are_all_policies_and_oracles():
    assert parse_policies("all") == [*POLICIES, *ORACLES]


def test_a_name_counts_once():
    assert parse_policies("uniform,clairvoyant, uniform") == ["uniform", "clairvoyant"]


@pytest.mark.parametrize("text", ["bing", "uniform,bing", ",", " "])
def test_a_name_that_nobody_has_is_refused_with_those_there_are(text):
    with pytest.raises(InvalidParameter, match=r"policy must be one of .*uniform.*clairvoyant"):
        parse_policies(text)


def test_the_usual_ones_are_there():
    assert set(DEFAULT_POLICIES) <= {*POLICIES, *ORACLES}
    assert {"optimal-known", "uniform"} <= set(DEFAULT_POLICIES)


@pytest.mark.parametrize("name", [*POLICIES, *ORACLES])
def test_everybody_gets_through_a_small_world(name):
    some = world([1.0, 3.0], [2.0], [], found=[0.0, 1.0, 2.0], gone=[5.0, 9.0, 9.5], end=12.0)

    found = run(
        some, budget="1/1d", step=0.5, policy=policy_named(name, some, OBJECTIVES["harmonic"])
    )

    assert 0 < found.visits <= 13
    assert 0 <= found.staleness <= 1
