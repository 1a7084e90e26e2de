"""`recrawl listing` on the store of a crawl."""

import csv
import io
import json
import shutil

import pytest

from recrawl.report.listings.objects import OBJECT_COLUMNS
from recrawl.store import create_store, open_for_writing
from tests.cli.running import run, run_here
from tests.listings.live.listing_stores import kept, rule, store_of_jobs
from tests.report.columns import SYNC_COLUMNS


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    path = tmp_path_factory.mktemp("board") / "recrawl.db"
    store_of_jobs(path, days=30.0)
    return path


@pytest.fixture
def two(board, tmp_path):
    """A store of two listings."""
    path = shutil.copy(board, tmp_path / "recrawl.db")
    with open_for_writing(path) as store:
        kept(store, lambda _: {str(n): {} for n in range(20)}, rule("cars"), 3.0)
    return path


def rows(*words):
    ended = run_here("listing", *words, "--json")
    assert ended.code == 0, ended
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.mark.parametrize(
    "words",
    [
        ("describe",),
        ("describe", "--days"),
        ("describe", "--updates"),
        ("forecast", "--horizon", "1d..3d"),
        ("schedule", "--keep", "recall >= 0.8"),
        ("partition", "--by", "kind"),
        ("decay",),
        ("backtest", "--train", "14d", "--cycle", "3d"),
        ("syncs",),
    ],
    ids=" ".join,
)
def test_every_verb_reads_a_store(board, words):
    verb, *more = words

    found = rows(verb, board, *more)

    assert found
    assert {row.get("source", "jobs") for row in found} == {"jobs"}  # a backtest names none


@pytest.fixture(scope="module")
def often(tmp_path_factory):
    """A board that is synced every four hours."""
    path = tmp_path_factory.mktemp("often") / "recrawl.db"
    store_of_jobs(path, days=16.0, maximum=1 / 6, minimum=1 / 24)
    return path


def test_a_list_that_is_synced_often_is_forecast_by_the_hour(often):
    found = rows("forecast", often, "--horizon", "4h,8h,1d")

    assert [round(24 * row["after_days"], 6) for row in found] == [4, 8, 24]
    assert [row["at"][11:16] for row in found] == ["13:00", "17:00", "09:00"]
    recall = [row["recall"] for row in found]
    assert 1 > recall[0] > recall[1] > recall[2]
    assert all(row["recall_low"] <= row["recall"] <= row["recall_high"] for row in found)


@pytest.mark.parametrize("verb", ["describe", "forecast"])
def test_where_a_list_is_synced_often_one_sync_a_day_is_said_to_count(often, tmp_path, verb):
    said = run_here("listing", verb, often, "--json").err

    assert "jobs: crawled every 4.0h recently; only one crawl per day is used here; " in said
    assert " objects that came and went in between left out.\n" in said
    store_of_jobs(tmp_path / "daily.db", days=5.0, minimum=1.0)
    assert "counts here" not in run_here("listing", verb, tmp_path / "daily.db", "--json").err


def test_a_schedule_says_where_it_misses_the_target(often):
    words = ["schedule", often, "--for", "5d", "--json", "--keep"]
    strict, mild = (
        run_here("listing", *words, keep).err for keep in ("recall>=0.98", "recall>=0.8")
    )

    assert "5 syncs a day apart, still too rare: the target needs one every " in strict
    assert "misses" not in mild
    published = run_here("listing", *words, "recall>=0.8", "--first-missed").err
    assert " on the first day that misses a target with confidence 0.8, by " in published


def test_syncs_have_their_columns_in_order(board):
    ended = run_here("listing", "syncs", board, "--csv")

    table = list(csv.reader(io.StringIO(ended.out)))
    assert tuple(table[0]) == SYNC_COLUMNS
    assert "jobs: recall was within its band in " in ended.err


