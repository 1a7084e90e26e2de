"""A crawl under every fault of `scripts/soak`, for less than a minute."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.plan import PROCESS

ROOT = Path(__file__).parents[2]
MINUTES = 0.6


@pytest.mark.slow
def test_faults_lose_nothing_and_nobody_is_asked_too_soon(tmp_path):
    """What is measured does not depend on how fast the machine is: see `tests.soak.checks`."""
    files = ["-o", tmp_path / "soak.html", "--json", tmp_path / "soak.json"]
    command = [sys.executable, "-m", "tests.soak", "--minutes", MINUTES]
    run = subprocess.run(
        [str(each) for each in (*command, *files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    figures = json.loads((tmp_path / "soak.json").read_text())
    assert all(holds for holds, _ in figures["checks"].values())
    assert figures["visits"] > 0
    assert len(figures["faults"].keys() & set(PROCESS)) >= 3
    page = (tmp_path / "soak.html").read_text()
    assert "every check holds" in page
    assert page.count("<svg") == 2
