"""Parquet in any types that can mean a page, a time, a change; and files that are broken."""

import contextlib
import subprocess
import sys
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl import AnswerKind
from recrawl.adapters.tables import arrow_files
from recrawl.adapters.tables.visits import read_batches
from recrawl.errors import InvalidTable
from recrawl.visits.rows import UNKNOWN_TIME
from tests.adapters.tables.files import plain, rows_in, visits_in, write_parquet

NEW_YEAR = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
PAGES = ["/a", "/a", "/é", "/a"]
TIMES = [NEW_YEAR, NEW_YEAR + 86_400, NEW_YEAR, NEW_YEAR + 2 * 86_400]
CHANGED = [None, True, None, False]
EXPECTED = list(zip(PAGES, TIMES, [-1, 1, -1, 0], strict=True))


def log(folder, *, name="visits.parquet", **columns):
    """The log above, with other columns in place of its own."""
    plain_columns = {"page": PAGES, "visited_at": TIMES, "changed": CHANGED}
    return write_parquet(folder / name, plain_columns | columns)


def refusal(path):
    with pytest.raises(InvalidTable) as refused:
        rows_in(path)
    assert "\n" not in str(refused.value)
    return str(refused.value).removesuffix("; --skip-bad-rows skips rows without one")


def scaled(factor):
    return [second * factor for second in TIMES]


@pytest.mark.parametrize(
    "pages",
    [
        pa.array(PAGES, pa.string()),
        pa.array(PAGES, pa.large_string()),
        pa.array(PAGES, pa.string_view()),
        pa.array(PAGES).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 0], pa.uint8()), ["/a", "/é"]),
        pa.array([page.encode() for page in PAGES], pa.binary()),
        pa.chunked_array([PAGES[:1], [], PAGES[1:]]),
    ],
    ids=lambda pages: str(pages.type),
)
def test_pages_may_be_any_kind_of_text(tmp_path, pages):
    assert plain(rows_in(log(tmp_path, page=pages))) == EXPECTED


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint32()], ids=lambda kind: f"{kind}")
@pytest.mark.parametrize("numbers", [[7, 7, 8, 7], [7, 8, 7, 8]])
def test_pages_may_be_whole_numbers(tmp_path, kind, numbers):
    """Grouped or not: both ways of reading names."""
    path = log(tmp_path, page=pa.array(numbers, kind))

    assert [row[0] for row in rows_in(path)] == [str(number) for number in numbers]


def test_pages_may_be_a_dictionary_of_numbers(tmp_path):
    pages = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 0]), pa.array([77, 88]))

    assert [row[0] for row in rows_in(log(tmp_path, page=pages))] == ["77", "77", "88", "77"]


