from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl import AnswerKind, Visit
from recrawl.visits.rows import UNKNOWN_TIME, Rows, rows_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def listed(rows):
    """The rows of each page as tuples of whatever columns there are."""
    columns = [rows.at, rows.changed, rows.last_modified, rows.answer]
    cells = list(zip(*(column.tolist() for column in columns if column is not None), strict=True))
    return [cells[start:end] for start, end in pairwise(rows.offsets.tolist())]


@st.composite
def _rows(draw):
    """A few pages, some without rows, with and without the columns that may be left out."""
    offsets = np.cumsum([0, *draw(st.lists(st.integers(0, 4), max_size=5))])
    count = int(offsets[-1])
    full = draw(st.booleans())
    return Rows(
        offsets=offsets,
        at=np.arange(count) * 10,
        changed=(np.arange(count) % 3 - 1).astype(np.int8),
        last_modified=np.arange(count) * 7 if full else None,
        answer=(np.arange(count) % 4).astype(np.uint8) if full else None,
    )


def test_visits_become_rows_page_by_page():
    """Pages in order of first appearance, the visits of each as they came."""
    visits = [
        Visit("/b", EPOCH + timedelta(seconds=2), changed=True),
        Visit("/a", EPOCH, answer=AnswerKind.GONE),
        Visit("/b", EPOCH, changed=False, last_modified=EPOCH - timedelta(microseconds=1)),
    ]

    names, rows = rows_of(visits)

    assert names == ["/b", "/a"]
    assert listed(rows) == [
        [(2_000_000, 1, UNKNOWN_TIME, AnswerKind.OK), (0, 0, -1, AnswerKind.OK)],
        [(0, -1, UNKNOWN_TIME, AnswerKind.GONE)],
    ]


def test_the_first_row_of_each_page_is_known():
    """Pages without rows have none, wherever they stand."""
    rows = Rows(np.array([0, 0, 2, 2, 3, 3]), np.arange(3), np.zeros(3, np.int8))

    assert rows.is_first.tolist() == [True, False, True]


def test_a_page_without_rows_reduces_to_what_is_said_of_it():
    rows = Rows(np.array([0, 0, 2, 2, 3, 3]), np.arange(3), np.zeros(3, np.int8))

    assert rows.of_page(np.minimum, np.array([5, 4, 3]), 9).tolist() == [9, 4, 9, 3, 9]
    assert rows.of_page(np.add, np.array([5, 4, 3]), 0).tolist() == [0, 9, 0, 3, 0]


@given(_rows(), st.data())
def test_keep_leaves_every_page_its_wanted_rows(rows, data):
    wanted = data.draw(st.lists(st.booleans(), min_size=len(rows.at), max_size=len(rows.at)))
    flags = iter(wanted)
    expected = [[row for row in page if next(flags)] for page in listed(rows)]

    assert listed(rows.keep(np.array(wanted, np.bool_))) == expected


@given(_rows(), st.data())
def test_pages_are_a_part_without_a_copy(rows, data):
    count = len(rows.offsets) - 1
    start = data.draw(st.integers(0, count))
    stop = data.draw(st.integers(start, count))

    part = rows.pages(slice(start, stop))

    assert listed(part) == listed(rows)[start:stop]
    assert np.shares_memory(part.at, rows.at) or not len(part.at)


@given(_rows(), st.randoms(use_true_random=False))
def test_take_moves_rows_about(rows, random):
    """Here each page's rows are reversed or not."""
    edges = rows.offsets.tolist()
    order, expected = [], []
    for number, page in enumerate(listed(rows)):
        step = random.choice([1, -1])
        order += list(range(edges[number], edges[number + 1]))[::step]
        expected.append(page[::step])

    assert listed(rows.take(np.array(order, np.int64))) == expected
