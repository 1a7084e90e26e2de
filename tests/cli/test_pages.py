"""`recrawl pages`, as people run it."""

import csv
import json

import pytest

from recrawl.report.pages import PAGE_COLUMNS
from tests.cli.looking import on_a_terminal
from tests.cli.running import run, sentence
from tests.inspect.looked import made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crawl")
    made(folder / "recrawl.db", own=True)
    return folder


def rows(ended):
    assert ended.code == 0, ended
    return list(csv.DictReader(ended.out.splitlines()))


def test_a_terminal_shows_the_first(folder):
    lines = on_a_terminal(folder, "pages").splitlines()

    assert lines[0].split() == [
        *("page", "status", "every", "between", "fresh", "now", "visited", "next")
    ]
    assert len(lines) == 42
    assert lines[-1] == "... and 50 more pages; --csv, --json or -o writes all of them."


def test_a_pipe_gets_all_as_csv(folder):
    found = rows(run("pages", cwd=folder))

    assert len(found) == 90
    assert tuple(found[0]) == PAGE_COLUMNS
    rates = [float(row["rate_per_day"]) for row in found]
    assert rates == sorted(rates, reverse=True)
    assert all(float(row["low"]) <= float(row["rate_per_day"]) for row in found)


@pytest.mark.parametrize(
    ("order", "column"),
    [("next", "next_visit"), ("visited", "last_visit"), ("address", "page")],
)
def test_an_order_is_kept(folder, order, column):
    cells = [row[column] for row in rows(run("pages", "--csv", "--sort", order, cwd=folder))]

    assert cells == sorted(cells)


def test_the_stalest_come_first(folder):
    cells = [float(row["fresh_now"]) for row in rows(run("pages", "--sort", "fresh", cwd=folder))]

    assert cells == sorted(cells)


def test_one_host(folder):
    found = rows(run("pages", "--host", "b.org", cwd=folder))

    assert len(found) == 30
    assert {row["weight"] for row in found} == {"2"}


def test_one_status(folder):
    assert rows(run("pages", "--status", "gone", cwd=folder)) == []
    assert len(rows(run("pages", "--status", "copied", cwd=folder))) == 90


def test_json_and_files(folder, tmp_path):
    first = json.loads(run("pages", "--json", cwd=folder).out.splitlines()[0])
    ended = run("pages", "-o", tmp_path / "pages.jsonl", cwd=folder)

    assert ended.out == ""
    assert tuple(first) == PAGE_COLUMNS
    written = json.loads((tmp_path / "pages.jsonl").read_text().splitlines()[0])
    assert written["page"] == first["page"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "c.org"), "recrawl.db: no host 'c.org' in this crawl"),
        (("--status", "old"), "status must be one of new, copied, suspected, gone, refused, moved"),
        (("-o", "pages.txt"), "pages.txt: output must end in .csv"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(folder, words, said):
    assert sentence(run("pages", *words, cwd=folder)).startswith(said)


def test_an_order_that_there_is_not_is_wrong_usage(folder):
    assert sentence(run("pages", "--sort", "size", cwd=folder)).startswith("--sort must be one of ")
    assert run("pages", "--csv", "--json", cwd=folder).code == 2
