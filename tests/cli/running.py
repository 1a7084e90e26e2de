"""The real command, as people run it, and the same inside this process where speed matters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from typer.testing import CliRunner

from recrawl.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RECRAWL = str(Path(sys.executable).with_name("recrawl"))


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """Environment of a command that depends on no terminal."""
    return os.environ | {"COLUMNS": "100", "TERM": "dumb", "PYTHONUNBUFFERED": ""} | more


def run(*words: object, cwd: Path | None = None) -> Ended:
    """Run `recrawl` as a process of its own."""
    ended = subprocess.run(
        [RECRAWL, *map(str, words)],
        capture_output=True,
        check=False,
        cwd=cwd,
        env=environment(),
        text=True,
        encoding="utf-8",
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def run_here(*words: object) -> Ended:
    """Run `recrawl` in this process; what it raises is raised."""
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return Ended(result.exit_code, result.stdout, result.stderr)


def names_in(folder: Path) -> list[str]:
    """Names of what a folder holds, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def sentence(ended: Ended) -> str:
    """The one sentence with which a command refused; there must be nothing else."""
    assert ended.code == 1, ended
    assert ended.out == ""
    assert ended.err.startswith("Error: "), ended.err
    assert ended.err.count("\n") == 1, ended.err
    return ended.err.removeprefix("Error: ").removesuffix("\n")


def write_log(
    path: Path, rows: Iterable[Sequence[Any]], header: str = "page,visited_at,changed"
) -> Path:
    """Write a visit log as CSV, cells as they are."""
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
