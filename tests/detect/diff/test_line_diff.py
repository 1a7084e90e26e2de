"""Diffs of two versions of a page."""

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.gist import GISTS
from recrawl.detect.diff.line_diff import BlockKind, gist, line_diff
from recrawl.detect.diff.share import share_changed
from recrawl.detect.diff.word_diff import EditKind, reverse

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
    BlockKind.SAME: BlockKind.SAME,
    BlockKind.CHANGED: BlockKind.CHANGED,
    BlockKind.REMOVED: BlockKind.ADDED,
    BlockKind.ADDED: BlockKind.REMOVED,
    BlockKind.MOVED: BlockKind.MOVED_AWAY,
    BlockKind.MOVED_AWAY: BlockKind.MOVED,
}

line = st.sampled_from((*ARTICLE, "5", "6", "yes", "no", "Costs 6 euros", "東京は晴れ", "東京は雨"))
pages = st.lists(line | st.text("ab 1.", max_size=8), max_size=12)


def kinds(old, new):
    """Each kind of part but what is the same, and the old and new lines it has."""
    found = line_diff(old, new)
    return [
        (block.kind.value, old[slice(*block.old)], new[slice(*block.new)])
        for block in found.blocks
        if block.kind is not BlockKind.SAME
    ]


def applied(diff, old):
    """The new lines, made from the old ones by a diff alone."""
    made = []
    for block in diff.blocks:
        if block.kind is BlockKind.ADDED:
            made += diff.new[slice(*block.new)]
        elif block.kind is BlockKind.SAME:
            made += old[slice(*block.old)]
        elif block.kind in (BlockKind.CHANGED, BlockKind.MOVED):
            for row, edits in zip(range(*block.old), block.edits, strict=True):
                assert (
                    "".join(edit.text for edit in edits if edit.kind is not EditKind.ADDED)
                    == old[row]
                )
                made.append(
                    "".join(edit.text for edit in edits if edit.kind is not EditKind.REMOVED)
                )
    return tuple(made)


def test_a_line_that_changed_has_its_words():
    (block,) = [
        block
        for block in line_diff(ARTICLE, (*ARTICLE[:2], "Costs 6 euros", *ARTICLE[3:])).blocks
        if block.kind is BlockKind.CHANGED
    ]

    assert (block.old, block.new) == ((2, 3), (2, 3))
    assert [(edit.kind.value, edit.text) for edit in block.edits[0]] == [
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
    assert [block.kind for block in line_diff(old, old).blocks] == [BlockKind.SAME] * bool(old)


@given(pages, pages)
def test_a_diff_makes_the_new_from_the_old(old, new):
    assert applied(line_diff(old, new), old) == tuple(new)


@given(pages, pages)
def test_parts_cover_both_versions_in_order(old, new):
    parts = line_diff(old, new).blocks
    of_old = [block.old for block in parts if block.kind not in (BlockKind.ADDED, BlockKind.MOVED)]
    of_new = [
        block.new for block in parts if block.kind not in (BlockKind.REMOVED, BlockKind.MOVED_AWAY)
    ]

    for spans, count in ((of_old, len(old)), (of_new, len(new))):
        assert [row for span in spans for row in range(*span)] == list(range(count))


@given(pages, pages)
def test_the_other_way_removed_is_added(old, new):
    there, back = line_diff(old, new).blocks, line_diff(new, old).blocks
    placed = (BlockKind.SAME, BlockKind.CHANGED, BlockKind.MOVED, BlockKind.MOVED_AWAY)

    assert {
        (OTHER_WAY[block.kind], block.new, block.old, tuple(map(reverse, block.edits)))
        for block in there
        if block.kind in placed
    } == {(block.kind, block.old, block.new, block.edits) for block in back if block.kind in placed}
    assert [block.old for block in there if block.kind is BlockKind.REMOVED] == [
        block.new for block in back if block.kind is BlockKind.ADDED
    ]


@given(pages, pages)
def test_what_moved_is_not_removed_and_added(old, new):
    parts = line_diff(old, new).blocks
    removed = Counter(
        line
        for block in parts
        if block.kind is BlockKind.REMOVED
        for line in old[slice(*block.old)]
    )
    added = Counter(
        line for block in parts if block.kind is BlockKind.ADDED for line in new[slice(*block.new)]
    )
    away = [(block.old, block.new) for block in parts if block.kind is BlockKind.MOVED_AWAY]
    here = [(block.old, block.new) for block in parts if block.kind is BlockKind.MOVED]

    for line in removed & added:
        assert len(line) < 24
        assert max(old.count(line), new.count(line)) > 1
    assert sorted(away) == sorted(here)


@given(st.permutations(ARTICLE))
def test_lines_in_another_order_have_all_moved_or_stayed(new):
    found = line_diff(ARTICLE, new)

    assert {block.kind for block in found.blocks} <= {
        BlockKind.SAME,
        BlockKind.MOVED,
        BlockKind.MOVED_AWAY,
    }


@given(st.sets(st.integers(0, 19)), st.lists(st.integers(0, 19), max_size=8))
def test_what_was_taken_out_and_put_in_is_found(taken, put):
    """The truth is known here: every line has a word of its own."""
    old = [f"{letter}{letter}{letter}" for letter in "abcdefghijklmnopqrst"]
    kept = [line for row, line in enumerate(old) if row not in taken]
    new = list(kept)
    for number, row in enumerate(put):
        new.insert(row, f"a line of its own, number {number}")

    parts = line_diff(old, new).blocks
    assert sum(
        block.old[1] - block.old[0] for block in parts if block.kind is BlockKind.SAME
    ) == len(kept)
    assert not any(block.kind in (BlockKind.MOVED, BlockKind.MOVED_AWAY) for block in parts)


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
    assert gist(line_diff(ARTICLE, new), share_changed(ARTICLE, new)) == wanted


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
    ids=["equal", "different", "drawn", "of two", "word_overlap", "one line", "signs", "empty"],
)
def test_hostile_pages_take_seconds(old, new):
    began = time.process_time()
    found = line_diff(old, new)

    assert applied(found, old) == tuple(new)
    assert time.process_time() - began < 10  # a square of it would be minutes
