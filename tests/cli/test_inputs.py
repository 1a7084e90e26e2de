"""Every verb that takes tables takes them packed, in parts, from a folder, a pattern and a pipe."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from recrawl.errors import CannotWrite, InvalidInstant, InvalidTable
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
    with pytest.raises(InvalidTable, match="column 'page' must be present"):
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
