"""The real command, as people run it, and the same inside this process where speed matters.

`run` and `start` fork it from a process that has it loaded; `run_afresh` loads it, as a shell does.
"""

from __future__ import annotations

import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from typer import testing

from recrawl.cli.main import app
from tests.preloaded import PRELOADED, RECRAWL, environment, popen

# It reads all verbs and their options off their functions, for each command anew.
testing._get_command = cache(testing._get_command)  # type: ignore[attr-defined] # private

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.preloaded import Preloaded


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def start(*words: object, **more: Any) -> subprocess.Popen[Any]:
    """Begin `recrawl` as a process of its own."""
    return popen(words, **{"env": environment()} | more)


def run(*words: object, cwd: Path | None = None, server: Preloaded = PRELOADED) -> Ended:
    """Run `recrawl` as a process of its own."""
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(*words, cwd=cwd, text=True, encoding="utf-8", server=server, **both) as process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.kill()
            raise
    return Ended(process.returncode, out, err)


def run_afresh(*words: object, cwd: Path | None = None) -> Ended:
    """Run `recrawl` as a process of its own that loads what it needs by itself."""
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
    result = testing.CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
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
