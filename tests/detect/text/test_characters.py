"""Characters of a text, found all at once."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.text.characters import characters_from, is_latin, normalize_spaces

SPACES, UNSEEN = "\n\t\xa0\u2009\u3000", "\0\xad\u200b\ufeff"
# Letters of one, two and four bytes, and all that is looked for.
TEXT = st.text(st.sampled_from("ab é€漢😀 " + SPACES + UNSEEN))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ""),
        ("  a  b ", " a b "),
        ("a\n\t b", "a b"),
        ("a \xad b\0", "a b"),
        ("é\xa0\xa0é", "é é"),
        ("€ \u200b \u2009b\ufeff", "€ b"),
        ("😀 \u3000 😀", "😀 😀"),
        ("\ud800  \udc00", "\ud800 \udc00"),
    ],
)
def test_spaces_are_single_and_what_nobody_sees_is_gone(text, found):
    assert normalize_spaces(text, spaces=SPACES, unseen=UNSEEN) == found


@given(TEXT)
def test_texts_are_spelled_as_sign_by_sign(text):
    left = re.sub(f"[{UNSEEN}]", "", text)

    assert normalize_spaces(text, spaces=SPACES, unseen=UNSEEN) == re.sub(
        f"[ {SPACES}]+", " ", left
    )


@given(TEXT)
def test_signs_from_one_on_are_those_that_come_after_it(text):
    assert characters_from("\u0e00", text) == "".join(sign for sign in text if sign >= "\u0e00")


@given(st.text())
def test_latin_letters_are_the_first_256(text):
    assert is_latin(text) == all(ord(letter) < 256 for letter in text)
