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
_RULE = "must be a key, a date of fourteen digits and an object with url"
_DATE_RULE = "must have a date"
_REVISIT = "warc/revisit"
_LEAST_STATUS, _MOST_STATUS = 100, 599
_LONGEST_STATUS = 3


def read_json_index(
    blocks: Iterable[bytes], reading: ImportReading, name: str
) -> Iterator[ForeignVisits]:
    """Visits of an index, in its order; arguments as for `read_index`."""
    number = 0
    for block in blocks:
        rows, when, places = ForeignVisitRows(), [], []
        lines = block.decode("utf-8", "replace").removesuffix("\n").split("\n")
        for number, line in enumerate(lines, number + 1):  # noqa: B020 - goes on
            parts = line.split(" ", 2)
            key = parts[0] if reading.by_key else ""
            if len(parts) == _PARTS and len(parts[1]) == DATE_DIGITS and _add(rows, parts[2], key):
                when.append(parts[1])
                places.append(number)
            elif line.strip() and not line.startswith("!"):  # a header of some writers
                reading.malformed(name, number, _RULE, line)
        if not when:
            continue
        digits = np.frombuffer("".join(when).encode("latin-1", "replace"), np.uint8)
        starts = np.arange(len(when)) * DATE_DIGITS
        at, dated = dates(digits, starts, starts + DATE_DIGITS)
        rows.at = at.tolist()
        visits = rows.flush()
        if not dated.all():
            first = int(np.argmin(dated))
            reading.malformed(name, places[first], _DATE_RULE, when[first])
            reading.leave_out(MALFORMED, int(np.count_nonzero(~dated)) - 1)
            visits = visits.take(np.flatnonzero(dated))
        yield reading.vetted(visits, any_name=reading.by_key)


def _add(rows: ForeignVisitRows, text: str, key: str) -> bool:
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
    rows.add(key or page, 0, status, digest)
    return True


@lru_cache(maxsize=1 << 10)
def _status(text: str) -> int:
    if len(text) != _LONGEST_STATUS or not text.isascii() or not text.isdigit():
        return UNKNOWN_STATUS
    return int(text) if _LEAST_STATUS <= int(text) <= _MOST_STATUS else UNKNOWN_STATUS
