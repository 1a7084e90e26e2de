"""All that tests ask of an engine, in one session of it: starting one takes longer than the work.

    python -m tests.adapters.engines.drive ENGINE FOLDER

reads `FOLDER/log/` and writes results to `FOLDER/ENGINE/`. Prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import time
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from recrawl.adapters.engines import open_engine
from recrawl.adapters.engines.outcomes import EngineTask
from recrawl.analysis.bulk.runs import BulkRun
from recrawl.cli.main import app
from recrawl.errors import RecrawlError

ROOT = Path(__file__).parents[3]


def kill_myself(wanted: bool) -> int:
    """A task whose worker is killed, if that is wanted."""
    if wanted:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def die_once(mark: str) -> str:
    """A task whose worker is killed the first time."""
    if not Path(mark).exists():
        Path(mark).write_text("begun", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def commands(name: str, folder: Path) -> dict[str, list[str]]:
    """Commands to run, by what is asked."""
    into, log = folder / name, folder / "log/part-*.parquet"
    both = ["--engine", name, "-o"]
    return {
        "estimate": ["estimate", str(log), "--now", "2026-06-01", *both, str(into / "rates")],
        "plan": ["plan", f"{into}/rates/*", "--budget", "20/1d", *both, str(into / "plan")],
        "trends": ["trends", "pages", str(log), *both, str(into / "trends")],
        "import": ["import", str(folder / "index.idx"), *both, str(into / "import")],
        "broken": ["estimate", str(folder / "broken/*.parquet"), *both, str(into / "broken")],
    }


def run_here(words: list[str]) -> dict[str, Any]:
    """How a command ends, in this process."""
    result = CliRunner().invoke(app, words)
    error = result.exception
    if error is not None and not isinstance(error, SystemExit | RecrawlError):
        raise error
    return {"code": result.exit_code, "said": result.stderr, "error": str(error or "")}


def drive(name: str, folder: Path) -> dict[str, Any]:
    """Do it all."""
    found: dict[str, Any] = {}
    begun = time.monotonic()
    with open_engine(name, jobs=2) as engine:
        values = dict(engine(EngineTask(int), ["1", "2", "x", "4"]))
        found["outcomes"] = [[values[key].value, values[key].error] for key in sorted(values)]
        killed = dict(engine(EngineTask(kill_myself), [False, True, False]))
        found["killed"] = [killed[key].error for key in sorted(killed)]
        run = BulkRun(engine, str(folder), [], {})
        marks = {f"part-{number}": str(folder / f"{name}-{number}") for number in range(2)}
        found["tried again"] = run.do(die_once, marks, (0.0, 1.0))
        for asked, words in commands(name, folder).items():
            found[asked] = run_here(words)
        example = runpy.run_path(str(ROOT / "examples/zipnum_rates.py"))
        example["main"](str(folder / "index.idx"), str(folder / name / "example"), name)
        left = engine(EngineTask(time.sleep), [0.0, 600.0])
        next(left)
    found["seconds"] = time.monotonic() - begun  # what slept is ended, not waited for
    return found


if __name__ == "__main__":
    print(json.dumps(drive(sys.argv[1], Path(sys.argv[2]))), flush=True)  # noqa: T201
