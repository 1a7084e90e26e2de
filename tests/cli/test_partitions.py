"""Verbs over partitions, as processes of their own."""

import signal
import subprocess
import time

import pytest

from tests.analysis.bulk.logs import NOW, by_page, divide, rows, visits, write
from tests.cli.running import names_in, run, run_here, sentence, start


@pytest.fixture
def log(tmp_path):
    columns = visits()
    write(tmp_path / "whole.parquet", columns)
    divide(tmp_path / "log", columns, by_page(columns, 3))
    return tmp_path / "log/part-*.parquet"


def estimate(log, into, *options):
    return run("estimate", log, "--now", NOW, "--engine", "local", "-o", into, *options)


def test_rates_of_partitions_are_those_of_the_whole(tmp_path, log):
    """Partitions are named by an address here, results by a path."""
    first = estimate(f"{log.parent.as_uri()}/part-*.parquet", tmp_path / "rates", "--jobs", 2)
    run_here(
        "estimate", tmp_path / "whole.parquet", "--now", NOW, "-o", tmp_path / "whole-rates.parquet"
    )
    wanted = rows(tmp_path / "whole-rates.parquet")

    assert (first.code, first.out) == (0, "")
    assert first.err.startswith(f"60 pages of 3 partitions, method gamma, in {tmp_path}/rates.\n")
    assert "Times without an offset were read as UTC; --tz names another time zone.\n" in first.err
    assert rows(*(tmp_path / "rates").glob("*.parquet")) == wanted


def test_a_second_run_has_nothing_to_do(tmp_path, log):
    estimate(log, tmp_path / "rates")
    again = estimate(log, tmp_path / "rates")

    assert again.err.startswith("3 of 3 partitions were finished before.\n0 pages of 0 partitions")
    assert names_in(tmp_path / "rates") == ["_recrawl", *(f"part-{n}.parquet" for n in range(3))]


def test_a_broken_partition_is_one_sentence(tmp_path, log):
    (log.parent / "part-1.parquet").write_bytes(b"PAR1 and nothing else")
    said = sentence(estimate(log, tmp_path / "rates"))

    assert said.startswith("1 of 3 partitions failed, the others are finished: part-1.parquet (")
    assert names_in(tmp_path / "rates") == ["_recrawl", "part-0.parquet", "part-2.parquet"]


def test_an_interrupt_ends_everything_and_the_next_run_goes_on(tmp_path, log):
    """Its processes are children of ours once it has gone; a test fails if any is left."""
    columns = visits(20_000)
    divide(tmp_path / "many", columns, by_page(columns, 12))
    many, into = tmp_path / "many/*.parquet", tmp_path / "rates"
    words = ("estimate", many, "--now", NOW, "--engine", "local", "--jobs", 2, "-o", into)
    with start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not list(into.glob("_recrawl/passes/*.npz")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]

    assert process.returncode == 130
    assert "Traceback" not in said
    assert {path.suffix for path in into.rglob("*") if path.is_file()} <= {".npz", ".json"}
    assert estimate(many, into).code == 0
    assert len(list(into.glob("*.parquet"))) == 12


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (["--engine", "local"], "--engine needs -o with a folder"),
        (["--engine", "local", "-o", "out", "--sort", "rate"], "--sort is not for --engine"),
        (["--engine", "local", "-o", "out", "--json"], "--json is not for --engine"),
        (["--jobs", "2"], "--jobs needs --engine local"),
        (["--engine", "ray", "--jobs", "2", "-o", "out"], "--jobs needs --engine local"),
    ],
)
def test_options_that_do_not_go_together_are_refused(log, options, wrong):
    ended = run_here("estimate", log, *options)

    assert ended.code == 2
    assert wrong in ended.err


def test_an_unknown_engine_is_refused(tmp_path, log):
    said = sentence(run("estimate", log, "--engine", "dask", "-o", tmp_path / "out"))

    assert said == "engine must be one of local, ray, spark (got 'dask')"
    assert not (tmp_path / "out").exists()
