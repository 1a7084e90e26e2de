"""Logs larger than the memory allowed, and commands that are stopped on the way."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.analysis.trends import TrendLog
from recrawl.rates import METHODS
from tests.cli.running import names_in, run, run_here, sentence, start, write_log
from tests.preloaded import RECRAWL, environment

NOW = "2026-03-01"


def visits(pages, sites, *, seed=1):
    """Rows grouped by page: two to six visits each, sites with rates of their own."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(pages):
        site = number % sites
        count = int(random.integers(2, 7))
        times = np.sort(random.integers(1_700_000_000, 1_750_000_000, count))
        changed = random.random(count) < (site + 1) / (sites + 1)
        rows += [
            (f"https://s{site}.org/{number}", second, str(flag).lower())
            for second, flag in zip(times.tolist(), changed.tolist(), strict=True)
        ]
    return rows


def in_time(rows):
    return sorted(rows, key=lambda row: row[1])


def estimate(path, *options):
    return run_here("estimate", path, "--now", NOW, *options).out


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("order", ["grouped", "in time"])
def test_memory_makes_no_difference(tmp_path, method, order):
    """Whole, streamed or split: the same bytes."""
    rows = visits(120, 5)
    path = write_log(tmp_path / "visits.csv", rows if order == "grouped" else in_time(rows))

    whole = estimate(path, "--method", method)

    assert whole.count("\n") == 121
    assert estimate(path, "--method", method, "--memory", "10K") == whole


@pytest.mark.parametrize("order", ["grouped", "in time"])
def test_memory_makes_no_difference_to_files(tmp_path, order):
    rows = visits(120, 5)
    path = write_log(tmp_path / "visits.csv", rows if order == "grouped" else in_time(rows))

    for suffix in ("jsonl", "parquet"):
        whole, little = tmp_path / f"whole.{suffix}", tmp_path / f"little.{suffix}"
        run_here("estimate", path, "--now", NOW, "-o", whole)
        run_here("estimate", path, "--now", NOW, "-o", little, "--memory", "10K")

        if suffix == "parquet":
            assert pq.read_table(little).to_pylist() == pq.read_table(whole).to_pylist()
        else:
            assert little.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("order", ["grouped", "in time"])
def test_memory_makes_no_difference_to_parquet(tmp_path, order):
    rows = visits(120, 5)
    rows = rows if order == "grouped" else in_time(rows)
    page, at, changed = (list(column) for column in zip(*rows, strict=True))
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"page": page, "visited_at": at, "changed": changed}), path)
    text = write_log(tmp_path / "visits.csv", rows)

    assert estimate(path) == estimate(path, "--memory", "10K") == estimate(text)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["grouped", "in time"])
def test_sites_of_many_pages_get_the_same_prior_every_time(tmp_path, order):
    """A prior is fitted on a sample: always the same one, however the log is divided up.

    More than 200 pages a site, and more than 4000 in all.
    """
    rows = visits(6000, 24)
    path = write_log(tmp_path / "visits.csv", rows if order == "grouped" else in_time(rows))
    once = estimate(path)

    assert estimate(path) == once
    assert estimate(path, "--memory", "200K") == once


def test_the_order_of_rows_makes_no_difference_to_rates(tmp_path):
    """Only to the order of pages."""
    rows = visits(700, 3)
    grouped = estimate(write_log(tmp_path / "grouped.csv", rows))
    other = estimate(write_log(tmp_path / "other.csv", in_time(rows)))

    assert sorted(other.splitlines()) == sorted(grouped.splitlines())


def test_the_real_command_leaves_nothing_behind(tmp_path):
    path = write_log(tmp_path / "visits.csv", in_time(visits(120, 5)))
    ended = run(
        "estimate",
        path,
        "--now",
        NOW,
        "-o",
        tmp_path / "rates.csv",
        "--memory",
        "1K",
        cwd=Path("/"),
    )

    assert ended.code == 0
    assert (tmp_path / "rates.csv").read_text() == estimate(path)
    assert names_in(tmp_path) == ["rates.csv", "visits.csv"]


# Commands that are stopped.


@pytest.fixture
def large(tmp_path):
    """Rows of 20,000 pages in no order; their rates fill a pipe many times."""
    rows = [(f"/{(row * 7919) % 20_000}", row, "true") for row in range(40_000)]
    folder = tmp_path / "log"
    folder.mkdir()
    return write_log(folder / "visits.csv", rows)


