"""Results come back in the order of the log, however its pages were divided up."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recrawl import Estimates
from recrawl.adapters.tables import results
from recrawl.adapters.tables.results import PieceEstimates, PieceRows, ordered
from recrawl.arrays.texts import Texts
from recrawl.report.rates import Group, Named

DAY = np.datetime64("2026-01-01", "us")


def result(positions):
    """Pages at those places of a log, by two methods; every figure of a page is its place."""
    place = np.array(positions, np.int64)
    return PieceEstimates(
        names=Texts.of([f"/{position}" for position in positions]),
        position=place,
        last_visit=DAY + place.astype("timedelta64[h]"),
        estimates=(made(place, "made"), made(place * 2, "doubled")),
    )


def made(place, method):
    """Estimates whose every figure is a page's place."""
    figures = place.astype(np.float64)
    return Estimates(
        rate=figures,
        low=figures / 2,
        high=figures * 2,
        shape=figures + 1,
        exposure=figures + 2,
        changes=place + 3,
        visits=place + 4,
        status=(place % 7).astype(np.uint8),
        flags=(place % 128).astype(np.uint32),
        method=method,
        probability=figures + 5 if method == "doubled" else None,
    )


def listed(some):
    """Every column of a result, row by row."""
    columns = [some.position, some.last_visit]
    for estimates in some.estimates:
        columns += estimates.columns().values()
    return list(zip(some.names.tolist(), *(list(map(str, c)) for c in columns), strict=True))


@pytest.fixture
def _narrow_windows(monkeypatch):
    """Windows of three pages, so that few pages need several."""
    monkeypatch.setattr(results, "_WINDOW", 3)


def test_pieces_in_order_are_passed_on_one_by_one(tmp_path):
    """Without a file: a log that streams goes straight through."""
    parts = ordered(
        iter([result([0, 2, 1]), result([5, 3])]), in_order=True, scratch=tmp_path / "missing"
    )

    assert [part.position.tolist() for part in parts] == [[0, 1, 2], [3, 5]]


@pytest.mark.usefixtures("_narrow_windows")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 40), unique=True, max_size=20), st.data())
def test_pieces_in_no_order_are_put_in_order(tmp_path_factory, positions, data):
    """Every column goes with its page; some pieces may be empty."""
    scratch = tmp_path_factory.mktemp("scratch")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(positions)), max_size=4)))
    edges = [0, *cuts, len(positions)]
    pieces = [positions[start:end] for start, end in pairwise(edges)]

    parts = list(ordered(map(result, pieces), in_order=False, scratch=scratch))

    rows = [row for part in parts for row in listed(part)]
    assert rows == listed(result(sorted(positions)))
    methods = {tuple(some.method for some in part.estimates) for part in parts}
    assert methods == {("made", "doubled")}
    assert list(scratch.iterdir()) == []


@pytest.mark.usefixtures("_narrow_windows")
def test_windows_are_about_as_long_as_asked(tmp_path):
    """Results larger than memory are never in it all at once."""
    pieces = [result(range(start, 30, 3)) for start in range(3)]

    parts = list(ordered(pieces, in_order=False, scratch=tmp_path))

    assert [len(part.position) for part in parts] == [3] * 10


@pytest.mark.usefixtures("_narrow_windows")
def test_windows_are_as_long_wherever_pages_first_stand(tmp_path):
    """A log in order of time names most of its pages at its beginning."""
    pieces = [result([*range(start, 28, 2), 10**9 + start]) for start in range(2)]

    parts = list(ordered(pieces, in_order=False, scratch=tmp_path))

    assert [len(part.position) for part in parts] == [3] * 10


@pytest.mark.usefixtures("_narrow_windows")
def test_temporary_files_have_no_name(tmp_path):
    """Whatever ends the process, nothing is left behind."""
    parts: Any = ordered([result([4, 2]), result([1, 9])], in_order=False, scratch=tmp_path)

    next(parts)

    assert list(tmp_path.iterdir()) == []
    parts.close()


WORDS = ["quiet", "busy", "gone"]


def rows(positions, words):
    """One row for the page at place 1, two for that at place 2, none at place 0, and so on."""
    place = np.array(positions, np.int64)
    counts = place % 4
    each = np.repeat(place, counts)
    return PieceRows(
        names=Texts.of([f"/{position}" for position in positions]),
        position=place,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        columns={
            "figure": each / 3,
            "at": DAY + each.astype("timedelta64[h]"),
            "word": Named(np.array([words.index(WORDS[one % 3]) for one in each.tolist()]), words),
            "group": Group(
                {"a": (each * 2).astype(np.float64), "b": (each * 5).astype(np.float64)}
            ),
        },
    )


def cells(some):
    columns = [column.tolist() for column in some.columns.values()]
    return list(zip(some.names.take(some.page).tolist(), *columns, strict=True))


@pytest.mark.usefixtures("_narrow_windows")
@pytest.mark.parametrize("in_order", [True, False])
def test_pages_may_have_several_rows(tmp_path, in_order):
    """Pieces may have words of their own."""
    positions = [3, 0, 2, 5, 7, 6, 11, 9, 8, 15]
    pieces = [rows(positions[:4], WORDS), rows(positions[4:], [*reversed(WORDS), "never"])]

    parts = list(ordered(pieces, in_order=in_order, scratch=tmp_path))

    assert [cell for part in parts for cell in cells(part)] == cells(rows(sorted(positions), WORDS))
    assert sum(len(part) for part in parts) == sum(position % 4 for position in positions)


def test_temporary_files_are_removed_after_an_error(tmp_path):
    def pieces():
        yield result([1, 0])
        raise ArithmeticError("in the second piece")

    with pytest.raises(ArithmeticError):
        list(ordered(pieces(), in_order=False, scratch=tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_rows_may_be_taken():
    assert listed(result([3, 1, 2]).take(np.array([2, 0]))) == listed(result([2, 3]))
