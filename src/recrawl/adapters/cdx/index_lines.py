r"""Lines of a CDX index, a block of them at once.

A line has fields between blanks, and a header may name them by letters:

     CDX N b a m s k r M S V g
    org,iana)/ 20140126200624 http://www.iana.org/ text/html 200 OSSA... - - 2258 334 iana.warc.gz

The bytes of a block are looked at together: where blanks and line ends are, whether fourteen
letters are digits. No line is split, and no field is made a text of its own.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.adapters.imports.foreign_visits import (
    EMPTY_DIGEST,
    MALFORMED,
    NOT_MODIFIED,
    UNKNOWN_STATUS,
    ForeignVisits,
    of_page,
    plain_digest,
)
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.adapters.imports.foreign_visits import ImportReading
    from recrawl.arrays.types import Bools, Bytes, Changes, Ints

HEADER = b" CDX "
DATE_DIGITS = 14
REVISIT = b"warc/revisit"

_BLANK, _LINE_END, _ZERO = b" \n0"
_NINE = 9
_LEAST_STATUS, _MOST_STATUS = 100, 599
_FEWEST_FIELDS = 6
_USUAL_DIGEST = len(EMPTY_DIGEST)
_DATE_RULE = "must have a date of fourteen digits"
_FIELDS_RULE = "must have {} fields or more"
_SECOND = 1_000_000
_MONTHS, _HOURS, _SIXTY = 12, 24, 60
# Days from 1970 to the first of each month, from January of the year 0 to that of 10000.
_DAYS_BEFORE = np.arange("0000-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]")
_DAYS_BEFORE = _DAYS_BEFORE.astype(np.int64)
# Eight letters in one number: whether all are digits, and each two of them as a number.
_HIGH, _LOW = np.uint64(0xF0F0F0F0F0F0F0F0), np.uint64(0x0F0F0F0F0F0F0F0F)
_SIX, _DIGITS = np.uint64(0x0606060606060606), np.uint64(0x3333333333333333)
_EVERY_OTHER = np.uint64(0x00FF00FF00FF00FF)
_FOUR, _EIGHT, _TEN = np.uint64(4), np.uint64(8), np.uint64(10)


class IndexFields(NamedTuple):
    """Which fields of a line hold what; counted from 0.

    Attributes:
        width: How many a line has; 0 for as many as the first line.
        date: When it was fetched.
        address: What was fetched.
        mime: Its type, or that it is a revisit; -1 where there is none.
        status: HTTP code; -1 where there is none.
        digest: Digest of the content; -1 where there is none.
        key: Key that lines are sorted by; -1 where there is none.
    """

    width: int = 0
    date: int = 1
    address: int = 2
    mime: int = 3
    status: int = 4
    digest: int = 5
    key: int = 0


def fields_of(header: bytes) -> IndexFields:
    """Fields that a header names; its letters are those of the Internet Archive.

    >>> fields_of(b" CDX N b a m s k r M S V g")
    IndexFields(width=11, date=1, address=2, mime=3, status=4, digest=5, key=0)
    """
    letters = header[len(HEADER) :].split()
    places = {letter: place for place, letter in reversed(list(enumerate(letters)))}
    if b"b" not in places or b"a" not in places:
        raise InvalidTable("a CDX header must name b (the date) and a (the address)")
    mime, status = places.get(b"m", -1), places.get(b"s", -1)
    digest = places.get(b"k", places.get(b"c", -1))
    key = places.get(b"N", places.get(b"A", -1))
    return IndexFields(len(letters), places[b"b"], places[b"a"], mime, status, digest, key)


def read_index(
    blocks: Iterable[bytes], reading: ImportReading, name: str
) -> Iterator[ForeignVisits]:
    """Visits of an index, in its order.

    Args:
        blocks: Its bytes, in blocks of whole lines.
        reading: Counts what is left out.
        name: What the index is called.
    """
    fields, number = IndexFields(), 1
    for block in blocks:
        rest, first = block, number
        number += block.count(b"\n")
        if rest.startswith(HEADER):
            line, _, rest = block.partition(b"\n")
            first += 1
            try:
                fields = fields_of(line.rstrip(b"\r"))
            except InvalidTable as error:
                raise InvalidTable(f"{name}: {error}") from None
        if not fields.width and rest:
            count = rest.partition(b"\n")[0].count(b" ") + 1
            fields = fields._replace(width=max(count, _FEWEST_FIELDS))
        if rest:
            if reading.by_key and fields.key < 0:
                raise InvalidTable(f"{name}: --by-key needs an index with keys (N in its header)")
            yield _visits(rest, fields, reading, (name, first))


def _visits(
    block: bytes, fields: IndexFields, reading: ImportReading, place: tuple[str, int]
) -> ForeignVisits:
    """Visits of a block, whose name and first line `place` tells."""
    data, edges = _edges(block, fields, reading, place)
    at, dated = dates(data, edges.starts(fields.date), edges.ends(fields.date))
    if not dated.all():
        wrong = np.flatnonzero(~dated)
        start, end = (int(side(fields.date)[wrong[0]]) for side in (edges.starts, edges.ends))
        number = place[1] + int(np.count_nonzero(data[:start] == _LINE_END))
        reading.malformed(place[0], number, _DATE_RULE, data[start:end].tobytes())
        reading.leave_out(MALFORMED, len(wrong) - 1)
        edges, at = edges.take(dated), at[dated]
    status = _statuses(data, edges, fields.status)
    page = _field(data, edges, fields.key if reading.by_key else fields.address)
    changed, digest = _content(data, edges, fields, status)
    unknown = np.full(len(at), UNKNOWN_TIME)
    visits = ForeignVisits(page, at, status, changed, digest, unknown)
    return reading.vetted(visits, any_name=reading.by_key)


class _Edges(NamedTuple):
    """Where the fields of some lines begin and end.

    Attributes:
        before: Place before each line.
        table: Place behind each field of each line.
    """

    before: Ints
    table: Ints

    def starts(self, field: int) -> Ints:
        """Where a field begins."""
        return (self.before if field == 0 else self.table[:, field - 1]) + 1

    def ends(self, field: int) -> Ints:
        """Where it ends."""
        return self.table[:, field]

    def lengths(self, field: int) -> Ints:
        """How long it is."""
        return self.ends(field) - self.starts(field)

    def take(self, lines: Bools | Ints) -> _Edges:
        """Some of the lines."""
        return _Edges(self.before[lines], self.table[lines])


def _edges(
    block: bytes, fields: IndexFields, reading: ImportReading, place: tuple[str, int]
) -> tuple[Bytes, _Edges]:
    """Bytes of a block, and the fields of its whole lines."""
    count, needed = fields.width, max(fields[1:]) + 1
    name, number = place
    data = np.frombuffer(block, np.uint8)
    marks = np.flatnonzero(data <= _BLANK)
    is_end = data[marks] == _LINE_END
    ends = marks[is_end]
    if len(marks) == count * len(ends) and is_end[count - 1 :: count].all():
        return data, _Edges(np.append(-1, ends[:-1]), marks.reshape(-1, count))
    if b"\r\n" in block:
        return _edges(block.replace(b"\r\n", b"\n"), fields, reading, place)
    # Some lines have more fields, or fewer. All that is read stands in the first ones.
    marks_of_line = np.diff(np.searchsorted(marks, ends), prepend=-1)
    whole = marks_of_line >= needed
    for line in np.flatnonzero(~whole).tolist():
        text = block[0 if line == 0 else int(ends[line - 1]) + 1 : int(ends[line])]
        if text.strip() and not text.startswith(HEADER):
            reading.malformed(name, number + line, _FIELDS_RULE.format(needed), text)
    first = np.cumsum(marks_of_line) - marks_of_line
    table = marks[first[whole, np.newaxis] + np.arange(needed)]
    return data, _Edges(np.append(-1, ends[:-1])[whole], table)


def dates(data: Bytes, starts: Ints, ends: Ints) -> tuple[Ints, Bools]:
    """Microseconds since 1970 of dates such as 20140126200624, and which of them are some.

    >>> text = np.frombuffer(b"19700102000001 19700230000000", np.uint8)
    >>> dates(text, np.array([0, 15]), np.array([14, 29]))
    (array([86401000000,           0]), array([ True, False]))
    """
    right: Bools = ends - starts == DATE_DIGITS
    if len(data) < DATE_DIGITS or not right.any():
        return np.zeros(len(starts), np.int64), np.zeros(len(starts), np.bool_)
    starts = np.where(right, starts, starts[np.argmax(right)])
    eights = np.ndarray((len(data) - 7,), np.uint64, buffer=data, strides=(1,))
    pairs = []
    for place in (0, DATE_DIGITS - 8):  # the two overlap in the day
        eight = eights[starts + place]
        right &= (eight & _HIGH | (eight + _SIX & _HIGH) >> _FOUR) == _DIGITS
        digits = eight & _LOW
        pairs.append((digits * _TEN + (digits >> _EIGHT) & _EVERY_OTHER).view(np.uint16))
    century, year, month, day = (pairs[0][place::4] for place in range(4))
    hour, minute, second = (pairs[1][place::4] for place in range(1, 4))
    right &= (month >= 1) & (month <= _MONTHS)
    months = np.where(right, (century * np.int64(100) + year) * _MONTHS + month - 1, 0)
    first = _DAYS_BEFORE[months]
    right &= (day >= 1) & (day <= _DAYS_BEFORE[months + 1] - first)
    right &= (hour < _HOURS) & (minute < _SIXTY) & (second < _SIXTY)
    seconds = (first + day - 1) * 86_400 + (hour * np.int64(3600) + minute * 60 + second)
    return np.where(right, seconds * _SECOND, 0), right


def _windows(data: Bytes, width: int) -> Bytes:
    """Every stretch of so many bytes, by its first."""
    shape = (len(data) - width + 1, width)
    return np.ndarray(shape, np.uint8, buffer=data, strides=(1, 1))


def _statuses(data: Bytes, edges: _Edges, field: int) -> Ints:
    """HTTP codes; `UNKNOWN_STATUS` for what is none, such as "-"."""
    count = len(edges.before)
    if field < 0 or not count:
        return np.full(count, UNKNOWN_STATUS)
    # Three letters and the blank or line end behind them.
    fours = np.ndarray((len(data) - 3,), np.uint32, buffer=data, strides=(1,))
    four = fours[np.minimum(edges.starts(field), len(fours) - 1)]
    hundreds, tens, ones = ((four >> shift) - _ZERO & 0xFF for shift in (0, 8, 16))
    code = (100 * hundreds + 10 * tens + ones).astype(np.int64)
    right = (four >> 24 <= _BLANK) & (tens <= _NINE) & (ones <= _NINE) & (code >= _LEAST_STATUS)
    return np.where(right & (code <= _MOST_STATUS), code, UNKNOWN_STATUS)


def _content(
    data: Bytes, edges: _Edges, fields: IndexFields, status: Ints
) -> tuple[Changes, Texts]:
    """What is said of the content: that it has not changed, or its digest."""
    count = len(edges.before)
    changed = np.full(count, UNKNOWN_CHANGE, np.int8)
    if fields.digest < 0:
        digest = Texts(np.empty(0, np.uint8), np.zeros(count + 1, np.int64))
    else:
        digest = _field(data, edges, fields.digest)
    shown = of_page(status)
    empty = ~shown | (np.diff(digest.offsets) == 1)  # a dash
    changed[status == NOT_MODIFIED] = 0
    revisits = np.flatnonzero(_equal(data, edges, fields.mime, REVISIT) & shown)
    if len(revisits):
        # A host that answered 304 sent nothing, and some crawlers write down the digest of that.
        some = edges.take(revisits)
        nothing = revisits[_equal(data, some, fields.digest, EMPTY_DIGEST.encode())]
        changed[nothing], empty[nothing] = 0, True
    if empty.any():
        lengths = np.where(empty, 0, np.diff(digest.offsets))
        digest = digest.parts(digest.offsets[:-1], lengths)
    if (np.diff(digest.offsets) > _USUAL_DIGEST).any():
        digest = Texts.of([plain_digest(text) for text in digest.tolist()])
    return changed, digest


def _equal(data: Bytes, edges: _Edges, field: int, word: bytes) -> Bools:
    """Which lines have a word for a field."""
    if field < 0:
        return np.zeros(len(edges.before), np.bool_)
    equal: Bools = edges.lengths(field) == len(word)
    rows = np.flatnonzero(equal)
    if len(rows):
        windows = _windows(data, len(word))[edges.starts(field)[rows]]
        equal[rows] = (windows == np.frombuffer(word, np.uint8)).all(axis=1)
    return equal


def _field(data: Bytes, edges: _Edges, field: int) -> Texts:
    """One field of each line."""
    starts, ends = edges.starts(field), edges.ends(field)
    lengths = ends - starts
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    if not len(starts):
        return Texts(np.empty(0, np.uint8), offsets)
    if lengths[0] and (lengths == lengths[0]).all():
        return Texts(_windows(data, int(lengths[0]))[starts].ravel(), offsets)
    # One pass over the block: fields lie in order, so runs of bytes that are and are not theirs
    # alternate. `Texts.parts` would make an index for each byte, at three times the cost.
    bounds = np.empty(2 * len(starts) + 1, np.int64)
    bounds[:-1:2], bounds[1::2], bounds[-1] = starts, ends, len(data)
    inside = np.zeros(len(bounds), np.bool_)
    inside[1::2] = True
    return Texts(data[np.repeat(inside, np.diff(bounds, prepend=0))], offsets)
