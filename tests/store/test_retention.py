import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.entries.entries import Prune
from recrawl.errors import InvalidParameter
from recrawl.store import open_for_writing, open_store
from recrawl.store.retention import Retention, Versions, oldest, surplus
from tests.store.made import NOON, numbered, store_with, visit


def versions(*rows):
    """Versions from (page, at, body, size)."""
    return Versions(*np.array(rows, np.int64).reshape(-1, 4).T)


def test_a_body_is_freed_with_the_last_version_that_has_it():
    """Dropping the oldest alone frees nothing: the body is still used by the second."""
    rows = versions((1, 1, 7, 10), (2, 2, 7, 10), (1, 3, 8, 10), (2, 4, 9, 10))

    assert oldest(rows, excess=5).tolist() == [True, True, False, False]


def test_age_is_in_days():
    rows = versions((1, 0, 1, 1), (1, 86_400_000, 2, 1), (1, 2 * 86_400_000, 3, 1))

    drop = surplus(rows, Retention(age=1.5), now_seconds=2 * 86_400.0)

    assert drop.tolist() == [True, False, False]


@pytest.mark.parametrize("wrong", [{"versions": 0}, {"age": -1.0}, {"total_bytes": -5}])
def test_a_retention_that_keeps_nothing_is_refused(wrong):
    with pytest.raises(InvalidParameter, match="must be at least"):
        Retention(**wrong)


_rows = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 50), st.integers(1, 4)),
    max_size=12,
    unique_by=lambda row: row[:2],
).map(lambda rows: [(page, at * 1000, body, body * 10) for page, at, body in rows])
_retentions = st.builds(
    Retention,
    versions=st.none() | st.integers(1, 4),
    age=st.none() | st.floats(0, 60).map(lambda seconds: seconds / 86_400),
)


@given(_rows, st.integers(-5, 120))
def test_for_room_go_old_versions_then_newest_ones(rows, excess):
    """The oracle drops the oldest, one at a time, until so many bytes are free."""
    newest = {page: max(row[1] for row in rows if row[0] == page) for page, *_ in rows}
    kept, places = list(rows), {row[:2]: place for place, row in enumerate(rows)}

    def order(row):
        return row[1] == newest[row[0]], row[1], places[row[:2]]

    def taken():
        return sum({row[2]: row[3] for row in kept}.values())

    before, going = taken(), sorted(rows, key=order)
    while going and before - taken() < excess:
        kept.remove(going.pop(0))

    drop = oldest(versions(*rows), excess)

    assert [row for row, gone in zip(rows, drop, strict=True) if not gone] == kept


@given(_rows, _retentions)
def test_it_drops_what_is_too_old_or_one_too_many(rows, retention):
    now = 50.0
    newest = {page: max(row[1] for row in rows if row[0] == page) for page, *_ in rows}
    kept = []
    for page, at, *rest in rows:
        newer = sum(row[0] == page and row[1] > at for row in rows)
        many = retention.versions is not None and newer >= retention.versions
        old = retention.age is not None and at < (now - retention.age * 86_400) * 1000
        if at == newest[page] or not (many or old):
            kept.append((page, at, *rest))

    drop = surplus(versions(*rows), retention, now)

    assert [row for row, gone in zip(rows, drop, strict=True) if not gone] == kept


def kept_of(reader, *bodies):
    """Those of some bodies that a store still has."""
    return [each for each in bodies if reader.body(hashlib.sha256(each).digest()[:16]) == each]


def test_a_store_keeps_so_many_versions_of_a_page(tmp_path):
    path = tmp_path / "pages.db"
    store_with(path, *numbered(2)).close()
    with open_for_writing(path, Retention(versions=2)) as store:
        for number in range(4):
            store.write([visit(0, number, body=b"%d" % number), visit(1, number, body=b"0")])

    with open_store(path) as reader:
        kept = [reader.body(version.digest) for version in reader.versions(0)]
        assert len(reader.versions(1)) == 1
        assert kept_of(reader, b"0", b"1", b"2", b"3") == [b"0", b"2", b"3"]
    assert kept == [b"2", b"3"]


def test_pruning_lets_old_bodies_go_unless_another_page_has_them(tmp_path):
    path = tmp_path / "pages.db"
    with store_with(path, *numbered(2)) as store:
        store.write([visit(0, 0, body=b"both"), visit(0, 1, body=b"old"), visit(0, 2, body=b"new")])
        store.write([visit(1, 5, body=b"both")])
    with open_for_writing(path, Retention(age=1.0)) as store:
        assert store.write([Prune(NOON + 2 * 86_400)]) == [2]

    with open_store(path) as reader:
        assert kept_of(reader, b"both", b"old", b"new") == [b"both", b"new"]
        assert [reader.body(version.digest) for version in reader.versions(1)] == [b"both"]


def test_a_clock_set_back_does_not_reorder_versions(tmp_path):
    path = tmp_path / "pages.db"
    with store_with(path, *numbered(1)) as store:
        store.write([visit(0, 10, body=b"first"), visit(0, 5, body=b"second")])

    with open_store(path) as reader:
        assert [reader.body(version.digest) for version in reader.versions(0)] == [
            b"first",
            b"second",
        ]
