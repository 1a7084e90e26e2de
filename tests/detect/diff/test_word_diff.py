"""Word diffs of lines."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.word_diff import (
    EditKind,
    pieces,
    reverse,
    word_diff,
    word_overlap,
    words_in,
)

lines = st.text(st.sampled_from("ab ,.'1東京ก็\x10"), max_size=12) | st.text(max_size=12)


def read(edits):
    """A word diff as `[-removed-]{+added+}`."""
    signs = {EditKind.KEPT: "{}", EditKind.REMOVED: "[-{}-]", EditKind.ADDED: "{{+{}+}}"}
    return "".join(signs[edit.kind].format(edit.text) for edit in edits)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("a c", "a b c", "a {+b +}c"),
        ("Costs 1,299.50 euros", "Costs 1,199.50 euros", "Costs [-1,299.50-]{+1,199.50+} euros"),
        ("the quick brown fox", "a slow red fox", "[-the quick brown-]{+a slow red+} fox"),
        ("foo, bar", "foo; bar", "foo[-,-]{+;+} bar"),
        ("東京は晴れです", "東京は雨です", "東京は[-晴れ-]{+雨+}です"),
        ("สวัสดีครับ", "สวัสดีค่ะ", "สวัสดี[-ครับ-]{+ค่ะ+}"),
        ("हिन्दी में लिखा", "हिन्दी में पढ़ा", "हिन्दी में [-लिखा-]{+पढ़ा+}"),
        ("the \x10/a shop", "the \x10/b?c=1 shop", "the [-\x10/a-]{+\x10/b?c=1+} shop"),
        ("same", "same", "same"),
        ("", "new", "{+new+}"),
        ("", "", ""),
    ],
)
def test_words_are_kept_removed_and_added(old, new, wanted):
    assert read(word_diff(old, new)) == wanted


def test_punctuation_between_two_changes_goes_with_them():
    """Read as one change: `[-x-]{+u+}, [-y-]{+v+}` would be three."""
    assert read(word_diff("x, y", "u, v")) == "[-x, y-]{+u, v+}"


@given(lines, lines)
def test_a_word_diff_makes_both_lines(old, new):
    edits = word_diff(old, new)

    assert "".join(edit.text for edit in edits if edit.kind is not EditKind.ADDED) == old
    assert "".join(edit.text for edit in edits if edit.kind is not EditKind.REMOVED) == new


@given(lines, lines)
def test_the_diff_the_other_way_is_its_reverse(old, new):
    assert word_diff(new, old) == reverse(word_diff(old, new))


@given(lines)
def test_a_line_is_its_pieces(line):
    assert "".join(pieces(line)) == line
    assert set(words_in(line)) <= set(pieces(line))


def test_overlap_counts_words_as_often_as_they_occur():
    assert word_overlap(Counter("aab"), Counter("abb")) == pytest.approx(4 / 6)
    assert word_overlap(Counter(), Counter()) == 1.0
