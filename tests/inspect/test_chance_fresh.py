"""The chance that a copy is fresh, by what was known earlier."""

import pytest

from recrawl.inspect.pages import chance_fresh
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from tests.inspect.looked import BEGAN, made

NOW = BEGAN + 10.5


def test_an_older_look_tells_the_chance_of_now(tmp_path):
    path = tmp_path / "recrawl.db"
    settings = made(path)
    with open_store(path) as reader:
        earlier = load_snapshot(settings, reader, NOW)
        later = load_snapshot(settings, reader, NOW + 1)

    for page in range(0, 60, 7):
        then, now = chance_fresh(earlier, page), chance_fresh(later, page)
        assert now < then
        assert chance_fresh(earlier, page, NOW + 1) == pytest.approx(now, rel=0.02)
        # A clock that was set back makes no copy fresher.
        assert chance_fresh(earlier, page, NOW - 1) == then
