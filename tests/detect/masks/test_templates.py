"""Lines with gaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.masks.templates import Template, merge_templates, template_of
from recrawl.detect.text.lines import GAP

LINE = st.lists(
    st.sampled_from(["the", "cat", "12:03:55", "5", "1,234", "日本", "a-b"]), max_size=9
)


def pieces(first, second):
    found = template_of(first, second)
    return found.pieces if found else None


def test_a_gap_holds_whole_numbers_and_words():
    assert pieces("views: 1,234 today", "views: 1,299 today") == ("views: ", " today")
    assert pieces("id abcdef x", "id abcxyz x") == ("id ", " x")
    assert pieces("v1.2.3 out", "v1.2.4 out") == ("v", " out")


def test_what_is_between_two_gaps_stays():
    found = pieces("7 people and 12 cats are here", "8 people and 19 cats are here")

    assert found == ("", " people and ", " cats are here")


def test_numbers_alone_are_no_template():
    assert template_of("12", "13") is None
    assert template_of("a", "b") is None


def test_a_long_line_is_told_by_what_is_near_its_gap():
    before, after = "word " * 100, " text" * 100
    found = template_of(f"{before}at 5{after}", f"{before}at 6{after}")

    assert found is not None
    assert len("".join(found.pieces)) < 200
    for line in (f"{before}at 7{after}", f"other {before}at 7{after} end"):
        assert found.blank(line, found.gaps(line)) == line.replace("at 7", f"at {GAP}")


@pytest.mark.parametrize("line", ["at 123456789012345678", "at 5 of them", "at", "by 5"])
def test_another_line_has_no_gaps(line):
    assert Template(("at ", ""), 2).gaps(line) == []


def test_templates_with_nothing_in_common_do_not_merge():
    assert merge_templates(Template(("one ", ""), 1), Template(("two ", ""), 1)) is None


@given(LINE, LINE)
def test_a_template_fits_both_lines_it_is_of(first, second):
    first, second = " ".join(first), " ".join(second)
    found = template_of(first, second)

    if found and first != second:
        blanked = {found.blank(line, found.gaps(line)) for line in (first, second)}
        assert len(blanked) == 1
        assert GAP in blanked.pop()
