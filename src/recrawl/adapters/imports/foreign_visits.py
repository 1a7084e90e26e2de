"""Visits as another system wrote them down, as columns, and what was left out on the way.

What a visit says of a page's content is in `digest` where the system wrote one down: equal digests
are equal content. Where it has compared by itself, as a host does that answers 304, `changed` says
so. An answer that is not the page (a redirect, an error) has neither.

Pure.
"""

from __future__ import annotations

from base64 import b32encode
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.arrays.texts import Texts
from recrawl.parse.many_addresses import canonical_texts
from recrawl.report.histories import changed_column
from recrawl.report.rates import Named
from recrawl.report.words import clock_sentences, counted
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.outputs import OutputColumn
    from recrawl.arrays.types import Bools, Changes, Ints
    from recrawl.parse.time_zones import Zone

COLUMNS = ("page", "visited_at", "status", "changed", "digest", "last_modified")
UNKNOWN_STATUS, FAILED_STATUS, GONE_STATUS = range(3)  # where there is no code, or only a word
NOT_MODIFIED = 304
ROWS = 1 << 15  # of a batch

# What is left out, in the words of the remark: "3 malformed lines left out."
MALFORMED = "malformed line", "malformed lines"  # of tables, rows
NOT_A_PAGE = (
    "visit to an address other than http or https",
    "visits to addresses other than http or https",
)
BAD_TIME = (
    "visit without a time between 1900 and 2200",
    "visits without a time between 1900 and 2200",
)

# What visits of access logs rest on.
SIZES = "size"
ETAGS = "ETag"
COMPARED = "revalidation"  # answered with a 304
_WEAK = (
    "Sizes are weak evidence: a size that a page never had counts as a change, and "
    "changes of equal size are missed. Log the ETag for better evidence."
)
_SHOWN_AGENTS = 3

_WORDS = {UNKNOWN_STATUS: "", FAILED_STATUS: "failed", GONE_STATUS: "gone"}
EMPTY_DIGEST = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"  # of no bytes at all
_SHA1, _HEX_LETTERS, _BASE32_LETTERS = "sha1:", 40, 32
_SHOWN = 80
_OK, _REDIRECT = 200, 300


@dataclass(frozen=True, slots=True, eq=False)
class ForeignVisits:
    """Some visits, in the order of the source.

    Args:
        page: Address of each page as the source has it.
        at: Microseconds since 1970.
        status: HTTP codes, or one of the words above.
        changed: 1 or 0 where the source compared by itself, else -1.
        digest: Digest of the content; empty where there is none.
        last_modified: Microseconds since 1970, `UNKNOWN_TIME` where there is none.
    """

    page: Texts
    at: Ints
    status: Ints
    changed: Changes
    digest: Texts
    last_modified: Ints

    def __len__(self) -> int:
        """Count them."""
        return len(self.at)

    def take(self, rows: Ints) -> ForeignVisits:
        """Some of them."""
        return ForeignVisits(
            self.page.take(rows),
            self.at[rows],
            self.status[rows],
            self.changed[rows],
            self.digest.take(rows),
            self.last_modified[rows],
        )

    @classmethod
    def joined(cls, parts: Sequence[ForeignVisits]) -> ForeignVisits:
        """Some visits after others; there is at least one part."""
        return cls(
            Texts.joined([part.page for part in parts]),
            np.concatenate([part.at for part in parts]),
            np.concatenate([part.status for part in parts]),
            np.concatenate([part.changed for part in parts]),
            Texts.joined([part.digest for part in parts]),
            np.concatenate([part.last_modified for part in parts]),
        )

    def columns(self) -> dict[str, OutputColumn]:
        """Columns of a visit log, but for the page."""
        found, codes = np.unique(self.status, return_inverse=True)
        words = [_WORDS.get(code, str(code)) for code in found.tolist()]
        return {
            "visited_at": self.at.view("datetime64[us]"),
            "status": Named(codes, words),
            "changed": changed_column(self.changed),
            "digest": self.digest,
            "last_modified": self.last_modified.view("datetime64[us]"),
        }


