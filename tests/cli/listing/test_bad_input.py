"""`recrawl listing` where there is little to say, or nothing."""

from __future__ import annotations

import json

import pytest

from tests.cli.listing.sources import KEEP, day, made, rows, source
from tests.cli.running import names_in, run, run_here, sentence


@pytest.fixture(scope="module")
def cars(tmp_path_factory):
    return made(tmp_path_factory.mktemp("listing") / "cars")


def test_one_snapshot_is_a_status(tmp_path):
    folder = tmp_path / "once"
    folder.mkdir()
    (folder / "2026-01-01.csv").write_text("key,make\na,BMW\nb,Fiat\n")

    described = rows("describe", folder)
    (ahead,) = rows("forecast", folder, "--horizon", "3d")
    (planned,) = rows("schedule", folder, "--keep", KEEP)

    assert {row["status"] for row in described} == {"one-snapshot"}
    assert described[0]["objects"] == 2
    assert described[0]["rate_per_day"] is None
    assert ahead["status"] == "one-snapshot"
    assert ahead["precision"] is None
    assert (planned["after_days"], planned["reason"]) == (1, "unknown")


def test_an_empty_source_is_a_status(tmp_path):
    folder = tmp_path / "nothing"
    folder.mkdir()
    for number in range(3):
        (folder / f"{day(number)}.csv").write_text("key,make\n")

    described = rows("describe", folder)
    (ahead,) = rows("forecast", folder, "--horizon", "3d")

    assert described[0]["status"] == "empty"
    assert ahead["status"] == "empty"


def test_a_short_history_is_weak(tmp_path):
    folder = tmp_path / "short"
    folder.mkdir()
    for number in range(4):
        keys = "".join(f"{key}\n" for key in range(number, number + 40))
        (folder / f"{day(number)}.csv").write_text(f"key\n{keys}")

    (ahead,) = rows("forecast", folder, "--horizon", "3d")

    assert "weak" in ahead["status"].split()


def test_a_key_that_repeats_within_a_snapshot_is_refused(tmp_path):
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "2026-01-01.csv").write_text("key\na\nb\na\n")

    assert "key 'a' occurs 2 times, expected once" in sentence(run("listing", "describe", folder))


WRONG = "key,appeared_at,removed_at\na,2026-01-05,2026-01-02\nb,2026-01-01,2026-01-09\n"


def test_a_removal_before_the_appearance_is_refused(tmp_path):
    folder = source(tmp_path / "wrong", WRONG)

    assert "'a'" in sentence(run("listing", "describe", folder))


def test_lenient_drops_and_counts(tmp_path):
    folder = source(tmp_path / "wrong", WRONG)
    ended = run_here("listing", "describe", folder, "--lenient", "--json")

    assert json.loads(ended.out.splitlines()[0])["objects"] == 1
    assert "wrong: 1 dropped because their times contradict each other.\n" in ended.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["describe", "--by", "colour"], "attribute 'colour' not found"),
        (["partition", "--by", "colour"], "attribute 'colour' not found"),
        (["schedule", "--by", "colour", "--keep", KEEP], "attribute 'colour' not found"),
        (["forecast", "--where", "make ="], "a value must be a word"),
        (
            ["forecast", "--where", "colour = red"],
            "attribute 'colour' not found; expected one of make, year",
        ),
        (["forecast", "--where", "make is BMW"], "must be followed by one of"),
        (["forecast", "--where", "year > new"], "must be compared with a number"),
        (["forecast", "--where", "__import__('os')"], "where, position"),
        (["forecast", "--horizon", "90m"], "horizon must be whole hours or days"),
        (["forecast", "--horizon", "9d..3d"], "horizon must be whole hours or days"),
        (["forecast", "--horizon", "soon"], "duration must look like"),
        (["forecast", "--level", "2"], "level must be between 0 and 1"),
        (["forecast", "--method", "oracle"], "method must be one of mixture"),
        (["forecast", "--method", "ar", "--where", "make = BMW"], "method for a part of a source"),
        (["schedule", "--keep", "freshness >= 0.9"], "keep must look like"),
        (["schedule", "--keep", "recall > 0.9"], "keep must look like"),
        (["schedule", "--keep", "recall >= high"], "keep must look like"),
        (["schedule", "--keep", "recall >= 1.5"], "must be between 0 and 1"),
        (["schedule", "--keep", KEEP, "--confidence", "0.3"], "confidence must be at least 0.5"),
        (["schedule", "--keep", KEEP, "--at-most", "often"], "at-most must look like 2/7d"),
        (["schedule", "--keep", KEEP, "--at-most", f"{'7' * 5_000}/7d"], "at-most must look like"),
        (["schedule", "--budget", "4/change"], "budget must look like 5000/1d"),
        (["partition", "--search", "magic"], "search must be one of"),
        (["partition", "--criterion", "magic"], "criterion must be one of"),
        (["backtest", "--method", "oracle"], "method must be one of"),
        (["backtest", "--train", "1.5d"], "train must be a whole number of days"),
        (["backtest", "--train", "80d"], "expected at least 94 days"),
        (["describe", "-o", "rows.txt"], "output must end in"),
        (["describe", "--plot", "rows.pdf"], "output must end in"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(cars, tmp_path, monkeypatch, words, why):
    ended = run("listing", words[0], cars, *words[1:], cwd=tmp_path)

    assert why in sentence(ended)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        ["schedule"],
        ["schedule", "--keep", KEEP, "--budget", "3/7d"],
        ["describe", "--updates", "--days"],
        ["backtest", "--confidence", "0.9"],
        ["forecast", "--csv", "--json"],
        ["forecast", ".", "--plot", "decay.svg"],
    ],
)
def test_wrong_usage_exits_with_2(cars, words):
    ended = run_here("listing", words[0], cars, *words[1:])

    assert ended.code == 2
    assert ended.out == ""


def test_nothing_is_left_half_written(cars, tmp_path):
    bad = source(tmp_path / "bad", WRONG)
    output = tmp_path / "rows.csv"
    ended = run("listing", "describe", cars, bad, "-o", output)

    assert ended.code == 1
    assert names_in(tmp_path) == ["bad"]


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    assert "nowhere" in sentence(run("listing", "describe", tmp_path / "nowhere"))
