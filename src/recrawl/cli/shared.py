"""Options that several verbs have, in the same words, and where their rows go.

Touches: files, the standard streams.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from recrawl.adapters.tables.outputs import TableWriter

LEVEL = typer.Option(help="Probability that a rate lies in its band.")
SITE_COLUMN = typer.Option(
    metavar="C",
    help="Column with a page's site  [default: registered domain of its address]",
    show_default=False,
)
COLUMN = typer.Option(
    metavar="OURS=THEIRS",
    help="FILE's own name of a column, e.g. page=url; may be repeated",
    show_default=False,
)
SKIP = typer.Option("--skip-bad-rows", help="Leave malformed rows out and count them.")
CSV = typer.Option("--csv", help="Write CSV instead of a table.")
JSON = typer.Option("--json", help="Write JSON lines instead of a table.")
OUTPUT = typer.Option(
    "--output", "-o", metavar="F", help="Write to F: .csv, .jsonl or .parquet.", show_default=False
)


def check_one_format(*, as_csv: bool, as_json: bool, output: Path | None) -> str:
    """Refuse more than one word about where rows go; returns "csv" or "json" if that was one."""
    if sum([as_csv, as_json, output is not None]) > 1:
        raise typer.BadParameter("only one of --csv, --json and -o can be given")
    return "json" if as_json else "csv" if as_csv else ""


def is_interactive(kind: str, output: Path | None) -> bool:
    """Whether rows are shown to a person, not written to a file or a pipe.

    Args:
        kind: "csv" or "json" where that was asked for.
        output: The file that was asked for.
    """
    from recrawl.cli import screen

    return not kind and output is None and screen.is_terminal(sys.stdout)


def target(
    kind: str, output: Path | None, header: Sequence[str]
) -> AbstractContextManager[TableWriter]:
    """Where rows are written that are not shown; CSV where nothing was asked for."""
    from recrawl.adapters.tables.outputs import to_file, to_standard_output

    return to_standard_output(kind or "csv", header) if output is None else to_file(output, header)


def check_place(output: Path, file: Path) -> None:
    """Refuse an output that cannot be, or that would replace the input."""
    from recrawl.adapters.tables.outputs import check_output
    from recrawl.errors import CannotWrite

    check_output(output)
    if output.exists() and file.exists() and output.samefile(file):
        raise CannotWrite(f"{output}: output must be another file than FILE, which is not changed")
