"""The `recrawl` command. Verbs import what they need when they run, so that help is fast.

Touches: the standard streams.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import Annotated

import typer

from recrawl.cli import screen
from recrawl.cli.add import add
from recrawl.cli.backup import backup
from recrawl.cli.changes import changes
from recrawl.cli.check import check
from recrawl.cli.compact import compact
from recrawl.cli.crawl import crawl
from recrawl.cli.demo import demo
from recrawl.cli.design import design
from recrawl.cli.diff import diff
from recrawl.cli.estimate import estimate
from recrawl.cli.export import export
from recrawl.cli.find import find
from recrawl.cli.get import get
from recrawl.cli.hint import hint
from recrawl.cli.history import history
from recrawl.cli.import_visits import import_visits
from recrawl.cli.init import init
from recrawl.cli.listing.verbs import app as listing
from recrawl.cli.mcp import mcp
from recrawl.cli.move import move
from recrawl.cli.pages import pages
from recrawl.cli.plan import plan
from recrawl.cli.prune import prune
from recrawl.cli.remove import remove
from recrawl.cli.serve import serve
from recrawl.cli.set_values import set_values
from recrawl.cli.simulate.verbs import app as simulate
from recrawl.cli.status import status
from recrawl.cli.trends.verbs import app as trends
from recrawl.cli.verbs import verb_group
from recrawl.cli.why import why
from recrawl.cli.worker import worker
from recrawl.errors import OutputClosed, RecrawlError, reason

app = verb_group(
    "recrawl",
    "Keep a local copy of changing web sources fresh, with the fewest visits.",
    {
        "Crawl": {
            "init": init,
            "add": add,
            "set": set_values,
            "find": find,
            "remove": remove,
            "crawl": crawl,
            "worker": worker,
            "hint": hint,
            "demo": demo,
        },
        "Look": {
            "status": status,
            "pages": pages,
            "why": why,
            "history": history,
            "diff": diff,
            "changes": changes,
            "get": get,
            "export": export,
            "serve": serve,
            "mcp": mcp,
        },
        "Store": {
            "check": check,
            "prune": prune,
            "backup": backup,
            "move": move,
            "compact": compact,
        },
        "Visit logs": {
            "import": import_visits,
            "estimate": estimate,
            "trends": trends,
            "plan": plan,
        },
        "Studies": {"simulate": simulate, "design": design},
        "Listings": {"listing": listing},
    },
    file_verb="estimate",
    completion=True,
)


def _version(*, wanted: bool) -> None:
    if wanted:
        from recrawl import __version__

        typer.echo(f"recrawl {__version__}")
        raise typer.Exit


@app.callback()
def recrawl(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=lambda wanted: _version(wanted=wanted),
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Keep a local copy of changing web sources fresh, with the fewest visits."""


def main() -> None:
    """Run a verb. Errors are one sentence on stderr and exit code 1."""
    # Exit on SIGTERM as on an exception, so that temporary files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OutputClosed:
        _leave(0)
    except RecrawlError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _leave(128 + signal.SIGINT, "Interrupted.")
    except BrokenPipeError:
        _leave(0)  # whoever reads our output closed it, as `head` does
    except OSError as error:
        _fail(f"cannot write to the standard output ({reason(error)})")


def _fail(sentence: str) -> None:
    from recrawl.report.table import printable

    if screen.loudness >= screen.DETAILS:
        traceback.print_exc()
    _leave(1, f"Error: {printable(sentence)}")  # names of files are written as they are


def _leave(code: int, sentence: str = "") -> None:
    """Exit without flushing an output that may be broken."""
    if sentence:
        typer.echo(sentence, err=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)
