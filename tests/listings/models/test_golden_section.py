"""Golden sections: any valley is found, also at an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.models.golden_section import golden_section_minimum


@given(st.floats(-10, 10), st.floats(0.5, 4))
def test_the_bottom_of_a_valley_is_found(bottom, power):
    found = golden_section_minimum(lambda x: abs(x - bottom) ** power, -10, 10)

    assert found == pytest.approx(bottom, abs=1e-3)


def test_a_slope_ends_at_its_end():
    assert golden_section_minimum(lambda x: x, -1, 1) == pytest.approx(-1, abs=1e-6)
    assert golden_section_minimum(lambda x: -x, -1, 1) == pytest.approx(1, abs=1e-6)
