"""Every verb that opens a store, run on one in a forked process with little memory and time.

Touches: processes, files.
"""

from __future__ import annotations

import gc
import io
import json
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import typer.main

import recrawl

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMORY_BYTES = 3 << 30  # of addresses: what libraries map and never touch counts, too
CPU_SECONDS = 20

LOOKING = (
    "status",
    "status --json",
    "pages --csv",
    "why {url}",
    "history {url}",
    "diff {url}",
    "diff {url} --list",
    "changes --json",
    "changes --snapshot --with markdown,diff,chunks",
    "changes --atom {out}.xml",
    "get {url}",
    "get {url} --as markdown",
    "export copies -o {out}/",
    "export copies -o {out}.db",
    "export chunks -o {out}.jsonl",
    "export visits -o {out}.csv",
    "export rates -o {out}.jsonl",
    "export pages -o {out}.csv",
    "estimate recrawl.db --csv",
    "trends pages recrawl.db --csv",
    "plan recrawl.db --budget 50/1d --csv",
    "simulate store recrawl.db",
    "listing syncs recrawl.db --csv",
    "listing objects recrawl.db --csv",
    "listing describe recrawl.db",
    "check",
    "backup recrawl.db {out}.db",
)
WRITING = ("crawl --once", "compact recrawl.db", "status")


class Run(NamedTuple):
    """How a verb ended.

    Attributes:
        verb: The verb and its options.
        code: Its exit code, or minus the signal that ended it.
        err: What it said on the standard error.
        rss: Most bytes of memory that the process had so far.
        cpu: Seconds of CPU time that it took.
    """

    verb: str
    code: int
    err: str
    rss: int
    cpu: float

    @property
    def trouble(self) -> str:
        """What must not be; empty where all is well."""
        if self.code not in (0, 1, 2):
            return f"exit code {self.code}"
        if "Traceback" in self.err or "Warning" in self.err:
            return "a traceback or a warning"
        last = self.err.strip().splitlines()[-1:]
        if self.code == 1 and not (last and last[0].startswith("Error: ")) and self.verb != "check":
            return "no sentence"
        if self.err.count("Error: ") > 1 or not self.err.replace("\n", "").isprintable():
            return "more than a sentence"
        return ""


class VerbRunner:
    """Runs verbs, each list of them in a forked process.

    A process that has loaded the program, and nothing else, does the forking: one with threads must
    not, and what the tests hold in memory is not what verbs need.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.hostile.verbs"],
            cwd=Path(__file__).parents[3],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, folder: Path, url: str, verbs: Sequence[str]) -> list[Run]:
        """Run verbs in a folder, one after the other."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        asked.write(json.dumps([str(folder.resolve()), url, verbs]) + "\n")
        asked.flush()
        return [Run(*each) for each in json.loads(answered.readline())]


def _serve() -> None:
    """Load everything that verbs load, then run what the standard input says."""
    for module in pkgutil.walk_packages(recrawl.__path__, "recrawl."):
        import_module(module.name)
    import_module("scipy.special")
    # Typer reads all verbs and their options off their functions, for each command anew.
    typer.main.get_command = cache(typer.main.get_command)
    typer.main.get_command(import_module("recrawl.cli.main").app)
    gc.freeze()  # no child looks there for garbage, and so none copies it
    for line in sys.stdin:
        folder, url, verbs = json.loads(line)
        print(json.dumps(_run_verbs(Path(folder), url, verbs)), flush=True)  # noqa: T201


def _run_verbs(folder: Path, url: str, verbs: Sequence[str]) -> list[Run]:
    """Run verbs in a folder, in one forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            _run_all(folder, url, verbs, writing)
        except BaseException:  # noqa: BLE001 - nothing of the child may go on in it
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    runs = [Run(*json.loads(line)) for line in lines]
    if os.WIFSIGNALED(status):
        runs.append(Run(verbs[len(runs)], -os.WTERMSIG(status), "", 0, 0.0))
    return runs


def _run_all(folder: Path, url: str, verbs: Sequence[str], pipe: int) -> None:
    os.chdir(folder)
    warnings.simplefilter("default")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number, verb in enumerate(verbs):
        spent = resource.getrusage(resource.RUSAGE_SELF)
        began = spent.ru_utime + spent.ru_stime
        most = int(began) + CPU_SECONDS + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        words = verb.format(url=url, out=f"out{number}").split()
        code, err = _run(words)
        spent = resource.getrusage(resource.RUSAGE_SELF)
        cpu = spent.ru_utime + spent.ru_stime - began
        line = json.dumps([verb, code, err, spent.ru_maxrss << 10, cpu]) + "\n"
        os.write(pipe, line.encode())


def _run(words: Sequence[str]) -> tuple[int, str]:
    from recrawl.cli import main

    # What the process does at its end would end us, too.
    main._leave = _leave
    main.app.pretty_exceptions_enable = False
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    sys.argv = ["recrawl", *words]
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main.main()
        except SystemExit as error:
            code = error.code
        except BaseException:  # noqa: BLE001 - what a person would see
            traceback.print_exc()
            code = 1
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return code if isinstance(code, int) else 0, err.getvalue()


def _leave(code: int, sentence: str = "") -> None:
    if sentence:
        sys.stderr.write(sentence + "\n")
    sys.exit(code)


if __name__ == "__main__":
    _serve()
