"""Options that several verbs share, and the output of their rows.

Touches: files, the standard streams.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from recrawl.cli import screen
from recrawl.errors import CannotWrite

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from recrawl.adapters.tables.outputs import TableWriter
    from recrawl.arrays.texts import Texts
    from recrawl.report.rates import Column

LEVEL = typer.Option(help="Probability that a rate lies in its band.")
SITE_COLUMN = typer.Option(
    metavar="C",
    help="Column with the site of a page  [default: the registered domain of its address]",
    show_default=False,
)
COLUMN = typer.Option(
    metavar="OURS=THEIRS",
    help="Name of a column in FILE if it differs, e.g. page=url; may be repeated",
    show_default=False,
)
SKIP = typer.Option("--skip-bad-rows", help="Skip malformed rows and count them.")
CSV = typer.Option(
    "--csv/--spreadsheet",
    help="Write CSV instead of a table; for a spreadsheet, without formulas.",
    show_default=False,
)
JSON = typer.Option("--json", help="Write JSON lines instead of a table.")
OUTPUT = typer.Option(
    "--output", "-o", metavar="F", help="Write to F: .csv, .jsonl or .parquet.", show_default=False
)
STORE = typer.Argument(
    metavar="STORE",
    help="Store to read  [default: the one that the settings name]",
    show_default=False,
)
SETTINGS = typer.Option("--settings", metavar="FILE", help="Settings of the crawl.")
# Of verbs that only read.
SETTINGS_OR_STORE = typer.Option(
    "--settings",
    metavar="FILE",
    help="Settings of the crawl, or a store of `recrawl.Scheduler`, which has its own.",
)


def store_in(store: Path | None, settings: Path) -> Path:
    """The store that is named, or else the one of the settings, or one in place of settings."""
    from recrawl.store import is_store
    from recrawl.store.settings_file import load_settings, store_of

    if store is None and is_store(settings):
        return settings
    return store or store_of(settings, load_settings(settings))


@dataclass(frozen=True, slots=True)
class Output:
    """Where rows go: to a table on the terminal, to the standard output, or to a file.

    Args:
        kind: "csv", "json" or "spreadsheet" if that was asked for.
        file: The file that was asked for.
    """

    kind: str
    file: Path | None

    @classmethod
    def of(
        cls, *inputs: Path | None, as_csv: bool | None, as_json: bool, file: Path | None
    ) -> Output:
        """Output that the options ask for; raise for conflicts before anything is read.

        Args:
            inputs: Files that must not be overwritten.
            as_csv: True for --csv, False for --spreadsheet, None for neither.
            as_json: Whether --json was given.
            file: What --output names.
        """
        if as_json and as_csv is False:
            raise typer.BadParameter("--spreadsheet and --json exclude each other")
        if sum([as_csv is True, as_json, file is not None]) > 1:
            raise typer.BadParameter("--csv, --json and -o exclude each other")
        kinds = {None: "", True: "csv", False: "spreadsheet"}
        kind = "json" if as_json else kinds[as_csv]
        if file is not None:
            from recrawl.adapters.tables.outputs import check_output

            if check_output(file) != "csv" and kind:
                raise typer.BadParameter("--spreadsheet needs -o with a name that ends in .csv")
            for other in inputs:
                if other is not None and file.exists() and other.exists() and file.samefile(other):
                    raise CannotWrite(f"{file} is an input, which is never overwritten")
        return cls(kind, file)

    @property
    def interactive(self) -> bool:
        """Whether a table is printed on the terminal."""
        return not self.kind and self.file is None and screen.is_terminal(sys.stdout)

    def writer(self, header: Sequence[str]) -> AbstractContextManager[TableWriter]:
        """Writer of rows; CSV on the standard output by default."""
        from recrawl.adapters.tables.outputs import to_file, to_standard_output

        if self.file is not None:
            return to_file(self.file, header, self.kind)
        return to_standard_output(self.kind or "csv", header)

    def write(
        self, names: Texts | Sequence[str], columns: Mapping[str, Column], *, first: str = "page"
    ) -> None:
        """Write all rows; the column `first` holds their names."""
        from recrawl.arrays.texts import Texts

        with self.writer((first, *columns)) as writer:
            writer.write(names if isinstance(names, Texts) else Texts.of(names), columns)


def show(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    total: int,
    unit: str = "pages",
    left: Collection[int] = (0,),
) -> None:
    """Print the first rows as a table, and the number of the others."""
    screen.show_table(header, rows, left=left)
    if total > len(rows):
        more = f"... and {total - len(rows):,} more {unit}"
        screen.remark(f"{more}; --csv, --json or -o writes all of them.")


def revert_remark(count: int) -> None:
    """Print how many changes went back to an earlier version, if any did."""
    from recrawl.report.words import counted

    if count:
        screen.remark(f"{counted(count, 'change')} went back to an earlier version.")
