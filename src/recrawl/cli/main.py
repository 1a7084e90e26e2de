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
from recrawl.cli.verbs import verb_group
from recrawl.errors import OutputClosed, RecrawlError, reason

app = verb_group(
    "recrawl",
    "Keep a local copy of changing web sources fresh, with the fewest visits.",
    {
        "Crawl": {
            "init": "recrawl.cli.init:init",
            "add": "recrawl.cli.add:add",
            "set": "recrawl.cli.set_values:set_values",
            "find": "recrawl.cli.find:find",
            "remove": "recrawl.cli.remove:remove",
            "crawl": "recrawl.cli.crawl:crawl",
            "worker": "recrawl.cli.worker:worker",
            "hint": "recrawl.cli.hint:hint",
            "demo": "recrawl.cli.demo:demo",
        },
        "Look": {
            "status": "recrawl.cli.status:status",
            "pages": "recrawl.cli.pages:pages",
            "why": "recrawl.cli.why:why",
            "history": "recrawl.cli.history:history",
            "diff": "recrawl.cli.diff:diff",
            "changes": "recrawl.cli.changes:changes",
            "get": "recrawl.cli.get:get",
            "export": "recrawl.cli.export:export",
            "serve": "recrawl.cli.serve:serve",
            "mcp": "recrawl.cli.mcp:mcp",
        },
        "Store": {
            "check": "recrawl.cli.check:check",
            "prune": "recrawl.cli.prune:prune",
            "backup": "recrawl.cli.backup:backup",
            "move": "recrawl.cli.move:move",
            "compact": "recrawl.cli.compact:compact",
        },
        "Visit logs": {
            "import": "recrawl.cli.import_visits:import_visits",
            "estimate": "recrawl.cli.estimate:estimate",
            "trends": "recrawl.cli.trends.verbs:app",
            "plan": "recrawl.cli.plan:plan",
        },
        "Studies": {
            "simulate": "recrawl.cli.simulate.verbs:app",
            "design": "recrawl.cli.design:design",
        },
        "Listings": {"listing": "recrawl.cli.listing.verbs:app"},
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
