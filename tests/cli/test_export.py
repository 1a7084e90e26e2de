"""`recrawl export`, and the verbs that read a store as it is."""

import csv

import pytest

from recrawl.entries.entries import PageChange, VisitMade
from recrawl.report.histories import VISIT_COLUMNS
from recrawl.report.pages import PAGE_COLUMNS, RATE_COLUMNS
from recrawl.store import open_for_writing, open_store
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.cli.running import names_in, run, sentence
from tests.inspect.looked import BEGAN, DAY, made

NOW = "2025-01-01"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A crawl with a visit of every kind."""
    folder = tmp_path_factory.mktemp("crawl")
    made(folder / "recrawl.db", own=True)
    with open_for_writing(folder / "recrawl.db") as store:
        at = (BEGAN + 20) * DAY
        each = [VisitMade(page, at, outcome) for page, outcome in enumerate(VisitOutcome)]
        gone = PageChange(PageStatus.GONE)
        store.write([*each, VisitMade(19, at, VisitOutcome.GONE, http=404, change=gone)])
    return folder


def written(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_exported_visits_say_what_the_store_says(folder, tmp_path, suffix):
    log = tmp_path / f"visits.{suffix}"
    ended = run("export", "visits", "-o", log, cwd=folder)

    with open_store(folder / "recrawl.db") as store:
        count = store.last_visit()
    assert count > 400
    assert ended.err == f"Wrote {count} visits to {log}.\n"
    exported, stored = (
        run("estimate", file, "--now", NOW, cwd=folder).out for file in (log, "recrawl.db")
    )
    assert exported == stored
    assert stored.count("\n") == 91


def test_visits_have_their_columns(folder, tmp_path):
    run("export", "visits", "-o", tmp_path / "visits.csv", cwd=folder)
    found = written(tmp_path / "visits.csv")

    assert tuple(found[0]) == VISIT_COLUMNS
    assert {row["outcome"] for row in found} == {outcome.label for outcome in VisitOutcome}
    assert {row["status"] for row in found} == {"ok", "failed", "gone"}


def test_visits_need_no_settings(folder, tmp_path):
    ended = run("export", "visits", folder / "recrawl.db", "-o", "v.csv", cwd=tmp_path)

    assert ended.code == 0
    assert names_in(tmp_path) == ["v.csv"]


def test_rates_can_be_planned_with(folder, tmp_path):
    rates = tmp_path / "rates.csv"
    ended = run("export", "rates", folder / "recrawl.db", "-o", rates, cwd=tmp_path)

    assert ended.err == f"Wrote 90 pages to {rates}.\n"
    assert tuple(written(rates)[0]) == RATE_COLUMNS
    assert run("plan", rates, "--budget", "20/1d").code == 0


def test_pages_are_those_of_recrawl_pages(folder, tmp_path):
    pages = tmp_path / "pages.csv"
    run("export", "pages", "-o", pages, cwd=folder)
    found = written(pages)

    assert tuple(found[0]) == PAGE_COLUMNS
    assert [row["page"] for row in found if row["status"] == "gone"] == [
        "https://a.org/s1/p19.html"
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("visits", "-o", "v.txt"), "v.txt: output must end in .csv"),
        (("rates", "none.db", "-o", "r.csv"), "none.db not found"),
        (("visits", "none.db", "-o", "v.csv"), "none.db not found"),
        (("visits", "recrawl.toml", "-o", "v.csv"), "recrawl.toml is not a recrawl store"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(folder, words, said):
    assert sentence(run("export", *words, cwd=folder)).startswith(said)
    assert "v.csv" not in names_in(folder)


def test_wrong_words_are_wrong_usage(folder):
    wrong = run("export", "everything", "-o", "x.csv", cwd=folder)
    assert sentence(wrong).startswith("WHAT must be one of visits, ")


def test_the_standard_output_gets_what_a_file_would(folder, tmp_path):
    assert run("export", "visits", "-o", tmp_path / "v.csv", cwd=folder).code == 0
    whole = (tmp_path / "v.csv").read_text()

    assert run("export", "visits", cwd=folder) == (0, whole, "")
    assert run("export", "visits", "-o", "-", cwd=folder) == (0, whole, "")


def test_the_settings_beside_a_store_are_needed_for_rates(folder, tmp_path):
    (tmp_path / "copy.db").write_bytes((folder / "recrawl.db").read_bytes())
    ended = run("export", "rates", "copy.db", "-o", "r.csv", cwd=tmp_path)

    assert sentence(ended).startswith("No recrawl.toml here. Run `recrawl init` first.")
    named = ("--settings", folder / "recrawl.toml")
    assert run("export", "rates", "copy.db", "-o", "r.csv", *named, cwd=tmp_path).code == 0


# Verbs that read a store as it is.


def test_trends_are_read_from_a_store(folder):
    ended = run("trends", "pages", "recrawl.db", cwd=folder)

    assert ended.code == 0
    assert ended.out.startswith("page,")


def test_a_plan_is_made_for_the_pages_of_a_store(folder):
    """Not for the page that is gone, and not for one that was never seen."""
    ended = run("plan", "recrawl.db", "--budget", "20/1d", "--csv", cwd=folder)

    pages = [row["page"] for row in csv.DictReader(ended.out.splitlines())]
    assert "https://a.org/s1/p19.html" not in pages
    assert len(pages) == 89


def test_a_store_is_no_world_to_simulate(folder):
    ended = run("simulate", "history", "recrawl.db", "recrawl.db", cwd=folder)

    assert sentence(ended) == (
        "recrawl.db: this is a store, not a table; `recrawl export` writes tables from it"
    )


def test_a_plan_of_nothing_is_refused(tmp_path):
    made(tmp_path / "recrawl.db", rounds=0)
    ended = run("plan", "recrawl.db", "--budget", "20/1d", cwd=tmp_path)

    assert sentence(ended).startswith(
        "recrawl.db: no visits to existing pages yet; run `recrawl crawl` first"
    )
