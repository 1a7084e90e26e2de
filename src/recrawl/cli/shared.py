"""Options that several verbs share, and the output of their rows.

Touches: files, the standard streams.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.adapters.tables.table_options import (
    COLUMN_OPTION,
    TableOptions,
    change_words_of,
    delimiter_of,
    encoding_of,
    time_form_of,
    time_zone_of,
)
from recrawl.cli import options, screen
from recrawl.errors import CannotWrite
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.outputs import TableWriter
    from recrawl.arrays.texts import Texts
    from recrawl.report.rates import Column

LEVEL = typer.Option(
    metavar="SHARE", parser=options.fraction, help="Probability that a rate lies in its band."
)
SITE_COLUMN = typer.Option(
    metavar="COLUMN",
    help="Column with the site of a page.  [default: the registered domain of its address]",
    show_default=False,
)
COLUMN = typer.Option(
    metavar="OURS=THEIRS",
    help="Name of a column in FILE if it differs, e.g. page=url, or page=request.url for a "
    "nested field; status= for none; may be repeated.",
    show_default=False,
)
DELIMITER = typer.Option(
    metavar="MARK",
    help="Separator of CSV cells: comma, semicolon, tab, pipe or any character.  [default: as "
    "in the header]",
    show_default=False,
)
TIME_ZONE = typer.Option(
    "--tz",
    metavar="ZONE",
    help="Time zone of times in FILE without an offset, e.g. Europe/Berlin.  [default: UTC]",
    show_default=False,
)
TIME_FORMAT = typer.Option(
    metavar="FORM",
    help="Format of times in FILE, if it is not recognised, e.g. '%d/%m/%Y %H:%M'.",
    show_default=False,
)
ENCODING = typer.Option(
    metavar="NAME",
    help="Encoding of text in FILE, e.g. latin-1 or cp1252.  [default: UTF-8, or UTF-16 with a "
    "byte order mark]",
    show_default=False,
)
TRUE = typer.Option(
    metavar="WORDS", help="Words for true in FILE, e.g. changed,new.", show_default=False
)
FALSE = typer.Option(
    metavar="WORDS", help="Words for false in FILE, e.g. same.", show_default=False
)
MEMORY = typer.Option(
    metavar="SIZE", help="Memory for visits; larger files are split into temporary files."
)
SKIP = typer.Option("--skip-bad-rows", help="Skip malformed rows and count them.")
CSV = typer.Option(
    "--csv/--spreadsheet",
    # Not opposites, but two ways to write: `_VerbHelp` gives each a row, split as the names are.
    help="Write CSV instead of a table. / "
    "Write CSV in which no cell is a formula, for spreadsheets.",
    show_default=False,
)
JSON = typer.Option("--json", help="Write JSON lines instead of a table.")
OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write to FILE: .csv, .jsonl or .ndjson, .parquet, .feather or .arrow; - for the standard "
    "output.",
    show_default=False,
)
STORE = typer.Argument(
    metavar="STORE",
    help="Store to read.  [default: the one that the settings name]",
    parser=place_of,
    show_default=False,
)
YES = typer.Option("--yes", help="Do not ask for confirmation.")
SETTINGS = typer.Option("--settings", "-c", metavar="FILE", help="Settings of the crawl.")
# Of verbs that only read.
SETTINGS_OR_STORE = typer.Option(
    "--settings",
    "-c",
    metavar="FILE",
    help="Settings of the crawl, or a store of `recrawl.Scheduler`, which has its own.",
    parser=place_of,
)


def with_options(
    made: Callable[..., object], name: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give verbs the options of `made` after their own, and what it makes of them as `name`.

    If `made` has a parameter `inputs`, it is given the paths among the verb's arguments.
    """

    def decorated(verb: Callable[..., None]) -> Callable[..., None]:
        own = _parameters(verb, but=name)
        common = _parameters(made, but="inputs")

        @wraps(verb)
        def run(**values: Any) -> None:  # noqa: ANN401 - what the signature below says
            mine = {each.name: values[each.name] for each in own}
            asked = {each.name: values[each.name] for each in common}
            if "inputs" in inspect.signature(made).parameters:
                asked["inputs"] = [path for value in mine.values() for path in _paths(value)]
            verb(**mine, **{name: made(**asked)})

        everything = [*own, *common]
        run.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined] # what Typer reads
        run.__annotations__ = {each.name: each.annotation for each in everything}
        return run

    return decorated


def _parameters(function: Callable[..., object], but: str) -> list[inspect.Parameter]:
    found = inspect.signature(function, eval_str=True).parameters.values()
    return [each for each in found if each.name != but]


def _paths(value: object) -> list[Path]:
    return [
        each for each in (value if isinstance(value, list) else [value]) if isinstance(each, Path)
    ]


def table_options(
    *,
    delimiter: Annotated[str, DELIMITER] = "",
    tz: Annotated[str, TIME_ZONE] = "",
    time_format: Annotated[str, TIME_FORMAT] = "",
    encoding: Annotated[str, ENCODING] = "",
) -> TableOptions:
    """How tables are read, checked before any is."""
    return TableOptions(
        {},
        delimiter=delimiter_of(delimiter),
        time_zone=time_zone_of(tz),
        time_form=time_form_of(time_format),
        encoding=encoding_of(encoding),
    )


