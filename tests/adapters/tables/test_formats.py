"""A format is added in one place, and everything that reads a table then reads it."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.adapters.tables import formats
from recrawl.adapters.tables.columns import ColumnBatch, TableInput
from recrawl.adapters.tables.formats import FORMATS, Format, format_of
from recrawl.adapters.tables.listings import read_listing
from recrawl.adapters.tables.rates import read_rates
from recrawl.adapters.tables.text_files import TextCells, text_lines
from recrawl.adapters.tables.whole import WholeTable
from recrawl.adapters.tables.worlds import read_world
from recrawl.errors import InvalidTable
from tests.adapters.tables.files import plain, rows_in, visits_in


def read_bars(table, choose):
    """Cells between bars, two rows at a time."""
    with table.open() as raw:
        names, *rows = (
            [cell.strip() for cell in line.split("|")] for line in text_lines(table, raw)
        )
    wanted = list(choose(names))
    for first in range(0, len(rows), 2):
        some = rows[first : first + 2]
        columns = {name: TextCells([row[names.index(name)] for row in some]) for name in wanted}
        yield ColumnBatch(columns, range(first + 2, first + 2 + len(some)), "line")


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a file in the new format, which comes before the others."""
    monkeypatch.setattr(formats, "FORMATS", [Format((".bars",), b"", read_bars), *FORMATS])

    def write(name, *lines):
        path = tmp_path / f"{name}.bars"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


def test_a_visit_log_may_be_in_a_new_format(written):
    path = written("visits", "page | visited_at | changed", "/a|1|", "/a|2|true", "/b|3|false")

    assert plain(rows_in(path)) == [("/a", 1, -1), ("/a", 2, 1), ("/b", 3, 0)]


def test_a_wrong_cell_of_a_new_format_is_named_as_any_other(written):
    path = written("visits", "page|visited_at|changed", "/a|1|", "/a|2|", "/a|soon|true")

    with pytest.raises(InvalidTable, match=r"visits\.bars, line 4, column 'visited_at': must be a"):
        rows_in(path)
    reading = visits_in(path, skip_bad_rows=True)
    assert plain(rows_in(reading)) == [("/a", 1, -1), ("/a", 2, -1)]
    assert reading.table.skipped == 1


def test_rates_may_be_in_a_new_format(written):
    table = read_rates(written("rates", "page|rate_per_day", "/a|1", "/b|", "/c|0.5"))

    assert table.pages == ["/a", "/b", "/c"]
    np.testing.assert_array_equal(table.figures["rate_per_day"], [1, np.nan, 0.5])


def test_a_world_may_be_in_a_new_format(written):
    pages = written("pages", "page|first_seen", "/a|2026-01-01", "/b|2026-01-02", "/c|2026-01-02")
    changes = written("changes", "page|changed_at", "/c|2026-01-03", "/a|2026-01-04")

    assert read_world(pages, changes).change_counts.tolist() == [1, 0, 1]


@pytest.mark.parametrize("folder", [False, True])
def test_a_listing_may_be_in_a_new_format(written, folder):
    """Also one of a folder, whose other files are left alone."""
    path = written(
        "objects", "key|appeared_at|make", "a|2026-01-01|BMW", "b|2026-01-02|", "c|2026-01-02|Fiat"
    )
    path.with_name("notes.txt").write_text("nothing of this")

    listing = read_listing(path.parent if folder else path)

    assert listing.keys.tolist() == ["a", "b", "c"]
    assert listing.attributes["make"].values()[1] == ["BMW", "Fiat", "?"]


@pytest.mark.parametrize(
    ("name", "content", "reader"),
    [
        ("a.csv", b"page", "read_csv"),
        ("a.csv", b' {"page": 1}', "read_json_lines"),
        ("a.JSONL", b"page", "read_json_lines"),
        ("a.csv", b"PAR1", "read_parquet"),
        ("a.pq", b"page", "read_parquet"),
        ("a", b"page", "read_csv"),
    ],
)
def test_a_format_is_told_by_the_name_or_the_first_bytes(tmp_path, name, content, reader):
    path = tmp_path / name
    path.write_bytes(content)

    assert format_of(TableInput(path)).read.__name__ == reader


def test_a_column_that_comes_late_is_empty_before(tmp_path, monkeypatch):
    """Objects need not all have the same names, and come in batches."""
    monkeypatch.setattr("recrawl.adapters.tables.text_files._ROWS", 2)
    path = tmp_path / "table.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n{"a": 1, "b": "x"}\n{"b": ""}\n')

    table = WholeTable(path)

    assert table.names == ["a", "b"]
    assert (table.texts("a"), table.texts("b")) == (["1", "2", "1", ""], ["", "", "x", ""])


def test_dates_and_flags_of_parquet_are_texts_where_texts_are_asked_for(tmp_path):
    """A date finer than Python's own, and cells that are empty."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {
        "day": pa.array([0, None], pa.date32()),
        "fine": pa.array([1, None], pa.timestamp("ns")),
        "flag": pa.array([True, None]),
    }
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(columns), path)

    table = WholeTable(path)

    assert table.texts("day") == ["1970-01-01", ""]
    assert table.texts("fine") == ["1970-01-01 00:00:00", ""]
    assert table.texts("flag") == ["true", ""]
