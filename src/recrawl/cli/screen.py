"""Terminal output: progress bar, tables, remarks.

Rows go to the standard output, everything else to the standard error.

Touches: the standard streams.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

MOST_ROWS = 40  # about a screen; files get all rows
_WIDE = 160  # characters per line where no terminal sets a limit


@contextmanager
def progress(doing: str) -> Iterator[Callable[[float], None] | None]:
    """Progress bar for work from 0 to 1; None unless stderr is a terminal."""
    if not is_terminal(sys.stderr):
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


def show_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)
) -> None:
    """Print a table as wide as the terminal allows."""
    from recrawl.report.table import table_lines

    for line in table_lines(header, rows, width=width(), left=left):
        say(line)


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
    """Print a sentence on stderr."""
    print(sentence, file=sys.stderr)  # noqa: T201 - the screen is what this module is for
