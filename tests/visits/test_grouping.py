"""Rows of a log, in any order, against a dictionary of lists."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.arrays.texts import Texts
from recrawl.visits.batch import Batch
from recrawl.visits.grouping import group
from recrawl.visits.rows import UNKNOWN_TIME

# Names that are easily taken for each other: prefixes, one byte apart at any place, NUL or
# nothing at the end, long ones that differ behind the 64 bytes that are read at a time.
LONG = "https://example.org/" + "a" * 60
NASTY = [
    *("a", "a\0", "a\0\0", "b", "ab", "aa", " a", "a ", "é", "é", "日本", "\0"),
    *(LONG, LONG + "b", LONG + "\0", "b" + LONG, LONG[:40] + "b" + LONG[41:], LONG[:64]),
    *("x" * 63, "x" * 64, "x" * 65, "x" * 200, "x" * 199 + "y", "x" * 256, "y" + "x" * 255),
]


@st.composite
def _logs(draw):
    """Rows of a log as (page, changed, date or None, answer or None), with or without columns."""
    names = draw(st.lists(st.sampled_from(NASTY) | st.text(min_size=1, max_size=5), min_size=1))
    pages = draw(st.lists(st.sampled_from(names), max_size=40))
    if draw(st.booleans()):
        pages.sort()  # grouped by page
    dated, answered = draw(st.booleans()), draw(st.booleans())
    return [
        (page, row % 3 - 1, row * 7 if dated else None, row % 4 if answered else None)
        for row, page in enumerate(pages)
    ]


def batches(log, edges=(), *, runs=True, site=None):
    """The log cut into batches; neighbouring rows of a page as a run, or each row as its own."""
    cuts = [0, *sorted(edges), len(log)]
    for start, end in pairwise(cuts):
        rows = log[start:end]
        begins = [
            not (runs and number and rows[number][0] == rows[number - 1][0])
            for number in range(len(rows))
        ]
        starts = np.flatnonzero(begins)
        names = [rows[row][0] for row in starts]
        yield Batch(
            names=Texts.of(names),
            at=np.arange(start, end),
            changed=np.array([row[1] for row in rows], np.int8),
            lengths=np.diff(starts, append=len(rows)) if runs else None,
            position=start,
            last_modified=_column(rows, 2, np.int64),
            answer=_column(rows, 3, np.uint8),
            site=None if site is None else Texts.of([site(name) for name in names]),
        )


def _column(rows, number, dtype):
    if not rows or rows[0][number] is None:
        return None
    return np.array([row[number] for row in rows], dtype)


def listed(grouped):
    """Each page's position and rows, by name."""
    rows, pages = grouped.rows, {}
    names = grouped.names.tolist()
    columns = [rows.at, rows.changed, rows.last_modified, rows.answer]
    for page, name in enumerate(names):
        some = slice(int(rows.offsets[page]), int(rows.offsets[page + 1]))
        cells = [column[some].tolist() for column in columns if column is not None]
        pages[name] = (grouped.position[page].item(), list(zip(*cells, strict=True)))
    assert len(pages) == len(names)
    return pages


def expected(log):
    """The same with a dictionary of lists."""
    pages: dict = {}
    for row, (page, *cells) in enumerate(log):
        known = [cell for cell in cells if cell is not None]
        pages.setdefault(page, (row, []))[1].append((row, *known))
    return pages


def forged(batch, hashes):
    """The same batch with hashes made by hand."""
    key, check = zip(*[hashes[name] for name in batch.names.tolist()], strict=True)
    return Batch(
        names=batch.names,
        at=batch.at,
        changed=batch.changed,
        lengths=batch.lengths,
        position=batch.position,
        key=np.array(key, np.uint64),
        check=np.array(check, np.uint32),
    )


def test_a_page_keeps_its_rows_in_the_order_of_the_log():
    log = [("/b", 0, None, None), ("/a", 1, None, None), ("/b", 1, None, None)]

    grouped = group(batch.hashed(7) for batch in batches(log, runs=False))

    assert listed(grouped) == {"/b": (0, [(0, 0), (2, 1)]), "/a": (1, [(1, 1)])}


@settings(max_examples=200)
@given(_logs(), st.data(), st.booleans(), st.integers(0, 2**56 - 1))
def test_any_order_of_rows_gives_each_page_its_own(log, data, runs, seed):
    """However the log is cut into batches, and whatever runs the cuts divide."""
    edges = data.draw(st.lists(st.integers(0, len(log)), max_size=4))

    grouped = group(batch.hashed(seed) for batch in batches(log, edges, runs=runs))

    assert listed(grouped) == expected(log)