TIME_COLUMNS = {
    "s": pa.array(TIMES, pa.timestamp("s")),
    "ms": pa.array(scaled(1000), pa.timestamp("ms")),
    "us": pa.array(scaled(10**6), pa.timestamp("us")),
    "ns": pa.array([second * 10**9 + 999 for second in TIMES], pa.timestamp("ns")),
    "s UTC": pa.array(TIMES, pa.timestamp("s", "UTC")),
    "ms in Berlin": pa.array(scaled(1000), pa.timestamp("ms", "Europe/Berlin")),
    "us at an offset": pa.array(scaled(10**6), pa.timestamp("us", "-03:30")),
    "ns in Tokyo": pa.array(scaled(10**9), pa.timestamp("ns", "Asia/Tokyo")),
    "date32": pa.array([second // 86_400 for second in TIMES], pa.date32()),
    "date64": pa.array(scaled(1000), pa.date64()),
    "int32": pa.array(TIMES, pa.int32()),
    "int64": pa.array(TIMES, pa.int64()),
    "uint64": pa.array(TIMES, pa.uint64()),
    "double": pa.array([float(second) for second in TIMES], pa.float64()),
    "decimal": pa.array(TIMES).cast(pa.decimal128(30, 3)),
    "ISO": pa.array(["2026-01-01", "2026-01-02T00:00Z", "2026-01-01T00:00", "2026-01-03"]),
    "ISO with offsets": pa.array(
        ["2026-01-01T01:00+01:00", "2026-01-01T23:00-01:00", "2026-01-01", "2026-01-03T00:00Z"]
    ),
    "epoch text": pa.array([str(second) for second in TIMES]),
    "dictionary": pa.array([str(second) for second in TIMES]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TIME_COLUMNS)
def test_times_may_have_any_type(tmp_path, kind):
    """UTC where no zone is given; what is finer than a microsecond is cut off."""
    assert plain(rows_in(log(tmp_path, visited_at=TIME_COLUMNS[kind]))) == EXPECTED


@pytest.mark.parametrize("kind", TIME_COLUMNS)
def test_dates_of_any_type_may_be_missing(tmp_path, kind):
    """A null in the second row."""
    column = TIME_COLUMNS[kind]
    dates = pa.concat_arrays([column[:1], pa.nulls(1, column.type), column[2:]])
    path = log(tmp_path, last_modified=dates)

    dates_read = [row[3] for row in rows_in(path)]
    assert dates_read == [
        NEW_YEAR * 10**6,
        UNKNOWN_TIME,
        NEW_YEAR * 10**6,
        (NEW_YEAR + 2 * 86_400) * 10**6,
    ]


def test_fractions_of_seconds_are_kept(tmp_path):
    path = log(tmp_path, visited_at=[0.000001, 0.5, 1.25, 1_700_000_000.123456])

    assert [row[1] for row in rows_in(path)] == [1, 500_000, 1_250_000, 1_700_000_000_123_456]


CHANGED_COLUMNS = {
    "bool": pa.array(CHANGED, pa.bool_()),
    "string": pa.array([None, "true", "", "FALSE"]),
    "dictionary": pa.array([None, "true", "", "false"]).dictionary_encode(),
    "int": pa.array([None, 1, None, 0], pa.int8()),
    "double": pa.array([None, 1.0, None, 0.0]),
}


@pytest.mark.parametrize("kind", CHANGED_COLUMNS)
def test_changes_may_have_any_type(tmp_path, kind):
    assert plain(rows_in(log(tmp_path, changed=CHANGED_COLUMNS[kind]))) == EXPECTED


def test_a_column_of_nothing_but_nulls_says_nothing(tmp_path):
    nothing = pa.nulls(4)
    rows = rows_in(log(tmp_path, changed=nothing, last_modified=nothing, status=nothing))

    assert [row[2:5] for row in rows] == [(-1, UNKNOWN_TIME, AnswerKind.OK)] * 4


STATUS_COLUMNS = {
    "int": pa.array([200, 304, None, 404], pa.int16()),
    "double": pa.array([200.0, 304.0, None, 404.0]),
    "string": pa.array(["200", "304", None, "gone"]),
    "dictionary": pa.array(["ok", "304", "", "410"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", STATUS_COLUMNS)
def test_statuses_may_have_any_type(tmp_path, kind):
    path = log(tmp_path, status=STATUS_COLUMNS[kind])

    expected = [AnswerKind.OK, AnswerKind.NOT_MODIFIED, AnswerKind.OK, AnswerKind.GONE]
    assert [row[4] for row in rows_in(path)] == expected


SITE_COLUMNS = {
    "string": pa.array(["x", "x", None, "x"]),
    "large_string": pa.array(["x", "x", None, "x"], pa.large_string()),
    "dictionary": pa.array(["x", "x", None, "x"]).dictionary_encode(),
    "int": pa.array([7, 7, None, 7]),
}


@pytest.mark.parametrize("kind", SITE_COLUMNS)
@pytest.mark.parametrize("pages", [PAGES, ["/a", "/b", "/c", "/d"]])
def test_sites_may_have_any_type(tmp_path, kind, pages):
    """Of runs and of single rows; a missing one is an empty name."""
    path = log(tmp_path, page=pages, site=SITE_COLUMNS[kind])

    name = "7" if kind == "int" else "x"
    assert [row[5] for row in rows_in(visits_in(path, columns={"site": "site"}))] == [
        name,
        name,
        "",
        name,
    ]


def test_a_log_grouped_by_page_is_read_by_runs(tmp_path):
    """The same rows as read one by one, and fewer names."""
    pages = [f"/{number // 10}" for number in range(1000)]
    columns = {"page": pages, "visited_at": list(range(1000)), "changed": [True] * 1000}
    path = write_parquet(tmp_path / "visits.parquet", columns)

    (batch,) = read_batches(visits_in(path))

    assert len(batch.names) == 100
    assert plain(rows_in(path)) == [(page, second, 1) for second, page in enumerate(pages)]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("each", [1, 4])
def test_rows_are_numbered_through_batches_and_row_groups(tmp_path, monkeypatch, size, each):
    """Batches of any size, of runs and of single rows, in a file of several row groups."""
    monkeypatch.setattr(arrow_files, "_ROWS", size)
    pages = [f"/{number // each}" for number in range(20)]
    times = [*range(16), None, *range(17, 20)]
    columns = {"page": pages, "visited_at": times, "changed": [True] * 20}
    path = write_parquet(tmp_path / "visits.parquet", columns, row_group_size=6)

    assert refusal(path).startswith(f"{path}, row 17, column 'visited_at': must be a time")
    reading = visits_in(path, skip_bad_rows=True)
    assert plain(rows_in(reading)) == [(pages[row], row, 1) for row in range(20) if row != 16]


@pytest.mark.parametrize("each", [1, 4])
def test_names_are_looked_at_in_every_batch(tmp_path, monkeypatch, each):
    """A blank name among others that need a closer look; batches may be slices of their bytes."""
    monkeypatch.setattr(arrow_files, "_ROWS", 3)
    pages = [f"/é {number // each}" for number in range(20)]
    pages[16] = " "
    columns = {"page": pages, "visited_at": list(range(20)), "changed": [True] * 20}
    path = write_parquet(tmp_path / "visits.parquet", columns)

    assert refusal(path) == f"{path}, row 17, column 'page': must name a page (got ' ')"
    reading = visits_in(path, skip_bad_rows=True)
    assert [row[0] for row in rows_in(reading)] == pages[:16] + pages[17:]


@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_the_bounds_of_time_are_inside(tmp_path, unit, ticks):
    """1900 and 2200; a tick more is too much."""
    bounds = [datetime(year, 1, 1, tzinfo=UTC) for year in (1900, 2200)]
    first, last = (int(bound.timestamp()) * ticks for bound in bounds)
    times = pa.array([first - 1, first, last, last + 1], pa.timestamp(unit))
    reading = visits_in(log(tmp_path, visited_at=times), skip_bad_rows=True)

    assert [row[1] for row in rows_in(reading)] == [first * 10**6 // ticks, last * 10**6 // ticks]


def test_no_rows_are_an_empty_log(tmp_path):
    path = write_parquet(
        tmp_path / "visits.parquet",
        {
            "page": pa.array([], pa.string()),
            "visited_at": pa.array([], pa.int64()),
            "changed": pa.array([], pa.bool_()),
        },
    )

    assert rows_in(path) == []


# Cells that are wrong.


@pytest.mark.parametrize(
    "pages", [["/a", None, "/b", "/b"], ["/a", "/a", "/a", None], [None, "/a", "/b", "/c"]]
)
def test_a_page_must_not_be_null(tmp_path, pages):
    path = log(tmp_path, page=pages)
    row = pages.index(None) + 1

    assert refusal(path).startswith(f"{path}, row {row}, column 'page': must name a page (got ")
    reading = visits_in(path, skip_bad_rows=True)
    assert [row[0] for row in rows_in(reading)] == [page for page in pages if page]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.null()])
def test_pages_that_are_all_null_are_refused(tmp_path, kind):
    path = log(tmp_path, page=pa.nulls(4, kind))

    assert refusal(path).startswith(f"{path}, row 1, column 'page': must name a page (got ")


ABSURD = {
    "nan": pa.array([0.0, float("nan"), 1.0, 2.0]),
    "infinite": pa.array([0.0, float("inf"), 1.0, 2.0]),
    "unsigned": pa.array([0, 2**64 - 1, 1, 2], pa.uint64()),
    "s of another aeon": pa.array([0, 2**40, 1, 2], pa.timestamp("s")),
    "s that overflow": pa.array([0, 18_446_744_073_710 + NEW_YEAR, 1, 2], pa.timestamp("s")),
    "us of another aeon": pa.array([0, 2**62, 1, 2], pa.timestamp("us")),
    "ns of another century": pa.array([0, 2**63 - 1, 1, 2], pa.timestamp("ns")),
    "date of another aeon": pa.array([0, 2**30, 1, 2], pa.date32()),
    "text": pa.array(["0", "soon", "1", "2"]),
    "time of day": pa.array([0, 1, 2, 3], pa.time64("us")),
    "yes or no": pa.array([True, True, False, False]),
    "list": pa.array([[0], [1], [2], [3]]),
}


@pytest.mark.parametrize("kind", ABSURD)
def test_an_absurd_time_is_refused_by_its_row(tmp_path, kind):
    """Nothing overflows into a time that looks right, and the value that came can be shown."""
    path = log(tmp_path, visited_at=ABSURD[kind])
    row = 1 if kind in ("time of day", "yes or no", "list") else 2

    assert refusal(path).startswith(f"{path}, row {row}, column 'visited_at': must be a time")


@pytest.mark.parametrize("kind", [kind for kind in ABSURD if kind not in ("yes or no", "list")])
def test_an_absurd_time_may_be_skipped(tmp_path, kind):
    path = log(tmp_path, visited_at=ABSURD[kind])
    reading = visits_in(path, skip_bad_rows=True)
    if kind == "time of day":
        with pytest.raises(InvalidTable, match=r"all rows are malformed, the first in .*row 1"):
            rows_in(reading)
        return

    assert len(rows_in(reading)) == 3
    assert reading.table.skipped == 1


@pytest.mark.parametrize("changed", [[0, 1, 2, 0], [0.0, 1.0, 0.5, 0.0], ["", "true", "yep", ""]])
def test_a_change_must_be_true_or_false(tmp_path, changed):
    path = log(tmp_path, changed=changed)

    sentence = f"must be true, false or empty (got '{changed[2]}')"
    assert refusal(path) == f"{path}, row 3, column 'changed': {sentence}"


def test_a_status_must_be_a_code(tmp_path):
    path = log(tmp_path, status=[200, 200, 200.5, 1000])

    sentence = "must be an HTTP code, ok, failed, gone or empty (got '200.5')"
    assert refusal(path) == f"{path}, row 3, column 'status': {sentence}"


def _invalid_text(content=b"/a/a\xff\xfe/b"):
    """Four texts of two bytes, some of them no UTF-8; Parquet writers need not check."""
    offsets = pa.py_buffer(np.array([0, 2, 4, 6, 8], np.int32))
    return pa.StringArray.from_buffers(4, offsets, pa.py_buffer(content))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("pages", ["text", "bytes"])
def test_a_page_must_be_utf_8(tmp_path, pages, grouped):
    """Read row by row or by runs."""
    names = _invalid_text(b"/a/a\xff\xfe\xff\xfe" if grouped else b"/a/a\xff\xfe/b")
    path = log(tmp_path, page=names if pages == "text" else names.view(pa.binary()))

    assert refusal(path).startswith(f"{path}, row 3, column 'page': must ")
    reading = visits_in(path, skip_bad_rows=True)
    assert {row[0] for row in rows_in(reading)} <= {"/a", "/b"}
    assert reading.table.skipped == (2 if grouped else 1)


@pytest.mark.parametrize("column", ["visited_at", "changed", "last_modified", "status"])
def test_a_cell_must_be_utf_8(tmp_path, column):
    path = log(tmp_path, **{column: _invalid_text(b"\xff\xfe    \xff\xfe")})

    assert refusal(path).startswith(f"{path}, row 1, column '{column}': must ")


def test_a_site_of_other_bytes_is_a_site(tmp_path):
    """It is only compared and never shown."""
    path = log(tmp_path, site=_invalid_text(b"xx\xff\xfe\xff\xfexx"))

    pages = [row[0] for row in rows_in(visits_in(path, columns={"site": "site"}))]
    assert pages == PAGES


def test_a_page_must_be_a_single_value(tmp_path):
    path = log(tmp_path, page=[{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}])

    assert "column 'page'" in refusal(path)


def test_a_column_must_not_be_there_twice(tmp_path):
    names = ["page", "visited_at", "changed", "page"]
    arrays = [pa.array(PAGES), pa.array(TIMES), pa.array(CHANGED), pa.array(PAGES)]
    path = tmp_path / "visits.parquet"
    parquet_of(pa.Table.from_arrays(arrays, names), path)

    sentence = "column 'page' appears more than once (got page, visited_at, changed, page)"
    assert refusal(path) == f"{path}: {sentence}"


def parquet_of(table, path):
    import pyarrow.parquet as pq

    pq.write_table(table, path)


def test_a_name_with_a_dot_is_a_name(tmp_path):
    columns = {"page.url": PAGES, "visited_at": TIMES, "changed": CHANGED}
    path = write_parquet(tmp_path / "visits.parquet", columns)

    assert plain(rows_in(visits_in(path, {"page": "page.url"}))) == EXPECTED


# Files that are broken.


def large(folder, **options):
    columns = {
        "page": [f"/{number % 97}" for number in range(5000)],
        "visited_at": list(range(5000)),
        "changed": [number % 2 == 0 for number in range(5000)],
    }
    return write_parquet(folder / "visits.parquet", columns, **options)


@pytest.mark.parametrize("share", [0.0005, 0.1, 0.5, 0.9, 0.9999])
def test_a_truncated_file_is_refused(tmp_path, share):
    path = large(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: max(5, int(len(whole) * share))])

    assert refusal(path).startswith(f"{path}: must be a whole Parquet file (")


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip"])
def test_garbage_in_the_middle_is_refused(tmp_path, compression):
    path = large(tmp_path, compression=compression)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = bytes(range(256)) + bytes(144)
    path.write_bytes(content)

    assert refusal(path).startswith(f"{path}: must be a whole Parquet file (")


@pytest.mark.parametrize("seed", range(40))
def test_any_broken_byte_is_an_error_of_ours_or_none(tmp_path, seed):
    """Without a checksum some go unseen; none may end in a traceback."""
    path = large(tmp_path, compression="none")
    content = bytearray(path.read_bytes())
    random = np.random.default_rng(seed)
    for place in random.integers(4, len(content), 3).tolist():
        content[place] = int(random.integers(256))
    path.write_bytes(content)

    with contextlib.suppress(InvalidTable):
        assert len(rows_in(path)) > 0


def test_names_of_columns_that_are_no_text_are_refused(tmp_path):
    """Also of a column that nobody asked for."""
    columns = {"page": PAGES, "visited_at": TIMES, "changed": CHANGED, "note": PAGES}
    path = write_parquet(tmp_path / "visits.parquet", columns, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"note", b"n\xffte"))

    assert refusal(path).startswith(f"{path}")


def test_text_under_the_name_of_parquet_is_refused(tmp_path):
    path = tmp_path / "visits.parquet"
    path.write_text("page,visited_at,changed\n/a,1,true\n")

    assert refusal(path).startswith(f"{path}: must be a whole Parquet file (")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    from recrawl.errors import MissingExtra

    path = log(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"^reading Parquet needs .*pip install '\.\[parquet\]'"):
        rows_in(path)


def test_neither_reading_nor_writing_loads_pandas(tmp_path):
    """Arrow loads it in many of its ways in and out of numpy, a third of a second."""
    pytest.importorskip("pandas")
    path, out = log(tmp_path), tmp_path / "rates.parquet"
    command = (
        "import sys; from recrawl.analysis.estimate import RateQuestion;"
        "from pathlib import Path; import numpy as np;"
        "from recrawl.adapters.tables.columns import TableInput;"
        "from recrawl.adapters.tables.logs import Log;"
        "from recrawl.adapters.tables.outputs import to_file;"
        "from recrawl.adapters.tables.visits import VisitReading;"
        "from recrawl.report.rates import COLUMNS;"
        "question = RateQuestion.of('gamma', level=0.9);"
        f"log = Log(VisitReading(TableInput(Path({str(path)!r}))), 2**31, Path()).__enter__();"
        "(found,) = question.answers(log, Path());"
        f"writer = to_file(Path({str(out)!r}), COLUMNS);"
        "writer.__enter__().write(*question.rows(found, np.datetime64('2026-02-01')));"
        "writer.__exit__(None, None, None);"
        "print('pyarrow' in sys.modules, 'pandas' in sys.modules)"
    )

    said = subprocess.check_output([sys.executable, "-c", command], text=True)

    assert said.split() == ["True", "False"]
    assert pq.read_table(out).column("page").to_pylist() == ["/a", "/é"]
