"""Conditions on attributes, as people write them: `make = BMW and year > 2002`.

    conditions  condition { and condition }
    condition   name operator value  |  name in ( value { , value } )
    operator    =  !=  <  <=  >  >=
    name, value a word, or anything in 'single' or "double" quotes

A word ends at a blank, a comma, a bracket, a quote or an operator. Nothing is evaluated: a
condition is a value that says what to compare with what.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from recrawl.errors import InvalidParameter

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in")

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>"[^"]*"|'[^']*')
      | (?P<sign><=|>=|!=|==|=|<|>)
      | (?P<mark>[(),])
      | (?P<word>[^\s"'<>=!(),]+)
      | (?P<odd>\S)
    )""",
    re.VERBOSE,
)
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison.

    Args:
        name: Name of an attribute.
        operator: One of `= != < <= > >= in`.
        values: What it is compared with; one, but for `in`.
        place: Where in the text it begins, from 1.
    """

    name: str
    operator: str
    values: tuple[str, ...]
    place: int = 1


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int


def conditions(text: str) -> list[Condition]:
    """All conditions of a text, which must all hold.

    >>> [(c.name, c.operator, c.values) for c in conditions("make = BMW and year > 2002")]
    [('make', '=', ('BMW',)), ('year', '>', ('2002',))]
    >>> conditions("model in ('3 Series', X5)")[0].values
    ('3 Series', 'X5')
    """
    reader = _Reader(text)
    found = [reader.condition()]
    while not reader.done:
        reader.conjunction()
        found.append(reader.condition())
    return found


class _Reader:
    """Reads one token after the other."""

    def __init__(self, text: str) -> None:
        self.end = len(text) + 1
        self.tokens = list(_tokens(text))
        self.next = 0

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.next == len(self.tokens)

    def take(self, rule: str, *kinds: str) -> _Token:
        """Next token, which must be of one of these kinds."""
        if self.done:
            raise InvalidParameter(f"where, position {self.end}: {rule} (got the end)")
        token = self.tokens[self.next]
        if token.kind not in kinds:
            self.refuse(token, rule)
        self.next += 1
        return token

    def refuse(self, token: _Token, rule: str) -> NoReturn:
        """Raise for a token."""
        got = token.text if len(token.text) <= _LONGEST else token.text[:_LONGEST] + "..."
        raise InvalidParameter(f"where, position {token.place}: {rule} (got {got!r})")

    def conjunction(self) -> None:
        """Read an `and`."""
        rule = "conditions must be joined by and, and a value of several words be in quotes"
        token = self.take(rule, "word", "quoted", "sign", "mark")
        if token.kind != "word" or token.text.lower() != "and":
            self.refuse(token, rule)

    def condition(self) -> Condition:
        """Read a name, an operator and what to compare with."""
        name = self.take("a condition must begin with the name of an attribute", "word", "quoted")
        rule = f"{name.text!r} must be followed by one of {' '.join(OPERATORS)}"
        operator = self.take(rule, "sign", "word")
        if operator.kind == "sign":
            sign = "=" if operator.text == "==" else operator.text
            return Condition(name.text, sign, (self.value(),), name.place)
        if operator.text.lower() != "in":
            self.refuse(operator, rule)
        return Condition(name.text, "in", self.values(), name.place)

    def value(self) -> str:
        """Read a value."""
        return self.take("a value must be a word, a number or in quotes", "word", "quoted").text

    def values(self) -> tuple[str, ...]:
        """Read values in brackets."""
        self.mark("(", "in must be followed by values in brackets")
        found = [self.value()]
        while self.mark(",)", "values must be separated by commas and end in a bracket") == ",":
            found.append(self.value())
        return tuple(found)

    def mark(self, wanted: str, rule: str) -> str:
        """Read one of some marks."""
        token = self.take(rule, "mark")
        if token.text not in wanted:
            self.refuse(token, rule)
        return token.text


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    while True:
        match = _TOKEN.match(text, place)
        if match is None:  # nothing but blanks is left
            return found
        kind = str(match.lastgroup)
        word, start = match[kind], match.start(kind) + 1
        if kind == "odd":
            rule = "a quote must be closed" if word in "\"'" else "must be a condition"
            message = f"where, position {start}: {rule} (got {text[start - 1 :][:_LONGEST]!r})"
            raise InvalidParameter(message)
        found.append(_Token(kind, word[1:-1] if kind == "quoted" else word, start))
        place = match.end()
