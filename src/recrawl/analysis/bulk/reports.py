"""What was made of files, one by one and together.

Touches: nothing by itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.report.words import clock_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recrawl.adapters.tables.columns import TableInput


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was made of a file, or of several.

    Attributes:
        counts: Rows of the result by what they say: pages by their status for rates.
        skipped: Malformed rows that were left out.
        merged: Visits in the same second as another one.
        silent: Visits that say nothing.
        reverts: Changes back to an earlier version.
        remarks: How the file was understood, in sentences.
        names: A few of the pages, to be compared with those of other files; none where priors
            were given, for then samples have been compared.
    """

    counts: Mapping[str, int]
    skipped: int = 0
    merged: int = 0
    silent: int = 0
    reverts: int = 0
    remarks: Sequence[str] = ()
    names: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        table: TableInput,
        counts: Mapping[str, int],
        *,
        reverts: int = 0,
        names: Sequence[str] = (),
    ) -> FileReport:
        """Report on a table that has been read."""
        remarks = [*table.remarks, *clock_sentences(*table.zone.doubts)]
        return cls(dict(counts), table.skipped, table.merged, table.silent, reverts, remarks, names)

    @classmethod
    def together(cls, reports: Iterable[FileReport]) -> FileReport:
        """Report on all files; each remark once."""
        every = list(reports)
        counts: Counter[str] = sum((Counter(each.counts) for each in every), Counter())
        return cls(
            counts=dict(counts),
            skipped=sum(each.skipped for each in every),
            merged=sum(each.merged for each in every),
            silent=sum(each.silent for each in every),
            reverts=sum(each.reverts for each in every),
            remarks=list(dict.fromkeys(said for each in every for said in each.remarks)),
        )

    @property
    def total(self) -> int:
        """Rows of the result."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class BulkReport:
    """What came of a run.

    Attributes:
        partitions: How many there are.
        done_before: How many an earlier run had finished.
        files: What was made of the others.
    """

    partitions: int
    done_before: int
    files: FileReport
