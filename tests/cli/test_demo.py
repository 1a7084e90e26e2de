"""`recrawl demo`: a made log with known rates, estimated, beside the truth."""

import csv

import pytest

from recrawl import Gamma, fit_prior, read_histories, sites_of
from tests.cli.running import run, run_here, sentence


def test_the_demo_shows_every_page_beside_its_truth():
    ended = run("demo")

    lines = ended.out.splitlines()
    assert ended.code == 0
    assert lines[0].split()[:3] == ["page", "visits", "changed"]
    assert len(lines) == 17
    assert sum(line.startswith("https://news.example.com/") for line in lines) == 8
    assert sum(line.startswith("https://docs.example.org/") for line in lines) == 8
    assert "visits to 16 pages" in ended.err


def test_the_demo_is_the_same_every_time():
    assert run_here("demo").out == run_here("demo").out


def test_another_seed_makes_another_world():
    assert run_here("demo", "--seed", "4").out != run_here("demo", "--seed", "5").out


def test_bands_hold_the_truth_for_most_pages():
    """Sixteen bands of 90 %: more than five that miss is a chance of one in three hundred."""
    ended = run_here("demo")
    missed = sum(line.endswith("missed") for line in ended.out.splitlines())

    assert missed <= 5
    assert f"the band holds the truth for {16 - missed} of them" in ended.err


def test_the_made_visits_may_be_kept(tmp_path):
    """They are a log like any other, and give the same rates."""
    path = tmp_path / "visits.csv"
    shown = run_here("demo", "--keep", path).out

    names, histories = read_histories(path)
    number, _ = sites_of(names)
    estimates = Gamma(fit_prior(histories, number)).estimate(histories)

    assert len(names) == 16
    for name, visits, changes in zip(names, estimates.visits, estimates.changes, strict=True):
        (line,) = (line for line in shown.splitlines() if line.startswith(f"{name} "))
        assert line.split()[1:3] == [str(visits), str(changes)]


def test_the_kept_log_can_be_estimated(tmp_path):
    path = tmp_path / "visits.csv"
    run_here("demo", "--keep", path)

    rows = list(csv.DictReader(run_here("estimate", path).out.splitlines()))

    assert len(rows) == 16
    assert {row["status"] for row in rows} <= {"ok", "all_changed", "no_change_seen"}


@pytest.mark.parametrize("place", ["missing/visits.csv", "."])
def test_a_log_that_cannot_be_kept_is_refused(tmp_path, place):
    said = sentence(run("demo", "--keep", tmp_path / place))

    assert said.startswith(f"{tmp_path / place}: output ")


def test_a_seed_must_not_be_negative():
    ended = run("demo", "--seed", "-1")

    assert ended.code in (1, 2)
    assert "Traceback" not in ended.err
    assert "Error: " in ended.err
