"""What a reader sees of a page, and the parts that count."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.text.lines import lines
from recrawl.detect.text.selection import select_parts
from tests.detect.text.test_lines import HOSTILE

PAGE = (
    "<main><p>Price: <b class=price>5</b></p></main><div class=ad>Buy <div class=ad>!</div></div>"
)


def visible_text(page, **parts):
    """What a reader sees of the parts that count, in one line."""
    return " ".join(lines(page, **parts))


def test_parts_that_do_not_count_are_left_out():
    assert visible_text(PAGE, ignore=(".ad",)) == "Price: 5"


def test_parts_within_parts_are_left_out_with_them():
    """All of them match, and each goes once."""
    page = "<div>" * 50 + "no" + "</div>" * 50 + "<p>yes"

    assert visible_text(page, ignore=("div", "div div")) == "yes"


def test_only_watched_parts_count():
    assert visible_text(PAGE, watch=("main .price",)) == "5"
    assert visible_text(PAGE, watch=("nothing",)) == ""
    assert visible_text(PAGE, watch=("main",), ignore=(".price",)) == "Price:"


def test_a_page_nested_too_deep_for_a_tree_is_taken_whole():
    page = "<div>" * 1000 + "<p class=ad>all of it"

    assert visible_text(page, ignore=(".ad",)) == "all of it"


def test_formatting_that_is_never_closed_does_not_take_for_ever():
    """Each paragraph opens all of it again: five million elements from half a megabyte."""
    page = "".join(f"<b id={number}><p>" for number in range(110)) + "<p>x" * 90_000

    began = time.process_time()
    visible_text(page, ignore=(".ad",), watch=("p",))

    assert time.process_time() - began < 5


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("count", [240, 90_000, 400_000])
def test_anything_takes_little_time(piece, count):
    """A tree is made of at most 100,000 tags; more are read as they stand, as without selectors."""
    page = piece * min(count, (1 << 20) // len(piece))

    began = time.process_time()
    visible_text(page, ignore=("p",))
    visible_text(page, watch=("p", "div"))

    assert time.process_time() - began < 10


@given(st.text(st.sampled_from("<>/!-&#; \"'=abpscript\n"), max_size=60))
def test_a_selector_that_matches_nothing_changes_nothing_of_plain_text(page):
    plain = "".join(letter for letter in page if letter not in "<&")

    assert visible_text(plain, ignore=(".ad",)) == visible_text(plain)


def test_siblings_are_counted_only_where_there_are_few():
    """Each is counted from the first on: of a long table everything would stand still."""
    rows = "<tr><td>x</td></tr>"

    assert select_parts(rows * 10, ("tr:nth-child(2)",), ()) != [rows * 10]
    assert select_parts(rows * 20_000, ("tr:nth-child(2)",), ()) == [rows * 20_000]
