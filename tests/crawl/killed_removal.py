"""An erasure that kills itself at a step: for each line FOLDER STEP, in a child of its own.

A line that ends in `prune` prunes instead.

Steps are statements of SQLite, files put on disk, renamed and removed. It tells how each child
ended.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

import recrawl.adapters.tables.outputs
import recrawl.cli.crawling
import recrawl.crawl.removal
import recrawl.report.rates
import recrawl.store.settings_file
import recrawl.store.sqlite.write_store  # noqa: F401 - once, not in every child
from recrawl.cli.prune import prune
from recrawl.cli.remove import remove
from recrawl.store import create_store

ERASED = "https://a.org/private/x"


class Steps:
    """Counts steps, and kills this process at one of them."""

    def __init__(self, last: int) -> None:
        self.left = last

    def count(self, *_: object) -> bool:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watch(self, owner: Any, name: str) -> None:
        """Count the calls of a function, before it does anything."""
        real = getattr(owner, name)

        def counted(*args: Any, **named: Any) -> Any:
            self.count()
            return real(*args, **named)

        setattr(owner, name, counted)


def erase(folder: str, step: str, what: str = "remove") -> None:
    steps = Steps(int(step))
    apsw.connection_hooks.append(lambda made: setattr(made, "exec_trace", steps.count))
    for name in ("fsync", "ftruncate"):
        steps.watch(os, name)
    for name in ("rename", "unlink"):
        steps.watch(Path, name)
    os.chdir(folder)
    if what == "prune":
        prune(yes=True, as_json=True)
    else:
        remove([ERASED], erase=True, warc=[Path("archive")], yes=True)


def main() -> None:
    with TemporaryDirectory() as folder:  # what every child would work out again: what stores hold
        create_store(Path(folder) / "recrawl.db").close()
    gc.freeze()  # no child looks there for garbage, and so none copies it
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.dup2(2, 1)
            erase(*line.split())
            os._exit(0)
        _, code = os.waitpid(child, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(code)}\n".encode())


if __name__ == "__main__":
    main()
