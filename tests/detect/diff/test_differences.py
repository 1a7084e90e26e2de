"""What changed between two versions of a page."""

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.differences import GISTS, Kind, differences, gist
from recrawl.detect.diff.edits import Fate, turned
from recrawl.detect.text.words import share_changed

ARTICLE = (
    "Tea of the first picking",
    "It is grown in Japan, in a small garden near Uji",
    "Costs 5 euros",
    "Heat water to seventy degrees",
    "Take five grams of leaves for a cup",
    "Wait for ninety seconds",
    "Sold by weight, sent on Mondays",
)
OTHER_WAY = {
    Kind.SAME: Kind.SAME,
    Kind.CHANGED: Kind.CHANGED,
    Kind.REMOVED: Kind.ADDED,
    Kind.ADDED: Kind.REMOVED,
    Kind.MOVED: Kind.MOVED_AWAY,
    Kind.MOVED_AWAY: Kind.MOVED,
}

line = st.sampled_from((*ARTICLE, "5", "6", "yes", "no", "Costs 6 euros", "東京は晴れ", "東京は雨"))
pages = st.lists(line | st.text("ab 1.", max_size=8), max_size=12)


def kinds(old, new):
    """Each kind of part but what is the same, and the old and new lines it has."""
    found = differences(old, new)
    return [
        (part.kind.value, old[slice(*part.old)], new[slice(*part.new)])
        for part in found.parts
        if part.kind is not Kind.SAME
    ]


def applied(difference, old):
    """The new lines, made from the old ones by a difference alone."""
    made = []
    for part in difference.parts:
        if part.kind is Kind.ADDED:
            made += difference.new[slice(*part.new)]
        elif part.kind is Kind.SAME:
            made += old[slice(*part.old)]
        elif part.kind in (Kind.CHANGED, Kind.MOVED):
            for row, runs in zip(range(*part.old), part.edits, strict=True):
                assert "".join(run.text for run in runs if run.fate is not Fate.ADDED) == old[row]
                made.append("".join(run.text for run in runs if run.fate is not Fate.REMOVED))
    return tuple(made)


def test_a_line_that_changed_has_its_words():
    (part,) = [
        part
        for part in differences(ARTICLE, (*ARTICLE[:2], "Costs 6 euros", *ARTICLE[3:])).parts
        if part.kind is Kind.CHANGED
    ]

    assert (part.old, part.new) == ((2, 3), (2, 3))
    assert [(run.fate.value, run.text) for run in part.edits[0]] == [
        ("kept", "Costs "),
        ("removed", "5"),
        ("added", "6"),
        ("kept", " euros"),
    ]


def test_lines_come_and_go():
    new = (*ARTICLE[:3], "Ask for a sample", *ARTICLE[4:])

    assert kinds(ARTICLE, new) == [
        ("removed", (ARTICLE[3],), ()),
        ("added", (), ("Ask for a sample",)),
    ]


def test_a_block_that_moved_is_neither_removed_nor_added():
    new = (ARTICLE[0], *ARTICLE[5:], *ARTICLE[1:5])

    assert kinds(ARTICLE, new) == [
        ("moved", ARTICLE[5:], ARTICLE[5:]),
        ("moved_away", ARTICLE[5:], ARTICLE[5:]),
    ]


def test_a_block_that_moved_may_have_changed():
    sixty = "Wait for sixty seconds"
    new = (ARTICLE[0], sixty, ARTICLE[6], *ARTICLE[1:5])

    assert kinds(ARTICLE, new) == [
        ("moved", ARTICLE[5:], (sixty, ARTICLE[6])),
        ("moved_away", ARTICLE[5:], (sixty, ARTICLE[6])),
    ]


def test_a_line_that_moved_and_changed_is_known_by_its_words():
    edited = "Take six grams of leaves for a cup"
    new = (edited, *ARTICLE[:4], *ARTICLE[5:])

    assert kinds(ARTICLE, new) == [
        ("moved", (ARTICLE[4],), (edited,)),
        ("moved_away", (ARTICLE[4],), (edited,)),
    ]


def test_figures_of_a_table_change_where_they_stand():
    """Though each of them is found elsewhere: nobody moved them."""
    old, new = ("Ajax", "1", "Bari", "2", "Celta", "3"), ("Ajax", "2", "Bari", "3", "Celta", "1")

    assert kinds(old, new) == [
        ("changed", ("1",), ("2",)),
        ("changed", ("2",), ("3",)),
        ("changed", ("3",), ("1",)),
    ]


def test_what_a_page_repeats_comes_and_goes_with_its_neighbours():
    """Nobody moved "Read more" from the article that left to the one that came."""
    first, *others = [
        (f"{name} wins the match again", "Read more") for name in ("Ajax", "Bari", "Celta")
    ]
    last = ("Rain is expected over the hills", "Read more")
    old, new = (*first, *others[0], *others[1]), (*others[0], *others[1], *last)

    assert kinds(old, new) == [("removed", first, ()), ("added", (), last)]


