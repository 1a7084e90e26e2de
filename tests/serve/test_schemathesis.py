"""Schemathesis tries the API by its own description, against a real server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.scheduler import Scheduler
from recrawl.serve.lending import SchedulerOwner
from tests.serve import stores
from tests.serve.api_server import TOKEN, served

_MOST_EXAMPLES = 5  # of calls, each, by chance; those at the edges of the schema come besides
_LEFT_OUT = "/api/v1/live"  # a stream that goes on for minutes
# An address that is well-formed may still be that of no page: a 404 is right, then.
_NOT_CHECKED = "positive_data_acceptance"
# Half of the addresses are those of pages, or hardly a call would get further than that 404.
_SETTINGS = """
[parameters]
"query.wait" = 0  # or most of the time is spent waiting
"query.url" = {{ dictionary = "pages", probability = 0.5 }}
"path.name" = {{ dictionary = "listings", probability = 0.5 }}
[dictionaries.pages]
values = {pages}
[dictionaries.listings]
values = ["jobs"]
"""


@pytest.mark.slow
def test_no_call_breaks_its_description(tmp_path):
    """Every operation, with data that fits and data that does not."""
    file = stores.example(tmp_path)
    with (
        Scheduler.open(settings=file) as scheduler,
        served(file, SchedulerOwner(scheduler)) as client,
    ):
        described = client.get("/api/v1/openapi.json").json()["paths"]
        pages = [each["address"] for each in client.get("/api/v1/pages").json()["pages"]]
        settings = _SETTINGS.format(pages=json.dumps(pages[:1]))
        (tmp_path / "schemathesis.toml").write_text(settings)
        ended = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"),
                *("run", f"http://127.0.0.1:{client.port}/api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {TOKEN}"),
                *("--exclude-path", _LEFT_OUT, "--exclude-checks", _NOT_CHECKED),
                *("--phases", "examples,coverage,fuzzing"),
                *("--mode", "all"),
                *("--max-examples", str(_MOST_EXAMPLES), "--seed", "1", "--no-color"),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert ended.returncode == 0, ended.stdout[-8000:]
    tested = re.search(r"Tested: (\d+)", ended.stdout)
    assert tested, ended.stdout[-8000:]
    assert int(tested[1]) == sum(
        len(calls) for path, calls in described.items() if path != _LEFT_OUT
    )
