r"""Patterns of addresses: globs, and regular expressions after `re:`, matched in linear time.

A glob is compared with the path and the query of an address, one that begins with `http://` or
`https://` with the whole address. Two things in it are special, and a `?` is not: it is the
question mark before a query.

    *     any characters but `/`
    **    any characters

    /calendar/           everything under /calendar/: a pattern that ends in `/` goes on with **
    /tag/*               /tag/a and /tag/a?page=2, but not /tag/a/b
    /shop/**sort=*       /shop/ and anything that ends in a sort= without a slash
    *.pdf                every address that ends in .pdf: a pattern that begins neither with `/`
                         nor with a scheme goes on from any place
    https://a.org/x      that one address

What stands behind `re:` is searched for anywhere in the whole address. It may have groups, `|`,
classes such as `[^/]` and `\d`, `.`, `^`, `$`, and `*`, `+`, `?`, `{2,5}` behind any of them.
References to groups, lookaround and flags are refused: they cannot be matched in linear time, or
say nothing here.

Addresses come from strangers, and a backtracking engine takes for ever to see that a long one does
not match `(a+)+$`. So patterns become automata (Glushkov's construction: one state per character
of the pattern), and all patterns of a list one automaton. Its deterministic states are made when
they are first met, and kept up to a bound. The time is linear in the length of the address,
whatever the pattern.

References:
    Glushkov (1961). The abstract theory of automata. Russian Mathematical Surveys 16(5), 1-53.

Pure.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REGULAR = "re:"  # begins a regular expression
MOST_STATES = 2_000  # of one pattern: its characters, repetitions written out

_SCHEMES = ("http://", "https://")
_BEGIN, _END = "\x02", "\x03"  # stand before and behind an address, for `^` and `$`
_PRINTABLE = frozenset(map(chr, range(0x20, 0x7F)))
_PLAIN = "".join(_PRINTABLE - {" "})  # what is not percent-encoded in a pattern
_CLASSES = {
    "d": frozenset(string.digits),
    "w": frozenset(string.ascii_letters + string.digits + "_"),
    "s": frozenset(" "),
}
_CLASSES |= {name.upper(): _PRINTABLE - letters for name, letters in _CLASSES.items()}
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ANY_OR_END = {".": _PRINTABLE, "^": frozenset(_BEGIN), "$": frozenset(_END)}
_MOST_REPEATS = 1_000
_MOST_PARTS = 10_000  # of an expression, also such as match nothing
_DEEPEST = 50  # groups in each other
_MOST_KEPT = 2_000  # deterministic states
_SHOWN = 60  # characters of a pattern in a message


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of an automaton; sets of states are bits of a number.

    Args:
        empty: Whether it matches the empty text, too.
        first: States that may come first.
        last: States that may come last.
    """

    empty: bool = True
    first: int = 0
    last: int = 0


class _Automaton:
    """States of all patterns: which characters each takes, and which states may follow it."""

    def __init__(self) -> None:
        self.takes: list[frozenset[str]] = []
        self.follow: list[int] = []
        self._most = MOST_STATES

    def begin(self) -> None:
        """Begin another pattern."""
        self._most = len(self.takes) + MOST_STATES

    def state(self, letters: frozenset[str]) -> _Part:
        """One more state."""
        if len(self.takes) == self._most:
            raise InvalidParameter(f"it has more than {MOST_STATES:,} characters")
        bit = 1 << len(self.takes)
        self.takes.append(letters)
        self.follow.append(0)
        return _Part(empty=False, first=bit, last=bit)

    def text(self, letters: str) -> _Part:
        """States for some characters in a row, as an address has them."""
        parts = (self.state(frozenset(each)) for each in quote(letters, safe=_PLAIN))
        return reduce(self.then, parts, _Part())

    def then(self, one: _Part, other: _Part) -> _Part:
        """One part, and behind it the other."""
        self._link(one.last, other.first)
        return _Part(
            empty=one.empty and other.empty,
            first=one.first | other.first if one.empty else one.first,
            last=one.last | other.last if other.empty else other.last,
        )

    def many(self, part: _Part) -> _Part:
        """A part, and again as often as may be."""
        self._link(part.last, part.first)
        return part

    def _link(self, states: int, others: int) -> None:
        for state in _bits(states) if others else ():
            self.follow[state] |= others


@dataclass(slots=True, eq=False)
class _State:
    """A deterministic state.

    Args:
        ready: States of the automaton that may come next.
        steps: By character: the deterministic state after it, and which states end there.
    """

    ready: int
    steps: dict[str, tuple[_State, int]] = field(default_factory=dict)


def _bits(states: int) -> Iterator[int]:
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


def _either(one: _Part, other: _Part) -> _Part:
    return _Part(one.empty or other.empty, one.first | other.first, one.last | other.last)


