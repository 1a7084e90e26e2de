"""Words in any script."""

import re

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.text.lines import LINK
from recrawl.detect.text.words import letters_beside_links, word_count, words

LINES = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "日本", f"{LINK}/x"]), min_size=1, max_size=4).map(
        " ".join
    ),
    max_size=8,
).map(tuple)


def test_characters_of_scripts_without_spaces_are_words():
    assert words(("日本語です。Python 3",)) == ["日", "本", "語", "で", "す", "。Python", "3"]
    assert words(("한국어 단어",)) == ["한국어", "단어"]


def test_a_link_is_one_word_whatever_characters_it_has():
    assert words((f"{LINK}/日本語 日本",)) == [f"{LINK}/日本語", "日", "本"]


@given(LINES)
def test_words_are_counted_without_making_them(lines):
    assert word_count(lines) == len(words(lines))


@given(LINES.map(lambda lines: (*lines, "some words", f"more {LINK}/x {LINK}/y and more") * 30))
def test_letters_are_those_that_are_left_without_targets_of_links(lines):
    letters = len(re.sub(rf"{LINK}[^ ]*", "", " ".join(lines)))

    assert letters_beside_links(lines, letters) == letters
    assert letters_beside_links(lines, letters - 1) > letters - 1
    assert letters_beside_links((), 9) == 0
