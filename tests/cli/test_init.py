"""`recrawl init`, as people run it."""

import os
import shlex
import subprocess
import sys

import pytest

from recrawl.errors import InvalidSettings
from recrawl.settings.settings import read_settings
from recrawl.store import open_for_writing
from tests.cli.running import names_in, run, sentence
from tests.preloaded import RECRAWL, environment

AGENT = "my-crawler (+https://example.org/about; me@example.org)"


def test_a_crawl_is_begun_in_the_folder_where_one_is(tmp_path):
    ended = run("init", cwd=tmp_path)

    assert ended.code == 0
    assert ended.out == ""
    assert ended.err.splitlines() == [
        "Wrote recrawl.toml and recrawl.db. Next:",
        '  1. recrawl set "agent=my-copy (me@example.org)"  (the name that sites see)',
        "  2. recrawl add https://...",
        "  3. recrawl crawl",
    ]
    assert {"recrawl.toml", "recrawl.db"} <= set(names_in(tmp_path))


def test_without_an_agent_the_settings_ask_for_one(tmp_path):
    run("init", cwd=tmp_path)

    with pytest.raises(InvalidSettings, match=r"line \d+: agent must be .* \(got \"\"\)$"):
        read_settings((tmp_path / "recrawl.toml").read_text(encoding="utf-8"))


def test_the_step_that_is_named_sets_the_agent(tmp_path):
    ended = run("init", cwd=tmp_path)
    step = ended.err.splitlines()[1].partition("recrawl ")[2].partition("  (")[0]

    assert run(*shlex.split(step), cwd=tmp_path).code == 0
    assert run("status", cwd=tmp_path).code == 0


def test_with_an_agent_the_settings_are_complete(tmp_path):
    ended = run("init", tmp_path, "--agent", AGENT)

    settings = read_settings((tmp_path / "recrawl.toml").read_text(encoding="utf-8"))
    assert settings.agent == AGENT
    assert "edit" not in ended.err


def test_quotes_in_an_agent_are_kept(tmp_path):
    agent = r'bot "the \ good" (me@example.org)'
    run("init", tmp_path, "--agent", agent)

    assert read_settings((tmp_path / "recrawl.toml").read_text(encoding="utf-8")).agent == agent


def test_the_store_can_be_opened(tmp_path):
    run("init", tmp_path)

    with open_for_writing(tmp_path / "recrawl.db") as store:
        assert store.name == str(tmp_path / "recrawl.db")


def test_a_folder_is_made(tmp_path):
    ended = run("init", "my news/2026", "--agent", AGENT, cwd=tmp_path)

    assert ended.err.splitlines() == [
        "Wrote my news/2026/recrawl.toml and my news/2026/recrawl.db. Next:",
        "  1. cd 'my news/2026'",
        "  2. recrawl add https://...",
        "  3. recrawl crawl",
    ]
    assert (tmp_path / "my news/2026/recrawl.toml").is_file()


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "recrawl.db").write_text("mine")

    said = sentence(run("init", tmp_path))

    there = "already exists; choose another folder"
    assert said == f"{tmp_path / 'recrawl.db'} {there}"
    assert names_in(tmp_path) == ["recrawl.db"]
    assert (tmp_path / "recrawl.db").read_text() == "mine"


def test_settings_that_are_there_stay_as_they_are(tmp_path):
    (tmp_path / "recrawl.toml").write_text("mine")

    said = sentence(run("init", tmp_path))

    assert said.startswith(f"{tmp_path / 'recrawl.toml'}, line 1: invalid TOML")
    assert names_in(tmp_path) == ["recrawl.toml"]
    assert (tmp_path / "recrawl.toml").read_text() == "mine"


def test_settings_without_a_store_get_one(tmp_path):
    text = f'agent = "{AGENT}"\n[storage]\nstore = "pages.db"\n'
    (tmp_path / "recrawl.toml").write_text(text)

    ended = run("init", tmp_path)

    assert ended.code == 0
    assert (tmp_path / "recrawl.toml").read_text() == text
    assert run("status", "--settings", tmp_path / "recrawl.toml").code == 0
    assert "already exists; edit it, or choose another folder" in sentence(run("init", tmp_path))


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path):
    (tmp_path / "recrawl.db").symlink_to(tmp_path / "elsewhere")

    sentence(run("init", tmp_path))

    assert names_in(tmp_path) == ["recrawl.db"]


def test_a_second_time_changes_nothing(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}

    sentence(run("init", tmp_path))

    assert {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)} == before


@pytest.mark.parametrize("agent", ["my-crawler", "böt (me@example.org)", "bot\n(me@example.org)"])
def test_an_agent_without_a_contact_is_refused(tmp_path, agent):
    said = sentence(run("init", tmp_path / "new", "--agent", agent))

    assert said.startswith("agent must be the name of your crawler with a contact in it, ")
    assert names_in(tmp_path) == []


def test_an_address_is_no_folder(tmp_path):
    said = sentence(run("init", "https://example.org/news", cwd=tmp_path))

    assert said.startswith("https://example.org/news is an address, not a folder; ")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("place", ["file", "file/folder"])
def test_a_folder_that_cannot_be_is_refused(tmp_path, place):
    (tmp_path / "file").write_text("")

    said = sentence(run("init", tmp_path / place))

    assert said.startswith(f"{tmp_path / place} cannot be created (")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    tmp_path.chmod(0o500)

    said = sentence(run("init", tmp_path))

    assert "folder must be one that can be written to" in said


@pytest.mark.parametrize("kilobytes", [1, 6])
def test_without_room_nothing_is_left_behind(tmp_path, kilobytes):
    """Neither for the settings, or for them alone: files may not grow beyond a limit."""
    limit = (
        "import os, resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({kilobytes << 10},) * 2)\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", limit, RECRAWL, "init", tmp_path],
        capture_output=True,
        check=False,
        env=environment(),
        text=True,
    )

    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: ")
    assert ended.stderr.count("\n") == 1
    assert names_in(tmp_path) == []


def test_help_says_what_is_written():
    helped = run("init", "--help").out

    assert helped.startswith("Usage: recrawl init [OPTIONS] [FOLDER]\n")
    assert "recrawl.toml" in helped
    assert "recrawl.db" in helped