def test_objects_are_what_the_store_has_and_can_be_read_again(board, tmp_path):
    """The file of objects is a source: it describes the same list."""
    file = tmp_path / "objects.csv"
    found = rows("objects", board)
    assert run_here("listing", "objects", board, "-o", file).code == 0

    listed = rows("objects", board, "--listed")
    (whole,) = [row for row in rows("describe", board) if not row["attribute"]]
    (again,) = [row for row in rows("describe", file) if not row["attribute"]]

    assert tuple(found[0]) == (*OBJECT_COLUMNS, "pay", "kind")
    assert len(found) == whole["objects"] == again["objects"]
    assert len(listed) == whole["listed"] == again["listed"]
    assert {row["key"] for row in found if row["removed_at"] is None} == {
        row["key"] for row in listed
    }
    for row in found:
        assert row["appeared_at"] <= row["last_seen_at"]
        assert row["removed_at"] is None or row["last_seen_at"] < row["removed_at"]


def test_objects_of_several_listings_have_the_attributes_of_all(two):
    found = rows("objects", two)

    assert {row["source"] for row in found} == {"jobs", "cars"}
    assert all(row["pay"] in ("", None) for row in found if row["source"] == "cars")
    assert {row["source"] for row in rows("objects", two, "--name", "cars")} == {"cars"}


def test_a_listing_is_chosen_by_its_name(two):
    assert {row["source"] for row in rows("syncs", two)} == {"jobs", "cars"}
    assert {row["source"] for row in rows("syncs", two, "--name", "cars")} == {"cars"}
    assert {row["source"] for row in rows("describe", two, "--name", "cars")} == {"cars"}


def test_a_name_that_is_none_is_refused(two):
    ended = run("listing", "describe", two, "--name", "boats")

    assert ended.code == 1
    assert ended.err == (f"Error: {two}: listing 'boats' not found; expected one of jobs, cars\n")


def test_a_name_needs_a_store(tmp_path):
    (tmp_path / "a.csv").write_text("key,appeared_at\na,2026-01-01\n")

    ended = run("listing", "describe", tmp_path / "a.csv", "--name", "boats")

    assert ended.code == 2
    assert "--name needs a store" in ended.err


def test_a_picture_is_of_one_listing(two, tmp_path):
    picture = tmp_path / "a.svg"

    several = run_here("listing", "describe", two, "--plot", picture)
    one = run_here("listing", "describe", two, "--name", "jobs", "--plot", picture)

    assert several.code == 2
    assert "--name chooses one" in several.err
    assert one.code == 0
    assert picture.read_text().startswith("<svg")


def test_what_is_the_matter_is_said_beside_every_figure(tmp_path):
    shown: list[dict[str, dict[str, str]]] = [{str(n): {} for n in range(30)}, {}]
    with create_store(tmp_path / "a.db") as store:
        kept(store, lambda _: shown.pop(0) if len(shown) > 1 else shown[0], rule(), 1.5)

    described = run_here("listing", "describe", tmp_path / "a.db", "--csv")
    synced = run_here("listing", "syncs", tmp_path / "a.db")

    assert described.code == synced.code == 0
    alarm = "list is empty, expected about 30 objects"
    assert f"jobs: the last sync was not accepted: {alarm}." in described.err
    assert "jobs doubted, implausible: nothing is changed until a second sync" in synced.err
    assert synced.err.endswith(f"{alarm}.\n")


def test_a_store_without_listings_is_refused_in_one_sentence(tmp_path):
    create_store(tmp_path / "a.db").close()

    ended = run("listing", "syncs", tmp_path / "a.db")

    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "no listing found" in ended.err


def test_a_file_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "a.db").write_text("key,appeared_at\n")

    assert run("listing", "syncs", tmp_path / "a.db").code == 1
    assert run("listing", "syncs", tmp_path / "none.db").code == 1


@pytest.mark.parametrize("verb", ["syncs", "objects", "changes"])
def test_the_store_of_the_settings_needs_no_name(board, tmp_path, verb):
    """As for the other verbs that look: in a folder with recrawl.toml the store is known."""
    shutil.copy(board, tmp_path / "pages.db")
    settings = 'agent = "me (me@example.org)"\n[storage]\nstore = "pages.db"\n'
    (tmp_path / "recrawl.toml").write_text(settings)

    named = run("listing", verb, tmp_path / "pages.db", "--json", cwd=tmp_path.parent)
    found = run("listing", verb, "--json", cwd=tmp_path)
    elsewhere = run("listing", verb, "--json", cwd=tmp_path.parent)

    assert found.out == named.out != ""
    assert elsewhere.err == "Error: No recrawl.toml here. Run `recrawl init` first.\n"
