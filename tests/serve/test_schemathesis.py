"""Schemathesis tries the API by its own description, against a real server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.scheduler import Scheduler
from recrawl.serve.lending import SchedulerOwner
from tests.serve.api_server import TOKEN, crawl_store, served, write_settings

_MOST_EXAMPLES = 5  # of calls, each, by chance; those at the edges of the schema come besides
_LEFT_OUT = "/api/v1/live"  # a stream that goes on for minutes
# An address that is well-formed may still be that of no page: a 404 is right, then.
_NOT_CHECKED = "positive_data_acceptance"
_SETTINGS = 'parameters = { "query.wait" = 0 }\n'  # or most of the time is spent waiting


@pytest.mark.slow
def test_no_call_breaks_its_description(tmp_path):
    file = write_settings(tmp_path)
    crawl_store(file)
    (tmp_path / "schemathesis.toml").write_text(_SETTINGS)
    with (
        Scheduler.open(settings=file) as scheduler,
        served(file, SchedulerOwner(scheduler)) as client,
    ):
        ended = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"),
                *("run", f"http://127.0.0.1:{client.port}/api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {TOKEN}"),
                *("--exclude-path", _LEFT_OUT, "--exclude-checks", _NOT_CHECKED),
                *("--phases", "examples,coverage,fuzzing"),
                *("--max-examples", str(_MOST_EXAMPLES), "--seed", "1", "--no-color"),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert ended.returncode == 0, ended.stdout[-8000:]
