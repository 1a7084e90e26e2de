"""The `recrawl` command. Verbs load what they need when they run, so that help is quick.

Touches: the standard streams.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recrawl.cli.demo import demo
from recrawl.cli.estimate import estimate
from recrawl.errors import RecrawlError

app = typer.Typer(
    name="recrawl",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(estimate)
app.command()(demo)


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
            help="Say which version this is.",
            callback=lambda wanted: _version(wanted=wanted),
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Keep a local copy of changing web sources fresh, with the fewest visits."""


def main() -> None:
    """Run a verb: errors are one sentence on stderr and exit code 1."""
    try:
        app()
    except RecrawlError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has had enough, as `head` does.
        sys.stderr.close()
        sys.exit(0)