def hidden(folder):
    return [name for name in names_in(folder) if name.startswith(".")]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_removes_its_temporary_files(large, tmp_path, number, code):
    """It is stopped while it waits for somebody to read its rows: everything is there by then."""
    folder = tmp_path / "here"
    folder.mkdir()
    process = start(
        "estimate",
        large,
        "--memory",
        "1M",
        bufsize=0,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.read(4) == b"page"
    assert hidden(folder)

    process.send_signal(number)
    _, said = process.communicate()

    assert process.returncode == code
    assert b"Traceback" not in said
    assert said.count(b"\n") <= 1
    assert hidden(folder) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_stopped_while_it_reads_writes_nothing(tmp_path, number, code):
    """As soon as the first temporary file is there; the log is long enough to go on reading."""
    rows = [(f"/{(row * 7919) % 20_000}", row, "true") for row in range(200_000)]
    path = write_log(tmp_path / "visits.csv", rows)
    folder = tmp_path / "here"
    folder.mkdir()
    words = ["estimate", path, "--memory", "1M", "-o", folder / "rates.csv"]
    process = start(
        *words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not any(folder.glob(".*/*")) and process.poll() is None:
        time.sleep(0.002)

    process.send_signal(number)
    _, said = process.communicate()

    assert process.returncode == code
    assert b"Traceback" not in said
    assert names_in(folder) == []


@pytest.mark.parametrize("options", [[], ["--json"], ["--memory", "1M"]])
def test_a_reader_that_has_had_enough_ends_the_command_quietly(large, options):
    """`recrawl estimate FILE | head -1`."""
    command = 'set -o pipefail; "$@" | head -n 1'
    ended = subprocess.run(
        ["bash", "-c", command, "bash", RECRAWL, "estimate", str(large), *options],
        capture_output=True,
        check=False,
        cwd=large.parent,
        env=environment(),
        text=True,
    )

    assert ended.returncode == 0
    assert ended.stdout.count("\n") == 1
    assert ended.stderr == ""
    assert names_in(large.parent) == ["visits.csv"]


# Rates that move.

TRENDS = [
    ["pages"],
    ["pages", "--place", "random"],
    ["windows"],
    ["windows", "--reading", "count", "--backward"],
    ["test"],
    ["next"],
    ["counts", "--most", "2"],
    ["rates"],
    ["rates", "--by", "weekday"],
    ["rates", "--between", "2023-12-01", "2025-02-01"],
    ["season", "--month", "2025-07"],
    ["change-points"],
    ["power-law"],
    ["gaps", "--place", "random"],
    ["errors"],
    ["errors", "--by", "size"],
    ["errors", "--by", "threshold"],
    ["follow"],
    ["follow", "--equal-visits", "300", "--method", "ratio"],
]


@pytest.fixture(scope="module")
def moving(tmp_path_factory):
    """Visits to pages that were seen 10 to 40 times, in order of time; changes get rarer."""
    random = np.random.default_rng(8)
    rows = []
    for number in range(60):
        times = np.sort(random.integers(1_700_000_000, 1_750_000_000, random.integers(10, 40)))
        chance = np.linspace(0.9, 0.9 * (number % 3) / 2, len(times))
        changed = random.random(len(times)) < chance
        rows += [
            (f"https://s{number % 5}.org/{number}", second, str(flag).lower())
            for second, flag in zip(times.tolist(), changed.tolist(), strict=True)
        ]
    folder = tmp_path_factory.mktemp("moving")
    return write_log(folder / "visits.csv", in_time(rows)), write_log(folder / "pages.csv", rows)


@pytest.mark.parametrize("order", ["in time", "grouped"])
@pytest.mark.parametrize("words", TRENDS, ids=" ".join)
def test_memory_makes_no_difference_to_trends(moving, monkeypatch, words, order):
    """Whole, streamed or split, and however few pages are worked on together: the same bytes."""
    path = moving[0 if order == "in time" else 1]
    whole = run_here("trends", *words, path, "--json")
    monkeypatch.setattr(TrendLog.parts, "__defaults__", (300,))

    little = run_here("trends", *words, path, "--json", "--memory", "60K")

    assert whole.code == 0
    assert little.out == whole.out
    assert little.err == whole.err


@pytest.mark.parametrize("words", [["pages"], ["rates"]])
def test_memory_makes_no_difference_to_files_of_trends(moving, tmp_path, words):
    whole, little = tmp_path / "whole.parquet", tmp_path / "little.parquet"
    run_here("trends", *words, moving[0], "-o", whole)
    run_here("trends", *words, moving[0], "-o", little, "--memory", "20K")

    assert pq.read_table(little).to_pylist() == pq.read_table(whole).to_pylist()


def test_all_changes_may_be_larger_than_memory(moving, tmp_path):
    """A log of changes is read as visits just before and just after each of them."""
    lines = moving[0].read_text().splitlines()
    rows = [line.split(",")[:2] for line in lines if line.endswith("true")]
    changes = write_log(tmp_path / "changes.csv", rows, header="page,changed_at")

    whole = run_here("trends", "pages", changes)

    assert "(all changes)" in whole.err
    assert run_here("trends", "pages", changes, "--memory", "10K") == whole


def test_one_page_of_a_log_larger_than_memory(moving, tmp_path):
    words = ["trends", "pages", moving[0], "--page", "https://s3.org/48"]
    whole, little = tmp_path / "whole.svg", tmp_path / "little.svg"

    told = run_here(*words, "--plot", whole)

    assert told.out.count("\n") == 2
    assert run_here(*words, "--plot", little, "--memory", "20K") == told
    assert little.read_text() == whole.read_text()


@pytest.mark.parametrize("memory", ["2G", "20K"])
def test_a_page_that_the_log_does_not_have(moving, tmp_path, memory):
    words = ["--page", "/nowhere", "--memory", memory, "-o", tmp_path / "out.csv"]

    ended = run("trends", "pages", moving[0], *words)

    assert sentence(ended) == f"{moving[0]}: no page '/nowhere'"
    assert names_in(tmp_path) == []


# What is loaded before the bound is set counts as the program's own. Pieces of work are small, so
# that a small log is larger than them; thread stacks and arenas of malloc would blur the bound.
BOUND = """
import resource, sys, threading
threading.stack_size(1 << 20)
import pandas, pyarrow.parquet, rich.progress, scipy.special
from recrawl.adapters.tables import arrow_files, inputs, logs, outputs
from recrawl.analysis import trends
from recrawl.cli.main import main
from recrawl.cli.trends import trend_test
from recrawl.visits import grouping
arrow_files._ROWS, grouping._SLOTS = 1 << 15, 1 << 16
status = open("/proc/self/status").read()
own = 1024 * int(status.partition("VmData:")[2].split()[0])
resource.setrlimit(resource.RLIMIT_DATA, (own + int(sys.argv[1]),) * 2)
sys.argv[:2] = ["recrawl"]
main()
"""
ONE_ARENA = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "100000",
    "MALLOC_TRIM_THRESHOLD_": "100000",
    "OPENBLAS_NUM_THREADS": "1",
}


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
def test_trends_of_a_log_larger_than_memory(tmp_path):
    """1,400,000 visits in 112 MB beside the program: too few for all of them."""
    random = np.random.default_rng(5)
    at = np.cumsum(random.integers(3_600, 400_000, (10, 140_000)), axis=0) + 1_600_000_000
    number = np.broadcast_to(np.arange(140_000), at.shape)
    order = np.argsort(at, axis=None)
    columns = {
        "page": pa.array(number.ravel()[order]).cast(pa.string()),
        "visited_at": at.ravel()[order],
        "changed": (random.random(at.shape) < number % 10 / 10).ravel()[order],
    }
    pq.write_table(pa.table(columns), tmp_path / "visits.parquet", row_group_size=1 << 16)

    def bounded(memory):
        script = [sys.executable, "-c", BOUND, str(112 << 20), "trends", "test", "visits.parquet"]
        return subprocess.run(
            [*script, "--memory", memory, "-o", f"{memory}.csv"],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env=environment(**ONE_ARENA),
            text=True,
        )

    little = bounded("16M")

    assert little.returncode == 0, little.stderr
    with (tmp_path / "16M.csv").open() as lines:
        assert sum(1 for _ in lines) == 140_001
    assert "MemoryError" in bounded("2G").stderr
    assert names_in(tmp_path) == ["16M.csv", "visits.parquet"]


def test_trends_that_are_stopped_remove_their_temporary_files(moving, tmp_path):
    """While they are at work: on all ways to visit, again and again."""
    folder = tmp_path / "here"
    folder.mkdir()
    words = ["trends", "follow", moving[0], "--equal-visits", "300", "--memory", "20K"]
    process = start(*words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not hidden(folder) and process.poll() is None:
        time.sleep(0.002)

    process.send_signal(signal.SIGINT)
    out, said = process.communicate()

    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in said
    assert names_in(folder) == []
