"""Tables out: whole or not at all, and nothing in them that another program cannot read."""

import csv
import json
import os
import stat
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

from recrawl import Gamma, Histories, Ratio
from recrawl.adapters.tables.outputs import (
    SPREADSHEET,
    check_output,
    to_file,
    to_standard_output,
    without_formula,
)
from recrawl.arrays.texts import Texts
from recrawl.errors import CannotWrite, MissingExtra
from recrawl.report.rates import COLUMNS, Named, rate_columns
from tests.disks import no_large_files
from tests.visits.building import of_columns

NOW = np.datetime64("2026-02-01", "us")
KINDS = ["csv", "jsonl", "ndjson", "parquet"]


def seen():
    """Pages that changed sometimes, never, always, and one that nobody visited."""
    start = np.datetime64("2026-01-01", "us")
    return of_columns(
        gaps=[1.0, 2.5, 1.0, 1.0],
        changed=[True, False, False, True],
        offsets=[0, 2, 3, 4, 4],
        first_visit=np.array([start, start, start, "NaT"], "datetime64[us]"),
        flags=[0, 1, 33, 0],
    )


NAMES = ["https://a.org/1", 'with "quotes", commas', "two\nlines", "日本 \\ é\t"]


def table(histories=None, estimator=None):
    histories = seen() if histories is None else histories
    estimates = (estimator or Ratio()).estimate(histories)
    return rate_columns(estimates, histories.last_visit, NOW)


def write(path, names=NAMES, columns=None):
    with to_file(path, COLUMNS) as writer:
        writer.write(Texts.of(names), table() if columns is None else columns)
    return path


def refuse(word):
    pytest.fail(f"not JSON: {word}")


