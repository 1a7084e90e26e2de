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

from recrawl.arrays.texts import Texts
from recrawl.parse.many_addresses import canonical_texts
from recrawl.report.rates import Named
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.adapters.tables.outputs import OutputColumn
    from recrawl.arrays.types import Bools, Changes, Ints

COLUMNS = ("page", "visited_at", "status", "changed", "digest", "last_modified")
UNKNOWN_STATUS, FAILED_STATUS, GONE_STATUS = range(3)  # where there is no code, or only a word
NOT_MODIFIED = 304
ROWS = 1 << 15  # of a batch

# What is left out, in the words of the remark: "3 malformed lines left out."
MALFORMED = "malformed line", "malformed lines"
NOT_A_PAGE = (
    "visit to an address that is not of http or https",
    "visits to addresses that are not of http or https",
)
BAD_TIME = "visit without a time from 1900 to 2200", "visits without a time from 1900 to 2200"

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

    def columns(self) -> dict[str, OutputColumn]:
        """Columns of a visit log, but for the page."""
        found, codes = np.unique(self.status, return_inverse=True)
        words = [_WORDS.get(code, str(code)) for code in found.tolist()]
        return {
            "visited_at": self.at.view("datetime64[us]"),
            "status": Named(codes, words),
            "changed": Named(self.changed + 1, ["", "false", "true"]),
            "digest": self.digest,
            "last_modified": self.last_modified.view("datetime64[us]"),
        }


@dataclass(slots=True)
class ImportReading:
    """How sources are read, and what was left out of them so far.

    Args:
        site: Scheme and host of addresses that are paths alone; empty where sources tell.
        columns: Their names of our columns, for tables.
        progress: Called with the share that is read, from 0 to 1.
        left_out: How many there were of what was left out, by its words for one and for many.
        evidence: How many visits rest on which evidence of change, by its words.
        remarks: What else is to be said, each sentence once.
    """

    site: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    progress: Callable[[float], None] | None = None
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)
    remarks: dict[str, None] = field(default_factory=dict)
    first_malformed: str = ""

    def leave_out(self, what: tuple[str, str], count: int = 1) -> None:
        """Count what is left out."""
        if count:
            self.left_out[what] += count

    def malformed(self, name: str, line: bytes | str) -> None:
        """Count a malformed line, and keep the first to show it."""
        self.left_out[MALFORMED] += 1
        if not self.first_malformed:
            text = line if isinstance(line, str) else line.decode("utf-8", "replace")
            cut = "..." if len(text) > _SHOWN else ""
            self.first_malformed = f"{name}: {text[:_SHOWN]!a}{cut}"

    def remark(self, sentence: str) -> None:
        """Have something said at the end, once."""
        self.remarks[sentence] = None

    def vetted(self, visits: ForeignVisits) -> ForeignVisits:
        """Visits to pages under their canonical names, at times that can be; others are counted."""
        page, known = canonical_texts(visits.page)
        in_time: Bools = visits.at >= EARLIEST_MICROSECONDS
        in_time &= visits.at <= LATEST_MICROSECONDS
        self.leave_out(NOT_A_PAGE, int(np.count_nonzero(~known)))
        self.leave_out(BAD_TIME, int(np.count_nonzero(known & ~in_time)))
        named = ForeignVisits(
            page, visits.at, visits.status, visits.changed, visits.digest, visits.last_modified
        )
        kept = np.flatnonzero(known & in_time)
        return named if len(kept) == len(visits) else named.take(kept)


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
