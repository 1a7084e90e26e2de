"""Every verb that takes tables takes them packed, in parts, from a folder, a pattern and a pipe."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from recrawl.errors import CannotWrite, InvalidInstant, InvalidParameter, InvalidTable
from tests.cli.running import run_here, start, write_log

PARTS = 3


def visits():
    return [
        (f"/{page}", f"2026-01-{day:02} 12:00:00", "" if day == 1 else str(day % (page + 2) == 0))
        for day in range(1, 25)
        for page in range(5)
    ]


TABLES = {
    "visits": ("page,visited_at,changed", visits()),
    "rates": ("page,rate_per_day", [(f"/{page}", (page + 1) / 10) for page in range(9)]),
    "changes": (
        "page,changed_at",
        [(f"/{page}", f"2026-01-{day:02}") for day in range(1, 25) for page in range(5)],
    ),
    "objects": (
        "object,appeared_at,removed_at",
        [(f"o{n}", f"2026-01-{n % 9 + 1:02}", f"2026-01-{n % 9 + 12:02}") for n in range(20)],
    ),
}
VERBS = {
    "estimate": ("visits", ["estimate", "--now", "2026-02"]),
    "trends": ("visits", ["trends", "pages"]),
    "trends of changes": ("changes", ["trends", "gaps"]),
    "plan": ("rates", ["plan", "--budget", "3/1d"]),
    "listing": ("objects", ["listing", "describe"]),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to be in: each table whole, packed, in parts, and these in a folder."""
    monkeypatch.chdir(tmp_path)
    for name, (header, rows) in TABLES.items():
        whole = write_log(Path(f"{name}.csv"), rows, header)
        Path(f"{name}.gz").write_bytes(gzip.compress(whole.read_bytes()))
        Path(name).mkdir()
        for number in range(PARTS):
            write_log(Path(name) / f"part-{number}.csv", rows[number::PARTS], header)
    return tmp_path


def rows_of(out: str, *, named: bool) -> list[str]:
    """Rows of CSV in any order, without the name of their source."""
    lines = out.splitlines()
    return sorted(line.partition(",")[2] for line in lines) if named else sorted(lines)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_a_table_however_it_comes(folder, verb):
    table, words = VERBS[verb]
    named = verb == "listing"
    expected = rows_of(run_here(*words, f"{table}.csv", "--csv").out, named=named)
    parts = [f"{table}/part-{number}.csv" for number in range(PARTS)]
    for given in ([f"{table}.gz"], parts, [f"{table}/p*.csv"], [] if named else [table]):
        if given:
            ended = run_here(*words, *given, "--csv")
            assert ended.code == 0, ended
            assert rows_of(ended.out, named=named) == expected

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for name in ("-", "/dev/stdin"):
        with start(*words, name, "--csv", **pipes) as process:
            out, err = process.communicate(Path(f"{table}.gz").read_bytes())
        assert process.returncode == 0, err
        assert rows_of(out.decode(), named=named) == expected


def test_a_history_takes_its_tables_however_they_come(folder):
    write_log(
        Path("pages.csv"), [(f"/{page}", "2026-01-01") for page in range(5)], "page,first_seen"
    )
    words = ["simulate", "history", "--policy", "uniform", "--csv"]
    expected = run_here(*words, "pages.csv", "changes.csv").out.splitlines()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(*words, "pages.csv", "-", **pipes) as process:
        out, _ = process.communicate(Path("changes.gz").read_bytes())

    def figures(lines):
        return [line.split(",")[:6] for line in lines]

    assert figures(out.decode().splitlines()) == figures(expected)
    assert figures(run_here(*words, "pages.csv", "changes").out.splitlines()) == figures(expected)


def test_naive_times_are_said_once_and_a_zone_is_taken(folder):
    said = "Times without an offset were read as UTC; --tz names another time zone.\n"

    assert run_here("estimate", "visits", "--csv").err.count(said) == 1
    assert run_here("trends", "pages", "visits", "--csv").err.count(said) == 1
    assert said not in run_here("estimate", "visits", "--csv", "--tz", "UTC").err
    assert "T11:00:00Z" in run_here("estimate", "visits", "--csv", "--tz", "Europe/Berlin").out
    objects = Path("objects.csv")
    objects.write_text(objects.read_text().replace("-01,", "-01 08:00:00,"))
    assert run_here("listing", "describe", objects, "--csv").err.count(said) == 1
    assert said not in run_here("listing", "describe", objects, "--csv", "--tz", "Asia/Tokyo").err
    Path("pages.csv").write_text("page,first_seen\n/1,2026-01-01 08:00\n")
    Path("moved.csv").write_text("page,changed_at\n/1,2026-01-02 08:00\n/1,2026-02-02 08:00\n")
    history = ["simulate", "history", "pages.csv", "moved.csv", "--policy", "uniform", "--csv"]
    assert run_here(*history).err.count(said) == 1
    assert said not in run_here(*history, "--tz", "Asia/Tokyo").err


