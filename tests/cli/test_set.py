"""`recrawl set`: values of the settings changed and shown."""

import json
import signal

from recrawl.store.lock import reloading_process
from recrawl.store.settings_file import load_settings
from tests.cli import crawls
from tests.cli.running import run, sentence
from tests.cli.test_reload import said_by
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import wait_until

SITE = "https://example.org/"


def begin(folder):
    run("init", folder, "--agent", crawls.AGENT)
    run("add", SITE, "--later", cwd=folder)


def test_values_are_changed_and_said(tmp_path):
    begin(tmp_path)

    ended = run("set", SITE, "links=3", "exclude=/a/", "exclude=*.pdf", cwd=tmp_path)

    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        f"[[site]] {SITE} links = 3 (was not set).",
        f'[[site]] {SITE} exclude = ["/a/", "*.pdf"] (was not set).',
        "The next `recrawl crawl` applies it.",
    ]
    (rule,) = load_settings(tmp_path / "recrawl.toml").rules
    assert (rule.links, rule.filters.exclude) == (3, ("/a/", "*.pdf"))
    assert run("set", SITE, "links=3", cwd=tmp_path).err.endswith("recrawl.toml stays as it is.\n")
    assert run("-q", "set", SITE, "--unset", "links", cwd=tmp_path).code == 2
    assert run("set", "-q", SITE, "--unset", "links", cwd=tmp_path) == (0, "", "")
    assert load_settings(tmp_path / "recrawl.toml").rules[0].links == 0


def test_nothing_is_written_unless_all_of_it_is_valid(tmp_path):
    begin(tmp_path)
    before = (tmp_path / "recrawl.toml").read_bytes()

    said = sentence(run("set", SITE, "links=3", "weight=-1", cwd=tmp_path))

    assert said == "weight must be a number above 0 (got -1)"
    assert "hunter2" not in sentence(run("set", SITE, "password=hunter2", cwd=tmp_path))
    assert run("set", "budget=1/1d", "--unset", "budget", cwd=tmp_path).code == 2
    assert run("set", "budget=1/1d", "--csv", cwd=tmp_path).code == 2
    assert (tmp_path / "recrawl.toml").read_bytes() == before


def test_a_secret_that_is_not_there_is_warned_of(tmp_path):
    """It may be there for the crawl, so the settings are written."""
    begin(tmp_path)

    ended = run("set", "-q", SITE, "user=me", "password=file:none.txt", cwd=tmp_path)

    assert ended.code == 0
    assert ended.err.startswith(f"Warning: {SITE}: password file:none.txt")
    assert ended.err.endswith("; a crawl needs it.\n")


def test_settings_are_shown(tmp_path):
    begin(tmp_path)

    rows = [json.loads(line) for line in run("set", "--json", cwd=tmp_path).out.splitlines()]
    of_site = run("set", SITE, "--csv", cwd=tmp_path)

    assert {"part": "", "key": "budget", "value": "500/1d", "line": 11} in rows
    assert of_site.out.splitlines()[0] == "part,key,value,line"
    assert of_site.out.splitlines()[1].startswith(f"[[site]] {SITE},address,{SITE},")


def test_a_crawl_that_runs_is_told(tmp_path):
    with FaultServer({"/": answers.page(b"a")}).in_thread() as server:
        crawls.crawl_in(tmp_path, server)
        site = server.address("/")
        with crawls.start(tmp_path) as crawl:
            wait_until(lambda: reloading_process(tmp_path / "recrawl.db") == crawl.pid)
            ended = run("set", site, "weight=2", "links=1", cwd=tmp_path)

            assert ended.err.splitlines()[2:] == [
                f"A crawl is running (process {crawl.pid}); it reloads the settings.",
                f"Restart it for: weight of {site}.",
            ]
            assert said_by(crawl, "read again")[-1] == (
                f"Settings read again; applied: {site}; restart the crawl for: weight of {site}.\n"
            )
            wait_until(lambda: reloading_process(tmp_path / "recrawl.db") == crawl.pid)
            crawl.send_signal(signal.SIGTERM)
            assert crawl.wait() == 0


def test_what_is_wrong_can_be_set_right(tmp_path):
    """`init` without an agent leaves it empty, and nothing else can be done until it is set."""
    run("init", cwd=tmp_path)

    wrong = run("set", "agent=bot", cwd=tmp_path)
    ended = run("set", "agent=bot (me@example.org)", cwd=tmp_path)

    assert wrong.code == 1
    assert ended.code == 0, ended.err
    assert 'agent = "bot (me@example.org)"' in (tmp_path / "recrawl.toml").read_text()
