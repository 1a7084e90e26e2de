"""`recrawl history`, as people run it."""

import csv

import pytest

from recrawl.entries.entries import PageChange, VisitMade
from recrawl.report.histories import VISIT_COLUMNS
from recrawl.store import open_for_writing
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.cli.looking import on_a_terminal
from tests.cli.running import run, sentence
from tests.inspect.looked import BEGAN, DAY, made

PAGE = "https://a.org/s0/p3.html"


@pytest.fixture
def folder(tmp_path):
    made(tmp_path / "recrawl.db", rounds=6)
    return tmp_path


def test_visits_newest_first_and_what_they_taught(folder):
    lines = on_a_terminal(folder, "history", PAGE).splitlines()

    assert lines[0].split() == ["visited", "outcome", "http", "bytes", "took", "changed", "before"]
    visited = [line[:19] for line in lines[1:7]]
    assert visited == sorted(visited, reverse=True)
    assert lines[6].split()[2:] == ["first", "200", "100", "0.25s", "-"]
    assert lines[7].startswith(f"{PAGE} changes every ")
    assert lines[7].endswith(" % fresh now.")
    assert lines[8].startswith("Next visit ")


def test_versions_are_counted(folder):
    with open_for_writing(folder / "recrawl.db") as store:
        at = (BEGAN + 20) * DAY
        store.write([VisitMade(3, at, VisitOutcome.CHANGED, size=5, body=b"hello")])

    assert on_a_terminal(folder, "history", PAGE).endswith("1 version kept, 5 bytes.\n")


def test_a_page_that_is_gone_is_said_to_be(folder):
    with open_for_writing(folder / "recrawl.db") as store:
        gone = PageChange(PageStatus.GONE)
        store.write([VisitMade(3, (BEGAN + 20) * DAY, VisitOutcome.GONE, http=404, change=gone)])

    shown = on_a_terminal(folder, "history", PAGE)
    assert f"{PAGE} is gone.\n" in shown
    assert "fresh now" not in shown


def test_only_the_newest_fit_on_a_terminal(folder):
    with open_for_writing(folder / "recrawl.db") as store:
        later = [VisitMade(3, (BEGAN + 20 + day) * DAY, VisitOutcome.SAME) for day in range(50)]
        store.write(later)

    assert "... and 16 more visits; --csv, --json or -o writes all of them.\n" in on_a_terminal(
        folder, "history", PAGE
    )
    assert len(run("history", PAGE, "--csv", cwd=folder).out.splitlines()) == 57


def test_files_hold_a_log_oldest_first(folder):
    ended = run("history", PAGE, "-o", "page.csv", cwd=folder)

    assert ended.out == ended.err == ""
    with (folder / "page.csv").open() as file:
        found = list(csv.DictReader(file))
    assert tuple(found[0]) == VISIT_COLUMNS
    assert found[0]["outcome"] == "first"
    assert {row["page"] for row in found} == {PAGE}
    assert run("estimate", "page.csv", cwd=folder).code == 0


def test_an_address_may_be_spelt_otherwise(folder):
    ended = run("history", "HTTPS://A.org:443/s0/../s0/p3.html#top", "--csv", cwd=folder)

    assert ended.out.splitlines()[1].startswith(PAGE)


def test_an_unknown_address_is_refused_with_the_nearest(folder):
    assert sentence(run("history", "https://a.org/s0/p3.htm", cwd=folder)) == (
        f"recrawl.db: no page https://a.org/s0/p3.htm; did you mean {PAGE}?"
    )
    assert sentence(run("history", "x", cwd=folder)).endswith("no page x")


def test_a_page_without_visits_has_an_empty_table(tmp_path):
    made(tmp_path / "recrawl.db", rounds=0)
    shown = on_a_terminal(tmp_path, "history", PAGE)

    assert shown.splitlines()[1:2] == [f"{PAGE} is new."]
    assert shown.splitlines()[2].startswith("Next visit ")