def test_separators_are_told_or_forced(folder):
    text = Path("visits.csv").read_text()
    expected = run_here("estimate", "visits.csv", "--csv", "--now", "2027").out
    for mark, name in ((";", "semicolon"), ("\t", "tab"), ("|", "pipe"), ("^", "^")):
        Path("other").write_text(text.replace(",", mark))
        found = run_here("estimate", "other", "--csv", "--now", "2027", "--delimiter", name)
        assert found.out == expected
    with pytest.raises(InvalidTable, match="column 'page' not found"):
        run_here("estimate", "other", "--csv")


def test_columns_that_are_taken_are_said(folder):
    Path("other").write_text(Path("visits.csv").read_text().replace("page,visited_at", "url,ts"))

    ended = run_here("estimate", "other", "--csv")
    assert "Reading 'url' as page, 'ts' as visited_at.\n" in ended.err
    ended = run_here(
        "estimate", "other", "--csv", "--column", "page=url", "--column", "visited_at=ts"
    )
    assert "Reading" not in ended.err


def test_reverts_are_counted(folder):
    write_log(
        Path("digests.csv"),
        [("/a", f"2026-01-0{day}", digest) for day, digest in enumerate("xyxyz", 1)],
        "page,visited_at,digest",
    )

    ended = run_here("estimate", "digests.csv", "--csv")
    assert "2 changes went back to an earlier version.\n" in ended.err
    assert ",reverted," in ended.out
    assert "2 changes went back" in run_here("trends", "pages", "digests.csv", "--csv").err


def test_a_bare_year_is_a_year(folder):
    """Not seconds after 1970, when every page was fresh."""
    words = ["estimate", "visits", "--csv", "--now"]
    assert run_here(*words, "2027").out == run_here(*words, "2027-01-01").out
    words = ["trends", "rates", "changes.csv", "--csv", "--between"]
    assert run_here(*words, "2025", "2027").out == run_here(*words, "2025-01-01", "2027-01-01").out
    for text in ("86400", "12", "0", "202601"):
        with pytest.raises(InvalidInstant, match="nine digits or more"):
            run_here("estimate", "visits", "--now", text)


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_of_a_folder_or_pattern_is_never_overwritten(folder, verb):
    table, words = VERBS[verb]
    before = Path(f"{table}/part-0.csv").read_bytes()
    for given in (table, f"{table}/*.csv"):
        with pytest.raises(
            CannotWrite, match=r"part-0\.csv is an input, which is never overwritten"
        ):
            run_here(*words, given, "-o", f"{table}/part-0.csv")
    assert Path(f"{table}/part-0.csv").read_bytes() == before


def test_a_store_is_named_in_the_help_of_all_that_take_one():
    for words in (["estimate"], ["trends", "pages"], ["plan"], ["listing", "describe"]):
        assert "store" in run_here(*words, "--help").out, words


def test_the_hour_that_clocks_show_twice_loses_no_visit(tmp_path):
    """Visited every hour, as a clock in Berlin shows it; one time that no clock has shown."""
    hours = ["00:18", "01:18", "02:18", "02:18", "03:18"]
    rows = [("/a", f"2025-10-26 {hour}", "false") for hour in hours]
    skipped = [("/a", f"2025-03-30 {hour}:18", "false") for hour in ("02", "03")]
    log = write_log(tmp_path / "log.csv", [*skipped, *rows])

    done = run_here("estimate", log, "--csv", "--tz", "Europe/Berlin")

    assert done.out.splitlines()[1].split(",")[7:9] == ["0", "6"]
    twice, *others = done.err.splitlines()[-3:]
    assert twice.startswith("2 times in an hour that clocks showed twice: by the order of rows, ")
    assert twice.endswith(", 1 in the first and 1 in the second.")
    assert others == [
        "1 time in an hour that clocks skipped: read as if the clocks had not been changed.",
        "1 visit in the same second as another visit to the same page: counted as one.",
    ]


ROWS = [("/a", "2026-03-01", ""), ("/a", "2026-03-02", "true"), ("/a", "2026-03-04", "false")]


