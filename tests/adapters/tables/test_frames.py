"""Frames in: every type that can mean a page, a time, a change; and what is said of the others."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from recrawl import AnswerKind, Visit
from recrawl.adapters.tables.frames import frame_input, whole_frame_input
from recrawl.adapters.tables.rates import read_rates
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.visits import VisitReading, read_batches
from recrawl.adapters.tables.whole import WholeTable
from recrawl.errors import InvalidTable
from recrawl.visits.rows import UNKNOWN_TIME
from tests.adapters.tables.files import rows_in

NEW_YEAR = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
MICROSECONDS = int(NEW_YEAR.timestamp()) * 1_000_000


def visits(**columns):
    """Two visits to one page, with some columns of another kind."""
    plain = {"page": ["/a", "/a"], "visited_at": ["2026-01-01"] * 2, "changed": [None, True]}
    return {**plain, **columns}


def reading(source, **options):
    return VisitReading(frame_input(source, TableOptions(**options)))


def refusal(source, **options):
    with pytest.raises(InvalidTable) as refused:
        list(read_batches(reading(source, **options)))
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"],
        [NEW_YEAR, NEW_YEAR],
        [dt.date(2026, 1, 1)] * 2,
        [MICROSECONDS // 10**6] * 2,
        [MICROSECONDS / 1e6] * 2,
        np.array(["2026-01-01"] * 2, "M8[s]"),
        np.array(["2026-01-01"] * 2, "M8[ms]"),
        np.array(["2026-01-01"] * 2, "M8[ns]"),
        np.array(["2026-01-01"] * 2, "M8[D]"),
        pd.Series(pd.to_datetime(["2026-01-01 01:00"] * 2)).dt.tz_localize("Europe/Berlin"),
        pl.Series([NEW_YEAR] * 2).dt.convert_time_zone("America/New_York"),
        pl.Series([NEW_YEAR] * 2).dt.cast_time_unit("ms"),
        pa.chunked_array([[NEW_YEAR], [NEW_YEAR]]),
        pa.array([NEW_YEAR, NEW_YEAR]).dictionary_encode(),
    ],
    ids=lambda times: (
        f"{type(times).__name__} {getattr(times, 'dtype', getattr(times, 'type', ''))}"
    ),
)
def test_times_of_every_type_mean_the_same(times):
    assert [row[1] for row in rows_in(reading(visits(visited_at=times)))] == [MICROSECONDS] * 2


@pytest.mark.parametrize(
    "pages",
    [
        ["/ä", "/ä"],
        np.array(["/ä", "/ä"]),
        pd.Series(["/ä", "/ä"], dtype="category"),
        pd.Series(["/ä", "/ä"], dtype=object),
        pl.Series(["/ä", "/ä"]),
        pl.Series(["/ä", "/ä"], dtype=pl.Enum(["/b", "/ä"])),
        pa.array(["/ä", "/ä"], pa.large_string()),
        pa.array(["/ä", "/ä"], pa.string_view()),
        pa.array(["/ä".encode()] * 2, pa.binary()),
        pa.array(["/ä".encode()] * 2, pa.binary_view()),
        pa.array(["/ä", "/ä"], pa.dictionary(pa.int8(), pa.large_string())),
        pa.RunEndEncodedArray.from_arrays([2], ["/ä"]),
    ],
    ids=lambda pages: (
        f"{type(pages).__name__} {getattr(pages, 'dtype', getattr(pages, 'type', ''))}"
    ),
)
def test_names_of_every_type_mean_the_same(pages):
    assert [row[0] for row in rows_in(reading(visits(page=pages)))] == ["/ä", "/ä"]


@pytest.mark.parametrize(
    "flags",
    [
        [None, True],
        ["", "true"],
        pd.Series([None, True], dtype="boolean"),
        pd.Series([np.nan, 1.0]),
        pd.Series([None, True], dtype=object),
        pl.Series([None, 1]),
        pa.array([None, "true"]).dictionary_encode(),
    ],
    ids=lambda flags: (
        f"{type(flags).__name__} {getattr(flags, 'dtype', getattr(flags, 'type', ''))}"
    ),
)
def test_changes_of_every_type_mean_the_same(flags):
    assert [row[2] for row in rows_in(reading(visits(changed=flags)))] == [-1, 1]


def test_a_missing_date_is_none():
    dates = pd.Series([pd.NaT, pd.Timestamp("2026-01-01", tz="UTC")])

    assert [row[3] for row in rows_in(reading(visits(last_modified=dates)))] == [
        UNKNOWN_TIME,
        MICROSECONDS,
    ]


def test_visits_are_read_with_all_they_say():
    seen = [
        Visit("/a", NEW_YEAR),
        Visit("/a", NEW_YEAR, changed=True, last_modified=NEW_YEAR),
        Visit("/a", NEW_YEAR, changed=False, answer=AnswerKind.NOT_MODIFIED),
        Visit("/a", NEW_YEAR, answer=AnswerKind.FAILED),
        Visit("/a", NEW_YEAR, answer=AnswerKind.GONE),
    ]

    rows = rows_in(reading(iter(seen)))

    assert [row[2] for row in rows] == [-1, 1, 0, -1, -1]
    assert [row[3] for row in rows] == [UNKNOWN_TIME, MICROSECONDS, *[UNKNOWN_TIME] * 3]
    assert [row[4] for row in rows] == [visit.answer for visit in seen]


def test_a_frame_with_columns_of_strange_names_is_a_frame():
    """Some libraries give columns as attributes, which must not be taken for methods."""
    frame = pd.DataFrame(visits()).assign(scanner=1, to_reader=2, collect=3)

    assert len(rows_in(reading(frame))) == 2
    assert len(rows_in(reading(duckdb.from_df(frame)))) == 2


def test_columns_have_the_names_that_they_are_given():
    frame = pl.DataFrame(visits()).rename({"page": "url", "changed": "differs"})
    theirs = {"page": "url", "changed": "differs"}

    assert len(rows_in(reading(frame, columns=theirs))) == 2


def test_bad_rows_may_be_skipped():
    table = frame_input(visits(visited_at=["2026-01-01", "soon"]), TableOptions(skip_bad_rows=True))

    assert len(rows_in(VisitReading(table))) == 1
    assert table.skipped == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            visits(visited_at=["2026-01-01", "soon"]),
            "frame, row 2, column 'visited_at': must be a time in ISO 8601 or an epoch number",
        ),
        (
            visits(changed=["", "perhaps"]),
            "frame, row 2, column 'changed': must be true, false or empty (got 'perhaps')",
        ),
        (visits(page=["/a", None]), "frame, row 2, column 'page': must name a page (got '')"),
        ({"page": ["/a"]}, "frame: column 'visited_at' not found (got page)"),
        (pd.DataFrame(), "frame: column 'page' not found (got )"),
        (visits(page=[["/a"], ["/b"]]), "frame: column 'page' must hold single values (got list<"),
        (visits(page=["/a"]), "frame: must be a frame of plain columns ("),
        (visits(page=[1, "/a"]), "frame: must be a frame of plain columns ("),
        (7, "source must be a path, a frame (pandas, polars, DuckDB, pyarrow), a mapping"),
        (["/a", "/b"], "source must be a path, a frame"),
        ([Visit("/a", NEW_YEAR), "/b"], "visits: must all be Visit (got str)"),
        ([Visit(" ", NEW_YEAR)], "visits, row 1, column 'page': must name a page (got ' ')"),
    ],
)
def test_what_is_wrong_with_a_frame_is_said_as_of_a_file(source, sentence):
    assert refusal(source).startswith(sentence)


def test_a_query_that_fails_says_so_itself():
    relation = duckdb.sql("select error('no such luck') page, 1 visited_at, true changed")

    with pytest.raises(duckdb.Error, match="no such luck"):
        reading(relation)


def test_a_frame_without_rows_has_no_pages():
    assert rows_in(reading({name: [] for name in visits()})) == []


def test_a_whole_table_reads_any_frame_column_by_column():
    frame = pl.DataFrame({"page": ["/a", "/b"], "rate_per_day": [0.5, None], "other": [[1], [2]]})
    stream = pa.RecordBatchReader.from_stream(frame)  # which can be read but once

    rates = read_rates(whole_frame_input(stream))

    assert rates.pages == ["/a", "/b"]
    assert rates.figures["rate_per_day"].tolist()[0] == 0.5
    assert WholeTable(whole_frame_input(frame)).texts("other") == ["[1]", "[2]"]
    with pytest.raises(
        InvalidTable, match=r"^frame, row 2, column 'page': must name each page once"
    ):
        read_rates(whole_frame_input({"page": ["/a", "/a"], "rate_per_day": [1.0, 2.0]}))
