"""Cells are read a column at a time: what they mean, and which of them mean nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import AnswerKind
from recrawl.parse import cells
from recrawl.visits.visit import answer_of


def test_a_change_is_true_false_or_empty():
    yes = ["true", "TRUE", " True ", "1", "1.0", "t", "T", "yes", "Y"]
    no = ["false", "False", "0", "0.0", "f", "no", "No", "N", "n"]
    values, wrong = cells.changes([*yes, *no, "", " "])

    assert values.tolist() == [1] * len(yes) + [0] * len(no) + [-1, -1]
    assert not wrong.any()


@pytest.mark.parametrize("text", ["yep", "2", "-1", "tr", "1.5", "none", "nan", "null", "\0"])
def test_another_change_is_wrong(text):
    assert cells.changes(["true", text, ""])[1].tolist() == [False, True, False]


@given(st.lists(st.sampled_from(["200", "304", "404", "503", "ok", "gone", "", "99", "up", "2e2"])))
def test_answers_are_those_of_single_cells(texts):
    values, wrong = cells.answers(texts)

    for text, value, is_wrong in zip(texts, values.tolist(), wrong.tolist(), strict=True):
        if text in ("99", "up", "2e2"):
            assert is_wrong
        else:
            assert not is_wrong
            assert AnswerKind(value) is answer_of(text)


def test_a_page_must_have_a_name():
    """Blank in any alphabet is none, and half of a surrogate pair is no text."""
    texts = ["/a", " a ", "日本", "\0", "", " \t", "\u3000", "\ud800", "/\udfff"]

    assert cells.unnamed(texts).tolist() == [False] * 4 + [True] * 5


@given(st.lists(st.text(st.characters(), max_size=4)))
def test_a_name_can_be_written_and_seen(texts):
    expected = []
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            expected.append(True)
        else:
            expected.append(text.strip() == "")

    assert cells.unnamed(texts).tolist() == expected
