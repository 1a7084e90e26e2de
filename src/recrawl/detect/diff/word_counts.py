"""Words of two texts, counted against each other.

Words of long texts are not counted one by one: each is hashed by arrays, eight bytes at a time, and
the hashes are sorted. So there are a few steps over all letters, and the others are over words.

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from recrawl.detect.text.words import space_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    _Hashes = npt.NDArray[np.uint64]
    _Places = npt.NDArray[np.int64]

# Letters of two texts that are hashed: words of fewer are counted as fast one by one, and arrays of
# a page that is nothing but words of a letter take eight times the room of its words.
_LEAST, _MOST = 4_000, 1 << 21
_SPACE = ord(" ")
_BYTES = 8  # of a word that are hashed at once
_LONGEST = 8 * _BYTES  # bytes of words that are: each step is over all words that are so long
# Keeps so many bytes of a word.
_KEPT = np.array([(1 << 8 * kept) - 1 for kept in range(_BYTES + 1)], np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)  # with bits all over
_DOWN, _ONE = np.uint64(29), np.uint64(1)
_ALL_BUT_ONE = np.uint64((1 << 63) - 1)  # of the bits of a hash: one says which text has the word


class WordCounts(NamedTuple):
    """Words that two texts have.

    Attributes:
        old: How many the old text has.
        new: How many the new one has.
        common: How many both have, equal ones as often as both have them.
        gone: Those that the old text has more often.
        come: Those that the new text has more often.
    """

    old: int
    new: int
    common: int
    gone: Iterable[str]
    come: Iterable[str]

    @property
    def differing(self) -> int:
        """How many words either text has more often than the other."""
        return self.old + self.new - 2 * self.common


def count_words(old: Sequence[str], new: Sequence[str]) -> WordCounts:
    """Count the words of lines of two texts against each other.

    Args:
        old: Lines of the old text.
        new: Lines of the new one. White space of both is spaces, as of all lines of pages.

    Examples:
        >>> counts = count_words(("two words", "more words"), ("more", "words"))
        >>> counts.old, counts.new, counts.common, sorted(counts.gone), list(counts.come)
        (4, 2, 2, ['two', 'words'], [])
    """
    before, after = space_words(old), space_words(new)
    hashes = _LEAST <= len(before) + len(after) <= _MOST
    return _hashed(before, after) if hashes else _counted(before, after)


def _counted(before: str, after: str) -> WordCounts:
    """Words of two texts, counted one by one."""
    old, new = Counter(before.split()), Counter(after.split())
    shared = old.keys() & new.keys()
    common = sum(map(min, map(old.__getitem__, shared), map(new.__getitem__, shared)))
    return WordCounts(old.total(), new.total(), common, _more(old, new), _more(new, old))


def _more(words: Counter[str], others: Counter[str]) -> Iterator[str]:
    """Words that are more often among some than among others; most callers want the first few."""
    times_of = others.get  # not `others[word]`, which is a call of a method of Counter
    return (word for word, times in words.items() if times > times_of(word, 0))


@dataclass(frozen=True, slots=True)
class _HashedWords:
    """Words of a text, and a hash of each."""

    text: bytes
    starts: _Places
    lengths: _Places
    hashes: _Hashes

    def with_hashes(self, wanted: _Hashes) -> Iterator[str]:
        """Words with some hashes, each once; the first costs far less than the others."""
        if len(wanted):
            yield self._word(int(np.argmax(self.hashes == wanted[0])))
            places = np.flatnonzero(np.isin(self.hashes, wanted[1:]))
            yield from dict.fromkeys(map(self._word, places.tolist()))

    def _word(self, place: int) -> str:
        start = self.starts[place]
        return self.text[start : start + self.lengths[place]].decode(errors="surrogatepass")


def _hashed(before: str, after: str) -> WordCounts:
    """Words of two texts, counted by their hashes.

    Among a million words two have the same one with a chance of one in ten million.
    """
    first = before.encode(errors="surrogatepass")
    text = b" %b %b %b" % (first, after.encode(errors="surrogatepass"), bytes(_BYTES))
    starts, lengths = _words_in(text)
    hashes = _hashes(text, starts, lengths) & _ALL_BUT_ONE
    is_new = starts > len(first) + 1
    ranked = np.sort(hashes << _ONE | is_new)
    groups = np.flatnonzero(np.append(len(ranked) > 0, ranked[1:] ^ ranked[:-1] > _ONE))
    times = np.diff(groups, append=len(ranked))
    times_new = np.add.reduceat(ranked & _ONE, groups).astype(np.int64)
    times_old = times - times_new
    new = int(np.count_nonzero(is_new))
    common = int(np.minimum(times_old, times_new).sum())
    words, found = _HashedWords(text, starts, lengths, hashes), ranked[groups] >> _ONE
    gone, come = found[times_old > times_new], found[times_new > times_old]
    return WordCounts(
        len(starts) - new, new, common, words.with_hashes(gone), words.with_hashes(come)
    )


def _words_in(text: bytes) -> tuple[_Places, _Places]:
    """Where each word between spaces begins, and its bytes."""
    spaces = np.flatnonzero(np.frombuffer(text, np.uint8) == _SPACE)
    starts, lengths = spaces[:-1] + 1, np.diff(spaces) - 1
    there = lengths > 0
    return (starts, lengths) if there.all() else (starts[there], lengths[there])


def _hashes(text: bytes, starts: _Places, lengths: _Places) -> _Hashes:
    """A hash per word; behind the last word are some bytes more."""
    windows = np.ndarray(len(text) - _BYTES + 1, np.dtype("<u8"), text, 0, (1,))
    found = _part_of(windows, starts, lengths)
    longer = np.flatnonzero(lengths > _BYTES)
    for done in range(_BYTES, _LONGEST, _BYTES):
        if not len(longer):
            break
        left = lengths[longer] - done
        found[longer] = _mixed(found[longer]) + _part_of(windows, starts[longer] + done, left)
        longer = longer[left > _BYTES]
    for place in longer.tolist():
        start = starts[place]
        found[place] = xxh3_64_intdigest(text[start : start + lengths[place]])
    return found


def _part_of(windows: _Hashes, starts: _Places, lengths: _Places) -> _Hashes:
    """Bytes of each word as a number."""
    found: _Hashes = windows[starts] & _KEPT[np.minimum(lengths, _BYTES)]
    return found


def _mixed(numbers: _Hashes) -> _Hashes:
    """Numbers of which each bit depends on many of those before; no two become equal."""
    numbers ^= numbers >> _DOWN
    numbers *= _ODD
    return numbers ^ (numbers >> _DOWN)
