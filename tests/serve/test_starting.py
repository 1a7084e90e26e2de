"""How the server begins: beside the demo, without its extra, with a token for those outside."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from recrawl.cli.serve import link_to
from recrawl.errors import InvalidParameter
from recrawl.serve.running import listen
from recrawl.serve.safety import ServerAccess
from tests.cli.running import run, sentence, start
from tests.preloaded import environment
from tests.serve import api_server, servers
from tests.waiting import HANGS_SECONDS, ending, started

ROOT = Path(__file__).parents[2]
SHORT_DEMO = ("--for", "3s", "--pages", "20")
EXTRA = ("fastapi", "jinja2", "starlette", "uvicorn")


def read_until(file, pattern):
    """What a process writes up to a pattern, and the pattern as it was found."""
    shown = ""
    while not (found := re.search(pattern, shown)):
        more = os.read(file, 4096)
        assert more, shown
        shown += more.decode()
    return shown, found


@contextmanager
def on_a_terminal(command, **more):
    """A process whose output goes to a terminal, and that terminal's other side."""
    ours, theirs = pty.openpty()
    try:
        streams = {"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs}
        with started(command, **streams, **more) as process:
            os.close(theirs)
            yield process, ours
    finally:
        os.close(ours)


def test_the_demo_leaves_the_dashboard_up_until_it_is_interrupted():
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with ending(start("demo", *SHORT_DEMO, "--serve", **both)) as process:
        assert process.stdout is not None
        shown, link = read_until(process.stdout.fileno(), r"(http://127\.0\.0\.1:\d+)/\n")
        status, _, page = servers.get(f"{link[1]}/")
        _, _, rows = servers.get(f"{link[1]}/api/v1/pages")
        process.send_signal(signal.SIGINT)
        _, remarks = process.communicate(timeout=HANGS_SECONDS)

    assert "Share of fresh copies" in shown  # the demo has ended by then
    assert status == 200
    assert "<h1>Overview</h1>" in page
    assert '"status":"copied"' in rows
    assert process.returncode == 0
    assert "was removed" in remarks


def test_the_script_of_the_demo_prints_the_address_on_a_terminal(tmp_path):
    """The script itself, with an environment that is there already."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    (tmp_path / "scripts" / "_environment").write_text("venv=.venv")
    script = shutil.copy(ROOT / "scripts" / "demo", tmp_path / "scripts")
    with on_a_terminal([script, *SHORT_DEMO], env=environment()) as (process, terminal):
        _, link = read_until(terminal, r"(http://127\.0\.0\.1:\d+)/\r\n")
        status, _, _ = servers.get(f"{link[1]}/changes")
        process.send_signal(signal.SIGINT)
        read_until(terminal, "was removed")
        process.wait(HANGS_SECONDS)

    assert status == 200
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        *((["serve"], each) for each in EXTRA),
        (["demo", "--serve"], "uvicorn"),
        (["crawl", "--serve", "0"], "uvicorn"),
    ],
)
def test_a_missing_extra_is_one_sentence(tmp_path, words, missing):
    """A process in which that package cannot be imported."""
    api_server.write_settings(tmp_path)
    line = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['recrawl', *{words!r}]; "
        "from recrawl.cli.main import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", line],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    needs = "`recrawl serve` needs an optional package: pip install '.[serve]' in the clone"
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr == f"Error: {needs} of recrawl\n"


@pytest.mark.parametrize("name", ["crawl.example.org", "Localhost.", "127.1", "", "[::1]", "::1%"])
def test_no_name_is_looked_up_to_listen_on(name):
    """Whoever looks up a name asks another machine for it."""
    with pytest.raises(InvalidParameter, match="must be an IP address of this machine"):
        listen(name, 0)


def test_a_name_to_listen_on_is_refused_in_one_sentence(tmp_path):
    api_server.write_settings(tmp_path)
    run("init", cwd=tmp_path)
    ended = run("serve", "--listen", "crawl.example.org", "--port", "0", cwd=tmp_path)

    assert sentence(ended) == (
        "--listen must be an IP address of this machine or localhost (got 'crawl.example.org'); "
        "--name gives a server further names"
    )


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "127.0.0.12", "::1"])
def test_it_listens_on_addresses_and_on_localhost(name):
    with listen(name, 0) as listener:
        assert listener.getsockname()[0] == name.replace("localhost", "127.0.0.1")


@pytest.mark.parametrize("address", ["192.0.2.7", "0.0.0.0", "::", "crawl.example.org"])  # noqa: S104 - only decided on
def test_whoever_is_not_on_this_machine_needs_the_link_with_the_token(address):
    """The decision only: nothing listens there, and no packet leaves."""
    access = ServerAccess.at(address, api_server.TOKEN)

    assert not access.open_to_read
    assert link_to(access, "http://a:1") == f"http://a:1/login?token={api_server.TOKEN}"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_on_this_machine_the_link_has_no_token(address):
    assert link_to(ServerAccess.at(address, api_server.TOKEN), "http://a:1") == "http://a:1/"


def test_the_printed_link_logs_a_browser_in_and_the_token_leaves_the_address(look, tmp_path):
    file = api_server.write_settings(tmp_path)
    api_server.crawl_store(file, rounds=1)
    access = ServerAccess(api_server.TOKEN, frozenset({"127.0.0.1"}), open_to_read=False)
    with api_server.served(file, access=access) as client:
        address = f"http://127.0.0.1:{client.port}"
        window = look()
        window.page.goto("about:blank")
        page = window.show(link_to(access, address))

        assert page.url == f"{address}/"
        assert api_server.TOKEN not in page.content()
        assert page.evaluate("document.cookie") == ""  # no script of ours can read it
        expect(page.locator("h1")).to_have_text("Overview")

        page.get_by_role("link", name="Pages", exact=True).click()  # once is enough
        expect(page.locator("h1")).to_have_text("Pages")
        visited = []
        for _ in range(2):
            page.go_back()
            visited.append(page.url)
        assert visited == [f"{address}/", "about:blank"]  # the link is not in the history

        assert servers.get(f"{address}/")[0] == 401  # others are not logged in
        window.context.close()
