"""Whatever a crawl is doing when it is killed: nothing acknowledged is lost, nothing doubled.

`scripts/kills.py 200` does the same at two hundred instants.
"""

import random

import pytest

from tests.kills.kinds import KINDS

KILLS = 8


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_any_instant(tmp_path, kind):
    chance = random.Random(7)  # noqa: S311 - instants, no secrets
    killed = KINDS[kind](tmp_path)

    inside = sum(killed.kill(chance) for _ in range(KILLS))

    assert inside >= 1
