"""Policies by name and parameters."""

from __future__ import annotations

from typing import Any

import pytest

from recrawl.errors import InvalidParameter
from recrawl.plan.objectives import Freshness, Harmonic
from recrawl.policies import POLICIES
from recrawl.policies.named import parameters, policy_named


def named(text: str) -> Any:
    return policy_named(text, Freshness())


@pytest.mark.parametrize("name", POLICIES)
def test_a_name_alone_is_the_policy_as_it_is(name):
    assert named(name) == POLICIES[name](Freshness())


@pytest.mark.parametrize("name", POLICIES)
def test_every_parameter_can_be_set_to_what_it_is(name):
    """So every one is parsed as what it is: flags, numbers, words and none."""
    policy = POLICIES[name](Harmonic())
    words = {True: "yes", False: "no", None: "none"}
    for key, value in parameters(policy).items():
        text = words[value] if value is None or isinstance(value, bool) else str(value)
        assert policy_named(f"{name}:{key}={text}", Harmonic()) == policy


def test_what_is_refused_is_quoted_and_never_written_as_it_is():
    with pytest.raises(InvalidParameter) as refused:
        named("\x1b[2J:")

    assert str(refused.value).isprintable()


def test_parameters_reach_the_part_that_they_are_of():
    assert named("nutch:more=0.2:longest=90d").rule.longest == 90
    assert named("malcolm:stop=100").rule.stop == 100
    assert named("malcolm:stop=none").rule.stop is None
    assert named("singh-duane:bound=.5").rule.bound == 0.5
    assert named("cho:floor=0.2").division.floor == 0.2
    assert named("cho:warm_up=3").learner.warm_up == 3
    assert named("lambdacrawl:seed=7").seed == 7
    assert named("recrawl:near=1:fade=0.5").trusting.near == 1
    assert named("recrawl:use_first_age=no").use_first_age is False


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nutsch", "policy must be one of recrawl, bank, "),
        ("nutch:speed=1", "nutch has no parameter 'speed'; it has more, less, shortest, longest,"),
        ("uniform:gap=1", "uniform has no parameter 'gap'; it has none"),
        ("nutch:more", "must look like nutch:key=value:key=value, each once (got 'nutch:more')"),
        ("nutch:more=1:more=2", "each once"),
        ("nutch:more=lots", "more must be a number, or a time such as 90d (got 'lots')"),
        ("nutch:sync=maybe", "sync must be yes or no (got 'maybe')"),
        ("cho:warm_up=2.5", "warm_up must be a whole number (got '2.5')"),
        ("nutch:less=2", "less"),
        ("malcolm:soft=none", "soft must be a number"),
        ("singh-weibull:forecaster=tarot", "forecaster must be one of"),
    ],
)
def test_what_is_wrong_is_one_sentence(text, told):
    with pytest.raises(InvalidParameter) as raised:
        named(text)

    assert told in str(raised.value)
