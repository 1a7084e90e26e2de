"""Logs larger than the memory allowed, and commands that are stopped on the way."""

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.rates import METHODS
from tests.cli.running import names_in, run, run_here, start, write_log
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
