"""What all files have in common: the three formats, the columns, the refusals."""

import gzip
import json
import zipfile
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import AnswerKind
from recrawl.adapters.tables.visits import read_batches
from recrawl.errors import InvalidTable
from recrawl.visits.rows import UNKNOWN_TIME
from tests.adapters.tables.files import (
    HEADER,
    plain,
    rows_in,
    visits_in,
    write_csv,
    write_json_lines,
    write_parquet,
)

PLAIN = HEADER[:3]


def columns(rows, header=HEADER):
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def refusal(reading):
    """The one sentence that says why a file is refused."""
    with pytest.raises(InvalidTable) as refused:
        rows_in(reading)
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence.removesuffix("; --skip-bad-rows skips rows without one")


# Page names that tempt a reader of text.
_pages = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
).filter(str.strip)
_rows = st.lists(
    st.tuples(
        _pages | st.sampled_from(['a,"b"', "line\nbreak", "tab\tand ' quote", "日本 é"]),
        st.integers(-2_000_000_000, 7_000_000_000),
        st.sampled_from([True, False, None]),
        st.none() | st.integers(-2_000_000_000, 7_000_000_000),
        st.sampled_from([None, "200", "304", "404", "503", "ok", "gone", "failed"]),
    ),
    min_size=1,
    max_size=12,
)


