"""Golden sections: any valley is found, also at an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.models.line_search import lowest


@given(st.floats(-10, 10), st.floats(0.5, 4))
def test_the_bottom_of_a_valley_is_found(bottom, power):
    found = lowest(lambda x: abs(x - bottom) ** power, -10, 10)

    assert found == pytest.approx(bottom, abs=1e-3)


def test_a_slope_ends_at_its_end():
    assert lowest(lambda x: x, -1, 1) == pytest.approx(-1, abs=1e-6)
    assert lowest(lambda x: -x, -1, 1) == pytest.approx(1, abs=1e-6)
