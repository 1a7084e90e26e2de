"""Priors of sites whose pages lie in many partitions, in two passes over the partitions.

The first pass takes from each partition the pages that make the priors, a few hundred per site at
most, chosen by hashes of their names. The samples together give what the whole log would give, to
the bit, however it was divided. The second pass estimates with these priors.

A page's visits must all lie in one partition. Each sample also names a few pages, again by their
hashes, and the first and the last page: the same page in two samples tells of a log that is divided
otherwise, by days for instance.

Touches: files.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from recrawl.adapters import places
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable, reason
from recrawl.rates.priors import Priors, PriorSample
from recrawl.visits.histories import Histories
from recrawl.visits.sites import check_sites, sites_of_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.adapters.tables.logs import Log, Piece
    from recrawl.arrays.types import Ints
    from recrawl.rates.priors import PriorFit

_NAMED = 64  # pages of each partition that are compared with those of the others


class PageNames:
    """A few pages of a partition: those of the smallest hashes, and the ends of the file."""

    def __init__(self) -> None:
        self._least: list[tuple[int, str]] = []
        self._ends: dict[int, str] = {}

    def add(self, piece: Piece) -> None:
        """Take note of some pages."""
        if not len(piece.names):
            return
        rows = np.argsort(piece.lots)[:_NAMED]
        names = piece.names.take(rows).tolist()
        found = zip(piece.lots[rows].tolist(), names, strict=True)
        self._least = sorted({*self._least, *found})[:_NAMED]
        ends = np.array([piece.position.argmin(), piece.position.argmax()])
        named = zip(piece.position[ends].tolist(), piece.names.take(ends).tolist(), strict=True)
        every = dict(sorted({*self._ends.items(), *named}))
        self._ends = {place: every[place] for place in (min(every), max(every))}

    def tolist(self) -> list[str]:
        """The names."""
        return sorted({name for _, name in self._least} | set(self._ends.values()))


def check_pages(names: Mapping[str, Sequence[str]]) -> None:
    """Refuse partitions that share a page, as far as a few names of each can tell."""
    seen: dict[str, str] = {}
    for partition, pages in names.items():
        for page in pages:
            other = seen.setdefault(page, partition)
            if other != partition:
                raise InvalidTable(
                    f"{other} and {partition} both hold visits of {page}; all visits of a page "
                    "must lie in one partition: without --engine files may be divided in any way"
                )


@dataclass(frozen=True, slots=True, eq=False)
class SampleFile:
    """The sample of a partition.

    Args:
        sample: Pages that make the priors.
        sites: Names of their sites, by number.
        pages: A few pages of the partition.
    """

    sample: PriorSample
    sites: Texts
    pages: Texts

    @classmethod
    def of(cls, log: Log) -> SampleFile:
        """Sample a log."""
        names = PageNames()

        def parts() -> Iterable[tuple[Any, Any, Any]]:
            for piece in log.pieces():
                names.add(piece)
                yield piece.histories, piece.site, piece.lots

        whole = PriorSample.of(parts())
        once = PriorSample.of([(whole.histories, whole.site, whole.hashes)])  # of all its pieces
        return cls(once, Texts.of(log.sites), Texts.of(names.tolist()))

    def write(self, path: Path) -> None:
        """Write it to a file of arrays."""
        histories = {
            f"histories.{name}": column
            for name, column in zip(
                (each.name for each in fields(Histories)),
                self.sample.histories.__reduce__()[1],
                strict=True,
            )
            if column is not None
        }
        arrays = {"site": self.sample.site, "hashes": self.sample.hashes, **histories}
        _save(path, arrays | _texts("sites", self.sites) | _texts("pages", self.pages))

    @classmethod
    def read(cls, place: str) -> SampleFile:
        """Read it again; a damaged file is refused."""
        with _refusing(place):
            arrays = _load(place)
            histories = Histories(
                **{
                    name.removeprefix("histories."): array
                    for name, array in arrays.items()
                    if name.startswith("histories.")
                }
            )
            sites, pages = (
                Texts(arrays[name], arrays[f"{name}.ends"]) for name in ("sites", "pages")
            )
            check_sites(sites_of_pages(arrays["site"], len(histories)), max(len(sites), 1))
            sample = PriorSample(histories, arrays["site"], arrays["hashes"], len(sites))
            return cls(sample, sites, pages)


def fit_samples(
    samples: Iterable[SampleFile], *, false_changes: float, fit: PriorFit
) -> SitePriors:
    """Priors of all sites of all samples."""
    known: dict[str, int] = {}

    def parts() -> Iterable[tuple[Any, Any, Any]]:
        for each in samples:
            numbers = [known.setdefault(name, len(known)) for name in each.sites.tolist()]
            site = np.array(numbers, np.int64)[each.sample.site] if numbers else each.sample.site
            yield each.sample.histories, site, each.sample.hashes

    joined = PriorSample.of(parts())
    # Sites without a page that tells anything count, too.
    whole = PriorSample(joined.histories, joined.site, joined.hashes, len(known))
    return SitePriors(whole.fit(false_changes=false_changes, fit=fit), Texts.of(list(known)))


@dataclass(frozen=True, slots=True, eq=False)
class SitePriors:
    """Priors by the names of sites.

    Args:
        priors: One row per site.
        sites: Their names.
    """

    priors: Priors
    sites: Texts

    def rows_of(self, names: Sequence[str]) -> Ints:
        """Rows of these sites."""
        rows = {name: row for row, name in enumerate(self.sites.tolist())}
        missing = next((name for name in names if name not in rows), None)
        if missing is not None:
            raise InvalidTable(f"site {missing!r} is in no sample; sample every partition first")
        return np.array([rows[name] for name in names], np.int64)

    def write(self, path: Path) -> None:
        """Write them to a file of arrays."""
        priors = self.priors
        arrays = {"shape": priors.shape, "exposure": priors.exposure}
        if priors.masses is not None:
            arrays["masses"] = priors.masses
        _save(path, arrays | _texts("sites", self.sites))

    @classmethod
    def read(cls, place: str) -> SitePriors:
        """Read them again; a damaged file is refused."""
        with _refusing(place):
            arrays = _load(place)
            sites = Texts(arrays["sites"], arrays["sites.ends"])
            priors = Priors(arrays["shape"], arrays["exposure"], masses=arrays.get("masses"))
            return cls(priors, sites)


def _texts(name: str, texts: Texts) -> dict[str, Any]:
    return {name: texts.data, f"{name}.ends": texts.offsets}


def _save(path: Path, arrays: Mapping[str, Any]) -> None:
    with path.open("wb") as file:
        np.savez(file, **arrays)


@contextmanager
def _refusing(place: str) -> Iterator[None]:
    """Say of a file that is not whole, or not ours, that it is damaged."""
    try:
        yield
    except (BadZipFile, EOFError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidTable):  # it cannot be read at all
            raise
        raise InvalidTable(f"{place} is damaged; remove it and run again") from None


def _load(place: str) -> dict[str, Any]:
    try:
        # Opened here: numpy leaves a file open that it cannot read.
        with (
            places.copied(place) as path,
            path.open("rb") as file,
            np.load(file, allow_pickle=False) as arrays,
        ):
            return dict(arrays)
    except OSError as error:
        raise InvalidTable(f"{place} cannot be read ({reason(error)})") from None
