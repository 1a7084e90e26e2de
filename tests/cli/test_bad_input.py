"""Bad input: exit 1, one sentence on stderr, no traceback, nothing half-written."""

import gzip
import io
import sqlite3
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.rates import METHODS
from tests.cli.running import names_in, run, sentence, write_log
from tests.disks import small_disk
from tests.preloaded import RECRAWL, environment

HEADER = b"page,visited_at,changed\n"
TIME_RULE = "must be a time in ISO 8601 or an epoch number, from 1900 to 2200"


def parquet(folder, **columns):
    """Bytes of a Parquet file."""
    path = folder / "whole.parquet"
    rows = {"page": ["/a"] * 999, "visited_at": list(range(999)), "changed": [True] * 999}
    pq.write_table(pa.table(rows | columns), path)
    content = path.read_bytes()
    path.unlink()
    return content


def broken(content):
    middle = len(content) // 2
    return content[:middle] + b"\xaa" * 200 + content[middle + 200 :]


def workbook(first):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(first, "page,visited_at,changed")
    return file.getvalue()


def database():
    with closing(sqlite3.connect(":memory:")) as other:
        other.execute("create table visits (page, visited_at)")
        return other.serialize()


# Name of the file, its content, the beginning of the sentence after the file's name.
FILES = {
    "empty": ("a.csv", b"", ": the file is empty; expected a header and rows"),
    "missing column": (
        "a.csv",
        b"page,changed\n/a,true\n",
        ": column 'visited_at' not found (got page, changed); name it with --column visited_at",
    ),
    "no header": (
        "a.csv",
        b"/a,1,true\n",
        ": column 'page' not found (got /a, 1, true); the first line looks like data: begin with a",
    ),
    "word for a time": (
        "a.csv",
        HEADER + b"/a,soon,\n",
        f", line 2, column 'visited_at': {TIME_RULE} (got 'soon')",
    ),
    "nan": (
        "a.csv",
        HEADER + b"/a,1,\n/a,nan,\n",
        f", line 3, column 'visited_at': {TIME_RULE} (got 'nan')",
    ),
    "infinity": (
        "a.csv",
        HEADER + b"/a,-inf,\n",
        f", line 2, column 'visited_at': {TIME_RULE} (got '-inf')",
    ),
    "1e999": (
        "a.csv",
        HEADER + b"/a,1e999,\n",
        f", line 2, column 'visited_at': {TIME_RULE} (got '1e999')",
    ),
    "beyond the calendar": (
        "a.csv",
        HEADER + b"/a,9999-12-31T23:59-14:00,\n",
        f", line 2, column 'visited_at': {TIME_RULE} (got '9999-12-31T23:59-14:00')",
    ),
    "JSON infinity": (
        "a.jsonl",
        b'{"page": "/a", "visited_at": 1e999, "changed": true}\n',
        ", line 1, column 'visited_at': must be a time",
    ),
    "status of many digits": (
        "a.csv",
        b"page,visited_at,changed,status\n/a,1,," + b"2" * 5000 + b"\n",
        ", line 2, column 'status': must be an HTTP code, ok, failed, gone or empty (got '222",
    ),
    "time of many digits": (
        "a.csv",
        HEADER + b"/a," + b"9" * 5000 + b",\n",
        f", line 2, column 'visited_at': {TIME_RULE} (got '999",
    ),
    "JSON status of 400 digits": (
        "a.jsonl",
        b'{"page": "/a", "visited_at": 1, "changed": true, "status": ' + b"2" * 400 + b"}\n",
        ", line 1, column 'status': must be an HTTP code, ok, failed, gone or empty (got '222",
    ),
    "JSON integer of many digits": (
        "a.jsonl",
        b'{"page": "/a", "visited_at": ' + b"9" * 5000 + b', "changed": true}\n',
        ", line 1: must be a JSON object (got ",
    ),
    "half a letter": (
        "a.jsonl",
        b'{"page": "\\ud800", "visited_at": 1, "changed": true}\n',
        ", line 1, column 'page': must ",
    ),
    "NUL": ("a.csv", HEADER + b"/a\0,1,\n", ", line 2: must be text (got a NUL byte)"),
    "program": ("a.csv", b"\x7fELF\x02\x01\x01\0\0\0", ", line 1: must be text (got a NUL byte)"),
    "neither store nor table": (
        "a.db",
        b"\x01\xfe\x8c\x93" * 40,
        ": neither a recrawl store nor a table: it is not text",
    ),
    "picture": (
        "a.csv",
        b"\x89PNG\r\n\x1a\n\xff\xfe",
        ", line 1: must be UTF-8 text (got byte 0x89)",
    ),
    "Latin 1": (
        "a.csv",
        HEADER + "/café,1,\n".encode("latin-1"),
        ", line 2: must be UTF-8 text (got byte 0xe9)",
    ),
    "UTF-16": ("a.csv", HEADER.decode().encode("utf-16")[:-1], ": must be whole UTF-16 text"),
    "gzip": ("a.csv.gz", gzip.compress(HEADER)[:-1], ": must be a whole gzip file ("),
    "zip": ("a.csv", b"PK\x03\x04", ": a ZIP archive; unpack it first"),
    "xlsx": ("a.xlsx", workbook("[Content_Types].xml"), ": a spreadsheet; save its sheet as CSV"),
    "zipped CSV": ("a.zip", workbook("visits.csv"), ": a ZIP archive; unpack it first"),
    "xls": ("a.xls", bytes.fromhex("d0cf11e0a1b11ae100"), ": a spreadsheet; save its sheet as CSV"),
    "SQLite": ("a.db", database(), ": an SQLite database, but not a recrawl store; export its"),
    "open quote": ("a.csv", HEADER + b'"/a,1,\n', ", line 2: must be CSV ("),
    "newline in header": ("a.csv", b'"a\nb",c\n1,2\n', ": column 'page' not found (got "),
    "not JSON": ("a.jsonl", b"page\n", ", line 1: must be a JSON object (got 'page')"),
    "short row": (
        "a.csv",
        HEADER + b"/a,1\n",
        ", line 2: must have as many cells as the header, 3 (got 2)",
    ),
    "text as Parquet": ("a.parquet", HEADER, ": must be a whole Parquet file ("),
}


