"""Words of two texts are counted as by a counter of words, however long the texts are."""
# ruff: noqa: S311 # chance need not be secret

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.word_counts import count_words
from recrawl.detect.text.words import words

# So long that words are hashed.
FILLER = " ".join(f"filler{number}" for number in range(800))
LETTERS = "abc\x10\x11€本é/\U0001f600"
WORDS = st.one_of(
    st.text(LETTERS, min_size=1, max_size=4),
    st.text("ab", min_size=7, max_size=17),
    st.text("aé", min_size=60, max_size=70),
)
TEXTS = st.lists(st.lists(WORDS).map(" ".join), max_size=8)


def check(old, new):
    """Compare with what counters say; lines are as masks leave them, with spaces at their ends."""
    before, after = Counter(words(old)), Counter(words(new))

    found = count_words(old, new)

    assert (found.old, found.new) == (before.total(), after.total())
    assert found.common == (before & after).total()
    assert sorted(found.gone) == sorted(before - after)
    assert sorted(found.come) == sorted(after - before)


@given(TEXTS, TEXTS)
def test_short_texts_are_counted(old, new):
    check(old, new)


@given(TEXTS, TEXTS)
def test_long_texts_are_counted(old, new):
    check([*old, FILLER], [FILLER, *new])


@pytest.mark.parametrize("places", [(0, 7), (7, 15), (6, 23), (8, 31), (15, 63)])
def test_words_that_differ_in_two_letters_are_told_apart(places):
    """Parts of long words are hashed one after the other: no two differences cancel out."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    old = []
    for one, other in product(letters, letters):
        word = ["x"] * 64
        word[places[0]], word[places[1]] = one, other
        old.append("".join(word))
    chance = random.Random(1)
    new = chance.sample(old, len(old) // 2)

    check(old, new)


def test_nothing_is_in_no_lines():
    check([], [FILLER])
    check([FILLER], [])
    check([], [])
    check(["", " "], ["", FILLER, "  "])
    check([" " * 5_000], [""])


def test_words_that_count_twice_are_common_twice():
    check(["tea tea tea bags", FILLER], ["bags bags tea tea", FILLER])


def test_words_of_a_text_of_megabytes_are_counted():
    check(["a b " * 400_000, "c"], ["b c " * 400_000])


def test_a_long_word_takes_no_longer_than_many_short_ones():
    """Each step is over all words that are so long: a megabyte of one word is one step."""
    word = "x" * 1_000_000

    check([word, word + "y", FILLER], [FILLER, word, "z" * 70])
