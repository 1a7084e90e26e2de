"""Lines of a CDXJ index: a key, a date, and an object of fields.

    org,iana)/ 20140126200624 {"url": "http://www.iana.org/", "status": "200", "digest": "OSSA..."}

Pure.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.cdx.index_lines import DATE_DIGITS, dates
from recrawl.adapters.imports.foreign_visits import (
    EMPTY_DIGEST,
    MALFORMED,
    NOT_MODIFIED,
    UNKNOWN_STATUS,
    ForeignVisitRows,
    plain_digest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.adapters.imports.foreign_visits import ForeignVisits, ImportReading

_PARTS = 3
_REVISIT = "warc/revisit"
_LEAST_STATUS, _MOST_STATUS = 100, 599
_LONGEST_STATUS = 3


def read_json_index(
    blocks: Iterable[bytes], reading: ImportReading, name: str
) -> Iterator[ForeignVisits]:
    """Visits of an index, in its order; arguments as for `read_index`."""
    for block in blocks:
        rows, when = ForeignVisitRows(), []
        for line in block.decode("utf-8", "replace").split("\n"):
            parts = line.split(" ", 2)
            if len(parts) == _PARTS and len(parts[1]) == DATE_DIGITS and _add(rows, parts[2]):
                when.append(parts[1])
            elif line.strip() and not line.startswith("!"):  # a header of some writers
                reading.malformed(name, line)
        if not when:
            continue
        digits = np.frombuffer("".join(when).encode("latin-1", "replace"), np.uint8)
        starts = np.arange(len(when)) * DATE_DIGITS
        at, dated = dates(digits, starts, starts + DATE_DIGITS)
        rows.at = at.tolist()
        visits = rows.flush()
        if not dated.all():
            reading.leave_out(MALFORMED, int(np.count_nonzero(~dated)))
            visits = visits.take(np.flatnonzero(dated))
        yield reading.vetted(visits)


def _add(rows: ForeignVisitRows, text: str) -> bool:
    """Add the visit that a line tells of; False where it is malformed. Its time comes later."""
    try:
        fields: Any = json.loads(text)
        page = fields["url"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return False
    if not isinstance(page, str):
        return False
    status = _status(str(fields.get("status")))
    digest = plain_digest(str(fields.get("digest") or "").removeprefix("-"))  # a dash is none
    if digest == EMPTY_DIGEST and not status and fields.get("mime") == _REVISIT:
        status = NOT_MODIFIED  # nothing was sent, and some crawlers write down the digest of that
    rows.add(page, 0, status, digest)
    return True


@lru_cache(maxsize=1 << 10)
def _status(text: str) -> int:
    if len(text) != _LONGEST_STATUS or not text.isascii() or not text.isdigit():
        return UNKNOWN_STATUS
    return int(text) if _LEAST_STATUS <= int(text) <= _MOST_STATUS else UNKNOWN_STATUS
