"""`recrawl diff`, as people run it."""

import csv
import io
import json
import os
import pty
import re
import subprocess

import pytest

from recrawl.detect.masks.json_text import as_json
from recrawl.detect.masks.masks import learn_masks
from recrawl.entries.entries import Found, PagesFound, VisitMade
from recrawl.report.diff.data import DIFF_KEYS, VERSION_COLUMNS
from recrawl.store import create_store, open_for_writing
from recrawl.visits.status import VisitOutcome
from tests.cli.looking import on_a_terminal
from tests.cli.running import names_in, run, sentence, start
from tests.preloaded import RECRAWL, environment

DAY = 86_400.0
BEGAN = 20_000 * DAY  # 2024-10-04
TEA = "https://a.org/tea"
SETTINGS = """agent = "bot (me@example.org)"

[[site]]
address = "https://a.org/"
ignore = [".ad"]
"""
FIRST = """<title>Tea</title><h1>Sencha</h1><p>Costs 5 euros<p class=ad>Buy!
<p>Grown in a small garden near Uji<p>Sent on Mondays and Thursdays<p>Wait for ninety seconds"""
SECOND = """<title>Tea</title><h1>Sencha</h1><p>Sent on Mondays and Thursdays<p>Costs 6 euros
<p>Grown in a small garden near Uji<p>Wait for ninety seconds<p>Drink\x1b[31m"""
THIRD = SECOND.replace("Costs 6", "Costs 7")
SHOWN = """\
https://a.org/tea
from 2024-10-04 00:00:00 (159 bytes) to 2024-10-06 00:00:00 (156 bytes), UTC
{share} of the words changed or moved (edited): 1 line changed, 1 added, 1 moved

  Tea
  Sencha
> Sent on Mondays and Thursdays  (moved up)
~ Costs [-5-]{{+6+}} euros
  Grown in a small garden near Uji
< Sent on Mondays and Thursdays  (moved up)
  Wait for ninety seconds
+ Drink\\x1b[31m
"""


def kept(path, *bodies, address=TEA, every=2 * DAY):
    """Write a store that keeps these versions of a page, some time apart."""
    path.with_name("recrawl.toml").write_text(SETTINGS)
    store = open_for_writing(path) if path.exists() else create_store(path)
    with store:
        (found,) = store.write([PagesFound([address], ["a.org"], [0], at_seconds=BEGAN)])
        assert isinstance(found, Found)
        (number,) = found.pages
        for row, body in enumerate(bodies):
            outcome = VisitOutcome.CHANGED if row else VisitOutcome.FIRST
            at = BEGAN + row * every + 0.6  # no visit ends at a whole second
            size = len(body)
            store.write([VisitMade(number, at, outcome, http=200, size=size, body=body)])


@pytest.fixture
def folder(tmp_path):
    kept(tmp_path / "recrawl.db", FIRST.encode(), SECOND.encode(), THIRD.encode())
    return tmp_path


def test_what_changed_is_shown_with_signs_where_there_are_no_colours(folder):
    shown = run("diff", TEA, "--to", "2024-10-06", cwd=folder).out

    assert shown == SHOWN.format(share=shown.splitlines()[2].partition(" of")[0])
    assert on_a_terminal(folder, "diff", TEA, "--to", "2024-10-06") == shown


def test_the_newest_is_compared_with_the_one_before(folder):
    lines = run("diff", TEA, cwd=folder).out.splitlines()

    assert lines[1].startswith("from 2024-10-06 00:00:00 (")
    assert "~ Costs [-6-]{+7+} euros" in lines


def test_a_version_holds_until_the_next(folder):
    """As told by a time, by the second that lists show, and by how long ago it was."""
    for words in (["2024-10-05T23:59:59"], ["2024-10-04T00:00:00"], ["1728000000"]):
        lines = run("diff", TEA, "--from", *words, cwd=folder).out.splitlines()
        assert lines[1].startswith("from 2024-10-04 00:00:00 (")
        assert "~ Costs [-5-]{+7+} euros" in lines
    assert "(got 2024-10-08" in sentence(run("diff", TEA, "--from", "3d", cwd=folder))


