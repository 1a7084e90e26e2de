"""The crawlers in `examples/` do what they say, on a site on loopback."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl import open_store
from recrawl.store import open_store as open_reader
from tests.browsers import CHROMIUM, NO_BROWSER, unprivileged_chromium
from tests.servers.changing_site import changing_site, page

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGES = {"/": page("sheep"), "/a": page("goats"), "/b": page("cows")}
OPTIONS = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",)  # on loopback only


def crawled(name, site, folder, *addresses):
    """Outcomes that an example prints."""
    line = [sys.executable, str(EXAMPLES / name), *(f"{site.address}{each}" for each in addresses)]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = (line.split(" ", 1) for line in done.stdout.splitlines())
    return sorted((address.removeprefix(site.address), outcome) for outcome, address in found)


@pytest.mark.parametrize("name", ["httpx_crawler.py", "queue_workers.py"])
def test_a_crawler_visits_what_is_due(tmp_path, name):
    with changing_site(PAGES) as site:
        found = crawled(name, site, tmp_path, "/", "/a", "/missing")
        assert found == [("/", "first"), ("/a", "first"), ("/missing", "gone")]
        assert crawled(name, site, tmp_path, "/", "/b") == [("/b", "first")]  # within the budget
    with open_reader(tmp_path / "pages.db") as reader:
        copies = reader.copies(range(3))
    assert all(copy.etag for copy in copies if copy)  # so the next request is a conditional one


@pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)
def test_a_crawler_with_a_browser_sees_what_scripts_write(tmp_path, monkeypatch, capsys):
    """The browser's name server knows loopback only."""
    monkeypatch.chdir(tmp_path)
    example = runpy.run_path(str(EXAMPLES / "playwright_crawler.py"))
    script = "document.body.append('Only scripts know of ' + 'the ostriches at night.')"
    birds = page("birds") + f"<script>{script}</script>"
    with unprivileged_chromium() as folder, changing_site({"/": birds}) as site:
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        example["crawl"]([f"{site.address}/", f"{site.address}/missing"], arguments=OPTIONS)

    assert sorted(line.split()[0] for line in capsys.readouterr().out.splitlines()) == [
        "first",
        "gone",
    ]
    with open_store("pages.db") as copies:
        assert "the ostriches at night" in (copies.copy(f"{site.address}/").text or "")
