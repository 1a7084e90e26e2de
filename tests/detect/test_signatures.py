"""Whether two copies differ."""

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.signatures import compared
from recrawl.visits.status import Outcome


def test_text_is_not_worked_out_where_bytes_are_equal():
    def no_text():
        raise AssertionError

    _, known = compared(None, b"a", lambda: "a")

    assert compared(known, b"a", no_text) == (Outcome.SAME, known)


def test_text_that_no_encoding_takes_has_a_signature():
    assert compared(None, b"a", lambda: "\ud800")[0] is Outcome.FIRST


@given(st.binary(), st.binary(), st.text(), st.text())
def test_a_change_is_other_bytes_and_other_text(body, other, text, another):
    _, known = compared(None, body, lambda: text)
    outcome, found = compared(known, other, lambda: another)

    if body == other:
        assert outcome is Outcome.SAME
    else:
        assert outcome is (Outcome.COSMETIC if text == another else Outcome.CHANGED)
        assert compared(found, other, lambda: another)[0] is Outcome.SAME
