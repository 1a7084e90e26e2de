"""Inputs made of examples: cut, repeated, spliced, nested, with the worst words and numbers.

All chance comes from one `Random`, so a seed gives the same inputs again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

_MOST_STEPS = 6
_MOST_EXAMPLES = 2_000  # kept in memory; of more, new ones replace old ones
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_WORD = re.compile(rb"[A-Za-z0-9_.:/-]+")
_NUMBERS = (
    *(b"0", b"-1", b"1", b"00", b"1e309", b"-0.0", b"nan", b"inf", b"1e-320", b"0x10", b"1_0"),
    *(
        b"255",
        b"65536",
        b"2147483648",
        b"4294967296",
        b"9223372036854775808",
        b"9" * 400,
        b"7" * 5_000,
    ),
    *("٣".encode(), "²".encode(), "\uff11\uff12".encode(), b"2100-02-30", b"1e5", b"0.1", b"99999"),
)
# Letters that look like others, end lines, have no width, turn the text or stand for none.
_LETTERS = tuple(
    letter.encode("utf-8", "surrogatepass")
    for letter in "\0\t\n\r\x0b\x1b\x7f\x85\xa0\xad\u0130\u0131\u017f\u212a\u0435\u200b\u200f\u2028"
    "\u2029\u202e\u3000\ufeff\uff0e\uff0f\ufffd\ud800\u0301\U0001f600\U000e0041"
)
_BRACKETS = ((b"<b>", b"</b>"), (b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b'{"a":', b"}"))


class Mutator:
    """Makes inputs.

    Args:
        examples: What they are made of; `learn` adds further ones.
        tokens: Words of the language.
        random: Source of chance.
        longest: Most bytes of an input.
    """

    def __init__(
        self, examples: Sequence[bytes], tokens: Sequence[bytes], random: Random, longest: int
    ) -> None:
        self.examples = list(examples) or [b""]
        self._tokens = (*tokens, *_LETTERS)
        self._random = random
        self._longest = longest

    def learn(self, example: bytes) -> None:
        """Take in an input that was worth something."""
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(example)
        else:
            self.examples[self._random.randrange(_MOST_EXAMPLES)] = example

    def mutated(self, example: bytes | None = None) -> bytes:
        """Return an input made of an example: of any, or of this one."""
        random = self._random
        data = random.choice(self.examples) if example is None else example
        if len(data) > self._longest:
            start = random.choice((0, random.randrange(len(data) - self._longest)))
            data = data[start : start + self._longest]
        for _ in range(random.randint(1, _MOST_STEPS)):
            data = random.choice(_STEPS)(self, data)
        return data[: self._longest]

    def _flip(self, data: bytes) -> bytes:
        start, end = self._range(data, 1)
        if start == end:
            return data
        byte = data[start] ^ (1 << self._random.randrange(8))
        return data[:start] + bytes([byte]) + data[end:]

    def _byte(self, data: bytes) -> bytes:
        start, end = self._range(data, 4)
        return data[:start] + self._random.randbytes(end - start) + data[end:]

    def _delete(self, data: bytes) -> bytes:
        start, end = self._range(data)
        return data[:start] + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._range(data, 64)
        times = self._random.choice((2, 2, 3, 10, 100))
        return data[:start] + data[start:end] * times + data[end:]

    def _splice(self, data: bytes) -> bytes:
        other = self._random.choice(self.examples)
        start, end = self._range(data)
        begin, stop = self._range(other)
        return data[:start] + other[begin:stop] + data[end:]

    def _truncate(self, data: bytes) -> bytes:
        return data[: self._range(data)[0]]

    def _insert(self, data: bytes) -> bytes:
        start = self._range(data)[0]
        return data[:start] + self._random.choice(self._tokens) + data[start:]

    def _word(self, data: bytes) -> bytes:
        return self._replaced(data, _WORD, self._tokens)

    def _number(self, data: bytes) -> bytes:
        return self._replaced(data, _NUMBER, _NUMBERS)

    def _nest(self, data: bytes) -> bytes:
        start, end = self._range(data)
        opening, closing = self._random.choice(_BRACKETS)
        times = self._random.choice((1, 2, 20, 300))
        return data[:start] + opening * times + data[start:end] + closing * times + data[end:]

    def _lines(self, data: bytes) -> bytes:
        """Take a line out, and perhaps put it somewhere else."""
        lines = data.splitlines(keepends=True)
        if not lines:
            return data
        line = lines.pop(self._random.randrange(len(lines)))
        for _ in range(self._random.choice((0, 1, 1, 2))):
            lines.insert(self._random.randint(0, len(lines)), line)
        return b"".join(lines)

    def _case(self, data: bytes) -> bytes:
        start, end = self._range(data)
        return data[:start] + data[start:end].swapcase() + data[end:]

    def _range(self, data: bytes, most: int = 1 << 12) -> tuple[int, int]:
        start = self._random.randint(0, len(data))
        return start, min(
            len(data), start + self._random.randint(0, self._random.choice((4, most)))
        )

    def _replaced(self, data: bytes, pattern: re.Pattern[bytes], choices: Sequence[bytes]) -> bytes:
        found = pattern.search(data, self._random.randint(0, len(data))) or pattern.search(data)
        if found is None:
            return data
        return data[: found.start()] + self._random.choice(choices) + data[found.end() :]


_STEPS: tuple[Callable[[Mutator, bytes], bytes], ...] = (
    Mutator._flip,
    Mutator._byte,
    Mutator._delete,
    Mutator._repeat,
    Mutator._splice,
    Mutator._truncate,
    *(Mutator._insert, Mutator._insert),
    *(Mutator._word, Mutator._word),
    *(Mutator._number, Mutator._number),
    Mutator._nest,
    Mutator._lines,
    Mutator._case,
)


def minimised(data: bytes, fails: Callable[[bytes], bool], most: int = 2_000) -> bytes:
    """Return a part of an input that still fails, found by leaving out ever smaller pieces.

    Args:
        data: An input that fails.
        fails: Whether an input fails in the same way.
        most: Most inputs to try.
    """
    size = len(data) // 2
    while size and most > 0:
        start, smaller = 0, False
        while start < len(data) and most > 0:
            shorter = data[:start] + data[start + size :]
            most -= 1
            if fails(shorter):
                data, smaller = shorter, True
            else:
                start += size
        if not smaller or size > len(data):
            size //= 2
    return data


def grown(chunk: bytes, size: int, *, ends: tuple[bytes, bytes] = (b"", b"")) -> bytes:
    """Return a chunk repeated up to about a size, between two ends."""
    head, tail = ends
    times = max((size - len(head) - len(tail)) // max(len(chunk), 1), 1)
    return head + chunk * times + tail