def in_colours(folder, **more):
    """What a terminal that has colours is told."""
    ours, theirs = pty.openpty()
    screen = environment(TERM="xterm-256color", **more)
    screen = {name: value for name, value in screen.items() if value or name != "NO_COLOR"}
    words = ["diff", TEA, "--to", "2024-10-06"]
    try:
        assert start(*words, cwd=folder, stdout=theirs, env=screen).wait() == 0
        return os.read(ours, 1 << 16).decode()
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_terminal_is_told_colours_and_nothing_else(folder):
    told = in_colours(folder, NO_COLOR="")

    assert "\x1b[31m[-5-]\x1b[0m\x1b[32m{+6+}\x1b[0m" in told
    assert re.sub(r"\x1b\[[\d;]*m", "", told).replace("\r\n", "").isprintable()


def test_whoever_wants_no_colours_has_none(folder):
    assert "\x1b" not in in_colours(folder, NO_COLOR="1")


def test_letters_that_a_terminal_does_not_have_are_spelt_out(tmp_path):
    kept(tmp_path / "recrawl.db", "<p>東京は晴れ".encode(), "<p>東京は雨".encode())
    ended = subprocess.run(
        [RECRAWL, "diff", TEA],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env=environment(PYTHONIOENCODING="latin-1"),
    )

    assert rb"{+\u96e8+}" in ended.stdout


