"""`recrawl design`, as people run it."""

import csv
import io
import json

import pytest

from recrawl.report.design import COLUMNS, DESIGNED
from tests.cli.running import names_in, run, run_here, sentence
from tests.cli.test_screen import on_a_terminal


def test_a_row_a_method_on_the_standard_output():
    ended = run("design", "--every", "7d", "--visits", "10")
    rows = list(csv.DictReader(io.StringIO(ended.out)))

    assert ended.code == 0
    assert list(rows[0]) == list(COLUMNS)
    assert [row["method"] for row in rows] == list(DESIGNED)
    assert "r = 1.59 changes per gap" in ended.err


def test_figures_that_are_none_are_empty_or_null():
    """The ratio never gets as precise as asked."""
    ended = run_here("design", "--method", "ratio", "--json")
    (row,) = map(json.loads, ended.out.splitlines())

    assert row["gaps_needed"] is None
    assert row["unbiased_up_to"] == pytest.approx(0.2146, abs=1e-4)


def test_a_terminal_shows_a_table():
    lines, remarks = on_a_terminal("design", "--method", "cho", "--precision", "25%")

    assert lines[0].split()[:3] == ["method", "bias", "sigma"]
    assert lines[1].startswith("cho")
    assert "for an error of 25 %" in remarks


@pytest.mark.parametrize("name", ["study.csv", "study.jsonl", "study.parquet"])
def test_a_file_gets_the_figures(tmp_path, name):
    assert run_here("design", "-o", tmp_path / name).code == 0
    assert names_in(tmp_path) == [name]


def test_four_changes_in_four_gaps_are_no_surprise():
    """Example 7 of Cho and Garcia-Molina: wait for a verdict, but do not wait with the visits."""
    remarks = run_here("design", "--every", "7d", "--gap", "10d", "--seen", "4/4").err

    assert "4 of 4 gaps changed, which fits a change at least every 2.2w." in remarks
    assert "a probability of 33 %" in remarks
    assert "The assumption may hold: 7 more changed gaps in a row would refute it." in remarks


def test_a_guess_that_is_far_off_is_called_so():
    """In both directions."""
    slow = run_here("design", "--every", "7d", "--gap", "10d", "--seen", "0/6").err
    fast = run_here("design", "--every", "30d", "--gap", "1d", "--seen", "3/4").err

    assert "fits a change at most every 2.9w" in slow
    assert "The assumption is far off: visit every" in slow
    assert "The assumption is far off: visit every" in fast


def test_a_picture_is_drawn(tmp_path):
    ended = run_here("design", "--method", "cho", "--plot", tmp_path / "cho.svg")

    assert ended.code == 0
    assert (tmp_path / "cho.svg").read_text().startswith("<svg")


def test_several_methods_share_a_picture(tmp_path):
    words = ["--method", "ratio", "--method", "cho", "--up-to", "20"]
    ended = run_here("design", *words, "--plot", tmp_path / "both.svg")

    drawn = (tmp_path / "both.svg").read_text()
    assert ended.code == 0
    assert ">ratio<" in drawn
    assert ">after 10 visits<" in drawn


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--every", "week"], "duration must look like"),
        (["--gap", "0d"], "duration must be above 0 (got '0d')"),
        (
            ["--precision", "2"],
            "precision must be a share such as 0.2 or 20%, above 0 and below 100 % (got '2')",
        ),
        (["--precision", "much"], "precision must be a share"),
        (["--bias", "-1%"], "bias must be a share"),
        (["--level", "1"], "level must be between 0 and 1"),
        (["--seen", "four"], "seen must look like 4/10"),
        (["--seen", f"4/{'7' * 5_000}"], "seen must look like 4/10"),
        (["--seen", "5/4"], "changes must be between 0 and gaps"),
        (["--method", "grid"], "method must be one of gamma, ratio, cho"),
        (["--plot", "cho.gif", "--method", "cho"], "output must end in .svg, .png"),
        (["-o", "study.txt"], "output must end in .csv"),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(words, wrong, tmp_path):
    assert wrong in sentence(run("design", *words, cwd=tmp_path))
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        ["--csv", "--json"],
        ["--plot", "x.svg"],
        ["--visits", "1", "--method", "last-modified"],
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(words, tmp_path):
    assert run("design", *words, cwd=tmp_path).code == 2
    assert names_in(tmp_path) == []


def test_one_visit_leaves_out_what_has_no_answer():
    ended = run_here("design", "--visits", "1", "--csv")

    assert "last-modified," not in ended.out
    assert "last-modified-raw," in ended.out
    assert "visited once after a first visit" in ended.err
