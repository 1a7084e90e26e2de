r"""Templates of lines of which a part is new at each fetch: fixed text around gaps.

Two fetches of one line, such as `Page made in 0.03 s by web7` and `Page made in 0.12 s by web7`,
give the pieces `Page made in ` and ` s by web7`. In a line with these pieces what lies between them
is blanked; the rest stays, so a change beside the gap is still seen. A gap never begins within a
word or a number, and the gap of a clock includes the date beside it.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.detect.diff.patience import patience_align, runs
from recrawl.detect.text.lines import GAP, LINK

if TYPE_CHECKING:
    from collections.abc import Sequence

# What is farther from a gap than this is not part of its template: it may be edited.
_PIECE_LENGTH = 80
_MOST_PIECES = 8
_ENDS = 2  # pieces of a template with one gap
# A gap may be twice as long as ever seen, and this much more.
_LONGER = 8
# Within such long lines only what is the same at both ends is looked for.
_MOST_WORDS = 40
_FEW_WORDS = 2  # all of them at an end
_LEAST_STATIC = 0.5  # of a line, for words between two gaps to be more than chance

_CLOSED = "0-9A-Za-z\u00c0-\u02af\u0370-\u1fff"  # letters that are written together
_RUN_BEFORE = re.compile(rf"[{_CLOSED}_%]*\Z")
_RUN_AFTER = re.compile(rf"[{_CLOSED}_%]*")
_NUMBERS_BEFORE = re.compile(r"(?:[0-9]+[.,:'/-])+\Z")
_NUMBERS_AFTER = re.compile(r"(?:[.,:'/-][0-9]+)+")
_CLOCK = re.compile(r"[0-9]{1,2}[:.h][0-9]{2}(?:[:.m][0-9]{2})?(?:[.,][0-9]+)?\Z")
_NAME = r"[^\W\d_]{2,12}"  # of a month or a day of the week
# With the year: a number and a word may be a price.
_DATE_BEFORE = re.compile(
    rf"""(?:{_NAME},[ ])?
    (?: [0-9]{{1,4}}[./-][0-9]{{1,2}}[./-][0-9]{{1,4}}
      | [0-9]{{1,2}}(?:st|nd|rd|th|\.)?[ ](?:de[ ])?{_NAME}\.?,?[ ](?:de[ ])?[0-9]{{4}}
      | {_NAME}\.?[ ][0-9]{{1,2}}(?:st|nd|rd|th)?,?[ ][0-9]{{4}}
      | [0-9]{{4}}[年년][ ]?[0-9]{{1,2}}[月월][ ]?[0-9]{{1,2}}[日일](?:[(\uff08].[)\uff09])?
    ) [T,]*[ ]?(?:[^\W\d_]{{1,4}}[ ])?\Z""",
    re.VERBOSE,
)
_HALF_DAY = re.compile(r" ?[ap]\.?m\b\.?", re.IGNORECASE)
_TARGET = re.compile(rf"{LINK}[^ ]*")
_LETTER = re.compile(r"[^\W\d_]")
_WORD_LETTERS = re.compile(r"[^\W\d_]{2}|[\u0e00-\u0eff\u3041-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Template:
    """Fixed text of a line, with gaps between its pieces.

    Args:
        pieces: Text before, between and after the gaps. The first is the beginning of the line and
            the last its end, empty where a gap is there. A first piece that begins with `GAP`, or a
            last one that ends with it, may be anywhere in the line.
        longest: Letters of the longest gap seen.
        spaces: Most spaces seen in a gap.
    """

    pieces: tuple[str, ...]
    longest: int
    spaces: int = 0

    def gaps(self, line: str) -> list[tuple[int, int]]:
        """Ranges of the gaps in a line; none where the template does not fit.

        >>> Template(("made in ", " s"), 4).gaps("made in 12.3 s")
        [(8, 12)]
        >>> Template(("made in ", " s"), 4).gaps("built in 12.3 s")
        []
        """
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == _ENDS and first[:1] != GAP and last[-1:] != GAP:  # as nearly all
            start, end = len(first), len(line) - len(last)
            fits = start <= end <= start + 2 * self.longest + _LONGER
            fits = fits and line.startswith(first) and line.endswith(last)
            return [(start, end)] if fits and not self._has_more_words(line, start, end) else []
        if first[:1] == GAP:
            place = line.find(first[1:])
            end = place + len(first) - 1
        else:
            place = 0 if line.startswith(first) else -1
            end = len(first)
        if place < 0:
            return []
        found = []
        limit = 2 * self.longest + _LONGER
        for piece in self.pieces[1:-1]:
            place = line.find(piece, end)
            if place < 0 or place - end > limit:
                return []
            found.append((end, place))
            end = place + len(piece)
        if last[-1:] == GAP:
            place = line.find(last[:-1], end)
        else:
            place = len(line) - len(last) if line.endswith(last) else -1
        if place < end or place - end > limit:
            return []
        found.append((end, place))
        return [] if any(self._has_more_words(line, *gap) for gap in found) else found

    def _has_more_words(self, line: str, start: int, end: int) -> bool:
        """Whether a gap has more words than ever; a number may have more digits."""
        return line.count(" ", start, end) > 2 * self.spaces and bool(
            _LETTER.search(line[start:end])
        )

    def blank(self, line: str, gaps: list[tuple[int, int]]) -> str:
        """A line with `GAP` in place of what is in its gaps.

        >>> made = Template(("made in ", " s"), 4)
        >>> made.blank("made in 12.3 s", made.gaps("made in 12.3 s")).replace(GAP, "...")
        'made in ... s'
        """
        if len(gaps) == 1:
            ((start, end),) = gaps
            return f"{line[:start]}{GAP}{line[end:]}"
        starts = (0, *(end for _, end in gaps))
        ends = (*(start for start, _ in gaps), len(line))
        return GAP.join(line[start:end] for start, end in zip(starts, ends, strict=True))


def template_of(first: str, second: str) -> Template | None:
    """Template of two fetches of a line; None if they share no word, or if it would be ambiguous.

    >>> template_of("made in 0.03 s by web7", "made in 0.12 s by web7").pieces
    ('made in ', ' s by web7')
    >>> template_of("12:03:55", "12:03:56")
    """
    begin = _common_start(first, second)
    room = min(len(first), len(second)) - begin
    end = _common_start(first[::-1][:room], second[::-1][:room])
    begin, end = _widened(first, second, begin, end)
    same = _inner(first[begin : len(first) - end], second[begin : len(second) - end])
    begin, end, inner = _with_date(first, begin, end, same)
    pieces = (first[:begin], *inner, first[len(first) - end :])
    if sum(map(len, pieces)) < _LEAST_STATIC * max(len(first), len(second)):
        pieces = (pieces[0], pieces[-1])
    if not _have_word(pieces):
        return None
    gaps = first[begin : len(first) - end], second[begin : len(second) - end]
    spaces = max(gap.count(" ") for gap in gaps)
    for some in (pieces, (pieces[0], pieces[-1])):
        found = Template(_cut_pieces(some), max(map(len, gaps)), spaces)
        blanked = {found.blank(line, found.gaps(line)) for line in (first, second)}
        if len(blanked) == 1:
            return found
    return None  # what is beside the gap is elsewhere in the line too


def merge_templates(one: Template, other: Template) -> Template | None:
    """A template that fits the lines of both; None if they have little in common.

    Text that both have next to the gap locates it, and what differs farther off still counts. Only
    without such text the gap widens over what differs.

    >>> at = merge_templates(Template(("5 euros at ", ""), 5), Template(("6 euros at ", ""), 5))
    >>> at.pieces[0].replace(GAP, "...")
    '...euros at '
    >>> may = [Template((f"to May {day} ", " UTC"), 5) for day in (1, 2)]
    >>> merge_templates(*may).pieces
    ('to May ', ' UTC')
    >>> merge_templates(Template(("to ", " UTC"), 5), Template(("by ", " h"), 5))
    """
    first = _merge_start(one.pieces[0], other.pieces[0])
    last = _merge_start(one.pieces[-1][::-1], other.pieces[-1][::-1])
    if first is None or last is None:
        return None
    inner = [piece for piece in one.pieces[1:-1] if piece in other.pieces[1:-1]]
    ends = first, last[::-1]
    pieces = (ends[0], *inner, ends[1])
    letters, spaces = map(max, _lost(one, ends), _lost(other, ends))
    whole = max(sum(map(len, one.pieces)), sum(map(len, other.pieces)))
    if not _have_word(pieces) or (letters and sum(map(len, pieces)) < _LEAST_STATIC * whole):
        return None
    return Template(
        pieces, max(one.longest, other.longest) + letters, max(one.spaces, other.spaces) + spaces
    )


def _lost(template: Template, ends: tuple[str, str]) -> tuple[int, int]:
    """Letters and spaces of the first and last piece of a template that these ends lack."""
    pairs = [
        (whole, end)
        for whole, end in zip(template.pieces[:: len(template.pieces) - 1], ends, strict=True)
        if GAP not in end
    ]
    letters = sum(len(whole) - len(end) for whole, end in pairs)
    return letters, sum(whole.count(" ") - end.count(" ") for whole, end in pairs)


def _merge_start(one: str, other: str) -> str | None:
    """The piece before a gap, merged from two; None where nothing locates the gap."""
    if one == other:
        return one
    near = _common_start(one[::-1], other[::-1])
    near_text = one[len(one) - near :]
    if near < max(len(one), len(other)):  # begins within a word, if not at a space
        near_text = near_text[near_text.find(" ") + 1 :] if " " in near_text else ""
    if _WORD_LETTERS.search(near_text):
        return GAP + near_text
    if GAP in one or GAP in other:
        return None
    begin = _common_start(one, other)
    return one[: _widened(one, other, begin, 0)[0]]


def _have_word(pieces: Sequence[str]) -> bool:
    """Whether pieces hold a word outside of the targets of links."""
    text = GAP.join(pieces)
    return _WORD_LETTERS.search(_TARGET.sub("", text) if LINK in text else text) is not None


def _common_start(first: str, second: str) -> int:
    """Length of the common prefix, by bisection: a line may be a megabyte."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _widened(first: str, second: str, begin: int, end: int) -> tuple[int, int]:
    """A gap widened to whole words, numbers and clocks."""
    after = len(first) - end
    within = {text[begin : begin + 1] for text in (first, second)}
    if any(map(_RUN_AFTER.fullmatch, within - {""})):
        begin = _start_of(_RUN_BEFORE, first, begin)
    if LINK not in first[first.rfind(" ", 0, begin) + 1 : begin]:
        begin = _start_of(_NUMBERS_BEFORE, first, begin)
    before = {text[len(text) - end - 1 : len(text) - end] for text in (first, second)}
    if end and any(map(_RUN_AFTER.fullmatch, before - {""})):
        after = _end_of(_RUN_AFTER, first, after)
        after = _end_of(_NUMBERS_AFTER, first, after)
    return begin, len(first) - after


