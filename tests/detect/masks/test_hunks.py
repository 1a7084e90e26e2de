"""Where two fetches of a page differ."""

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.masks.hunks import hunks
from recrawl.detect.text.lines import LINK

PAGE = st.lists(st.sampled_from("abcdefgh"), max_size=30)


def found(first, second):
    return [tuple(hunk) for hunk in hunks(first, second)]


def test_equal_pages_have_no_hunks():
    assert found("abc", "abc") == []


def test_hunks_are_as_small_as_possible():
    assert found("axcd", "aycd") == [(1, 2, 1, 2)]
    assert found("acd", "axcd") == [(1, 1, 1, 2)]
    assert found("axc", "ac") == [(1, 2, 1, 1)]


def test_shuffled_lines_are_one_hunk():
    assert found("0abcde9", "0ebdca9") == [(1, 6, 1, 6)]


def test_a_line_that_crossed_many_does_not_tear_the_rest():
    letters = [str(number) for number in range(30)]

    assert found(["x", *letters], [*letters, "x"]) == [(0, 1, 0, 0), (31, 31, 30, 31)]


def test_links_drawn_from_many_are_one_hunk():
    """The third is there by chance in both."""
    first = ["0", *(f"{LINK}/r/{number} a" for number in (1, 2, 3, 4, 5)), "9"]
    second = ["0", *(f"{LINK}/r/{number} a" for number in (6, 7, 3, 8, 9)), "9"]

    assert found(first, second) == [(1, 6, 1, 6)]


@given(PAGE, PAGE)
def test_all_that_is_outside_hunks_is_the_same(first, second):
    kept, kept_other, at, at_other = [], [], 0, 0
    for hunk in hunks(first, second):
        kept += first[at : hunk.start]
        kept_other += second[at_other : hunk.new_start]
        at, at_other = hunk.end, hunk.new_end

    assert kept + first[at:] == kept_other + second[at_other:]
    assert (first == second) == (not hunks(first, second))