def log_options(
    *,
    site_column: Annotated[str, SITE_COLUMN] = "",
    column: Annotated[list[str] | None, COLUMN] = None,
    skip_bad_rows: Annotated[bool, SKIP] = False,
    delimiter: Annotated[str, DELIMITER] = "",
    tz: Annotated[str, TIME_ZONE] = "",
    time_format: Annotated[str, TIME_FORMAT] = "",
    encoding: Annotated[str, ENCODING] = "",
    true_words: Annotated[str, TRUE] = "",
    false_words: Annotated[str, FALSE] = "",
) -> TableOptions:
    """How visit logs are read, checked before any is."""
    from recrawl.adapters.tables.visits import CHANGE_TIME, NEEDED, OPTIONAL

    return replace(
        table_options(delimiter=delimiter, tz=tz, time_format=time_format, encoding=encoding),
        columns=options.renamed(column or [], (*NEEDED, *OPTIONAL, CHANGE_TIME), site_column),
        skip_bad_rows=skip_bad_rows,
        change_words=change_words_of(true_words, false_words),
        rename=COLUMN_OPTION,
    )


def read_remarks(table: TableInput) -> None:
    """Print how a table was understood, and what was left out."""
    from recrawl.report.words import clock_sentences

    for sentence in (*table.remarks, *clock_sentences(*table.zone.doubts)):
        screen.remark(sentence)
    count_remarks(table.skipped, table.merged, table.silent)


def count_remarks(skipped: int, merged: int, silent: int) -> None:
    """Print how many malformed rows, repeated visits and silent visits were left out."""
    from recrawl.report.words import counted

    if skipped:
        screen.remark(f"{counted(skipped, 'malformed row')} skipped.")
    if merged:
        visits = counted(merged, "visit")
        screen.remark(
            f"{visits} in the same second as another visit to the same page: counted as one."
        )
    if silent:
        screen.remark(
            f"{counted(silent, 'visit')} left out: `changed` is empty and there is no usable "
            "date or digest."
        )


def limit_remark(rows: int, unit: str) -> None:
    """Print that --limit left rows out, if it did."""
    if screen.limit is not None and rows > screen.limit:
        screen.remark(f"Only the first {screen.limit:,} of {rows:,} {unit} (--limit).")


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
        standard = file == Path("-")
        if standard:
            file = None
        if sum([as_csv is True, as_json, file is not None]) > 1:
            raise typer.BadParameter("--csv, --json and -o exclude each other")
        kinds = {None: "", True: "csv", False: "spreadsheet"}
        kind = "json" if as_json else kinds[as_csv] or ("csv" if standard else "")
        if file is not None:
            from recrawl.adapters.tables.inputs import named_files
            from recrawl.adapters.tables.outputs import check_output

            if check_output(file) != "csv" and kind:
                raise typer.BadParameter("--spreadsheet needs -o with a name that ends in .csv")
            given = [each for each in inputs if each is not None and file.exists()]
            for other in named_files(given):
                if other.exists() and file.samefile(other):
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
            return to_file(self.file, header, self.kind, most=screen.limit)
        return to_standard_output(self.kind or "csv", header, most=screen.limit)

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
    unit: str = "page",
    left: Collection[int] = (0,),
    spare: Sequence[int] = (),
    options: str = "--csv, --json or -o",
) -> None:
    """Print the first rows as a table, the number of the others, and what writes all of them."""
    screen.show_table(header, rows, left=left, spare=spare)
    if total > len(rows) and screen.limit is None:
        from recrawl.report.words import counted

        more = counted(total - len(rows), f"more {unit}")
        screen.remark(f"... and {more}; {options} writes all of them.")


def revert_remark(count: int) -> None:
    """Print how many changes went back to an earlier version, if any did."""
    from recrawl.report.words import counted

    if count:
        screen.remark(f"{counted(count, 'change')} went back to an earlier version.")


def check_asked(*, for_good: bool) -> bool:
    """Whether a person can be asked; raise where nobody can and there is no way back."""
    asked = screen.is_terminal(sys.stdin) and screen.is_terminal(sys.stderr)
    if for_good and not asked:
        from recrawl.errors import InvalidInput

        raise InvalidInput("nobody is there to confirm this, and it cannot be undone; add --yes")
    return asked


def confirm(question: str, *, yes: bool, above: Sequence[str] = (), for_good: bool = False) -> None:
    """Ask a person at a terminal, unless --yes was given; anything but a yes ends the verb.

    Args:
        question: The question.
        yes: Whether --yes was given.
        above: Lines above the question.
        for_good: Whether there is no way back: then nothing is done where nobody can be asked.
    """
    if yes:
        return
    if not check_asked(for_good=for_good):
        return
    for line in above:
        screen.remark(line)
    typer.confirm(question, abort=True, err=True)