def _with_date(line: str, begin: int, end: int, inner: list[str]) -> tuple[int, int, list[str]]:
    """The gap of a clock widened over the date before it, and over "am" or "pm" after it."""
    after = len(line) - end
    if inner or not _CLOCK.match(line[begin:after]):
        return begin, end, inner
    return _start_of(_DATE_BEFORE, line, begin), len(line) - _end_of(_HALF_DAY, line, after), []


def _start_of(pattern: re.Pattern[str], text: str, end: int) -> int:
    near = text[max(end - _PIECE_LENGTH, 0) : end]
    found = pattern.search(near)
    return end - (len(near) - found.start()) if found else end


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start, start + _PIECE_LENGTH)
    return found.end() if found else start


def _inner(first: str, second: str) -> list[str]:
    """Runs of words that both have between the ends, if there are enough words to tell."""
    one, other = first.split(" "), second.split(" ")
    if not _FEW_WORDS < min(len(one), len(other)) <= max(len(one), len(other)) <= _MOST_WORDS:
        return []
    common = runs(patience_align(one, other))
    pieces = [_spaced(one, start, start + length) for start, _, length in common]
    return [piece for piece in pieces if _WORD_LETTERS.search(piece)][:_MOST_PIECES]


def _spaced(words: Sequence[str], start: int, end: int) -> str:
    piece = " ".join(words[start:end])
    return f"{' ' if start else ''}{piece}{' ' if end < len(words) else ''}"


def _cut_pieces(pieces: tuple[str, ...]) -> tuple[str, ...]:
    first, last = pieces[0], pieces[-1]
    if len(first) > _PIECE_LENGTH:
        first = GAP + first[-_PIECE_LENGTH:]
    if len(last) > _PIECE_LENGTH:
        last = last[:_PIECE_LENGTH] + GAP
    inner = [piece[:_PIECE_LENGTH] for piece in pieces[1:-1]]
    return (first, *inner, last)
