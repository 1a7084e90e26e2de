"""`read_visits`: archives, indexes, access logs and tables of visits, as a table.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.imports.foreign_visits import ForeignVisits, ImportReading
from recrawl.adapters.imports.sources import GIT, KINDS, find_sources, read_sources
from recrawl.adapters.tables.table_options import COLUMNS_ARGUMENT, TableOptions
from recrawl.analysis.results import ResultTable
from recrawl.checks import check_choice
from recrawl.errors import InvalidParameter
from recrawl.parse.addresses import canonical, origin_of
from recrawl.report.rates import Named
from recrawl.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from recrawl.arrays.texts import Texts
    from recrawl.report.rates import Column


@dataclass(frozen=True, eq=False, repr=False)
class VisitTable(ResultTable):
    """Visits, with the columns that `recrawl import` writes; `recrawl.estimate` takes it.

    Attributes:
        remarks: What was left out, and how weak the evidence of changes is.
    """

    remarks: tuple[str, ...]

    def _said(self) -> str:
        return counted(len(self), "visit")


def read_visits(
    *sources: str | PathLike[str],
    format: str = "",  # noqa: A002 - as the option is called
    site: str = "",
    user_agent: str = "",
    client: str = "",
    by_key: bool = False,
    columns: Mapping[str, str] | None = None,
) -> VisitTable:
    """Read visits that other systems wrote down: one row per visit, in the order of the sources.

    The same as `recrawl import`, but for git: WARC and ARC files, CDX, CDXJ and ZipNum indexes, the
    columnar index of Common Crawl, access logs, the log of a crawl, stores and tables.

    Args:
        sources: Files, patterns such as `logs/*.gz`, folders, or `-` for the standard input.
        format: What all of them are, as for `--format`; told by the first bytes if empty.
        site: Scheme and host of access logs that name paths alone.
        user_agent: Only requests of access logs whose user agent has this in it, or matches this
            pattern.
        client: Only requests of access logs from this address.
        by_key: Name pages of indexes by their keys, so that http, https and www are one page.
        columns: Your names of the columns of tables, where they differ: `{"page": "url"}`.
    """
    if format:
        check_choice(KINDS, format=format)
    address = canonical(site) if site else ""
    if address is None:
        message = f"site must be an address such as https://example.org (got {site!r})"
        raise InvalidParameter(message)
    found, _ = find_sources([str(Path(source)) for source in sources], format)
    if any(source.kind == GIT for source in found):
        raise InvalidParameter(
            "a git repository has changes, not visits; `recrawl import` makes a world of it"
        )
    reading = ImportReading(
        origin_of(address) if address else "",
        TableOptions(columns or {}, rename=COLUMNS_ARGUMENT),
        agent=user_agent,
        client=client,
        by_key=by_key,
    )
    visits = ForeignVisits.joined(list(read_sources(found, reading)))
    rows: dict[str, Column] = {**visits.columns(), "digest": _named(visits.digest)}  # type: ignore[dict-item] # the digest was the only text
    return VisitTable(visits.page, rows, "page", remarks=tuple(reading.sentences()))


def _named(texts: Texts) -> Named:
    """The same texts, each different one once."""
    words: dict[str, int] = {}
    codes = [words.setdefault(text, len(words)) for text in texts.tolist()]
    return Named(np.array(codes, np.int64), list(words))
