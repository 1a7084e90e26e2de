"""Worlds in files: three formats, one world; what is wrong is refused in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recrawl.adapters.tables.worlds import read_world, read_world_and_count
from recrawl.errors import InvalidInput, InvalidParameter, InvalidTable

PAGES = """page,url,first_seen,removed_at,weight
7,https://a/x,2026-01-01T00:00:00Z,,2
5,https://a/y,2026-01-03,2026-01-09T12:00:00+00:00,
"""
CHANGES = """page,changed_at,bulk,revert
5,2026-01-04,false,true
7,2026-01-02T06:00:00Z,true,false
7,1767571200,false,
"""


def rows_of(text):
    header, *lines = (line.split(",") for line in text.splitlines())
    return [dict(zip(header, line, strict=True)) for line in lines]


@pytest.fixture
def files(tmp_path):
    """Writes both files in a format."""

    def write(kind="csv", pages=PAGES, changes=CHANGES):
        paths = []
        for name, text in (("pages", pages), ("changes", changes)):
            path = tmp_path / f"{name}.{kind}"
            if kind == "csv":
                path.write_text(text)
            elif kind == "jsonl":
                path.write_text("".join(json.dumps(row) + "\n" for row in rows_of(text)))
            else:
                _write_parquet(path, rows_of(text))
            paths.append(path)
        return paths

    return write


def _write_parquet(path, rows):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = {}
    for name in rows[0]:
        texts = [row[name] or None for row in rows]
        if name == "page":
            table[name] = pa.array([int(row[name]) for row in rows], pa.int32())
        elif name in ("first_seen", "removed_at", "changed_at"):
            table[name] = pa.array(
                [text and _moment(text) for text in texts], pa.timestamp("ms", tz="UTC")
            )
        elif name in ("bulk", "revert"):
            table[name] = pa.array([text and text == "true" for text in texts], pa.bool_())
        elif name == "weight":
            table[name] = pa.array([text and float(text) for text in texts], pa.float64())
        else:
            table[name] = texts
    pq.write_table(pa.table(table), path)


def _moment(text):
    from recrawl.units import instant

    return instant(text)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_world_is_the_same_in_every_format(files, kind):
    world = read_world(*files(kind))

    assert world.address == ("https://a/x", "https://a/y")
    assert world.weight.tolist() == [2.0, 1.0]
    assert world.offsets.tolist() == [0, 2, 3]
    assert np.datetime_as_string(world.changes, "D").tolist() == [
        "2026-01-02",
        "2026-01-05",
        "2026-01-04",
    ]
    assert np.isnat(world.removed_at).tolist() == [True, False]
    assert world.end == np.datetime64("2026-01-09T12:00")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("ignore", "left"), [(["bulk"], [1, 1]), (["revert"], [2, 0]), (["bulk", "revert"], [1, 0])]
)
def test_kinds_of_changes_can_be_left_out(files, kind, ignore, left):
    assert read_world(*files(kind), ignore=ignore).change_counts.tolist() == left


def test_formats_can_be_mixed(files):
    (pages, _), (_, changes) = files("csv"), files("parquet")

    assert read_world(pages, changes).change_counts.tolist() == [2, 1]


def test_pages_may_be_named_by_text_and_need_no_address(files):
    pages = "page,first_seen\n/a,2026-01-01\n/b,2026-01-02\n"
    world = read_world(*files(pages=pages, changes="page,changed_at\n/b,2026-01-05\n"))

    assert world.address == ("/a", "/b")
    assert world.change_counts.tolist() == [0, 1]
    assert world.weight.tolist() == [1.0, 1.0]


def test_changes_outside_of_lives_are_counted(files):
    """One before the page is found, one at that moment, one after it is gone."""
    changes = CHANGES + "5,2026-01-02,,\n7,2026-01-01,,\n5,2026-01-10,,\n"

    world, left_out = read_world_and_count(*files(changes=changes))

    assert left_out == 3
    assert len(world.changes) == 3


def test_a_history_ends_with_its_last_change_even_where_that_is_left_out(files):
    """Leaving changes out must not make the history shorter."""
    changes = CHANGES + "7,2026-02-01,true,\n"

    assert read_world(*files(changes=changes), ignore=["bulk"]).end == np.datetime64("2026-02-01")


def test_no_changes_are_a_world_too(files):
    assert len(read_world(*files(changes="page,changed_at\n")).changes) == 0


@pytest.mark.parametrize(
    ("pages", "changes", "sentence"),
    [
        ("", CHANGES, "pages.csv: the file is empty; expected a header and rows"),
        (PAGES, "", "changes.csv: the file is empty; expected a header and rows"),
        ("page,first_seen\n", CHANGES, "pages.csv: no pages found"),
        ("page,url\n1,a\n", CHANGES, "column 'first_seen' not found (got page, url)"),
        (PAGES, "page,at\n7,2026\n", "column 'changed_at' not found (got page, at)"),
        (
            PAGES,
            CHANGES + "8,2026-01-05,,\n",
            "changes.csv, line 5, column 'page': must be a page of",
        ),
        (
            PAGES + "7,z,2026-01-05,,\n",
            CHANGES,
            "pages.csv, line 4, column 'page': must appear once (got '7')",
        ),
        (PAGES + ",z,2026-01-05,,\n", CHANGES, "line 4, column 'page': must name a page"),
        (PAGES + "9,z,soon,,\n", CHANGES, "line 4, column 'first_seen': must be a time in ISO"),
        (PAGES + "9,z,,,\n", CHANGES, "line 4, column 'first_seen': must be a time in ISO"),
        (PAGES, CHANGES + "7,,,\n", "line 5, column 'changed_at': must be a time in ISO"),
        (
            PAGES + "9,z,2026-01-05,2026-01-04,\n",
            CHANGES,
            "line 4, column 'removed_at': must not be before the page is first seen",
        ),
        (PAGES + "9,z,2026-01-05,,-1\n", CHANGES, "column 'weight': must be a positive, finite"),
        (PAGES + "9,z,2026-01-05,,x\n", CHANGES, "column 'weight': must be a positive, finite"),
        (PAGES + "9,z,2026-01-05\n", CHANGES, "line 4: must have as many cells as the header, 5"),
        (PAGES + '9,"z,2026-01-05,,\n', CHANGES, "must be CSV"),
    ],
)
def test_what_is_wrong_is_told(files, pages, changes, sentence):
    with pytest.raises(InvalidInput) as told:
        read_world(*files(pages=pages, changes=changes))

    assert sentence in str(told.value)
    assert "\n" not in str(told.value)


def test_flags_are_read_only_where_they_matter(files):
    changes = CHANGES + "7,2026-01-05,perhaps,\n"

    read_world(*files(changes=changes))
    with pytest.raises(InvalidTable, match="column 'bulk': must be true, false or empty"):
        read_world(*files(changes=changes), ignore=["bulk"])


def test_what_can_be_ignored(files):
    with pytest.raises(InvalidParameter, match=r"ignore must name bulk or revert \(got 'noise'\)"):
        read_world(*files(), ignore=["noise"])
    with pytest.raises(InvalidTable, match="column 'bulk' not found"):
        read_world(*files(changes="page,changed_at\n7,2026-01-05\n"), ignore=["bulk"])


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.jsonl", b"[1]\n", "line 1: must be a JSON object"),
        ("a.jsonl", b'{"page": 1\n', "line 1: must be a JSON object"),
        ("a.csv", b"page,first_seen\n\xff,1\n", "line 2: must be UTF-8 text (got byte 0xff)"),
        ("a.parquet", b"PAR1 no more", "must be a whole Parquet file"),
        ("a.csv", b"page,first_seen\n\0,1\n", "line 2: must be text (got a NUL byte)"),
        ("a.csv", b"page,page\n1,1\n", "column 'page' appears more than once"),
        ("a.csv.gz", b"\x1f\x8b\x08\x00", "must be a whole gzip file (its end is missing)"),
        ("a.csv", b"\n\n", "must begin with a header"),
    ],
)
def test_broken_files_are_refused(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(InvalidTable) as told:
        read_world(path, path)

    assert sentence in str(told.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidTable, match="cannot be read"):
        read_world(tmp_path / "no", tmp_path / "no")


def test_times_of_parquet_that_are_absurd_are_refused(tmp_path):
    """In the year 9999, and so far away that no number holds it."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pages.parquet"
    for unit, ticks in (("s", 253_402_300_799), ("ms", 2**62)):
        first_seen = pa.array([ticks], pa.timestamp(unit))
        pq.write_table(pa.table({"page": [1], "first_seen": first_seen}), path)
        with pytest.raises(InvalidTable, match=r"pages\.parquet"):
            read_world(path, path)


def test_times_of_parquet_may_be_finer_or_coarser_than_ours(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pages, changes = tmp_path / "pages.parquet", tmp_path / "changes.parquet"
    pq.write_table(pa.table({"page": ["a"], "first_seen": pa.array([1], pa.date32())}), pages)
    changed_at = pa.array([10**15 + 7], pa.timestamp("ns"))
    pq.write_table(pa.table({"page": ["a"], "changed_at": changed_at}), changes)

    world = read_world(pages, changes)

    assert world.start == np.datetime64("1970-01-02")
    assert world.changes.tolist() == [np.datetime64(10**12, "us").tolist()]
