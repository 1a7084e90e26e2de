import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.report.table import columns_that_fit, printable, shortened, table_lines


def test_text_stands_left_and_figures_right():
    lines = table_lines(
        ["page", "visits", "status"], [["/a", "5", "ok"], ["/bc", "12", ""]], width=80, left=(0, 2)
    )

    assert lines == ["page  visits  status", "/a         5  ok", "/bc       12"]


def test_the_first_column_gives_way_on_a_narrow_terminal():
    page = "https://example.org/" + "a" * 40 + "/end"
    lines = table_lines(["page", "rate"], [[page, "0.25"]], width=30)

    assert all(len(line) == 30 for line in lines)
    assert lines[1].startswith("example.org/")
    assert "/end" in lines[1]


def test_figures_are_never_cut():
    """However narrow: a wrong figure is worse than a long line."""
    lines = table_lines(["page", "rate"], [["/" * 50, "0.123456789"]], width=5)

    assert lines[1].endswith("  0.123456789")
    assert len(lines[1]) == 12 + 2 + 11


def test_no_rows_make_a_header():
    assert table_lines(["page", "rate"], [], width=80) == ["page  rate"]


@given(
    st.lists(st.lists(st.text(max_size=30), min_size=3, max_size=3), max_size=4),
    st.integers(20, 200),
)
def test_a_row_is_a_line_whatever_its_cells_hold(rows, width):
    """Page names are hostile: newlines, and letters that a terminal obeys."""
    lines = table_lines(["page", "a", "b"], rows, width=width)

    assert len(lines) == len(rows) + 1
    assert all(line.isprintable() for line in lines)


@given(st.text(alphabet=st.characters(exclude_characters="…"), max_size=60), st.integers(1, 40))
def test_a_shortened_text_fits_and_keeps_both_ends(text, width):
    short = shortened(text, width)

    if len(text) <= width:
        assert short == text
    else:
        head, cut, tail = short.partition("…")
        assert len(short) == width
        assert cut
        assert text.startswith(head)
        assert text.endswith(tail)
        assert abs(len(head) - len(tail)) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain é 日本", "plain é 日本"), ("a\nb", "a\\nb"), ("\x1b]0;x\x07", "\\x1b]0;x\\x07")],
)
def test_what_a_terminal_would_obey_is_shown(text, shown):
    assert printable(text) == shown


def test_an_address_loses_its_scheme_before_anything_else():
    page = "https://example.org/" + "a" * 40

    lines = table_lines(["page", "rate"], [[page, "0.25"]], width=60)

    assert lines[1].startswith("example.org/" + "a" * 40)


def test_spare_columns_go_one_by_one_until_the_page_is_readable():
    """`page` needs 36 letters; beside it the others take 40, 24 or 8."""
    header = ["page", "b" * 14, "c" * 14, "d" * 6]
    rows = [["https://example.org/" + "a" * 40, "", "", ""]]

    shown = [
        columns_that_fit(header, rows, width=width, spare=[2, 1]) for width in (76, 75, 59, 30)
    ]

    assert shown == [[0, 1, 2, 3], [0, 1, 3], [0, 3], [0, 3]]


def test_a_short_first_column_needs_no_room():
    header = ["page", "b" * 14]

    assert columns_that_fit(header, [["/a", ""]], width=20, spare=[1]) == [0, 1]
