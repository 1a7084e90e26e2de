"""Terminal output: progress bar, tables, remarks.

Rows go to the standard output, everything else to the standard error.

Touches: the standard streams, a log if one is asked for.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from recrawl.errors import CannotWrite, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

QUIET, REMARKS, DETAILS = 0, 1, 2  # what is said besides results and errors
loudness = REMARKS  # set once, before a verb runs

_LOG = logging.getLogger("recrawl")
_LOG.setLevel(logging.INFO)
_LOG.propagate = False

limit: int | None = None  # rows that are wanted, set once
_MOST_ROWS = 40  # about a screen; files get all rows
_WIDE = 160  # characters per line where no terminal sets a limit


@contextmanager
def progress(doing: str) -> Iterator[Callable[[float], None] | None]:
    """Progress bar for work from 0 to 1; None unless stderr is a terminal that may show it."""
    if not shows_progress():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(doing, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def most_rows() -> int:
    """Rows of a table on a terminal."""
    return _MOST_ROWS if limit is None else limit


def show_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Collection[int] = (0,),
    spare: Sequence[int] = (),
) -> None:
    """Print a table as wide as the terminal allows.

    Args:
        header: Names of the columns.
        rows: Cells.
        left: Columns that are text; the others are figures and stand right.
        spare: Columns to leave out on a narrow terminal, the one to be missed least first.
    """
    from recrawl.report.table import columns_that_fit, table_lines

    shown = columns_that_fit(header, rows, width=width(), spare=spare)
    chosen = [[row[column] for column in shown] for row in rows]
    names = [header[column] for column in shown]
    text = [place for place, column in enumerate(shown) if column in left]
    for line in table_lines(names, chosen, width=width(), left=text):
        say(line)
    missing = [name for name in header if name not in names]
    if missing:
        columns = "column" if len(missing) == 1 else "columns"
        remark(f"No room for the {columns} {', '.join(missing)}; widen the terminal to see it all.")


def width() -> int:
    """Characters per line of the standard output."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else _WIDE


def say(line: str) -> None:
    """Print a line of output."""
    print(line)  # noqa: T201 - the screen is what this module is for


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; a closed one is None."""
    return stream is not None and stream.isatty()


def remark(sentence: str) -> None:
    """Print a sentence on stderr, unless nothing but errors is wanted there."""
    if _LOG.handlers:
        from recrawl.report.table import printable

        _LOG.info(printable(sentence))
    if loudness >= REMARKS:
        print(sentence, file=sys.stderr)  # noqa: T201 - the screen is what this module is for


def warn(sentence: str) -> None:
    """Print a warning on stderr, also where nothing but errors is wanted there."""
    from recrawl.report.table import printable

    line = f"Warning: {printable(sentence)}."
    if _LOG.handlers:
        _LOG.warning(line)
    print(line, file=sys.stderr)  # noqa: T201 - the screen is what this module is for


@contextmanager
def also_logged(path: Path) -> Iterator[None]:
    """Append remarks to a file with their times, too, whatever the screen shows."""
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written ({reason(error)})") from None
    form = logging.Formatter("%(asctime)s.%(msecs)03dZ %(message)s", "%Y-%m-%dT%H:%M:%S")
    form.converter = time.gmtime
    handler.setFormatter(form)
    _LOG.addHandler(handler)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        handler.close()


def detail(sentence: str) -> None:
    """Print a sentence on stderr if more is wanted there than remarks."""
    if loudness >= DETAILS:
        remark(sentence)


def shows_progress() -> bool:
    """Whether progress is drawn."""
    return loudness >= REMARKS and is_terminal(sys.stderr)
