"""Options that several verbs have, in the same words.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

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


def check_one_format(*, as_csv: bool, as_json: bool, output: Path | None) -> None:
    """Refuse more than one word about where rows go."""
    if sum([as_csv, as_json, output is not None]) > 1:
        message = "only one of --csv, --json and -o can be given"
        raise typer.BadParameter(message)


def check_place(output: Path, file: Path) -> None:
    """Refuse an output that cannot be, or that would replace the input."""
    from recrawl.adapters.outputs import check_output
    from recrawl.errors import CannotWrite

    check_output(output)
    if output.exists() and file.exists() and output.samefile(file):
        message = f"{output}: output must be another file than FILE, which is not changed"
        raise CannotWrite(message)
