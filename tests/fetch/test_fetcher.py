"""The contract's own values."""

import math
from dataclasses import fields

import pytest

from recrawl.errors import InvalidParameter
from recrawl.fetch.fetcher import RequestLimits
from recrawl.parse.messages import PROBLEMS, Response


@pytest.mark.parametrize("name", [limit.name for limit in fields(RequestLimits)])
@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan])
def test_every_limit_must_limit(name, value):
    """Without an end, one host could hold a crawl for ever."""
    with pytest.raises(InvalidParameter, match=f"{name} must be positive and finite"):
        RequestLimits(**{name: value})


def test_an_answer_that_says_no_is_still_an_answer():
    assert Response("http://example.org/", status=503).ok
    assert not any(Response("http://example.org/", problem=problem).ok for problem in PROBLEMS)
