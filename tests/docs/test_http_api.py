"""Every command of the page on the HTTP API works, against a real server."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from recrawl.scheduler import Scheduler
from recrawl.serve.app import create_app
from recrawl.serve.lending import SchedulerOwner
from recrawl.serve.safety import ServerAccess
from recrawl.serve.source import ServedCrawl
from tests.docs.pages import DOCS, blocks
from tests.serve.api_server import PAGES, TOKEN, crawl_store, served, write_settings

PAGE = (DOCS / "how-to" / "http-api.md").read_text()


def test_every_command_works(tmp_path):
    if shutil.which("curl") is None or shutil.which("jq") is None:
        pytest.skip("needs curl and jq")
    file = write_settings(tmp_path)
    crawl_store(file)
    shown = [block.text for block in blocks(PAGE) if block.kind == "bash"]
    assert len(shown) == 5
    with (
        Scheduler.open(settings=file) as scheduler,
        served(file, SchedulerOwner(scheduler)) as client,
    ):
        found = [
            subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text.replace(":8117", f":{client.port}")],
                env={**os.environ, "RECRAWL_TOKEN": TOKEN},
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
            for text in shown
        ]
    assert [each.returncode for each in found] == [0] * 5, [each.stderr for each in found]
    said = [each.stdout for each in found]
    assert str(len(PAGES)) in said[0]
    assert "recrawl.page.new" in said[1]
    assert "other crawlers" in said[2] or '"visited": false' in said[2]
    assert said[3].strip() in ("same", "changed")
    assert said[4].startswith("sort must be one of")


def test_every_call_is_named():
    description = create_app(ServedCrawl(DOCS), ServerAccess.at("127.0.0.1", TOKEN)).openapi()
    for path in description["paths"]:
        assert path.removeprefix("/api/v1").replace("{page}", "{n}") in PAGE, path
