import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.report.words import every, figure, percent


@pytest.mark.parametrize(
    ("days", "words"),
    [(0.25, "6.0h"), (7.0, "7.0d"), (np.inf, "never"), (np.nan, "-"), (0.0, "0s")],
)
def test_an_interval_in_words(days, words):
    assert every(days) == words


@pytest.mark.parametrize(
    ("share", "words"), [(0.0, "0 %"), (0.256, "26 %"), (1.0, "100 %"), (np.nan, "-")]
)
def test_a_share_in_per_cent(share, words):
    assert percent(share) == words


@pytest.mark.parametrize(
    ("value", "words"), [(0.012345, "0.0123"), (0.0, "0"), (np.inf, "-"), (np.nan, "-")]
)
def test_a_figure_has_three_digits(value, words):
    assert figure(value) == words


@given(st.floats(1e-6, 1e6))
def test_a_figure_is_close_to_its_value(value):
    assert float(figure(value)) == pytest.approx(value, rel=0.0051)