def _maybe(part: _Part) -> _Part:
    return _Part(empty=True, first=part.first, last=part.last)


class AddressPatterns:
    r"""A list of patterns, matched together.

    Args:
        patterns: Globs and regular expressions, as the settings have them.

    Raises:
        InvalidParameter: One of them is none; says what is wrong with it.

    Examples:
        >>> patterns = AddressPatterns(("/calendar/", "*.pdf", r"re:/\d{4}/$"))
        >>> patterns.first("https://a.org/calendar/2031-01?view=month")
        '/calendar/'
        >>> patterns.first("https://a.org/2031/"), patterns.first("https://a.org/2031")
        ('re:/\\d{4}/$', None)
    """

    __slots__ = ("_always", "_ends", "_first", "_follow", "_known", "_last", "_taking", "patterns")

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        automaton = _Automaton()
        parts = [_read(pattern, automaton) for pattern in patterns]
        self._always = next(
            (each for each, part in zip(patterns, parts, strict=True) if part.empty), None
        )
        self._first = reduce(or_, (part.first for part in parts), 0)
        self._last = reduce(or_, (part.last for part in parts), 0)
        self._ends = [part.last for part in parts]
        self._follow = automaton.follow
        self._taking: dict[str, int] = {}
        for state, letters in enumerate(automaton.takes):
            for letter in letters:
                self._taking[letter] = self._taking.get(letter, 0) | 1 << state
        self._known: dict[int, _State] = {}

    def __bool__(self) -> bool:
        """Whether there is any pattern."""
        return bool(self.patterns)

    def first(self, address: str) -> str | None:
        """The pattern that a canonical address matches, that which ends first; None for none."""
        if self._always is not None:
            return self._always
        state = self._state(self._first)
        for letter in f"{_BEGIN}{address}{_END}":
            state, ended = state.steps.get(letter) or self._step(state, letter)
            if ended:
                found = zip(self.patterns, self._ends, strict=True)
                return next(pattern for pattern, last in found if last & ended)
        return None

    def _state(self, ready: int) -> _State:
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()  # hostile addresses lead to more of them than memory has room for
        return self._known.setdefault(ready, _State(ready))

    def _step(self, state: _State, letter: str) -> tuple[_State, int]:
        taken = state.ready & self._taking.get(letter, 0)
        # A match may begin anywhere.
        ready = reduce(or_, (self._follow[each] for each in _bits(taken)), self._first)
        step = self._state(ready), taken & self._last
        state.steps[letter] = step
        return step


@lru_cache(maxsize=1 << 12)
def address_patterns(patterns: tuple[str, ...]) -> AddressPatterns:
    """A list of patterns, made once for all who have the same."""
    return AddressPatterns(patterns)


def _read(pattern: str, automaton: _Automaton) -> _Part:
    """Add the states of a pattern to an automaton."""
    automaton.begin()
    try:
        if pattern.startswith(REGULAR):
            return _Expression(pattern.removeprefix(REGULAR), automaton).read()
        return _read_glob(pattern, automaton)
    except InvalidParameter as error:
        shown = pattern if len(pattern) <= _SHOWN else pattern[:_SHOWN] + "..."
        raise InvalidParameter(f"pattern {shown!a} cannot be used: {error}") from None


def _read_glob(pattern: str, automaton: _Automaton) -> _Part:
    if not pattern.strip() or not pattern.isprintable():
        raise InvalidParameter("write one such as /calendar/ or *.pdf")
    rest = pattern + "**" if pattern.endswith("/") else pattern
    part = automaton.state(frozenset(_BEGIN))
    if not pattern.startswith(_SCHEMES):
        scheme = automaton.many(automaton.state(frozenset(string.ascii_lowercase)))
        host = automaton.many(automaton.state(_PRINTABLE - {"/"}))
        for each in (scheme, automaton.text("://"), host):
            part = automaton.then(part, each)
        rest = rest if pattern.startswith("/") else f"/**{rest}"
    while rest:
        text, wild, rest = rest.partition("*")
        part = automaton.then(part, automaton.text(text))
        if wild:
            letters = _PRINTABLE if rest.startswith("*") else _PRINTABLE - {"/"}
            rest = rest.lstrip("*")
            part = automaton.then(part, _maybe(automaton.many(automaton.state(letters))))
    return automaton.then(part, automaton.state(frozenset(_END)))