@dataclass(slots=True)
class ImportReading:
    """How sources are read, and what was left out of them so far.

    Args:
        site: Scheme and host of addresses that are paths alone; empty where sources tell.
        table: How tables are read.
        agent: What user agents of access logs are taken; empty for all.
        client: Whose requests of access logs are taken; empty for all.
        by_key: Whether pages of indexes are named by their keys.
        any_name: Whether tables may name pages by anything, not by addresses alone.
        progress: Called with the share that is read, from 0 to 1.
        left_out: How many there were of what was left out, by its words for one and for many.
        evidence: How many visits rest on which evidence of change, by its words.
        remarks: What else is to be said, each sentence once.
        first_malformed: Where the first malformed line is, and what is wrong with it.
        agents: Requests of each user agent, where none was chosen.
        zones: How times of tables were read, each table's.
    """

    site: str = ""
    table: TableOptions = field(default_factory=TableOptions)
    agent: str = ""
    client: str = ""
    by_key: bool = False
    any_name: bool = True
    progress: Callable[[float], None] | None = None
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)
    remarks: dict[str, None] = field(default_factory=dict)
    first_malformed: str = ""
    agents: Counter[str] = field(default_factory=Counter)
    zones: list[Zone] = field(default_factory=list)

    def leave_out(self, what: tuple[str, str], count: int = 1) -> None:
        """Count what is left out."""
        if count:
            self.left_out[what] += count

    def malformed(self, name: str, line: int, rule: str, got: bytes | str) -> None:
        """Count a malformed line, and keep what is wrong with the first."""
        self.left_out[MALFORMED] += 1
        if not self.first_malformed:
            text = got if isinstance(got, str) else got.decode("utf-8", "replace")
            self.first_malformed = f"{name}, line {line:,}: {rule} (got {_short(text)})"

    def note_table(self, table: TableInput) -> None:
        """Take over what is to be said of a table, as far as it has been read."""
        self.leave_out(MALFORMED, table.skipped)
        self.first_malformed = self.first_malformed or table.first_skipped
        table.skipped = 0
        self.remarks.update(table.remarks)
        if table.zone not in self.zones:
            self.zones.append(table.zone)

    def remark(self, sentence: str) -> None:
        """Have something said at the end, once."""
        self.remarks[sentence] = None

    def left_out_sentences(self) -> list[str]:
        """What was left out, and what is wrong with the first malformed line."""
        said = []
        for what, count in self.left_out.items():
            first = f", the first in {self.first_malformed}" if what == MALFORMED else ""
            words = f"{count:,} {what[count != 1]} left out"
            said.append(f"{words}{first if self.first_malformed else ''}.")
        return said

    def sentences(self) -> list[str]:
        """All that is to be said of what was read."""
        first, second, skipped = (
            sum(zone.doubts[place] for zone in self.zones) for place in range(3)
        )
        said = [*self.left_out_sentences(), *self.remarks, *clock_sentences(first, second, skipped)]
        if self.evidence[SIZES]:
            kinds = ", ".join(counted(count, kind) for kind, count in self.evidence.items())
            said.append(f"Evidence of change: {kinds}. {_WEAK}")
        if len(self.agents) > 1:
            most = [
                f"{_short(agent) if agent else 'none named'} ({count:,})"
                for agent, count in self.agents.most_common(_SHOWN_AGENTS)
            ]
            said.append(
                f"{len(self.agents):,} user agents made these visits, most of them "
                f"{', '.join(most)}; --user-agent selects one."
            )
        return said

    def vetted(self, visits: ForeignVisits, *, any_name: bool = False) -> ForeignVisits:
        """Visits to pages under their canonical names, at times that can be; others are counted.

        Args:
            visits: The visits.
            any_name: Whether what is no address is a name, too.
        """
        page, known = canonical_texts(visits.page)
        if any_name and not known.all():
            names = zip(page.tolist(), visits.page.tolist(), strict=True)
            page = Texts.of([canonical or name.strip() for canonical, name in names])
            known = np.diff(page.offsets) > 0
        in_time: Bools = visits.at >= EARLIEST_MICROSECONDS
        in_time &= visits.at <= LATEST_MICROSECONDS
        self.leave_out(NOT_A_PAGE, int(np.count_nonzero(~known)))
        self.leave_out(BAD_TIME, int(np.count_nonzero(known & ~in_time)))
        named = ForeignVisits(
            page, visits.at, visits.status, visits.changed, visits.digest, visits.last_modified
        )
        kept = np.flatnonzero(known & in_time)
        return named if len(kept) == len(visits) else named.take(kept)


def _short(text: str) -> str:
    return f"{text[:_SHOWN]!a}{'...' if len(text) > _SHOWN else ''}"


def of_page(status: Ints) -> Bools:
    """Which answers are the page itself: no redirects, errors, or words that say "not modified"."""
    shown: Bools = (status == UNKNOWN_STATUS) | ((status >= _OK) & (status < _REDIRECT))
    return shown


class ForeignVisitRows:
    """Visits one after the other, made into columns when there are enough."""

    def __init__(self) -> None:
        self.page: list[str] = []
        self.at: list[int] = []
        self.status: list[int] = []
        self.changed: list[int] = []
        self.digest: list[str] = []
        self.last_modified: list[int] = []

    def __len__(self) -> int:
        """Count them."""
        return len(self.at)

    def add(
        self,
        page: str,
        at: int,
        status: int,
        digest: str = "",
        *,
        changed: int = UNKNOWN_CHANGE,
        last_modified: int = UNKNOWN_TIME,
    ) -> None:
        """Add a visit; see `ForeignVisits`. Of an answer that is not the page only it is kept."""
        if status == NOT_MODIFIED:
            digest, changed = "", 0
        elif not (status == UNKNOWN_STATUS or _OK <= status < _REDIRECT):
            digest, changed, last_modified = "", UNKNOWN_CHANGE, UNKNOWN_TIME
        self.page.append(page)
        self.at.append(at)
        self.status.append(status)
        self.changed.append(changed)
        self.digest.append(digest)
        self.last_modified.append(last_modified)

    def flush(self) -> ForeignVisits:
        """All visits as columns; none are left."""
        visits = ForeignVisits(
            Texts.of(self.page),
            np.array(self.at, np.int64),
            np.array(self.status, np.int64),
            np.array(self.changed, np.int8),
            Texts.of(self.digest),
            np.array(self.last_modified, np.int64),
        )
        self.__init__()  # type: ignore[misc] # empty again
        return visits


def plain_digest(digest: str) -> str:
    """A digest as indexes write it: SHA-1 in Base32 without a name, others as they are.

    >>> plain_digest("sha1:b2ltwwpuoyah7uipq7zupq4vmbsvc36a")
    'B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A'
    >>> plain_digest("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"), plain_digest("md5:00ff")
    ('3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ', 'md5:00ff')
    """
    value = digest[len(_SHA1) :] if digest[: len(_SHA1)].lower() == _SHA1 else digest
    if len(value) == _BASE32_LETTERS and ":" not in value:
        return value.upper()
    if len(value) == _HEX_LETTERS and ":" not in value:
        try:
            return b32encode(bytes.fromhex(value)).decode()
        except ValueError:
            return value
    return value
