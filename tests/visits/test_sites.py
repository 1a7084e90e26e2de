"""Sites of pages: what names one, and what does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.visits.sites import check_sites, sites_of_pages


def test_without_sites_all_pages_are_of_one():
    assert sites_of_pages(None, 2).tolist() == [0, 0]


@given(st.lists(st.integers(-2, 3)), st.integers(1, 4))
def test_a_site_is_a_number_below_their_count(sites, count):
    wrong = [page for page, site in enumerate(sites) if not 0 <= site < count]

    if wrong:
        with pytest.raises(InvalidParameter, match=rf"^page {wrong[0]}: .* 0 to {count - 1} "):
            check_sites(np.array(sites, np.int64), count)
    else:
        check_sites(np.array(sites, np.int64), count)


@pytest.mark.parametrize("sites", [[0.5], [[0]], ["a"]], ids=str)
def test_sites_are_one_column_of_whole_numbers(sites):
    with pytest.raises(InvalidParameter, match="one column of whole numbers"):
        check_sites(np.array(sites), 2)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_each_page_has_a_site(count):
    with pytest.raises(InvalidParameter, match=rf"expected 2 sites, one per page \(got {count}\)"):
        sites_of_pages(np.zeros(count, np.int64), 2)
