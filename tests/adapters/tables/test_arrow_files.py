"""Arrow IPC, in files (Feather) and streams, as pyarrow, pandas and polars write it."""

from __future__ import annotations

import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from recrawl.adapters.tables import arrow_files
from recrawl.adapters.tables.visits import read_batches
from recrawl.adapters.tables.whole import WholeTable
from recrawl.errors import InvalidTable
from tests.adapters.tables.files import plain, rows_in, visits_in
from tests.polars_files import polars_of

VISITS = {
    "page": ["/a", "/a", "/b"],
    "visited_at": pa.array([1, 2, 3], pa.timestamp("s", "UTC")),
    "changed": [None, True, False],
}
ROWS = [("/a", 1, -1), ("/a", 2, 1), ("/b", 3, 0)]


def stream(path, table):
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


WRITERS = {
    "file": lambda path, table: pa.feather.write_feather(table, str(path), compression="lz4"),
    "plain file": lambda path, table: pa.feather.write_feather(
        table, str(path), compression="uncompressed", chunksize=1
    ),
    "stream": stream,
    "pandas": lambda path, table: table.to_pandas().to_feather(path),
    "polars": lambda path, table: polars_of(table).write_ipc(path),
    "polars stream": lambda path, table: polars_of(table).write_ipc_stream(path),
    "polars zstd": lambda path, table: polars_of(table).write_ipc(path, compression="zstd"),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", ["log.feather", "log.anything"])
def test_every_writer_is_read(tmp_path, writer, name):
    WRITERS[writer](tmp_path / name, pa.table(VISITS))

    assert plain(rows_in(tmp_path / name)) == ROWS
    assert WholeTable(tmp_path / name).texts("page") == ["/a", "/a", "/b"]


@pytest.mark.parametrize("writer", ["file", "stream"])
def test_a_packed_file_is_read(tmp_path, writer):
    WRITERS[writer](tmp_path / "log.arrow", pa.table(VISITS))
    path = tmp_path / "log.arrow.gz"
    path.write_bytes(gzip.compress((tmp_path / "log.arrow").read_bytes()))

    assert plain(rows_in(path)) == ROWS


def test_a_packed_parquet_file_is_read(tmp_path):
    polars_of(pa.table(VISITS)).write_parquet(tmp_path / "log.parquet")
    path = tmp_path / "log.parquet.gz"
    path.write_bytes(gzip.compress((tmp_path / "log.parquet").read_bytes()))

    assert plain(rows_in(path)) == ROWS
    assert WholeTable(path).texts("page") == ["/a", "/a", "/b"]


def test_large_batches_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_files, "_ROWS", 2)
    WRITERS["file"](tmp_path / "log.feather", pa.table(VISITS))

    assert [len(batch.at) for batch in read_batches(visits_in(tmp_path / "log.feather"))] == [2, 1]


def test_a_category_is_a_text(tmp_path):
    frame = pd.DataFrame({"page": ["/a", "/b"], "visited_at": [1, 2], "changed": ["Y", "N"]})
    frame.astype({"page": "category", "changed": "category"}).to_feather(tmp_path / "log.feather")

    assert plain(rows_in(tmp_path / "log.feather")) == [("/a", 1, 1), ("/b", 2, 0)]


@pytest.mark.parametrize("writer", ["plain file", "stream"])
def test_a_file_that_is_cut_off_is_one_sentence(tmp_path, writer):
    WRITERS[writer](tmp_path / "log.arrow", pa.table(VISITS))
    content = (tmp_path / "log.arrow").read_bytes()
    path = tmp_path / "cut.arrow"
    for end in (6, 20, len(content) // 2, len(content) * 3 // 4):
        path.write_bytes(content[:end])
        with pytest.raises(InvalidTable) as refused:
            rows_in(path)
        assert str(refused.value).startswith(f"{path}: must be a whole Arrow file (")
        assert "\n" not in str(refused.value)


def test_naive_times_are_known_as_such(tmp_path):
    naive = pa.table({**VISITS, "visited_at": pa.array([1, 2, 3], pa.timestamp("ns"))})
    WRITERS["file"](tmp_path / "log.feather", naive)
    reading = visits_in(tmp_path / "log.feather")
    rows_in(reading)

    assert reading.table.zone.assumed