def refused(folder, name, content, start, *options):
    """Run the command on a file of that content; check all that must hold."""
    path, output = folder / name, folder / "rates.csv"
    path.write_bytes(content)
    output.write_text("old content")

    said = sentence(run("estimate", path, "-o", output, *options))

    assert said.startswith(f"{path}{start}")
    assert len(said) < len(str(path)) + 250
    assert output.read_text() == "old content"
    assert names_in(folder) == sorted({name, "rates.csv"})
    return said


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_log_is_refused(tmp_path, case):
    refused(tmp_path, *FILES[case])


@pytest.mark.parametrize("share", [0.002, 0.3, 0.7, 0.999])
def test_a_truncated_parquet_file_is_refused(tmp_path, share):
    content = parquet(tmp_path)
    start = ": must be a whole Parquet file ("

    refused(tmp_path, "a.parquet", content[: int(len(content) * share) + 5], start)


def test_a_broken_parquet_file_is_refused(tmp_path):
    content = broken(parquet(tmp_path, visited_at=[n**5 % 10**9 for n in range(999)]))

    refused(tmp_path, "a.parquet", content, ": must be a whole Parquet file (")


def test_a_bad_cell_of_parquet_is_refused(tmp_path):
    content = parquet(tmp_path, visited_at=[*range(998), None])

    refused(tmp_path, "a.parquet", content, ", row 999, column 'visited_at': must be a time")


def test_a_number_of_no_unit_is_no_time(tmp_path):
    """Every row is wrong, and the first is shown."""
    content = parquet(tmp_path, visited_at=[17_000_000_000] * 999)

    start = f", row 1, column 'visited_at': {TIME_RULE} (got '17000000000')"
    refused(tmp_path, "a.parquet", content, start)