def rates(*words):
    done = run_here("estimate", *words, "--csv", "--now", "2026-03-10")
    assert done.code == 0, done
    return done.out


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet", "feather"])
def test_fields_inside_of_columns_are_named_by_dots(tmp_path, ending):
    """As crawlers write them: the address inside of the request."""
    plain = write_log(tmp_path / "plain.csv", ROWS)
    objects = [
        {"req": {"url": page, "n": {"at": at}}, "changed": changed or None, "page.x": "-"}
        for page, at, changed in ROWS
    ]
    log = tmp_path / f"log.{ending}"
    if ending == "jsonl":
        log.write_text("".join(json.dumps(row) + "\n" for row in objects))
    elif ending == "json":
        log.write_text(json.dumps(objects))
    else:
        write = pq.write_table if ending == "parquet" else feather.write_feather
        write(pa.Table.from_pylist(objects), log)
    columns = ("--column", "page=req.url", "--column", "visited_at=req.n.at")

    assert rates(log, *columns) == rates(plain)
    with pytest.raises(InvalidTable, match=r"column 'req.uri' not found \(got req, changed"):
        run_here("estimate", log, "--column", "page=req.uri", *columns[2:])


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_column_of_the_very_name_wins(tmp_path, ending):
    objects = [
        {"p.q": "/a", "p": {"q": "/b"}, "visited_at": at, "changed": changed or None}
        for _, at, changed in ROWS
    ]
    log = tmp_path / f"log.{ending}"
    if ending == "jsonl":
        log.write_text("".join(json.dumps(row) + "\n" for row in objects))
    else:
        pq.write_table(pa.Table.from_pylist(objects), log)

    assert rates(log, "--column", "page=p.q").splitlines()[1].startswith("/a,")


def test_a_column_of_fields_says_how_one_is_named(tmp_path):
    table = pa.table({"page": [{"url": "/a"}], "visited_at": ["2026-01-01"], "changed": [True]})
    pq.write_table(table, tmp_path / "log.parquet")

    with pytest.raises(InvalidTable, match=r"--column names a field in it, as page=request.url"):
        run_here("estimate", tmp_path / "log.parquet")


def test_german_logs_are_read(tmp_path):
    """Semicolons, dots and words as a spreadsheet writes them."""
    plain = write_log(tmp_path / "plain.csv", [(p, f"{at}T01:18", c) for p, at, c in ROWS])
    words = {"": "", "true": "WAHR", "false": "FALSCH"}
    german = tmp_path / "german.csv"
    lines = [f"{p};{at[8:]}.{at[5:7]}.{at[:4]} 01:18;{words[c]}" for p, at, c in ROWS]
    german.write_text("\n".join(["page;visited_at;changed", *lines]))

    assert rates(german) == rates(plain)


def test_other_forms_and_words_are_named(tmp_path):
    """Of a date with slashes nobody knows which it is, unless somebody says so."""
    plain = write_log(tmp_path / "plain.csv", ROWS)
    words = {"": "", "true": "geändert", "false": "Gleich"}
    rows = [(p, f"{int(at[8:])}/{int(at[5:7])}/{at[:4]}", words[c]) for p, at, c in ROWS]
    log = write_log(tmp_path / "log.csv", rows)
    said = ("--time-format", "%d/%m/%Y", "--true-words", "neu,geändert", "--false-words", "gleich")

    assert rates(log, *said) == rates(plain)
    with pytest.raises(InvalidTable, match="--time-format '%d/%m/%Y'"):
        run_here("estimate", log)
    with pytest.raises(InvalidTable, match=r"must be true, false or empty \(got 'geändert'\)"):
        run_here("estimate", log, *said[:2])
    with pytest.raises(InvalidTable, match="must be a time such as 01/31/2026, from 1900"):
        run_here("estimate", plain, "--time-format", "%m/%d/%Y")
    with pytest.raises(InvalidParameter, match="different words"):
        run_here("estimate", log, "--true-words", "x,y", "--false-words", "y")


def test_a_date_of_the_host_may_be_in_another_form(tmp_path):
    rows = [("/a", "01/03/2026", ""), ("/a", "04/03/2026", '"Tue, 03 Mar 2026 00:00:00 GMT"')]
    log = write_log(tmp_path / "log.csv", rows, "page,visited_at,last_modified")

    assert rates(log, "--time-format", "%d/%m/%Y").splitlines()[1].split(",")[7] == "1"


def test_a_row_without_a_page_says_how_it_is_left_out(tmp_path):
    log = write_log(tmp_path / "log.csv", [*ROWS, ("", "2026-03-05", "")])

    with pytest.raises(InvalidTable, match=r"must name a page \(got ''\); --skip-bad-rows skips"):
        run_here("estimate", log)
    assert "1 malformed row skipped." in run_here("estimate", log, "--skip-bad-rows").err


def test_a_log_of_which_no_row_is_left_is_refused(tmp_path):
    log = write_log(tmp_path / "log.csv", [("/a", "soon", ""), ("/b", "later", "")])

    said = "all rows are malformed, the first in .*line 2, column 'visited_at': must be a time"
    with pytest.raises(InvalidTable, match=said):
        run_here("estimate", log, "--skip-bad-rows")