class _Expression:
    """Reader of a regular expression."""

    def __init__(self, text: str, automaton: _Automaton) -> None:
        self._text = text
        self._automaton = automaton
        self._place = 0
        self._parts = 0
        self._depth = 0

    def read(self) -> _Part:
        """The automaton of the whole."""
        if not self._text or not self._text.isprintable():
            raise InvalidParameter(r"write one such as re:/\d{4}/")
        part = self._choices()
        if self._place < len(self._text):
            self._refuse("a ) closes nothing")
        return part

    def _next(self) -> str:
        """The next character; empty at the end."""
        return self._text[self._place : self._place + 1]

    def _take(self, wanted: str) -> bool:
        if self._next() != wanted or not wanted:
            return False
        self._place += 1
        return True

    def _refuse(self, why: str) -> NoReturn:
        raise InvalidParameter(why)

    def _choices(self) -> _Part:
        part = self._sequence()
        while self._take("|"):
            part = _either(part, self._sequence())
        return part

    def _sequence(self) -> _Part:
        part = _Part()
        while self._next() not in ("", "|", ")"):
            part = self._automaton.then(part, self._repeated())
        return part

    def _repeated(self) -> _Part:
        """An atom as often as what stands behind it says."""
        begin = self._place
        part = self._atom()
        end = self._place
        least, most = self._repeats()
        resume = self._place
        if self._next() in (*_REPEATS, "{"):
            self._refuse("two repetitions stand behind each other")
        if (least, most) == (1, 1):
            return part
        copies = [part]
        for _ in range(max(least, most or 1, 1) - 1):  # each copy has states of its own
            self._place = begin
            copies.append(self._atom())
            assert self._place == end  # noqa: S101 - the same text
        self._place = resume
        if most == 0:
            return _Part()
        if most is None:
            copies[-1] = self._automaton.many(copies[-1])
        copies[least:] = map(_maybe, copies[least:])
        return reduce(self._automaton.then, copies, _Part())

    def _repeats(self) -> tuple[int, int | None]:
        """Least and most times that an atom is to be there; None for no limit."""
        found: tuple[int, int | None] = (1, 1)
        if self._next() in _REPEATS:
            found = _REPEATS[self._text[self._place]]
            self._place += 1
        elif self._take("{"):
            inside, closed, _ = self._text[self._place :].partition("}")
            low, comma, high = inside.partition(",")
            figures = [each for each in (low, high) if each]
            if not (closed and low and all(each.isascii() and each.isdigit() for each in figures)):
                self._refuse("write { as \\{, or a repetition such as {2,5}")
            self._place += len(inside) + 1
            least = int(low[:9])
            most = least if not comma else int(high[:9]) if high else None
            if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
                self._refuse(f"{{{inside}}} must go up, and to {_MOST_REPEATS:,} at most")
            found = least, most
        else:
            return found
        self._take("?")  # lazy or not, the same addresses match
        return found

    def _atom(self) -> _Part:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            self._refuse(f"it has more than {_MOST_PARTS:,} parts")
        letter = self._next()
        self._place += 1
        if letter in _ANY_OR_END:
            return self._automaton.state(_ANY_OR_END[letter])
        match letter:
            case "(":
                return self._group()
            case "[":
                return self._automaton.state(self._class())
            case "\\":
                return self._automaton.state(self._escape())
            case "*" | "+" | "?" | "{":
                self._refuse(f"a {letter} has nothing before it to repeat")
        return self._automaton.text(letter)

    def _group(self) -> _Part:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._refuse(f"groups are nested deeper than {_DEEPEST}")
        if self._take("?") and not self._take(":"):
            self._refuse("lookaround, flags and named groups are not supported")
        part = self._choices()
        if not self._take(")"):
            self._refuse("a ( is not closed")
        self._depth -= 1
        return part

    def _escape(self) -> frozenset[str]:
        letter = self._next()
        self._place += 1
        if letter in _CLASSES:
            return _CLASSES[letter]
        if not letter or letter.isalnum() or letter not in _PRINTABLE:
            self._refuse(f"\\{letter} is not supported")
        return frozenset(letter)

    def _class(self) -> frozenset[str]:
        """Characters of a class such as `[^/a-z]`."""
        negated = self._take("^")
        found: frozenset[str] = frozenset()
        begin = self._place
        while self._place == begin or self._next() != "]":
            found |= self._class_part()
        self._place += 1
        return _PRINTABLE - found if negated else found

    def _class_part(self) -> frozenset[str]:
        one = self._class_letter()
        if self._next() != "-" or self._text[self._place + 1 : self._place + 2] in ("]", ""):
            return one
        self._place += 1
        other = self._class_letter()
        if len(one) != 1 or len(other) != 1 or min(one) > min(other):
            self._refuse("a range in [...] must go up from one character to another")
        return frozenset(map(chr, range(ord(min(one)), ord(min(other)) + 1)))

    def _class_letter(self) -> frozenset[str]:
        letter = self._next()
        if not letter:
            self._refuse("a [ is not closed")
        self._place += 1
        if letter == "\\":
            return self._escape()
        if letter not in _PRINTABLE:
            self._refuse("characters in [...] must be plain ASCII")
        return frozenset(letter)
