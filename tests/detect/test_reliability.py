"""Whom to believe."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.reliability import (
    SignalRecord,
    audit_chance,
    check_chance,
    dates_changes,
    denies,
    false_changes,
    sample_chance,
)

COUNTS = st.floats(0, 1000)
WORDS = st.builds(SignalRecord, COUNTS, COUNTS, COUNTS)


def test_a_band_holds_the_share_of_lies_as_often_as_it_says():
    random = np.random.default_rng(5)
    held = []
    for lies in random.uniform(0, 1, 500).tolist():
        wrong = int(random.binomial(20, lies))
        low, high = SignalRecord(right=20 - wrong, wrong=wrong).band(0.9)
        held.append(low <= lies <= high)

    assert 0.86 < np.mean(held) < 0.94


def test_only_changes_are_evidence_of_honesty():
    """A host that always says "not modified" is right about every page that never changes."""
    assert not denies(SignalRecord(silent=1000))
    assert denies(SignalRecord(silent=1000, wrong=1))
    assert not denies(SignalRecord(right=25, wrong=1))


@given(WORDS)
def test_chances_are_chances(word):
    for chance in (audit_chance(word), sample_chance(word), word.wrong_share, *word.band()):
        assert 0 <= chance <= 1
    assert audit_chance(word) >= 0.02


@given(WORDS, WORDS, st.integers(0, 255), st.data())
def test_false_changes_lie_between_what_the_page_and_its_host_show(host, crawl, checked, data):
    differed = data.draw(st.integers(0, checked))

    chance = false_changes(host, crawl, checked, differed)

    assert 0 < chance < 1
    alone = false_changes(host, crawl)
    shown = differed / checked if checked else alone
    assert min(alone, shown) - 1e-12 <= chance <= max(alone, shown) + 1e-12


@given(st.integers(0, 300))
def test_a_page_is_looked_at_twice_less_often_the_better_it_is_known(checked):
    assert check_chance(checked + 1) <= check_chance(checked)


@pytest.mark.parametrize(
    ("right", "wrong", "believed"), [(0, 0, True), (3, 3, True), (3, 4, False)]
)
def test_dates_are_believed_that_are_right_more_often_than_not(right, wrong, believed):
    assert dates_changes(SignalRecord(right, wrong)) == believed