def test_of_two_blocks_that_changed_places_the_shorter_has_moved():
    new = (*ARTICLE[4:], *ARTICLE[:4])

    assert [kind for kind, *_ in kinds(ARTICLE, new)] == ["moved", "moved_away"]
    assert kinds(ARTICLE, new)[0][1] == ARTICLE[4:]


@given(pages)
def test_equal_versions_have_no_part_but_same(old):
    assert [part.kind for part in differences(old, old).parts] == [Kind.SAME] * bool(old)


@given(pages, pages)
def test_the_difference_makes_the_new_from_the_old(old, new):
    assert applied(differences(old, new), old) == tuple(new)


@given(pages, pages)
def test_parts_cover_both_versions_in_order(old, new):
    parts = differences(old, new).parts
    of_old = [part.old for part in parts if part.kind not in (Kind.ADDED, Kind.MOVED)]
    of_new = [part.new for part in parts if part.kind not in (Kind.REMOVED, Kind.MOVED_AWAY)]

    for spans, count in ((of_old, len(old)), (of_new, len(new))):
        assert [row for span in spans for row in range(*span)] == list(range(count))


@given(pages, pages)
def test_the_other_way_removed_is_added(old, new):
    there, back = differences(old, new).parts, differences(new, old).parts
    placed = (Kind.SAME, Kind.CHANGED, Kind.MOVED, Kind.MOVED_AWAY)

    assert {
        (OTHER_WAY[part.kind], part.new, part.old, tuple(map(turned, part.edits)))
        for part in there
        if part.kind in placed
    } == {(part.kind, part.old, part.new, part.edits) for part in back if part.kind in placed}
    assert [part.old for part in there if part.kind is Kind.REMOVED] == [
        part.new for part in back if part.kind is Kind.ADDED
    ]


@given(pages, pages)
def test_what_moved_is_not_removed_and_added(old, new):
    parts = differences(old, new).parts
    removed = Counter(
        line for part in parts if part.kind is Kind.REMOVED for line in old[slice(*part.old)]
    )
    added = Counter(
        line for part in parts if part.kind is Kind.ADDED for line in new[slice(*part.new)]
    )
    away = [(part.old, part.new) for part in parts if part.kind is Kind.MOVED_AWAY]
    here = [(part.old, part.new) for part in parts if part.kind is Kind.MOVED]

    for line in removed & added:
        assert len(line) < 24
        assert max(old.count(line), new.count(line)) > 1
    assert sorted(away) == sorted(here)


@given(st.permutations(ARTICLE))
def test_lines_in_another_order_have_all_moved_or_stayed(new):
    found = differences(ARTICLE, new)

    assert {part.kind for part in found.parts} <= {Kind.SAME, Kind.MOVED, Kind.MOVED_AWAY}


@given(st.sets(st.integers(0, 19)), st.lists(st.integers(0, 19), max_size=8))
def test_what_was_taken_out_and_put_in_is_found(taken, put):
    """The truth is known here: every line has a word of its own."""
    old = [f"{letter}{letter}{letter}" for letter in "abcdefghijklmnopqrst"]
    kept = [line for row, line in enumerate(old) if row not in taken]
    new = list(kept)
    for number, row in enumerate(put):
        new.insert(row, f"a line of its own, number {number}")

    parts = differences(old, new).parts
    assert sum(part.old[1] - part.old[0] for part in parts if part.kind is Kind.SAME) == len(kept)
    assert not any(part.kind in (Kind.MOVED, Kind.MOVED_AWAY) for part in parts)


@pytest.mark.parametrize(
    ("new", "wanted"),
    [
        (ARTICLE, "same"),
        (ARTICLE[::-1], "moved"),
        ((*ARTICLE[:2], "Costs 6 euros", *ARTICLE[3:]), "figures"),
        ((*ARTICLE, "Ask for a sample"), "added"),
        (ARTICLE[:-1], "removed"),
        ((*ARTICLE[:5], "Wait for sixty seconds", ARTICLE[6]), "edited"),
        (("All is new here", "and nothing is as it was"), "rewritten"),
    ],
    ids=GISTS,
)
def test_the_gist_is_one_word(new, wanted):
    assert gist(differences(ARTICLE, new), share_changed(ARTICLE, new)) == wanted


def numbers(seed, count=20_000, most=1000):
    return [f"line {n} of many" for n in np.random.default_rng(seed).integers(0, most, count)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["x"] * 40_000, ["x"] * 39_600),
        ([f"old {n}" for n in range(10_000)], [f"new {n}" for n in range(10_000)]),
        (numbers(1), numbers(2)),
        (numbers(1, most=2), numbers(2, most=2)),
        ([f"{n} a b c d e" for n in range(8_000)], [f"a b c d e {-n}" for n in range(8_000)]),
        (["a " * 200_000], ["b a " * 200_000]),
        (["東" * 20_000], ["東京" * 10_000]),
        ([""] * 20_000, ["", "a"] * 10_000),
    ],
    ids=["equal", "different", "drawn", "of two", "alike", "one line", "signs", "empty"],
)
def test_hostile_pages_take_seconds(old, new):
    began = time.process_time()
    found = differences(old, new)

    assert applied(found, old) == tuple(new)
    assert time.process_time() - began < 10  # a square of it would be minutes
