"""The crawlers in other languages do what they say, on a site on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from recrawl.scheduler import Scheduler
from recrawl.serve.lending import SchedulerOwner
from recrawl.store import open_store
from tests.serve.api_server import TOKEN, served
from tests.servers.changing_site import changing_site, page

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGES = {"/": page("sheep"), "/a": page("goats")}
COMMANDS = {
    "curl": ["bash", str(EXAMPLES / "curl_crawler.sh")],
    "node": ["node", str(EXAMPLES / "node_crawler.mjs")],
}


@pytest.mark.parametrize("tool", COMMANDS)
def test_a_crawler_in_another_language(tmp_path, tool):
    missing = [each for each in (tool, "jq") if shutil.which(each) is None]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
    store = tmp_path / "pages.db"
    with (
        changing_site(PAGES) as site,
        Scheduler.open(store, budget="20000/1d", delay="0.01s") as scheduler,
    ):
        scheduler.add([f"{site.address}{path}" for path in ("/", "/a", "/missing")])
        with served(store, SchedulerOwner(scheduler)) as client:
            done = subprocess.run(
                [*COMMANDS[tool], f"http://127.0.0.1:{client.port}"],
                env={**os.environ, "RECRAWL_TOKEN": TOKEN, "PATIENCE": "1"},
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
    assert done.returncode == 0 or tool == "curl", done.stderr
    found = [line.split(" ", 1) for line in done.stdout.splitlines()]
    first = {address.removeprefix(site.address): outcome for outcome, address in reversed(found)}
    assert first == {"/": "first", "/a": "first", "/missing": "gone"}, done.stderr
    with open_store(store) as reader:
        assert reader.last_visit() == len(found)
        assert all(copy.etag for copy in reader.copies(range(2)) if copy)
        assert b"sheep" in (reader.newest_body(0) or b"")
