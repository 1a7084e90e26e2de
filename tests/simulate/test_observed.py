"""The world that visits have seen."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from recrawl import AnswerKind, Visit, histories_of
from recrawl.errors import InvalidHistory
from recrawl.simulate.observed import world_of_histories

START = datetime(2026, 1, 1, tzinfo=UTC)


def world_of(*visits):
    seen = [
        Visit(page, START + timedelta(days=day), changed, answer=answer)
        for page, day, changed, answer in visits
    ]
    return world_of_histories(*histories_of(seen), np.random.default_rng(0))


def test_an_undated_change_happens_in_its_gap():
    world = world_of(*(("/a", day, day > 0, AnswerKind.OK) for day in range(20)))

    days = (world.changes - world.start) / np.timedelta64(1, "D")
    assert ((days > np.arange(19)) & (days <= np.arange(1, 20))).all()
    assert np.ptp(days % 1) > 0.5  # anywhere in it


def test_a_page_that_is_gone_is_removed_and_does_not_change_then():
    world = world_of(
        ("/a", 0, None, AnswerKind.OK),
        ("/a", 1, True, AnswerKind.OK),
        ("/a", 2, None, AnswerKind.GONE),
        ("/b", 0, None, AnswerKind.OK),
        ("/b", 5, False, AnswerKind.OK),
    )

    assert world.removed_at.astype("M8[D]").tolist() == [START.date() + timedelta(days=2), None]
    assert len(world.changes) == 1
    assert world.days == 5.0


def test_pages_that_were_never_answered_are_left_out():
    world = world_of(("/a", 0, None, AnswerKind.FAILED), ("/b", 0, None, AnswerKind.OK))

    assert world.address == ("/b",)
    with pytest.raises(InvalidHistory, match="a world must have a page"):
        world_of(("/a", 0, None, AnswerKind.FAILED))
