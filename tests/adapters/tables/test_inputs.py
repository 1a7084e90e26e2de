"""Names, patterns, folders and pipes: all files together are one table."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
from collections import namedtuple
from pathlib import Path
from threading import Thread

import pytest

from recrawl import read_histories
from recrawl.adapters.tables.formats import read_columns
from recrawl.adapters.tables.inputs import expand, open_table, readable, tables_in
from recrawl.adapters.tables.table_options import TableOptions, delimiter_of, time_zone_of
from recrawl.adapters.tables.visits import VisitReading, read_batches
from recrawl.adapters.tables.whole import WholeTable
from recrawl.errors import InvalidParameter, InvalidTable

HEADER = "page,visited_at,changed\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to be in, with two logs of one page and a file that is none."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(HEADER + "/a,86400,true\n/b,0,\n")
    Path("b.csv.gz").write_bytes(gzip.compress((HEADER + "/a,0,\n/a,172800,false\n").encode()))
    Path("notes.txt").write_text("nothing of this")
    return tmp_path


def named(*given):
    return [str(path) for path in expand(given)]


def test_a_folder_stands_for_its_tables_in_order(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "c.csv").write_text(HEADER)

    assert named(folder) == [str(folder / "a.csv"), str(folder / "b.csv.gz")]
    assert tables_in(folder / "sub") == [folder / "sub" / "c.csv"]


def test_a_pattern_stands_for_its_files_in_order(folder):
    (folder / "sub.csv").mkdir()

    assert named("*.csv*") == ["a.csv", "b.csv.gz"]
    assert named("b*", "a*") == ["b.csv.gz", "a.csv"]
    assert named("**/*.gz") == ["b.csv.gz"]


def test_a_file_may_have_the_name_of_a_pattern(folder):
    Path("[1].csv").write_text(HEADER)

    assert named("[1].csv") == ["[1].csv"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["*.parquet"], "*.parquet: no file matches"),
        (["empty"], "empty: no table in this folder"),
        (["-", "-"], "standard input can be read only once; give - once"),
        ([], "no file given"),
    ],
)
def test_what_stands_for_no_file_is_refused(folder, given, sentence):
    Path("empty").mkdir()

    with pytest.raises(InvalidTable) as refused:
        expand(given)
    assert str(refused.value) == sentence


def test_rows_of_a_page_may_lie_in_several_files(folder):
    pages, histories = read_histories("a.csv", "b.csv.gz")

    assert pages == ["/a", "/b"]
    assert histories.gaps.tolist() == [1, 1]
    assert histories.changed.tolist() == [True, False]


def test_formats_may_be_mixed(folder):
    Path("c.jsonl").write_text('{"url": "/a", "time": 259200, "changed": 1}\n')
    Path("d.json").write_text('[{"page": "/b", "visited_at": "1970-01-02", "digest": "x"}]')

    pages, histories = read_histories("*.csv", "c.jsonl", "d.json")

    assert pages == ["/a", "/b"]
    assert histories.visits.tolist() == [2, 1]


def test_errors_name_the_file_and_the_line(folder):
    Path("c.csv").write_text(HEADER + "/a,1,\n/a,soon,\n")
    for files in (["a.csv", "c.csv"], ["c.csv", "a.csv"]):
        with pytest.raises(InvalidTable, match=r"^c\.csv, line 3, column 'visited_at': "):
            read_histories(*files)
    Path("c.csv").write_text("page,at\n")
    with pytest.raises(InvalidTable, match=r"^c\.csv: column 'changed' or 'digest' not found"):
        read_histories("a.csv", "c.csv")


def test_empty_files_among_others_are_passed_over(folder):
    """As those of days on which nothing happened; packed ones, too."""
    Path("c.csv").write_text("")
    Path("d.jsonl.gz").write_bytes(gzip.compress(b""))
    options = TableOptions()
    with open_table(["a.csv", "c.csv", "d.jsonl.gz"], options) as table:
        rows = sum(len(batch) for batch in read_columns(table, list))

    with open_table(["a.csv"]) as table:
        assert rows == sum(len(batch) for batch in read_columns(table, list)) > 0
    assert list(options.remarks) == ["2 empty files skipped."]
    assert len(read_histories("a.csv", "c.csv")) == len(read_histories("a.csv"))
    with pytest.raises(InvalidTable, match="the file is empty; expected a header and rows"):
        read_histories("c.csv", "d.jsonl.gz")


def test_malformed_rows_are_counted_over_all_files(folder):
    for name in ("c.csv", "d.csv"):
        Path(name).write_text(HEADER + "/a,1\n/a,soon,\n/a,5,\n")
    with open_table(["c.csv", "d.csv"], TableOptions(skip_bad_rows=True)) as table:
        rows = sum(len(batch.at) for batch in read_batches(VisitReading(table)))

    assert (rows, table.skipped) == (2, 4)


def test_progress_goes_through_all_files(folder):
    shares: list[float] = []
    with open_table(["a.csv", "b.csv.gz"], progress=shares.append) as table:
        list(read_batches(VisitReading(table)))

    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_a_whole_table_may_lie_in_several_files(folder):
    """A column that a file lacks is empty there, and errors know which file a row is of."""
    Path("r1.csv").write_text("page,rate_per_day\n/a,1\n/b,2\n")
    Path("r2.jsonl").write_text('{"page": "/c", "weight": 3}\n{"page": "", "weight": 4}\n')
    with open_table(["r1.csv", "r2.jsonl"]) as table:
        whole = WholeTable(table)

    assert whole.names == ["page", "rate_per_day", "weight"]
    assert whole.texts("rate_per_day") == ["1", "2", "", ""]
    assert whole.texts("weight") == ["", "", "3", "4"]
    with pytest.raises(InvalidTable, match=r"^r2\.jsonl, line 2, column 'page': must name"):
        whole.refuse_any(whole.coded("page").blank(), "page", "must name a page")
    with pytest.raises(InvalidTable, match=r"^r1\.csv, line 3, column 'page': odd"):
        whole.refuse(1, "page", "odd")


def test_a_column_of_a_file_without_rows_is_empty(folder):
    Path("r1.csv").write_text("page,rate_per_day\n/a,1\n")
    Path("r2.csv").write_text("page,weight\n")
    with open_table(["r1.csv", "r2.csv"]) as table:
        assert WholeTable(table).texts("weight") == [""]


def test_the_standard_input_is_read_once(folder, monkeypatch):
    """Packed or not; a second reader finds the same."""
    content = io.BytesIO(Path("b.csv.gz").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    with open_table(["a.csv", "-"]) as table:
        for _ in range(2):
            assert sum(len(batch.at) for batch in read_batches(VisitReading(table))) == 4
        temporary = table.more[0].path
        assert (table.name, table.more[0].label) == ("a.csv", "standard input")

    assert not temporary.exists()


def test_errors_call_the_standard_input_by_its_name(folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"page,at,changed\n/a,soon,\n")))

    with pytest.raises(InvalidTable, match=r"^standard input, line 2, column 'at': "):
        read_histories("-")


def test_a_pipe_is_read_once(folder):
    os.mkfifo("pipe")
    writer = Thread(target=lambda: Path("pipe").write_bytes(Path("a.csv").read_bytes()))
    writer.start()
    try:
        pages, _ = read_histories("pipe")
    finally:
        writer.join()

    assert pages == ["/a", "/b"]


def test_a_pipe_may_not_fill_the_disk(folder, monkeypatch):
    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - what shutil returns
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, 30))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 16)))

    with pytest.raises(
        InvalidTable, match=r"^standard input is larger than half of the free space in "
    ):
        read_histories("-")


def test_a_file_that_is_not_there_is_said_by_its_name(folder):
    with pytest.raises(InvalidTable, match=r"^c\.csv cannot be read \(no such file"):
        read_histories("a.csv", "c.csv")


def test_files_are_read_where_they_are(folder):
    with readable([Path("a.csv")]) as (file,):
        assert (file.path, file.label) == (Path("a.csv"), "a.csv")


def test_a_delimiter_is_a_name_or_a_mark():
    assert [delimiter_of(text) for text in ("Tab", "\\t", "\t", ";", "PIPE", " ")] == [
        *("\t", "\t", "\t", ";", "|", " ")
    ]
    for text in ("ab", "a", "1", '"', "\n", "é"):
        with pytest.raises(InvalidParameter, match="delimiter must be comma"):
            delimiter_of(text)


def test_a_time_zone_has_a_name(monkeypatch):
    assert str(time_zone_of("Europe/Berlin")) == "Europe/Berlin"
    assert time_zone_of("") is None
    for name in ("Berlin", "../etc/passwd", "/etc/localtime", "Europe/", "\0"):
        with pytest.raises(InvalidParameter, match="tz must name a time zone"):
            time_zone_of(name)


def test_without_a_database_of_time_zones_there_is_one_sentence(monkeypatch):
    """Only UTC needs none."""
    monkeypatch.setattr("zoneinfo.ZoneInfo", _missing)
    monkeypatch.setattr("zoneinfo.available_timezones", set)

    assert time_zone_of("UTC") is not None
    with pytest.raises(InvalidParameter, match="pip install tzdata"):
        time_zone_of("Europe/Berlin")


def _missing(name):
    raise LookupError(name)


def test_local_times_of_a_log_are_taken_off_their_zone(folder):
    """A gap over the change of clocks has an hour less."""
    Path("c.csv").write_text(HEADER + "/a,2026-03-28 12:00:00,\n/a,2026-03-29 12:00:00,true\n")

    assert read_histories("c.csv")[1].gaps.tolist() == [1]
    assert read_histories("c.csv", tz="Europe/Berlin")[1].gaps.tolist() == [23 / 24]
