"""Weights of single pages: how often each is read, searched for or sold, as a file counts it.

A page is known by a hash of its address, so a million pages take 16 MB, however long their
addresses are:

    keys     12  57  91     hashes of addresses, rising
    weight    3  40   1     of each

Two of a million addresses have the same hash with a chance of 3 in a hundred million.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.parse.many_addresses import canonical_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Words

_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True, eq=False)
class PageWeights:
    """Weights of pages.

    Args:
        keys: Hash of the name of each page, rising.
        weight: Weight of each, above 0.
        seed: Seed of the hashes, which nobody knows who names pages.
        addresses: How many rows named an address, and not something else.

    Examples:
        Rows of one page add up:

        >>> names = Texts.of(["https://a.org", "https://b.org/", "https://A.org/"])
        >>> weights = PageWeights.of(names, np.array([2.0, 7.0, 3.0]), seed=1)
        >>> found = weights.find(Texts.of(["https://a.org/", "https://b.org/", "/c"]))
        >>> found, weights.or_least(found)
        (array([ 5.,  7., nan]), array([5., 7., 5.]))
    """

    keys: Words
    weight: Floats
    seed: int
    addresses: int

    @classmethod
    def of(cls, names: Texts, weight: Floats, *, seed: int) -> PageWeights:
        """Weights of rows, each with the name of its page."""
        spelled, are_addresses = _spelled(names)
        rows = cls(_hashed(spelled, seed), weight, seed, are_addresses)
        return cls.joined([rows])

    @classmethod
    def joined(cls, parts: Sequence[PageWeights]) -> PageWeights:
        """Weights of several parts with the same seed; those of one page are summed."""
        keys, page = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        weight = np.zeros(len(keys))
        np.add.at(weight, page, np.concatenate([part.weight for part in parts]))
        return cls(keys, weight, parts[0].seed, sum(part.addresses for part in parts))

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.keys)

    @property
    def least(self) -> float:
        """Weight of the page that matters least."""
        return float(self.weight.min())

    @property
    def most(self) -> float:
        """Weight of the page that matters most."""
        return float(self.weight.max())

    def find(self, names: Texts) -> Floats:
        """Weight of each page, whatever the spelling of its address; nan where it is not named."""
        keys = _hashed(_spelled(names)[0], self.seed)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.weight[place], np.nan)

    def or_least(self, found: Floats) -> Floats:
        """What `find` gave, with the least weight for pages that are not named."""
        return np.where(np.isnan(found), self.least, found)

    def count_named(self, names: Texts) -> int:
        """How many of the pages in it are among some."""
        keys = _hashed(_spelled(names)[0], self.seed)
        return int(np.count_nonzero(np.isin(self.keys, keys)))


class WeightsFile(Protocol):
    """A file of weights that settings name; nothing is read before it is asked for."""

    @property
    def name(self) -> str:
        """What people are told of it as."""

    @property
    def digest(self) -> str:
        """Differs where its bytes do. Quick: what they say is not read."""

    def read(self) -> PageWeights:
        """What it says, read once."""


def _spelled(names: Texts) -> tuple[Texts, int]:
    """Names with one spelling for each address, and how many are addresses."""
    addresses, known = canonical_texts(names)
    if known.all():
        return addresses, len(names)
    rows = np.arange(len(names)) + np.where(known, 0, len(names))
    return Texts.joined([addresses, names]).take(rows), int(np.count_nonzero(known))


def _hashed(names: Texts, seed: int) -> Words:
    """One hash of two: texts that share the one by design do not share the other."""
    key, check = names.hashes(seed)
    return key ^ check.astype(np.uint64) << _HALF
