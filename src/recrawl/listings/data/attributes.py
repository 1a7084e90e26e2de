"""Attributes of objects as columns, labels or numbers, and groups of objects by attributes.

A *label* column holds text or true and false: one code per object, each different word once. A
*number* column holds numbers, or instants as days since 1970. In both an object may lack a value:
code -1, or nan.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints

MISSING = "?"
REST = "(rest)"
EVERYTHING = "(all)"

MOST_GROUPS = 24
LEAST_OBJECTS = 60
MOST_ATTRIBUTES = 3
# An attribute with more values than this names objects rather than kinds of objects.
MOST_VALUES = 50

_FLAGS = {"true", "false", ""}


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A column of texts.

    Args:
        codes: Word of each object; -1 where it has none.
        words: The words, each once.

    Examples:
        >>> Labels.of(["red", "", "blue", "red"]).codes
        array([ 0, -1,  1,  0])
    """

    codes: Ints
    words: Texts

    @classmethod
    def of(cls, texts: Sequence[str]) -> Labels:
        """Column of Python strings; an empty one is missing."""
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(text, len(numbers)) if text else -1 for text in texts]
        return cls(np.array(codes, np.int64), Texts.of(list(numbers)))

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.codes)

    @property
    def missing(self) -> Bools:
        """Which objects have no value."""
        return self.codes < 0

    def rows(self, rows: Ints | Bools) -> Labels:
        """Only some objects."""
        return Labels(self.codes[rows], self.words)

    def values(self) -> tuple[Ints, list[str]]:
        """Code of each object, and the words; the last code is the missing value, where any is."""
        words = self.words.tolist()
        if not len(self.codes) or self.codes.min() >= 0:
            return self.codes, words
        return np.where(self.codes < 0, len(words), self.codes), [*words, MISSING]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of numbers.

    Args:
        numbers: Number of each object; nan where it has none.
        dated: Whether they are instants, as days since 1970.

    Examples:
        >>> Numbers(np.array([2018.0, np.nan, 2021.0])).missing
        array([False,  True, False])
    """

    numbers: Floats
    dated: bool = False

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.numbers)

    @property
    def missing(self) -> Bools:
        """Which objects have no value."""
        return np.isnan(self.numbers)

    def rows(self, rows: Ints | Bools) -> Numbers:
        """Only some objects."""
        return Numbers(self.numbers[rows], self.dated)

    def values(self) -> tuple[Ints, list[str]]:
        """Code of each object, and the numbers as texts; the last code is the missing value."""
        found, codes = np.unique(self.numbers, return_inverse=True)
        words = [f"{number:.12g}" for number in found.tolist()]
        if len(found) and np.isnan(found[-1]):
            words[-1] = MISSING
        return codes.astype(np.int64), words


Attribute: TypeAlias = Labels | Numbers


@dataclass(frozen=True, slots=True, eq=False)
class ObjectGroups:
    """Which group each object is in.

    Args:
        codes: Group of each object.
        names: Names of the groups.
        attributes: Names of the attributes that make them.
    """

    codes: Ints
    names: tuple[str, ...]
    attributes: tuple[str, ...] = ()

    @classmethod
    def one(cls, objects: int) -> ObjectGroups:
        """All objects in one group.

        >>> ObjectGroups.one(3).codes
        array([0, 0, 0])
        """
        return cls(np.zeros(objects, np.int64), (EVERYTHING,))

    def __len__(self) -> int:
        """Count the groups."""
        return len(self.names)


def groups_by(
    attributes: Mapping[str, Attribute], names: Sequence[str], objects: int
) -> ObjectGroups:
    """Groups of objects that agree in up to three attributes.

    The 24 commonest combinations of at least 60 objects are groups of their own, the rest is
    pooled. A missing value is a value, `?`.

    Args:
        attributes: Columns by name.
        names: The attributes that make the groups.
        objects: How many objects there are.

    Examples:
        >>> make = Labels.of(["BMW"] * 60 + ["Fiat"] * 61 + [""] * 5)
        >>> groups_by({"make": make}, ["make"], 126).names
        ('Fiat', 'BMW', '(rest)')
    """
    _check_names(attributes, names)
    if not names or not objects:
        return ObjectGroups.one(objects)
    codes, words = attributes[names[0]].values()
    for name in names[1:]:
        more, texts = attributes[name].values()
        found, codes = _numbered(codes * len(texts) + more)
        words = [
            f"{words[pair // len(texts)]}, {texts[pair % len(texts)]}" for pair in found.tolist()
        ]
    return _commonest(codes, words, tuple(names))


def _numbered(pairs: Ints) -> tuple[Ints, Ints]:
    """The numbers that occur, rising, and the place of each among them.

    >>> _numbered(np.array([5, 2, 5]))
    (array([2, 5]), array([1, 0, 1]))
    """
    if pairs.max() > 4 * len(pairs):  # then counting would take more room than sorting
        return np.unique(pairs, return_inverse=True)
    there = np.bincount(pairs) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[pairs]


def not_found(name: str, attributes: Mapping[str, Attribute]) -> str:
    """Say that an attribute does not exist, and which do.

    >>> not_found("colour", {"make": Labels.of(["BMW"])})
    "attribute 'colour' not found; expected one of make"
    """
    known = f"expected one of {', '.join(attributes)}" if attributes else "there are none"
    return f"attribute {name!r} not found; {known}"


def _check_names(attributes: Mapping[str, Attribute], names: Sequence[str]) -> None:
    if len(names) > MOST_ATTRIBUTES:
        raise InvalidParameter(f"expected at most {MOST_ATTRIBUTES} attributes, got {len(names)}")
    for name in names:
        if name not in attributes:
            raise InvalidParameter(not_found(name, attributes))


def _commonest(codes: Ints, words: Sequence[str], names: tuple[str, ...]) -> ObjectGroups:
    """The commonest combinations as groups, in that order, and the rest."""
    common, group_of = commonest(np.bincount(codes, minlength=len(words)))
    group = group_of[codes]
    texts = [words[code] for code in common.tolist()]
    if (group == len(common)).any():
        texts.append(REST if len(common) else EVERYTHING)
    return ObjectGroups(group, tuple(texts), names)


def commonest(counts: Ints) -> tuple[Ints, Ints]:
    """The 24 commonest codes of at least 60 objects, and the group of each code.

    All other codes are in one last group.
    """
    order = np.argsort(-counts, kind="stable")[:MOST_GROUPS]
    common = order[counts[order] >= LEAST_OBJECTS]
    group_of = np.full(len(counts), len(common), np.int64)
    group_of[common] = np.arange(len(common))
    return common, group_of


def grouping(attributes: Mapping[str, Attribute], objects: int) -> ObjectGroups:
    """Groups made of the three attributes that have the fewest values, and hold more than one.

    Few large groups are known better than many small ones. Lifetimes are not considered: for groups
    that predict how long objects are listed see `informative_groups`.

    >>> grouping({"make": Labels.of(["BMW"] * 60 + ["Fiat"] * 61)}, 121).names
    ('Fiat', 'BMW')
    """
    return groups_by(attributes, few_values(attributes)[:MOST_ATTRIBUTES], objects)


def few_values(attributes: Mapping[str, Attribute]) -> list[str]:
    """Attributes of 2 to 50 values, the fewest first; those that most objects lack are left out.

    >>> few_values({"make": Labels.of(["BMW", "Fiat"]), "country": Labels.of(["PL", "PL"])})
    ['make']
    """
    few: list[tuple[int, str]] = []
    for name, column in attributes.items():
        values = _value_count(column)
        if 1 < values <= MOST_VALUES and np.mean(column.missing) <= 0.5:  # noqa: PLR2004 - most
            few.append((values, name))
    return [name for _, name in sorted(few, key=lambda pair: pair[0])]


def _value_count(column: Attribute) -> int:
    """How many different values there are, or more than are of use."""
    if isinstance(column, Labels):
        seen = np.bincount(column.codes + 1, minlength=len(column.words) + 1)
        return int(np.count_nonzero(seen))
    if column.dated:
        return MOST_VALUES + 1
    # A sample of the values tells a measure from a kind without sorting a million numbers.
    some = np.unique(column.numbers[: 20 * MOST_VALUES])
    return len(np.unique(column.numbers)) if len(some) <= MOST_VALUES else len(some)


def attribute_of(codes: Ints, words: Sequence[str]) -> Attribute:
    """Column of texts as numbers where all are, as true and false where all are, else as labels.

    >>> attribute_of(np.array([0, 1, 2]), ["1", "", "2.5"]).numbers
    array([1. , nan, 2.5])
    """
    texts = [word.strip() for word in words]
    numbers = [_number(text) for text in texts]
    if any(texts) and all(number is not None for number in numbers):
        return Numbers(np.array(numbers, np.float64)[codes])
    if all(text.lower() in _FLAGS for text in texts):
        texts = [text.lower() for text in texts]
    found = Labels.of(texts)
    return Labels(found.codes[codes] if texts else codes, found.words)


def _number(text: str) -> float | None:
    """A finite number, nan for an empty cell, None for anything else."""
    if not text:
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and "_" not in text else None
