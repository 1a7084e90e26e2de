"""What became of the words of a line."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.edits import Fate, alike, edits, pieces, turned, words_in

lines = st.text(st.sampled_from("ab ,.'1東京ก็\x10"), max_size=12) | st.text(max_size=12)


def read(runs):
    """Runs as `[-removed-]{+added+}`."""
    signs = {Fate.KEPT: "{}", Fate.REMOVED: "[-{}-]", Fate.ADDED: "{{+{}+}}"}
    return "".join(signs[run.fate].format(run.text) for run in runs)


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
    assert read(edits(old, new)) == wanted


def test_signs_between_two_changes_go_with_them():
    """Read as one change: `[-x-]{+u+}, [-y-]{+v+}` would be three."""
    assert read(edits("x, y", "u, v")) == "[-x, y-]{+u, v+}"


@given(lines, lines)
def test_the_runs_make_both_lines(old, new):
    runs = edits(old, new)

    assert "".join(run.text for run in runs if run.fate is not Fate.ADDED) == old
    assert "".join(run.text for run in runs if run.fate is not Fate.REMOVED) == new


@given(lines, lines)
def test_the_other_way_is_turned_round(old, new):
    assert edits(new, old) == turned(edits(old, new))


@given(lines)
def test_a_line_is_its_pieces(line):
    assert "".join(pieces(line)) == line
    assert set(words_in(line)) <= set(pieces(line))


def test_likeness_counts_words_as_often_as_they_are_there():
    assert alike(Counter("aab"), Counter("abb")) == pytest.approx(4 / 6)
    assert alike(Counter(), Counter()) == 1.0