def test_a_page_in_html_is_written(folder):
    ended = run("diff", TEA, "--html", "tea.html", cwd=folder)

    assert ended.out == ended.err == ""
    page = (folder / "tea.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Costs <ins>7</ins> euros" in page
    assert run("diff", TEA, "--html", "-", cwd=folder).out == page


def test_a_page_that_cannot_be_written_is_refused(folder):
    before = names_in(folder)

    assert sentence(run("diff", TEA, "--html", "tea.txt", cwd=folder)).startswith(
        "tea.txt: output must end in .html"
    )
    assert "folder" in sentence(run("diff", TEA, "--html", "no/tea.html", cwd=folder))
    assert names_in(folder) == before


def test_the_object_holds_all(folder):
    found = json.loads(run("diff", TEA, "--json", cwd=folder).out)

    assert tuple(found) == DIFF_KEYS
    assert found["gist"] == "figures"
    assert [block["kind"] for block in found["blocks"]] == ["same", "changed", "same"]


def test_versions_are_listed_with_how_much_changed(folder):
    ended = run("diff", TEA, "--list", cwd=folder)

    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert tuple(rows[0]) == VERSION_COLUMNS
    assert [row["gist"] for row in rows] == ["", "edited", "figures"]
    assert [row["kept_at"][:10] for row in rows] == ["2024-10-04", "2024-10-06", "2024-10-08"]
    table = on_a_terminal(folder, "diff", TEA, "--list").splitlines()
    assert table[0].split() == ["kept", "bytes", "words", "changed", "gist"]
    assert [line.split()[0] for line in table[1:]] == ["2024-10-08", "2024-10-06", "2024-10-04"]
    assert len(run("diff", TEA, "--list", "--json", cwd=folder).out.splitlines()) == 3


def test_what_does_not_count_is_no_difference(tmp_path):
    kept(tmp_path / "recrawl.db", FIRST.encode(), FIRST.replace("Buy!", "Buy now!").encode())

    lines = run("diff", TEA, cwd=tmp_path).out.splitlines()
    assert lines[2:] == ["nothing that counts has changed", ""]
    assert "~ Buy{+ now+}!" in run("diff", TEA, "--all", cwd=tmp_path).out.splitlines()


def test_what_differs_by_itself_does_not_count(tmp_path):
    """As the crawl has learned it from two fetches at once."""
    old, new = "<p>Now 12:00:01<p>Costs 5 euros", "<p>Now 18:30:59<p>Costs 6 euros"
    kept(tmp_path / "recrawl.db", old.encode(), new.encode())
    masks = as_json(
        learn_masks(("Now 10:00:01", "Costs 5 euros"), ("Now 10:00:02", "Costs 5 euros"))
    )
    with open_for_writing(tmp_path / "recrawl.db") as store:
        store.write([VisitMade(0, BEGAN + 9 * DAY, VisitOutcome.SAME, masks=masks)])

    lines = run("diff", TEA, cwd=tmp_path).out.splitlines()
    assert lines[4:] == ["  Now …", "~ Costs [-5-]{+6+} euros"]
    assert "Now [-12:00:01-]{+18:30:59+}" in run("diff", TEA, "--all", cwd=tmp_path).out


def test_other_encodings_and_texts_that_are_no_html_are_read(tmp_path):
    old, new = '<meta charset="shift_jis"><p>東京は晴れ', '<meta charset="shift_jis"><p>東京は雨'
    kept(tmp_path / "recrawl.db", old.encode("shift_jis"), new.encode("shift_jis"))
    kept(tmp_path / "recrawl.db", b'{"a": 1}', b'{"a": 2}', address="https://a.org/api")

    assert "~ 東京は[-晴れ-]{+雨+}" in run("diff", TEA, cwd=tmp_path).out
    assert '~ "a": [-1-]{+2+}' in run("diff", "https://a.org/api", cwd=tmp_path).out


def test_what_cannot_be_compared_is_one_sentence(folder):
    """Each says what must hold and what came."""
    store = folder / "recrawl.db"
    kept(store, b"one", address="https://a.org/one")
    kept(store, address="https://a.org/none")
    kept(store, bytes(range(256)) * 9, bytes(range(256)) * 8, address="https://a.org/picture")
    first, last = "2024-10-04 00:00:00 UTC", "2024-10-08 00:00:00 UTC"
    refused = {
        ("https://a.org/on",): "recrawl.db: no page "
        "https://a.org/on; did you mean https://a.org/one?",
        ("https://a.org/one",): "Nothing to compare yet: only one version of "
        f"https://a.org/one is kept ({first}).",
        ("https://a.org/none",): "Nothing to compare: no version of https://a.org/none is kept.",
        ("https://a.org/picture",): "cannot compare https://a.org/picture: its version of "
        f"{first} is not text",
        (TEA, "--from", "2024-10-01"): "--from is before the first version kept, "
        f"{first} (got 2024-10-01 00:00:00 UTC)",
        (TEA, "--to", "2024-10-05"): "--to is the first version kept "
        f"({first}); there is none before it",
        (TEA, "--from", "2024-10-09"): "--from must be an older version than --to "
        f"(got {last} for both); see --list",
        (TEA, "--from", "1d", "--to", "2024-10-05"): "--from must be an older version than --to "
        f"(got {last} and {first}); see --list",
        (TEA, "--from", "noon"): "--from must be a time such as 2026-01-05, or 3d for 3 days ago "
        "(got 'noon')",
    }

    for words, wanted in refused.items():
        assert sentence(run("diff", *words, cwd=folder)) == wanted


def test_a_crawl_that_keeps_no_versions_says_so(tmp_path):
    kept(tmp_path / "recrawl.db")
    (tmp_path / "recrawl.toml").write_text(SETTINGS + "\n[storage]\nversions = 0\n")

    assert sentence(run("diff", TEA, cwd=tmp_path)).endswith(
        " is kept: the settings say versions = 0."
    )


@pytest.mark.parametrize(
    "words",
    [
        ["--list", "--from", "3d"],
        ["--list", "--html", "-"],
        ["--csv"],
        ["--json", "--html", "-"],
        ["--list", "--csv", "--json"],
    ],
    ids=" ".join,
)
def test_wishes_that_exclude_each_other_are_wrong_usage(folder, words):
    assert run("diff", TEA, *words, cwd=folder).code == 2
