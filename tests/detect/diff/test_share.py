"""Share of words that differ between two versions."""

import time
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recrawl.detect.diff.share import share_changed, word_change
from recrawl.detect.text.lines import LINK
from recrawl.detect.text.words import words

LINES = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "日本", f"{LINK}/x"]), min_size=1, max_size=4).map(
        " ".join
    ),
    max_size=8,
).map(tuple)


def test_a_character_of_a_script_without_spaces_is_a_word():
    assert share_changed(("日本語です",), ("日本话です",)) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("old", "new", "share"),
    [
        ((), (), 0.0),
        ((), ("a",), 1.0),
        (("a b c d",), ("a b c e",), 0.25),
        (("a b", "c"), ("a b c",), 0.0),
        (("a b c", "d"), ("d", "a b c"), 0.25),
        (("a b",), ("b a",), 1.0),
        (("x", "a b", "y"), ("x", "b a", "y"), 0.5),
        (("a a", "b"), ("a", "b"), 0.2),
        (("p", "q", "p", "r"), ("q", "p", "p", "r"), None),
    ],
)
def test_shares_by_hand(old, new, share):
    found = share_changed(old, new)

    assert found > 0 if share is None else found == pytest.approx(share)


@given(LINES, LINES)
def test_the_order_of_the_versions_does_not_matter(old, new):
    assert share_changed(old, new) == pytest.approx(share_changed(new, old))


@given(LINES, LINES)
def test_a_share_is_0_only_for_the_same_words_in_the_same_order(old, new):
    share = share_changed(old, new)

    assert 0 <= share <= 1
    assert (share == 0) == (words(old) == words(new))


@given(LINES, LINES)
def test_a_share_is_1_where_no_word_is_common(old, new):
    assume(words(old) or words(new))

    others = tuple(f"other{index}" for index, _ in enumerate(new))

    assert share_changed(old, others) == 1.0


def test_a_hundred_thousand_lines_in_another_order_take_little_time():
    many = tuple(f"line {number * 7919 % 100_003}" for number in range(100_000))

    began = time.process_time()
    share = share_changed(many, tuple(sorted(many)))

    assert share > 0.4
    assert time.process_time() - began < 10


@given(LINES, LINES)
def test_words_that_came_and_went_are_those_of_the_multisets(old, new):
    """The share by the formula, from counts of all words; where lines moved, it is more."""
    before, after = Counter(words(old)), Counter(words(new))
    differing = (before - after).total() + (after - before).total()

    share, gist = word_change(old, new)

    assert share >= differing / max(before.total() + after.total(), 1) - 1e-12
    if sorted(old) != sorted(new) and not set(old) & set(new):
        assert share == pytest.approx(differing / (before.total() + after.total())) or not differing
    assert differing == 0 or (gist == "added") <= (before <= after)
    assert differing == 0 or (gist == "removed") <= (after <= before)


@pytest.mark.parametrize(
    ("old", "new", "gist"),
    [
        ("costs 5", "costs 6", "figures"),
        ("costs 5²", "costs 7³", "figures"),
        ("x ² y z", "x y z", "figures"),
        ("x y z", "x y z ٣", "figures"),
        ("a b c d e", "a b c d e f", "added"),
        ("a b c d e f", "a b c d e", "removed"),
        ("a b c d e f", "a b c d e g", "edited"),
        ("a b", "c d", "rewritten"),
    ],
)
def test_kinds_of_changes(old, new, gist):
    """Digits are those of any script, and raised ones, too."""
    assert word_change((old,), (new,)).gist == gist