def test_a_bad_row_far_into_a_large_file_is_refused(tmp_path):
    """With little memory: temporary files are there by then, and are removed."""
    rows = b"".join(b"/%d,%d,\n" % (row % 997, row) for row in range(70_000))
    start = ", line 70002, column 'visited_at': must be a time"

    refused(tmp_path, "a.csv", HEADER + rows + b"/a,soon,\n", start, "--memory", "1M")


def test_a_missing_file_is_refused(tmp_path):
    said = sentence(run("estimate", tmp_path / "none.csv"))

    assert said == f"{tmp_path / 'none.csv'} cannot be read (no such file or directory)"


def test_a_folder_without_tables_is_refused(tmp_path):
    said = sentence(run("estimate", tmp_path))

    assert said == f"{tmp_path}: no table in this folder"


# Outputs.


@pytest.fixture
def log(tmp_path):
    """Many pages in no order: rows that fill a pipe, a file, a disk."""
    rows = [(f"/{(row * 7919) % 1500}", row**2, "true") for row in range(3000)]
    return write_log(tmp_path / "visits.csv", rows)


_ENDINGS = "output must end in .csv, .jsonl, .ndjson, .parquet, .feather, .arrow"


@pytest.mark.parametrize("memory", ["2G", "50K"])
@pytest.mark.parametrize(
    ("place", "start"),
    [
        (
            "missing/rates.csv",
            " cannot be written: {parent} is not a folder that can be written to",
        ),
        ("visits.csv/rates.csv", " cannot be written: {parent} is not a folder that can be "),
        ("folder.csv", " is a folder; the output must be a file"),
        (
            "rates.txt",
            f": {_ENDINGS} (got 'rates.txt')",
        ),
        (
            "rates",
            f": {_ENDINGS} (got 'rates')",
        ),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(log, tmp_path, place, start, memory):
    """The same sentence whether or not temporary files are needed beside it."""
    (tmp_path / "folder.csv").mkdir()

    said = sentence(run("estimate", log, "-o", tmp_path / place, "--memory", memory))

    start = start.format(parent=(tmp_path / place).parent)
    assert said.startswith(f"{tmp_path / place}{start}")
    assert names_in(tmp_path) == ["folder.csv", "visits.csv"]


def test_the_log_itself_is_no_output(log):
    """The help says that FILE is not changed."""
    before = log.read_bytes()

    said = sentence(run("estimate", log, "-o", log))

    assert said.startswith(f"{log} is an input, which is never overwritten")
    assert log.read_bytes() == before


def at_most(blocks, *words, cwd):
    """Run the command where no file may grow beyond so many blocks of 512 bytes."""
    command = f'ulimit -f {blocks}; exec "$@"'
    ended = subprocess.run(
        ["sh", "-c", command, "sh", RECRAWL, *map(str, words)],
        capture_output=True,
        check=False,
        cwd=cwd,
        env=environment(),
        text=True,
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("memory", ["2G", "50K"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_that_cannot_grow_is_an_error(log, tmp_path, suffix, memory):
    """In the middle of the output, or of a temporary file; the old one is kept."""
    output = tmp_path / f"rates.{suffix}"
    output.write_text("old content")

    code, out, err = at_most(4, "estimate", log, "-o", output, "--memory", memory, cwd=tmp_path)

    assert (code, out) == (1, "")
    assert err.startswith("Error: ")
    assert err.endswith("(file too large)\n")
    assert "standard output" not in err
    assert err.count("\n") == 1
    assert output.read_text() == "old content"
    assert names_in(tmp_path) == [output.name, "visits.csv"]


def test_temporary_files_need_a_folder_that_can_be_written_to(log):
    """Without -o they lie in the current folder; here, in one where nobody can make any."""
    ended = run("estimate", log, "--memory", "50K", cwd=Path("/proc"))

    assert ended.code == 1
    assert ended.err.startswith("Error: ")
    assert ended.err.count("\n") == 1


def with_no_room(*words):
    """Run `recrawl` with a full disk behind its standard output."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - no path of ours
        return subprocess.run(
            [RECRAWL, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(),
            text=True,
        )


@pytest.mark.parametrize("options", [["--csv"], ["--json"]])
def test_a_full_disk_behind_the_standard_output_is_an_error(log, options):
    ended = with_no_room("estimate", str(log), *options)

    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: cannot write to the standard output ")
    assert ended.stderr.endswith("(no space left on device)\n")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["demo", "--for", "2s", "--pages", "20"], ["--help"], ["--version"]]
)
def test_a_full_disk_is_an_error_for_every_verb(words):
    ended = with_no_room(*words)

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("Error: ")


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", "64k") as folder:
        yield folder


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_full_disk_is_an_error(log, disk, suffix):
    output = disk / f"rates.{suffix}"
    said = sentence(run("estimate", log, "-o", output))

    assert said == f"{output} could not be written (no space left on device)"
    assert names_in(disk) == []


def test_a_closed_standard_output_is_no_traceback(log):
    """`>&-` in a shell."""
    command = 'exec "$@" >&-'
    ended = subprocess.run(
        ["sh", "-c", command, "sh", RECRAWL, "estimate", str(log)],
        capture_output=True,
        check=False,
        env=environment(),
        text=True,
    )

    assert "Traceback" not in ended.stderr


# Parameters.


@pytest.mark.parametrize("level", ["0", "1", "-0.5", "2", "nan", "inf"])
def test_a_level_must_be_a_probability(log, level):
    said = sentence(run("estimate", log, f"--level={level}"))

    meant = "; write 0.02 for 2 %" if level == "2" else ""
    assert said == f"level must be between 0 and 1 (got {float(level)}){meant}"


def test_a_level_may_be_a_percentage(log):
    share = run("estimate", log, "--level", "0.95", "--now", "2026-01-31", "--csv")
    per_cent = run("estimate", log, "--level", "95%", "--now", "2026-01-31", "--csv")

    assert share.out == per_cent.out != ""
    assert "write 0.95 for 95 %" in sentence(run("estimate", log, "--level", "95"))
    refused = sentence(run("estimate", log, "--level", "high"))
    assert refused == "--level must be a share such as 0.95 or 95% (got 'high')"


def test_an_unknown_method_is_refused_with_the_list_of_them(log):
    said = sentence(run("estimate", log, "--method", "guess"))

    assert said == f"method must be one of {', '.join(METHODS)}, compare (got 'guess')"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--now", "soon", "time must be ISO 8601 or an epoch number (got 'soon')"),
        ("--memory", "lots", "memory must look like 500M or 2G (got 'lots')"),
        (
            "--column",
            "url",
            (
                "column must look like OURS=THEIRS with OURS one of page, visited_at, changed, "
                "last_modified, status, digest, changed_at (got 'url')"
            ),
        ),
    ],
)
def test_a_wrong_word_is_refused(log, option, value, said):
    assert sentence(run("estimate", log, option, value)) == said


def test_a_column_that_is_not_there_is_refused(log):
    said = sentence(run("estimate", log, "--column", "page=url"))

    assert said == f"{log}: column 'url' not found (got page, visited_at, changed)"


def test_a_site_column_that_is_not_there_is_refused(log):
    said = sentence(run("estimate", log, "--site-column", "shop"))

    assert said == f"{log}: column 'shop' not found (got page, visited_at, changed)"


def test_a_name_that_a_terminal_would_obey_is_shown(tmp_path):
    (tmp_path / "\x1b[2Jlog.csv").write_bytes(b"")

    assert sentence(run("estimate", "\x1b[2Jlog.csv", cwd=tmp_path)).startswith("\\x1b[2Jlog.csv: ")
