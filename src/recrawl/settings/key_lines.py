"""Where keys and values of a TOML text stand, which the standard library's reader does not tell.

A key is a path into the document: names, and numbers for what stands in arrays.

    1   agent = "..."               ("agent",)                                    line 1
    2   [[site]]                    ("site",) and ("site", 0)                     line 2
    3   address = "..."             ("site", 0, "address")                        line 3
    4   watch = ["main",            ("site", 0, "watch"), ("site", 0, "watch", 0) line 4
    5            "aside"]           ("site", 0, "watch", 1)                       line 5

A table that is named again keeps the line where it was named first. The text must be TOML that
the standard library has accepted: nothing is checked here a second time. `long_key` is for texts
that are not read yet: the work on a key, here and there, is by the square of its parts.

Pure.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from dataclasses import dataclass

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_NAME = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
# Up to two quotes before the three that end a long string are part of it.
_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*\'''', re.DOTALL
)
# Texts and comments, also unfinished ones, and a key of too many parts between them.
_TEXT = re.compile(
    r'''"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)|\'{3}.*?(?:'{3,5}|\Z)'''
    r"""|"(?:\\[^\n]|[^"\\\n])*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
MOST_PARTS = 16  # of a key; no setting has more than 4
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}")
_WORD = re.compile(r"[^\n,\]}#]+")  # a number, a truth value, or a time, which may hold a blank


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""Line of every key of a TOML text, from 1.

    >>> key_lines('a.b = 1\n[[c]]\nd = {"e f" = 2}\n')[("c", 0, "d", "e f")]
    3
    """
    return KeyLayout.of(text).lines


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Where `key = value` stands in a TOML text, as places of its characters.

    Args:
        table: Path of the table whose header it stands under.
        begins: Where the key begins.
        value: Where the value begins.
        ends: Where the value ends.
        alone: Whether it is a statement, not part of a table in braces.
    """

    table: KeyPath
    begins: int
    value: int
    ends: int
    alone: bool


@dataclass(frozen=True, slots=True)
class KeyLayout:
    """Where everything of a TOML text stands.

    Args:
        lines: Line of every key, from 1.
        pairs: Every `key = value`, by the path of the key.
        headers: Where the headers begin, as places of characters.
    """

    lines: dict[KeyPath, int]
    pairs: dict[KeyPath, KeyPair]
    headers: list[int]

    @classmethod
    def of(cls, text: str) -> KeyLayout:
        r"""KeyLayout of a TOML text.

        >>> text = "a = 1  # one\n"
        >>> pair = KeyLayout.of(text).pairs["a",]
        >>> text[pair.value : pair.ends]
        '1'
        """
        scanner = _Scanner(text)
        scanner.document()
        return cls(scanner.lines, scanner.pairs, scanner.headers)


def long_key(text: str) -> int:
    r"""Line of the first key of too many parts, from 1; 0 where there is none.

    >>> long_key("a.b = 1\n" + ".".join("a" * 17) + " = 1\n"), long_key("a = '" + "b." * 99 + "'")
    (2, 0)
    """
    bare = _TEXT.sub(lambda found: "x" + "\n" * found[0].count("\n"), text)
    found = _LONG_KEY.search(bare)
    return 0 if found is None else bare.count("\n", 0, found.start()) + 1


class _Scanner:
    """Walks over a document once, from key to key."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.lines: dict[KeyPath, int] = {}
        self.pairs: dict[KeyPath, KeyPair] = {}
        self.headers: list[int] = []
        self.blocks: dict[KeyPath, int] = {}  # how many [[blocks]] of a name there are so far
        self.line_ends = [match.start() for match in re.finditer("\n", text)]

    def document(self) -> None:
        """Walk over statements: headers, and keys with their values."""
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.place < len(self.text):
            if self.text[self.place] == "[":
                table = self._header()
            else:
                self._pair(table, alone=True)
            self._skip(_BLANK)

    def _header(self) -> KeyPath:
        """Pass `[a.b]` or `[[a.b]]`; returns the table that the keys below it are in."""
        start = self.place
        self.headers.append(start)
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.place += brackets
        *above, last = self._names()
        path: KeyPath = ()
        for name in above:
            path = self._found((*path, name), start)
            if path in self.blocks:
                path = (*path, self.blocks[path] - 1)
        path = self._found((*path, last), start)
        if brackets == 2:  # noqa: PLR2004 - as counted above
            number = self.blocks.get(path, 0)
            self.blocks[path] = number + 1
            path = self._found((*path, number), start)
        self._skip(_BLANK)
        self.place += brackets
        return path

    def _pair(self, table: KeyPath, *, alone: bool = False) -> None:
        """Pass `a.b = value`."""
        start = self.place
        path = table
        for name in self._names():
            path = self._found((*path, name), start)
        self._skip(_EQUALS)
        value = self.place
        self._value(path)
        ends = value + len(self.text[value : self.place].rstrip())
        self.pairs[path] = KeyPair(table, start, value, ends, alone)

    def _names(self) -> list[str]:
        """Pass `a."b c".d`."""
        self._skip(_BLANK)
        names = [self._name()]
        while self._skip(_DOT):
            names.append(self._name())
        return names

    def _name(self) -> str:
        word = self._skip(_NAME)
        # Only the standard library's reader need know what a backslash means.
        return str(tomllib.loads(f"name = {word}")["name"]) if word[0] in "\"'" else word

    def _value(self, path: KeyPath) -> None:
        """Pass a value; keys in it are found, too."""
        opening = self.text[self.place]
        if opening == "[":
            self._items("]", path)
        elif opening == "{":
            self._items("}", path)
        elif not self._skip(_STRING):
            self._skip(_WORD)

    def _items(self, closing: str, path: KeyPath) -> None:
        """Pass what stands in brackets, separated by commas: values, or keys with values."""
        self.place += 1
        number = 0
        self._skip(_BLANK)
        while self.text[self.place] != closing:
            if closing == "}":
                self._pair(path)
            else:
                self._value(self._found((*path, number), self.place))
            number += 1
            self._skip(_BLANK)
            if self.text[self.place] == ",":
                self.place += 1
                self._skip(_BLANK)
        self.place += 1

    def _skip(self, pattern: re.Pattern[str]) -> str:
        """Pass what fits, if anything does, and return it."""
        match = pattern.match(self.text, self.place)
        if match is None:
            return ""
        self.place = match.end()
        return match[0]

    def _found(self, path: KeyPath, place: int) -> KeyPath:
        """Note where a key stands, unless it stood somewhere before."""
        self.lines.setdefault(path, bisect_left(self.line_ends, place) + 1)
        return path
