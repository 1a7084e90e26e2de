"""Every key of a `[[listing]]`: its parser, and the rule that errors quote.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidInput
from recrawl.listings.live.rules import LONGEST, RECALL, SHORTEST, ListingRule
from recrawl.parse.items.item import Layout, split_selector
from recrawl.parse.items.json_paths import JsonPath
from recrawl.parse.items.paging import PageParameter
from recrawl.settings.keys import BLOCK, Key, addresses, is_selector

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_NAME = 100
_LEAST_CONFIDENCE = 0.5


def _name(value: object) -> str | None:
    fits = isinstance(value, str) and value.isprintable() and value.strip() == value
    return value if fits and 0 < len(str(value)) <= _LONGEST_NAME else None  # type: ignore[return-value] # a text, as `fits` says


def _items(value: object) -> str | None:
    return value if isinstance(value, str) and (is_selector(value) or _is_path(value)) else None


def _part(value: object) -> str | None:
    """A part within an item: a selector, an attribute or both; or a path."""
    if not isinstance(value, str) or not value.strip():
        return None
    where, attribute = split_selector(value)
    fits = is_selector(where) if where else bool(attribute)
    return value if fits or _is_path(value) else None


def _is_path(text: str) -> bool:
    try:
        JsonPath.read(text)
    except InvalidInput:
        return False
    return True


def _parts(value: object) -> dict[str, str] | None:
    named = isinstance(value, dict) and all(
        isinstance(name, str) and name.isprintable() and name.strip() == name and name
        for name in value
    )
    if not named or any(_part(part) is None for part in value.values()):  # type: ignore[attr-defined] # a table
        return None
    return dict(value)  # type: ignore[call-overload, no-any-return] # a table of texts


def _form(value: object) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(value, dict):
        return None
    whole = all(
        isinstance(each, str | int) and not isinstance(each, bool) for each in value.values()
    )
    return tuple((str(name), str(each)) for name, each in value.items()) if whole else None


def _counted(value: object) -> PageParameter | None:
    return PageParameter.read(value) if isinstance(value, str) else None


def _share(value: object) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value < 1 else None  # type: ignore[operator, arg-type] # a number


def _confidence(value: object) -> float | None:
    share = _share(value)
    return share if share is not None and share >= _LEAST_CONFIDENCE else None


_PART_RULE = 'a CSS selector such as "h3" or "a@href", or a path of JSON such as "id"'

LISTING: Mapping[str, Key] = {
    "name": Key(_name, "a text of up to 100 letters in one line"),
    "address": Key(addresses, "an address that begins with http:// or https://, or a list of such"),
    "form": Key(_form, 'a table of texts such as { q = "baker" }'),
    "page": Key(_counted, "a parameter that counts pages such as p, p=0 or start=0+20"),
    "next": Key(_part, _PART_RULE),
    "items": Key(_items, 'a CSS selector such as "li.job", or a path of JSON such as "$.jobs[*]"'),
    "key": Key(_part, _PART_RULE),
    "attributes": Key(_parts, 'a table of selectors or paths such as { title = "h3" }'),
    "detail": Key(_part, _PART_RULE),
    "weight": BLOCK["weight"],
    "watch": BLOCK["watch"],
    "ignore": BLOCK["ignore"],
    "precision": Key(_share, "a number between 0 and 1 such as 0.9"),
    "recall": Key(_share, "a number between 0 and 1 such as 0.9"),
    "confidence": Key(_confidence, "a number from 0.5 to below 1"),
    "minimum": BLOCK["minimum"],
    "maximum": BLOCK["maximum"],
    "hours": BLOCK["hours"],
    "local": BLOCK["local"],
}
NEEDED = ("name", "address", "items", "key")
OF_DETAILS = (
    "weight",
    "watch",
    "ignore",
)  # what a listing asks for the detail pages of its objects


def listing_rule(values: Mapping[str, Any]) -> ListingRule:
    """Rule of a listing from the values of its block.

    >>> from recrawl.listings.live.rules import ListingRule
    >>> found = listing_rule({"name": "jobs", "address": (), "items": "li", "key": "a@href"})
    >>> found.recall, found.precision
    (0.9, None)
    """
    same = ("name", "form", "confidence", "hours", "local", *OF_DETAILS)
    aimed = "precision" in values or "recall" in values
    maximum = values.get("maximum", max(LONGEST, values.get("minimum", 0.0)))
    return ListingRule(
        **{key: values[key] for key in same if key in values},
        addresses=values["address"],
        layout=Layout(
            values["items"],
            values["key"],
            values.get("attributes", {}),
            values.get("next", ""),
            values.get("detail", ""),
        ),
        counted=values.get("page"),
        precision=values.get("precision"),
        recall=values.get("recall", None if aimed else RECALL),
        minimum=values.get("minimum", min(SHORTEST, maximum)),
        maximum=maximum,
    )