def read(path):
    """Rows of a file as dictionaries of what its format holds."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line, parse_constant=refuse) for line in lines]


# What is in a file.


def test_csv_has_the_columns_and_figures_that_were_given(tmp_path):
    """One change in 3.5 days, by the ratio: 1 / 3.5 = 0.285714285714 to twelve digits."""
    path = write(tmp_path / "rates.csv")

    header = (
        "page,rate_per_day,low,high,mean_interval_days,shape,exposure_days,changes,visits,"
        "last_visit,fresh_now,status,flags,method,expected_per_day"
    )
    assert path.read_text(encoding="utf-8").split("\n")[0] == header
    row = read(path)[0]
    assert row["rate_per_day"] == "0.285714285714"
    assert row["mean_interval_days"] == "3.5"
    assert row["last_visit"] == "2026-01-04T12:00:00Z"
    assert (row["changes"], row["visits"], row["status"]) == ("1", "3", "ok")
    assert (row["flags"], row["method"]) == ("", "ratio")
    assert read(path)[2]["flags"] == "lm_touch gone"


@pytest.mark.parametrize("kind", KINDS)
def test_page_names_survive(tmp_path, kind):
    assert [row["page"] for row in read(write(tmp_path / f"rates.{kind}"))] == NAMES


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4))
def test_any_page_name_survives(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("names")

    for kind in ("jsonl", "parquet", "csv"):
        found = [row["page"] for row in read(write(folder / f"rates.{kind}", names))]
        # CSV knows no NUL, and Python's reader takes a lone carriage return for a newline.
        if kind != "csv" or not any(letter in name for name in names for letter in "\0\r"):
            assert found == names


EMPTY = {"csv": "", "jsonl": None, "ndjson": None, "parquet": None}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_known_is_empty(tmp_path, kind):
    """Nothing in CSV, null in JSON and Parquet; nan and infinity nowhere."""
    rows = read(write(tmp_path / f"rates.{kind}"))

    empty = [{name for name, cell in row.items() if cell == EMPTY[kind]} for row in rows]
    assert empty[0] - {"flags"} == set()
    assert empty[1] - {"flags"} == {
        *("mean_interval_days", "expected_per_day", "shape", "exposure_days")
    }
    assert empty[2] == {"fresh_now"}
    figures = {
        *("rate_per_day", "low", "high", "mean_interval_days"),
        *("expected_per_day", "shape", "exposure_days"),
    }
    assert empty[3] - {"flags"} == figures | {"last_visit", "fresh_now"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_formats_say_the_same(tmp_path, kind):
    """Text is rounded to twelve digits."""
    exact = read(write(tmp_path / "exact.parquet"))
    rows = read(write(tmp_path / f"rates.{kind}"))

    for row, truth in zip(rows, exact, strict=True):
        assert list(row) == list(COLUMNS)
        for name in ("rate_per_day", "low", "high", "fresh_now", "changes", "visits"):
            if truth[name] is not None:
                assert float(row[name]) == pytest.approx(truth[name], rel=1e-11)
        assert row["status"] == truth["status"]


def test_parquet_has_types_that_programs_can_use(tmp_path):
    schema = pq.read_schema(write(tmp_path / "rates.parquet"))

    assert schema.names == list(COLUMNS)
    for name in ("rate_per_day", "low", "high", "shape", "exposure_days", "fresh_now"):
        assert schema.field(name).type == pa.float64()
    assert schema.field("visits").type == pa.int64()
    assert schema.field("last_visit").type == pa.timestamp("us", tz="UTC")
    for name in ("page", "status", "flags", "method"):
        kind = schema.field(name).type
        assert (kind.value_type if pa.types.is_dictionary(kind) else kind) in (
            pa.string(),
            pa.large_string(),
        )


@pytest.mark.parametrize("kind", KINDS)
def test_no_pages_make_a_header(tmp_path, kind):
    """A header in CSV, no line of JSON, the same columns of the same types in Parquet."""
    none = table(Histories.from_lists([]))
    path = write(tmp_path / f"none.{kind}", [], none)

    assert read(path) == []
    if kind == "csv":
        assert path.read_text() == ",".join(COLUMNS) + "\n"
    if kind == "parquet":
        assert pq.read_schema(path) == pq.read_schema(write(tmp_path / "some.parquet"))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_may_be_written_again_and_again(tmp_path, kind):
    """Also after a part without rows, and with flags that the part before did not have."""
    path = tmp_path / f"rates.{kind}"
    none = table(Histories.from_lists([]))
    with to_file(path, COLUMNS) as writer:
        for names, columns in ((["/0"], None), ([], none), (NAMES, table())):
            one = table(Histories.from_lists([([1.0], [True])]))
            writer.write(Texts.of(names), one if columns is None else columns)

    rows = read(path)
    assert [row["page"] for row in rows] == ["/0", *NAMES]
    assert rows[3]["flags"] == "lm_touch gone"


def test_many_rows_are_written_part_by_part(tmp_path):
    """A part is 65536 rows."""
    count = 70_000
    histories = of_columns(np.arange(1, count + 1), np.ones(count), np.arange(count + 1))
    names = [f"/{number}" for number in range(count)]
    path = write(tmp_path / "rates.csv", names, table(histories, Gamma()))

    rows = read(path)
    assert [row["page"] for row in rows] == names
    assert len({row["exposure_days"] for row in rows}) == count


def test_instants_are_as_exact_as_they_are(tmp_path):
    """Whole seconds without a fraction, others to the microsecond, before 1970 as well."""
    first = np.array(["2026-01-01T00:00:00.000001", "1969-12-31T23:59:59", "NaT"], "datetime64[us]")
    histories = of_columns([], [], [0, 0, 0, 0], first_visit=first)
    path = write(tmp_path / "rates.csv", ["/a", "/b", "/c"], table(histories))

    written = [row["last_visit"] for row in read(path)]
    assert written == ["2026-01-01T00:00:00.000001Z", "1969-12-31T23:59:59Z", ""]


# Whole or not at all.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("old", [None, b"old content"])
def test_an_error_leaves_what_was_there(tmp_path, kind, old):
    path = tmp_path / f"rates.{kind}"
    if old is not None:
        path.write_bytes(old)

    def fail():
        with to_file(path, COLUMNS) as writer:
            writer.write(Texts.of(NAMES), table())
            raise ArithmeticError("in the middle")

    with pytest.raises(ArithmeticError):
        fail()

    assert [found.name for found in tmp_path.iterdir()] == ([] if old is None else [path.name])
    assert old is None or path.read_bytes() == old


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_appears_when_it_is_whole(tmp_path, kind):
    path = tmp_path / f"rates.{kind}"
    path.write_bytes(b"old content")
    with to_file(path, COLUMNS) as writer:
        writer.write(Texts.of(NAMES), table())
        assert path.read_bytes() == b"old content"

    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    assert len(read(path)) == 4


def test_a_file_may_be_read_by_whom_the_user_lets(tmp_path):
    """Not by its owner alone, as temporary files are."""
    mask = os.umask(0o027)
    try:
        path = write(tmp_path / "rates.csv")
    finally:
        os.umask(mask)

    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_format_is_known_by_its_suffix(tmp_path):
    kinds = {"a.csv": "csv", "a.JSONL": "json", "a.ndjson": "json", "a.b.parquet": "parquet"}

    assert {name: check_output(tmp_path / name) for name in kinds} == kinds


@pytest.mark.parametrize("name", ["rates", "rates.txt", "rates.csv.gz", ".csv"])
def test_another_suffix_is_refused(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(CannotWrite) as refusal:
        write(path)

    endings = ".csv, .jsonl, .ndjson, .parquet, .feather, .arrow"
    sentence = f"output must end in {endings} (got {name!r})"
    assert str(refusal.value) == f"{path}: {sentence}"


def test_a_folder_is_no_output(tmp_path):
    path = tmp_path / "rates.csv"
    path.mkdir()
    with pytest.raises(CannotWrite) as refusal:
        write(path)

    assert str(refusal.value) == f"{path} is a folder; the output must be a file"


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_the_folder_of_an_output_must_be_there(tmp_path, folder):
    (tmp_path / "file").touch()
    path = tmp_path / folder / "rates.csv"
    with pytest.raises(CannotWrite) as refusal:
        write(path)

    sentence = f"{path} cannot be written: {path.parent} is not a folder that can be written to"
    assert str(refusal.value).startswith(sentence)


@pytest.fixture
def _no_large_files():
    with no_large_files(2000):
        yield


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("_no_large_files")
def test_a_disk_that_is_full_is_an_error_of_ours(tmp_path, kind):
    """One sentence, and nothing half-written is left behind."""
    names = [f"/{number**5}" for number in range(2000)]
    histories = of_columns(np.arange(1, 2001), np.ones(2000), np.arange(2001))
    path = tmp_path / f"rates.{kind}"
    with pytest.raises(CannotWrite) as refusal:
        write(path, names, table(histories))

    assert str(refusal.value) == f"{path} could not be written (file too large)"
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"^writing Parquet needs .*pip install '\.\[parquet\]'"):
        write(tmp_path / "rates.parquet")

    assert list(tmp_path.iterdir()) == []


# The standard output.


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_standard_output_is_the_same_as_a_file(tmp_path, capfdbinary, kind):
    with to_standard_output(kind, COLUMNS) as writer:
        writer.write(Texts.of(NAMES), table())
    printed = capfdbinary.readouterr().out

    suffix = "jsonl" if kind == "json" else kind
    assert printed == write(tmp_path / f"rates.{suffix}").read_bytes()


HOSTILE = ["=cmd|' /C calc'!A0", "+A1", "-A1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\uff1d1"]


@pytest.mark.parametrize("cell", HOSTILE)
def test_a_formula_is_text_in_a_spreadsheet(cell):
    assert without_formula(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "-0.5", "+1e9", "-12", "5=5", "https://a.org/?a=-1", "'=1"])
def test_numbers_and_other_cells_are_as_they_are(cell):
    assert without_formula(cell) == cell


def test_only_a_spreadsheet_is_spared_formulas(tmp_path):
    """A file is data: what another program reads is what there was."""
    names = HOSTILE[:4]
    exact = write(tmp_path / "exact.csv", names)
    with to_file(tmp_path / "sheet.csv", COLUMNS, SPREADSHEET) as writer:
        writer.write(Texts.of(names), table())

    assert [row["page"] for row in read(exact)] == names
    sheet = read(tmp_path / "sheet.csv")
    assert [row["page"] for row in sheet] == [f"'{name}" for name in names]
    assert [row["rate_per_day"] for row in sheet] == [row["rate_per_day"] for row in read(exact)]


@pytest.mark.parametrize("ending", [".feather", ".arrow"])
def test_arrow_files_are_read_as_they_are_written(tmp_path, ending):
    """Also where words differ from batch to batch, which an Arrow file cannot hold as codes."""
    path = tmp_path / f"r{ending}"
    with to_file(path, ("page", "status", "rate")) as out:
        for name, word in (("/a", "ok"), ("/b", "gone")):
            column = Named(np.array([0]), [word])
            out.write(Texts.of([name]), {"status": column, "rate": np.array([0.5])})

    table = feather.read_table(path)
    assert table.to_pydict() == {"page": ["/a", "/b"], "status": ["ok", "gone"], "rate": [0.5, 0.5]}
