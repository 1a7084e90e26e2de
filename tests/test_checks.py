"""Checks of parameters: what passes, what does not, and the words for it."""

import math
import re

import pytest

from recrawl.checks import (
    check_at_least,
    check_choice,
    check_fraction,
    check_order,
    check_positive,
)
from recrawl.errors import InvalidParameter


def test_what_is_right_passes():
    check_positive(gap=1e-300, share=1e300)
    check_fraction(level=0.5, tolerance=1e-300)
    check_at_least(2, gaps=2, visits=math.inf)
    check_order(shortest=1.0, first=1.0, longest=2.0)
    check_choice(("a", "b"), one="a", other="b")


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (lambda: check_positive(gap=1, share=0), "share must be a positive, finite number (got 0)"),
        (lambda: check_positive(gap=math.inf), "gap must be a positive, finite number (got inf)"),
        (lambda: check_positive(gap=math.nan), "gap must be a positive, finite number (got nan)"),
        (lambda: check_fraction(level=1.0), "level must be between 0 and 1 (got 1.0)"),
        (lambda: check_fraction(level=0.0), "level must be between 0 and 1 (got 0.0)"),
        (lambda: check_fraction(level=math.nan), "level must be between 0 and 1 (got nan)"),
        (lambda: check_at_least(16, points=15), "points must be at least 16 (got 15)"),
        (lambda: check_at_least(0, tie=math.nan), "tie must be at least 0 (got nan)"),
        (lambda: check_order(low=2, high=1), "low, high must increase in this order (got [2, 1])"),
        (lambda: check_order(low=0, high=1), "low must be a positive, finite number (got 0)"),
        (lambda: check_choice(("a", "b"), name="c"), "name must be one of a, b (got 'c')"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(check, sentence):
    with pytest.raises(InvalidParameter, match=f"^{re.escape(sentence)}$"):
        check()