@given(_rows)
def test_the_three_formats_hold_the_same_visits(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("formats")
    named = columns(rows)
    named["last_modified"] = pa.array(named["last_modified"], pa.int64())
    named["status"] = pa.array(named["status"], pa.string())
    named["changed"] = pa.array(named["changed"], pa.bool_())

    from_csv = rows_in(write_csv(folder / "visits.csv", rows))

    assert from_csv == rows_in(write_json_lines(folder / "visits.jsonl", rows))
    assert from_csv == rows_in(write_parquet(folder / "visits.parquet", named))
    assert [row[0] for row in from_csv] == [row[0] for row in rows]


def test_all_columns_are_read(tmp_path):
    rows = [
        ("/a", "2026-01-01T00:00:00Z", None, "2025-12-31T23:00:00-01:00", "200"),
        ("/a", "2026-01-02", True, None, "410"),
    ]
    new_year = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000

    assert rows_in(write_csv(tmp_path / "visits.csv", rows)) == [
        ("/a", new_year, -1, new_year, AnswerKind.OK, None),
        ("/a", new_year + 86_400_000_000, 1, UNKNOWN_TIME, AnswerKind.GONE, None),
    ]


@pytest.mark.parametrize("name", ["visits.csv", "visits.txt", "visits", "visits.dat"])
def test_what_is_neither_parquet_nor_json_is_csv(tmp_path, name):
    path = write_csv(tmp_path / name, [("/a", 1, None)], PLAIN)

    assert plain(rows_in(path)) == [("/a", 1, -1)]


@pytest.mark.parametrize("name", ["visits.jsonl", "visits.ndjson", "visits.json", "visits"])
def test_json_lines_are_known_by_name_or_first_letter(tmp_path, name):
    path = write_json_lines(tmp_path / name, [("/a", 1, None)], PLAIN)

    assert plain(rows_in(path)) == [("/a", 1, -1)]


@pytest.mark.parametrize("name", ["visits.parquet", "visits.PQ", "visits"])
def test_parquet_is_known_by_name_or_first_bytes(tmp_path, name):
    path = write_parquet(tmp_path / name, columns([("/a", 1, True)], PLAIN))

    assert plain(rows_in(path)) == [("/a", 1, 1)]


def _written(folder, kind, header, rows):
    if kind == "csv":
        return write_csv(folder / "visits.csv", rows, header)
    if kind == "jsonl":
        return write_json_lines(folder / "visits.jsonl", rows, header)
    return write_parquet(folder / "visits.parquet", columns(rows, header))


KINDS = ["csv", "jsonl", "parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_other_columns_and_another_order_do_not_matter(tmp_path, kind):
    header = ("note", "changed", "page", "size", "visited_at")
    path = _written(tmp_path, kind, header, [("n", True, "/a", 5, 1), ("", False, "/b", 6, 2)])

    assert plain(rows_in(path)) == [("/a", 1, 1), ("/b", 2, 0)]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_may_have_other_names(tmp_path, kind):
    """`page=url` although there is a column `page`, too."""
    header = ("url", "page", "when", "changed")
    path = _written(tmp_path, kind, header, [("/a", "7", 1, True)])
    reading = visits_in(path, {"page": "url", "visited_at": "when"})

    assert plain(rows_in(reading)) == [("/a", 1, 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_may_name_the_site(tmp_path, kind):
    header = ("page", "visited_at", "changed", "shop")
    rows = [("/a", 1, True, "x"), ("/a", 2, True, "x"), ("/b", 1, True, "y"), ("/c", 1, True, None)]
    reading = visits_in(_written(tmp_path, kind, header, rows), columns={"site": "shop"})

    assert [(page, site) for page, *_, site in rows_in(reading)] == [
        ("/a", "x"),
        ("/a", "x"),
        ("/b", "y"),
        ("/c", ""),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_column_is_named(tmp_path, kind):
    path = _written(tmp_path, kind, ("page", "when", "changed"), [("/a", 1, True)])

    sentence = "column 'visited_at' not found (got page, when, changed)"
    assert refusal(path) == f"{path}: {sentence}"


@pytest.mark.parametrize("kind", KINDS)
def test_something_must_tell_of_changes(tmp_path, kind):
    path = _written(tmp_path, kind, ("page", "visited_at", "size"), [("/a", 1, 5)])

    sentence = "column 'changed' or 'digest' not found (got page, visited_at, size)"
    assert refusal(path) == f"{path}: {sentence}"


@pytest.mark.parametrize("kind", KINDS)
def test_usual_names_of_columns_are_known(tmp_path, kind):
    """And it is said which were taken, in any spelling."""
    rows = [("/a", 1, "x", 200), ("/a", 2, "y", 503)]
    reading = visits_in(
        _written(tmp_path, kind, ("URL", "fetched_at", "sha1", "Status Code"), rows)
    )

    found = rows_in(reading)
    assert plain(found) == [("/a", 1, -1), ("/a", 2, -1)]
    assert [row[4] for row in found] == [0, 3]
    said = "'URL' as page, 'fetched_at' as visited_at, 'Status Code' as status, 'sha1' as digest"
    assert list(reading.table.remarks) == [f"Reading {said}."]


def test_a_usual_name_must_be_the_only_one(tmp_path):
    path = _written(tmp_path, "csv", ("url", "uri", "date", "changed"), [("/a", "/b", 1, True)])

    sentence = "columns 'url' and 'uri' could both be page; rename one"
    assert refusal(path) == f"{path}: {sentence}"
    reading = visits_in(path, {"page": "uri"})
    assert plain(rows_in(reading)) == [("/b", 1, 1)]
    assert list(reading.table.remarks) == ["Reading 'date' as visited_at."]


def test_a_column_may_be_said_not_to_be_there(tmp_path):
    """Where an unrelated one has a usual name."""
    header = ("page", "visited_at", "changed", "code")
    path = _written(tmp_path, "csv", header, [("/a", 1, True, "DE")])

    assert "column 'code': must be an HTTP code" in refusal(path)
    assert plain(rows_in(visits_in(path, {"status": ""}))) == [("/a", 1, 1)]


def test_where_changes_are_told_a_usual_name_is_no_digest(tmp_path):
    header = ("page", "visited_at", "changed", "etag")
    reading = visits_in(_written(tmp_path, "csv", header, [("/a", 1, True, "x")]))
    rows_in(reading)

    assert "digest" not in reading.present
    assert not reading.table.remarks


def test_dates_alone_may_tell_of_changes(tmp_path):
    header = ("page", "visited_at", "last_modified")
    reading = visits_in(_written(tmp_path, "csv", header, [("/a", 5, 1), ("/a", 9, 7)]))

    assert [row[:4] for row in rows_in(reading)] == [
        ("/a", 5 * 10**6, -1, 10**6),
        ("/a", 9 * 10**6, -1, 7 * 10**6),
    ]
    assert list(reading.table.remarks) == ["Changes are inferred from last_modified alone."]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ours", ["page", "status"])
def test_a_column_of_another_name_must_be_there(tmp_path, kind, ours):
    """Also one that may be missing otherwise: it was asked for."""
    path = _written(tmp_path, kind, PLAIN, [("/a", 1, True)])

    sentence = "column 'url' not found (got page, visited_at, changed)"
    assert refusal(visits_in(path, {ours: "url"})) == f"{path}: {sentence}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_site_column_must_be_there(tmp_path, kind):
    path = _written(tmp_path, kind, PLAIN, [("/a", 1, True)])

    sentence = "column 'shop' not found (got page, visited_at, changed)"
    assert refusal(visits_in(path, columns={"site": "shop"})) == f"{path}: {sentence}"


BAD = {
    "page": ("", "page", "must name a page (got '')"),
    "blank page": (" ", "page", "must name a page (got ' ')"),
    "page of wide spaces": ("\u3000\u00a0", "page", "must name a page (got '\\u3000\\xa0')"),
    "word": (
        "soon",
        "visited_at",
        "must be a time in ISO 8601 or an epoch number, from 1900 to 2200 (got 'soon')",
    ),
    "nan": (
        "nan",
        "visited_at",
        "must be a time in ISO 8601 or an epoch number, from 1900 to 2200 (got 'nan')",
    ),
    "infinite": (
        "1e999",
        "visited_at",
        "must be a time in ISO 8601 or an epoch number, from 1900 to 2200 (got '1e999')",
    ),
    "missing": (
        "",
        "visited_at",
        "must be a time in ISO 8601 or an epoch number, from 1900 to 2200 (got '')",
    ),
    "change": ("maybe", "changed", "must be true, false or empty (got 'maybe')"),
    "date": (
        "2026-13-01",
        "last_modified",
        "must be a time in ISO 8601 or an epoch number, from 1900 to 2200 (got '2026-13-01')",
    ),
    "code": ("999", "status", "must be an HTTP code, ok, failed, gone or empty (got '999')"),
}


def _with_bad_cell(case):
    """Three rows as text, the second with one bad cell."""
    cell, column, _ = BAD[case]
    good = ("/a", "2026-01-01", "true", "2025-01-01", "200")
    bad = [cell if name == column else value for name, value in zip(HEADER, good, strict=True)]
    return [good, tuple(bad), good]


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize(("kind", "where"), [("csv", "line 3"), ("jsonl", "line 2")])
def test_a_bad_cell_is_refused_with_its_line_and_column(tmp_path, kind, where, case):
    """File, line, column, what was expected, what came."""
    path = _written(tmp_path, kind, HEADER, _with_bad_cell(case))
    _, column, sentence = BAD[case]

    assert refusal(path) == f"{path}, {where}, column '{column}': {sentence}"


@pytest.mark.parametrize("case", BAD)
def test_a_bad_cell_of_parquet_is_refused_with_its_row(tmp_path, case):
    path = _written(tmp_path, "parquet", HEADER, _with_bad_cell(case))
    _, column, sentence = BAD[case]

    assert refusal(path) == f"{path}, row 2, column '{column}': {sentence}"


def test_the_name_of_a_column_in_an_error_is_theirs(tmp_path):
    path = write_csv(tmp_path / "visits.csv", [("/a", "soon", "")], ("url", "when", "changed"))
    reading = visits_in(path, {"page": "url", "visited_at": "when"})

    assert refusal(reading).startswith(f"{path}, line 2, column 'when': must be a time")


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("kind", KINDS)
def test_bad_rows_may_be_skipped_and_are_counted(tmp_path, kind, case):
    reading = visits_in(_written(tmp_path, kind, HEADER, _with_bad_cell(case)), skip_bad_rows=True)

    assert [row[0] for row in rows_in(reading)] == ["/a", "/a"]
    assert reading.table.skipped == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_with_two_bad_cells_counts_once(tmp_path, kind):
    path = _written(tmp_path, kind, PLAIN, [("/a", "soon", "maybe"), ("/a", "1", "true")])
    reading = visits_in(path, skip_bad_rows=True)

    assert plain(rows_in(reading)) == [("/a", 1, 1)]
    assert reading.table.skipped == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_of_bad_rows_only_is_refused(tmp_path, kind):
    path = _written(tmp_path, kind, PLAIN, [("/a", "soon", "true"), ("/b", "", "true")])
    reading = visits_in(path, skip_bad_rows=True)

    assert "all rows are malformed, the first in" in refusal(reading)
    assert reading.table.skipped == 2


def test_rows_that_tell_nothing_are_not_malformed(tmp_path):
    """Of a crawl's own log: visits that failed are left out, and there is nothing else."""
    path = tmp_path / "crawl.jsonl"
    rows = ['{"address": "/a", "at": "2026-01-01", "outcome": "failed"}', "broken"]
    path.write_text("\n".join(rows))

    assert rows_in(visits_in(path, skip_bad_rows=True)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_progress_goes_from_nothing_to_all(tmp_path, kind):
    shares: list[float] = []
    path = _written(tmp_path, kind, PLAIN, [("/a", second, True) for second in range(100)])
    rows_in(visits_in(path, progress=shares.append))

    assert shares == sorted(shares)
    assert shares[-1] == 1.0


# Files that are no logs at all.


def test_a_missing_file_is_refused(tmp_path):
    path = tmp_path / "missing.csv"

    sentence = f"{path}: cannot be read (no such file or directory)"
    assert refusal(path) == sentence


def test_a_folder_is_refused(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: cannot be read (is a directory)"


@pytest.mark.parametrize("name", ["empty.csv", "empty.jsonl", "empty.parquet", "empty"])
def test_an_empty_file_is_refused(tmp_path, name):
    path = tmp_path / name
    path.touch()

    assert refusal(path).startswith(f"{path}: the file is empty; expected a header and rows")


@pytest.mark.parametrize("name", ["binary.csv", "binary", "binary.parquet", "binary.jsonl"])
@pytest.mark.parametrize(
    "content",
    [bytes(range(256)), b"\x7fELF\x02\x01\x01" + bytes(90), gzip.compress(b"page" * 50)],
    ids=["all bytes", "a program", "compressed"],
)
def test_a_binary_file_is_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)

    assert refusal(path).startswith(f"{path}")


@pytest.mark.parametrize("name", ["visits.xlsx", "visits.csv"])
def test_an_excel_file_is_named_as_such(tmp_path, name):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "and so on")

    sentence = "a spreadsheet; save its sheet as CSV"
    assert refusal(path) == f"{path}: {sentence}"


def test_reading_is_lazy(tmp_path):
    """A batch at a time: an error in the last row comes after the rows before it."""
    rows = [{"page": "/a", "visited_at": 1, "changed": True}] * 70_000
    lines = [json.dumps(row) for row in rows] + ["not JSON"]
    path = tmp_path / "visits.jsonl"
    path.write_text("\n".join(lines))

    batches = read_batches(visits_in(path))

    assert len(next(batches).at) > 0
    with pytest.raises(InvalidTable, match="line 70001: must be a JSON object"):
        list(batches)
