"""Figures in a line of blocks."""

import math

import pytest

from recrawl.report.charts.sparks import spark


def test_blocks_are_as_high_as_the_values():
    assert spark([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"


def test_nothing_known_is_a_blank():
    assert spark([math.nan, 1.0]) == " █"
    assert spark([math.nan]) == " "
    assert spark([]) == ""


def test_nothing_but_zeros_is_flat():
    assert spark([0.0, 0.0]) == "▁▁"


@pytest.mark.parametrize("count", [73, 100, 1000])
def test_more_values_than_letters_are_averaged(count):
    line = spark([1.0] * (count // 2) + [3.0] * (count - count // 2), width=10)

    assert len(line) == 10
    assert line[0] == "▃"
    assert line[-1] == "█"
