import numpy as np
import pytest

from recrawl.report.words import every, percent


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
