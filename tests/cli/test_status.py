"""`recrawl status`, as people run it."""

import json
import re

import pytest

from recrawl.report.status.object import KEYS
from recrawl.store import open_for_writing
from tests.cli.looking import on_a_terminal
from tests.cli.running import names_in, run, sentence
from tests.inspect.looked import made


@pytest.fixture
def folder(tmp_path):
    made(tmp_path / "recrawl.db", own=True)
    return tmp_path


def test_a_crawl_in_a_dozen_lines(folder):
    lines = on_a_terminal(folder, "status").splitlines()
    said = [line[:11].rstrip() for line in lines]

    fresh = r"fresh      \d+\.\d % of 90 copies expected fresh \(.* to .* %\); \d+\.\d % by weight"
    assert re.fullmatch(fresh, lines[0])
    assert re.fullmatch(r"outlook    \d+\.\d % fresh in the long run \(.*", lines[2])
    assert lines[said.index("pages")] == "pages      90 known"
    assert lines[said.index("overdue")] == "overdue    30"
    common, own = (line for line in lines if line.startswith("visits"))
    assert common.endswith("budget 20 per day (all others)")
    assert own.endswith("budget 5 per day (https://b.org/)")
    assert lines[said.index("forecast")].startswith("forecast   ")
    assert lines[-1] == "next       now"


def test_a_target_has_a_line(folder):
    place = folder / "recrawl.toml"
    place.write_text(place.read_text() + "target = 0.95\n")
    ended = run("status", cwd=folder)
    figures = json.loads(run("status", "--json", cwd=folder).out)

    assert "target     missed at https://b.org/: " in ended.out
    assert figures["targets"][0]["needed_per_day"] > 0


def test_the_same_in_json(folder):
    ended = run("status", "--json", cwd=folder)

    assert ended.code == 0
    assert ended.err == ""
    assert tuple(json.loads(ended.out)) == KEYS


def test_a_crawl_may_run_meanwhile_and_nothing_is_left_behind(folder):
    with open_for_writing(folder / "recrawl.db"):
        assert run("status", cwd=folder).code == 0
    assert set(names_in(folder)) <= {
        *("recrawl.toml", "recrawl.db", "recrawl.db.lock", "recrawl.db-wal", "recrawl.db-shm")
    }


def test_settings_elsewhere(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    ended = run("status", "--settings", folder / "recrawl.toml", cwd=elsewhere)

    assert ended.out.startswith("fresh ")


def test_a_folder_without_a_crawl_is_refused(tmp_path):
    ended = run("status", cwd=tmp_path)

    assert sentence(ended).startswith("No recrawl.toml here. Run `recrawl init` first.")


def test_a_missing_store_is_refused(folder):
    for name in names_in(folder):
        if name != "recrawl.toml":
            (folder / name).unlink()

    assert sentence(run("status", cwd=folder)).startswith("recrawl.db not found")
    assert names_in(folder) == ["recrawl.toml"]
