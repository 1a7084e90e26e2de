"""Items on one page of a listing, each with a key and attributes.

Where items are, and the parts within them, is told by CSS selectors for HTML and by paths for
JSON. A part may end in `@attribute`, which stands for that attribute of the element: `a@href`, or
`@data-id` of the item itself. Addresses in `href` and `src` are made whole, so that they are the
same on every page of a list.

All text comes from strangers: white space is collapsed, control characters go, and what is very
long is cut.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_KEY = 1_000
LONGEST_VALUE = 2_000
MOST_ITEMS = 50_000  # of one page
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_PART = re.compile(r"(?P<where>.*?)(?:@(?P<attribute>[A-Za-z_][\w:.-]*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where items stand on the pages of a listing.

    Args:
        items: Selector or path of the items.
        key: Part that names an item, for ever the same one.
        attributes: Parts that tell what an item is like, by name.
        following: Part that leads to the next page of the list; empty where there is none.
        detail: Part that is the address of an item's detail page; empty where none is wanted.
    """

    items: str
    key: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    following: str = ""
    detail: str = ""

    @property
    def selectors(self) -> tuple[str, ...]:
        """All of them."""
        return self.items, self.key, *self.attributes.values(), self.following, self.detail


@dataclass(frozen=True, slots=True)
class Items:
    """What was read of one page of a list.

    Args:
        objects: Attributes of each item, by its key, in the order of the page.
        count: Items that were found, with those that lack a key or repeat one.
        nameless: How many of them have no key.
        following: What leads to the next page, as it is written; empty where there is nothing.
        problem: Why nothing could be read, the end of a sentence; empty where something could.
        details: Canonical address of each item's detail page, by its key; empty for one without.
            Nothing where none are wanted.
    """

    objects: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    count: int = 0
    nameless: int = 0
    following: str = ""
    problem: str = ""
    details: Mapping[str, str] = field(default_factory=dict, repr=False)


def split_selector(part: str) -> tuple[str, str]:
    """Split `selector@attribute`; either may be empty.

    >>> split_selector("a.title@href"), split_selector("h3"), split_selector("@data-id")
    (('a.title', 'href'), ('h3', ''), ('', 'data-id'))
    >>> split_selector('a[href*="@x"]')
    ('a[href*="@x"]', '')
    """
    match = _PART.fullmatch(part.strip())
    assert match is not None  # noqa: S101 - it matches whatever there is
    return match["where"].strip(), match["attribute"] or ""


def clean(text: str, longest: int = LONGEST_VALUE) -> str:
    r"""Text in one line without control characters, cut where it is very long.

    Half characters, which JSON can write and no file can hold, become question marks.

    >>> clean(" Two\n words\x00\ud800")
    'Two words ?'
    """
    whole = text[: 4 * longest].encode("utf-8", "replace").decode()
    return _CONTROL.sub(" ", whole).strip()[:longest].rstrip()


def collect_items(
    rows: list[tuple[str, dict[str, str]]], following: str = "", details: Sequence[str] = ()
) -> Items:
    """Items from keys and attributes in page order; of repeated keys the first counts.

    Args:
        rows: Key and attributes of each.
        following: What leads to the next page.
        details: Address of the detail page of each; none where none are wanted.

    Examples:
        >>> collect_items([("7", {"city": "Bern"}), ("", {}), ("7", {})])
        Items(objects={'7': {'city': 'Bern'}}, count=3, nameless=1, following='', problem='')
    """
    objects: dict[str, dict[str, str]] = {}
    nameless = 0
    for key, attributes in rows:
        if key:
            objects.setdefault(key, attributes)
        else:
            nameless += 1
    pages: dict[str, str] = {}
    for (key, _), detail in zip(rows, details, strict=False):
        if key:
            pages.setdefault(key, detail)
    return Items(objects, len(rows), nameless, following, details=pages)
