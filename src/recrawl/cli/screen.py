"""What people see while a verb runs: a progress bar, a table, remarks.

Rows go to the standard output, everything else to standard error.

Touches: the standard streams.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

MOST_ROWS = 40  # a terminal's worth; files get them all
_WIDE = 160  # letters on a line that no terminal limits


@contextmanager
def progress(doing: str) -> Iterator[Callable[[float], None] | None]:
    """Draw a bar for work that goes from 0 to 1, on a terminal only."""
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
    """Letters that fit on a line of the standard output."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else _WIDE


def say(line: str) -> None:
    """Print a line of what was asked for."""
    print(line)  # noqa: T201 - the screen is what this module is for


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sees what is written there; a stream that was closed is None."""
    return stream is not None and stream.isatty()


def remark(sentence: str) -> None:
    """Say something that is not a row."""
    print(sentence, file=sys.stderr)  # noqa: T201 - the screen is what this module is for
