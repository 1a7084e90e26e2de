"""Objects of listings as a table: what `recrawl listing objects` writes.

The columns are those of a file of objects, so that whatever reads one reads this.

Pure.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.listings.sheets import Sheet, texts
from recrawl.units import instants_after_epoch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.report.rates import Column

OBJECT_COLUMNS = ("key", "source", "appeared_at", "last_seen_at", "removed_at")
_SHOWN = 40


def objects_sheet(
    sources: Sequence[str],
    keys: Sequence[str],
    attributes: Sequence[Mapping[str, str]],
    days: Sequence[tuple[float, float, float | None]],
    details: Sequence[str] = (),
) -> Sheet:
    """One row per object; attributes that some lack are empty for them.

    Args:
        sources: Name of the listing of each.
        keys: What names it.
        attributes: What it is like.
        days: When it appeared, was last seen, and was removed, in days after 1970; None for not.
        details: Address of its detail page, if any has one; empty for one without.

    Examples:
        >>> sheet = objects_sheet(["jobs"], ["7"], [{"city": "Bern", "key": "x"}], [(1, 2, None)])
        >>> list(sheet.columns)
        ['source', 'appeared_at', 'last_seen_at', 'removed_at', 'city', 'attribute key']
        >>> sheet.words
        [['7', 'jobs', '1970-01-02', '', 'Bern', 'x']]
    """
    names = list(dict.fromkeys(name for each in attributes for name in each))
    table = np.array([[nan if each is None else each for each in row] for row in days], float)
    appeared, seen, removed = map(instants_after_epoch, table.reshape(-1, 3).T)
    columns: dict[str, Column] = {
        "source": texts(list(sources)),
        "appeared_at": appeared,
        "last_seen_at": seen,
        "removed_at": removed,
    }
    if any(details):
        columns["detail"] = texts(list(details))
    for name in names:
        own = f"attribute {name}" if name == "key" or name in columns else name
        columns[own] = texts([each.get(name, "") for each in attributes])
    words = [
        [key[:_SHOWN], source, _day(appeared[row]), _day(removed[row])]
        + [attributes[row].get(name, "")[:_SHOWN] for name in names]
        for row, (key, source) in enumerate(zip(keys, sources, strict=True))
    ]
    header = ("key", "source", "appeared", "removed", *names)
    return Sheet("key", list(keys), columns, header, words, tuple(range(len(header))))


def _day(instant: np.datetime64) -> str:
    return "" if np.isnat(instant) else str(np.datetime_as_string(instant, unit="D"))