def test_a_run_that_batches_divide_is_one():
    """Four batches, the page going on through all of them; nothing need be moved then."""
    log = [("/a", 0, None, None)] + [("/b", 1, None, None)] * 6 + [("/c", 0, None, None)]

    grouped = group(batch.hashed(1) for batch in batches(log, [2, 4, 6]))

    assert grouped.names.tolist() == ["/a", "/b", "/c"]
    assert grouped.rows.offsets.tolist() == [0, 1, 7, 8]
    assert grouped.position.tolist() == [0, 1, 7]


def test_batches_may_lack_a_column_that_others_have():
    with_dates = [("/a", 0, 70, 2)]
    without = [("/a", 1, None, None), ("/b", 1, None, None)]
    parts = [*batches(with_dates), *batches(without)]

    grouped = group(batch.hashed(1) for batch in parts)

    pages = listed(grouped)
    assert pages["/a"][1] == [(0, 0, 70, 2), (0, 1, UNKNOWN_TIME, 0)]
    assert pages["/b"][1] == [(1, 1, UNKNOWN_TIME, 0)]


def test_no_batches_make_no_pages():
    grouped = group([])

    assert len(grouped) == 0
    assert grouped.rows.offsets.tolist() == [0]


@given(_logs().filter(len), st.data())
def test_sites_go_with_their_pages(log, data):
    edges = data.draw(st.lists(st.integers(0, len(log)), max_size=3))

    grouped = group(b.hashed(5) for b in batches(log, edges, site=lambda name: f"{len(name)}"))

    assert grouped.sites is not None
    assert grouped.sites.tolist() == [f"{len(name)}" for name in grouped.names.tolist()]


# Hashes made by hand. Pages are the same only where both hashes are.

TOP = 0xABC << 52  # all of these pages share the upper bits, all that the sort looks at
ALIKE = {
    "upper bits of the first, second differs": {
        "a": (TOP | 1, 11),
        "b": (TOP | 2, 13),
        "c": (TOP | 3, 15),
    },
    "all of the first, second differs": {"a": (TOP, 11), "b": (TOP, 13), "c": (TOP, 15)},
    "the second, first differs in its upper bits": {
        "a": (1 << 60 | 5, 11),
        "b": (2 << 60 | 5, 11),
        "c": (3 << 60 | 5, 11),
    },
    "the second, first differs everywhere": {
        "a": (1 << 60 | 5, 11),
        "b": (2 << 60 | 7, 11),
        "c": (3 << 60 | 9, 11),
    },
    "nothing": {"a": (1 << 60, 11), "b": (2 << 60, 13), "c": (3 << 60, 15)},
}


@pytest.mark.parametrize("alike", ALIKE)
@settings(max_examples=100)
@given(
    pages=st.lists(st.sampled_from("abc"), max_size=12),
    edges=st.lists(st.integers(0, 12), max_size=3),
    runs=st.booleans(),
)
def test_pages_are_told_apart_by_both_hashes(alike, pages, edges, runs):
    """Whichever of them the pages share, wherever batches are cut."""
    log = [(page, row % 3 - 1, None, None) for row, page in enumerate(pages)]
    cuts = [min(edge, len(log)) for edge in edges]
    parts = [b for b in batches(log, cuts, runs=runs) if len(b.names)]

    grouped = group(forged(batch, ALIKE[alike]) for batch in parts)

    assert listed(grouped) == expected(log)


def test_many_pages_that_share_their_upper_bits_are_told_apart():
    """Two groups of a hundred pages each, and pages of their own between them."""
    pages = [f"{number}" for number in range(300)]
    hashes = {
        page: ((number % 3 + 1) << 60 | number if number % 3 else number << 50 | 7, 2 * number + 1)
        for number, page in enumerate(pages)
    }
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(300), 4))
    log = [(pages[number], 0, None, None) for number in order.tolist()]

    grouped = group(forged(batch, hashes) for batch in batches(log, [500], runs=False))

    assert listed(grouped) == expected(log)


def test_a_name_that_loses_its_slot_is_still_there():
    """Names are remembered by the low bits of their hash; two that share a slot take turns."""
    hashes = {"a": (1 << 40 | 5, 11), "b": (2 << 40 | 5, 13)}
    log = [(page, 0, None, None) for page in "ababab"]

    grouped = group(forged(batch, hashes) for batch in batches(log, [1, 2, 3, 4, 5], runs=False))

    assert listed(grouped) == expected(log)
