"""What people hand over, as a table to read: paths, a store, a frame, columns or visits.

Touches: nothing until it is read.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, date, datetime
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np

from recrawl.adapters.tables.frames import frame_input, whole_frame_input
from recrawl.adapters.tables.inputs import open_table
from recrawl.adapters.tables.visits import CHANGE_TIME, NEEDED, OPTIONAL
from recrawl.checks import check_choice
from recrawl.errors import InvalidParameter
from recrawl.store.places import place_of
from recrawl.units import instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.table_options import TableOptions

# A time as callers name one; None for the current time.
Moment: TypeAlias = datetime | date | np.datetime64 | str | None

_VISIT_COLUMNS = (*NEEDED, *OPTIONAL, "site")


@contextmanager
def visits_input(
    source: object, options: TableOptions, *, change_times: bool = False
) -> Iterator[TableInput]:
    """Visits to read, or all changes where `change_times` says that they will do.

    Args:
        source: Paths, a frame, columns, or visits.
        options: How they are read.
        change_times: Whether the source may be one of all changes.
    """
    _check_names(options.columns, (*_VISIT_COLUMNS, *([CHANGE_TIME] if change_times else [])))
    paths = _paths(source)
    if paths:
        with open_table(paths, options) as table:
            yield table
    else:
        yield frame_input(source, options)


@contextmanager
def whole_input(
    source: object, known: Sequence[str], options: TableOptions, *, name: str = "frame"
) -> Iterator[TableInput]:
    """A table of one row per page or change to read.

    Args:
        source: Paths, a frame or columns.
        known: Our columns.
        options: How it is read.
        name: What errors call a frame.
    """
    _check_names(options.columns, known)
    paths = _paths(source)
    if paths:
        with open_table(paths, options) as table:
            yield table
    else:
        yield whole_frame_input(source, options, name=name)


def is_path(source: object) -> TypeGuard[str | PathLike[str]]:
    """Whether a source is a path."""
    return isinstance(source, str | PathLike)


def _paths(source: object) -> list[Path]:
    """Paths that a source is, or is a list of; none where it is something else."""
    if is_path(source):
        return [place_of(source)]
    several = isinstance(source, list) and all(map(is_path, source))
    return [place_of(each) for each in source] if isinstance(source, list) and several else []


def _check_names(columns: Mapping[str, str], known: Sequence[str]) -> None:
    for name in columns:
        check_choice(known, columns=name)


def instant_of(now: Moment) -> np.datetime64:
    """An instant that a caller names, in UTC where it has no offset; the current time for None.

    >>> instant_of(date(2026, 8, 21)), instant_of("2026-08-21T02:00+02:00")
    (np.datetime64('2026-08-21T00:00:00.000000'), np.datetime64('2026-08-21T00:00:00.000000'))
    """
    moment: object = now
    if now is None or isinstance(now, str):
        moment = datetime.now(UTC) if now is None else instant(now)
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    if isinstance(moment, date | np.datetime64) and moment == moment:  # noqa: PLR0124 - NaT does not
        found: np.datetime64 = np.array([moment], "datetime64[us]")[0]
        return found
    raise InvalidParameter(f"now must be a time, e.g. '2026-01-31T12:00' (got {now!r})")
