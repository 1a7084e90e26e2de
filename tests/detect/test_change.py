"""What became of a page between two readings."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.change import OldVersion, compare, read_lines, signature
from recrawl.detect.diff.share import share_changed
from recrawl.detect.masks.masks import NO_MASKS, apply_masks, learn_masks
from recrawl.detect.simhash import simhash
from recrawl.visits.status import VisitOutcome

READING = st.lists(st.sampled_from(["a", "b c", "d e f"]), max_size=6).map(tuple)


def known(*lines, masks=NO_MASKS, keep=True):
    kept = apply_masks(lines, masks)
    return OldVersion(lines if keep else None, signature(kept), simhash(kept))


def test_a_first_copy_is_compared_with_nothing():
    change = compare(None, ("a",))

    assert change.outcome is VisitOutcome.FIRST
    assert isnan(change.share)


def test_equal_lines_are_no_change_even_if_the_old_are_not_at_hand():
    assert compare(known("a", "b", keep=False), ("a", "b")).outcome is VisitOutcome.COSMETIC


def test_other_lines_are_a_change_by_their_share():
    change = compare(known("a b c", "d"), ("a b c", "e"))

    assert change.outcome is VisitOutcome.CHANGED
    assert change.share == pytest.approx(0.25)


def test_a_small_change_is_cosmetic_where_more_is_asked():
    assert (
        compare(known("a b c", "d"), ("a b c", "e"), least_change=0.3).outcome
        is VisitOutcome.COSMETIC
    )
    assert (
        compare(known("a b c", "d"), ("a b c", "e"), least_change=0.2).outcome
        is VisitOutcome.CHANGED
    )


def test_the_same_words_in_other_lines_are_cosmetic():
    change = compare(known("a b", "c"), ("a", "b c"))

    assert (change.outcome, change.share) == (VisitOutcome.COSMETIC, 0.0)


def test_masks_learnt_after_the_copy_are_applied_to_it():
    """Its signature is of before; its lines are at hand."""
    masks = learn_masks(("Top", "Now 1:02:03"), ("Top", "Now 1:02:04"))

    assert compare(known("Top", "Now 9:00:00"), ("Top", "Now 8:00:00"), masks).share == 0.0
    assert compare(known("Top", "Now 9:00:00"), ("Tip", "Now 8:00:00"), masks).share > 0


def test_without_the_old_lines_the_share_is_estimated():
    text = tuple(f"word{number} and word{number + 1}" for number in range(60))
    little = compare(known(*text, keep=False), (*text[:-1], "another end"))
    much = compare(known(*text, keep=False), tuple(line.upper() for line in text))

    assert little.outcome is much.outcome is VisitOutcome.CHANGED
    assert 0 < little.share < 0.1
    assert 0.5 < much.share <= 1


def test_with_signatures_alone_a_change_has_no_share():
    change = compare(OldVersion(None, signature(("a",))), ("b",))

    assert change.outcome is VisitOutcome.CHANGED
    assert isnan(change.share)


def test_pages_and_other_text_are_read_each_in_their_way():
    assert read_lines("<p>a<p>b", html=True) == ("a", "b")
    assert read_lines("<p>a\n<p>b", html=False) == ("<p>a", "<p>b")
    assert read_lines("<p>a<p id=x>b", html=True, watch=("#x",)) == ("b",)


@given(READING, READING, st.floats(0, 1))
def test_changes_are_those_of_at_least_the_share_asked_for(old, new, least):
    share = share_changed(old, new)
    change = compare(known(*old), new, least_change=least)

    assert change.share == share
    assert (change.outcome is VisitOutcome.CHANGED) == (share > 0 and share >= least)
