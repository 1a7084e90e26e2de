"""When pages are looked at again that failed, vanished or were refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.backoff import recheck_after, retry_after, robots_recheck_after

MINUTE, HOUR = 1 / 1440, 1 / 24


def test_a_failure_is_tried_again_soon_and_then_ever_later():
    waits = [retry_after(failures) / MINUTE for failures in (1, 2, 3, 4)]

    assert waits == pytest.approx([10, 20, 40, 80])
    assert retry_after(10) == 2.0


def test_a_page_that_is_gone_is_looked_at_once_more_before_that_is_believed():
    assert recheck_after(1) == pytest.approx(HOUR)
    assert [recheck_after(times) for times in (2, 3, 8, 9)] == [1, 2, 64, 90]


def test_a_page_that_is_forbidden_is_asked_about_at_least_once_a_month():
    assert [robots_recheck_after(times) for times in (1, 5, 6)] == [1, 16, 30]


@pytest.mark.parametrize("wait", [retry_after, recheck_after, robots_recheck_after])
@given(times=st.integers(0, 2**31 - 2))
def test_waits_grow_and_end_somewhere(wait, times):
    """Also after as many failures as a store can count."""
    assert 0 < wait(times) <= wait(times + 1) <= 90
