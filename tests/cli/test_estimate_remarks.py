"""What `recrawl estimate` says of rows that it left out, and the order of its rows."""

import csv
import io

import pytest

from tests.cli.running import run, run_here

LOG = """page,visited_at,changed
/slow,2026-01-01,
/slow,2026-02-01,false
/slow,2026-03-01,true
/fast,2026-01-01,
/fast,2026-01-02,true
/fast,2026-01-03,true
/fast,2026-01-04,false
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(LOG)
    return path


def pages(ended):
    return [row["page"] for row in csv.DictReader(io.StringIO(ended.out))]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("/a,2026-01-01,\n/a,2026-01-02,\n", "1 visit left out"),
        ("/a,2026-01-01,\n/a,2026-01-02,\n/a,2026-01-03,\n/a,2026-01-04,true\n", "2 visits left"),
    ],
)
@pytest.mark.parametrize("verb", [["estimate"], ["trends", "pages"]])
def test_visits_that_tell_nothing_are_counted(tmp_path, verb, rows, said):
    path = tmp_path / "visits.csv"
    path.write_text(f"page,visited_at,changed\n{rows}")

    ended = run_here(*verb, path, "--csv")

    assert said in ended.err
    assert "left out: `changed` is empty and there is no usable date or digest." in ended.err


def test_a_first_visit_has_nothing_to_be_compared_with(log):
    assert "left out" not in run_here("estimate", log, "--csv").err


def test_visits_after_now_are_remarked(log):
    one = run_here("estimate", log, "--now", "2026-02-10", "--csv")
    both = run_here("estimate", log, "--now", "2026-01-01", "--csv")
    none = run_here("estimate", log, "--now", "2026-03-01", "--csv")

    assert "1 page was visited after --now; its copy counts as fresh." in one.err
    assert "2 pages were visited after --now; their copies count as fresh." in both.err
    assert "after --now" not in none.err


def test_a_limit_says_what_it_left_out(log):
    ended = run_here("estimate", log, "--limit", "1", "--csv")

    assert pages(ended) == ["/slow"]
    assert "Only the first 1 of 2 pages (--limit)." in ended.err
    assert "--limit" not in run_here("estimate", log, "--limit", "2", "--csv").err


@pytest.mark.parametrize(
    ("order", "first"),
    [("rate", "/fast"), ("fresh", "/fast"), ("page", "/fast"), ("visits", "/fast")],
)
def test_rows_can_be_sorted(log, order, first):
    plain = run_here("estimate", log, "--now", "2026-03-02", "--csv")
    ended = run_here("estimate", log, "--now", "2026-03-02", "--sort", order, "--csv")

    assert pages(plain)[0] == "/slow"
    assert pages(ended)[0] == first
    assert sorted(ended.out.splitlines()) == sorted(plain.out.splitlines())


def test_an_order_must_be_one_of_ours(log):
    assert run("estimate", log, "--sort", "size").code == 2
    assert run("estimate", log, "--sort", "rate", "--method", "compare").code == 2
