"""Hundreds of broken inputs for every parser; `scripts/fuzz` tries more, and counts branches."""

import pytest

from tests.fuzz.registry import PARSERS
from tests.fuzz.runner import fuzz

INPUTS = 250  # the same in every run: more of them is for `scripts/fuzz`


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.name)
def test_no_input_breaks_a_parser(parser):
    """What may be raised, what must hold, and what an input may cost is said by its entry."""
    found = fuzz(parser, INPUTS, seed=17)

    assert found.failures == {}
    assert found.inputs == INPUTS
