"""Items of a page of a listing in JSON.

Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidParameter
from recrawl.parse.addresses import canonical
from recrawl.parse.items.item import (
    LONGEST_KEY,
    LONGEST_VALUE,
    MOST_ITEMS,
    Items,
    clean,
    collect_items,
)
from recrawl.parse.items.json_paths import EVERY, JsonPath

if TYPE_CHECKING:
    from recrawl.parse.items.item import Layout

_BEGINNINGS = ("{", "[")


def looks_like_json(content_type: str, page: str) -> bool:
    """Whether a page is JSON: by its media type, else by how it begins.

    >>> looks_like_json("application/json", ""), looks_like_json("text/html", "<p>{}")
    (True, False)
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("application/json", "text/json") or kind.endswith("+json"):
        return True
    return "html" not in kind and "xml" not in kind and page.lstrip().startswith(_BEGINNINGS)


def read_json_items(page: str, layout: Layout, address: str = "") -> Items:
    """Items of a page in JSON.

    A path to a list without `[*]` at its end means the elements of the list.

    Args:
        page: The page.
        layout: Where items are in it.
        address: Address of the page, for addresses that are written as seen from it.

    Examples:
        >>> from recrawl.parse.items.item import Layout
        >>> layout = Layout("jobs", key="id", attributes={"city": "at.city"}, following="next")
        >>> read_json_items('{"jobs": [{"id": 7, "at": {"city": "Bern"}}], "next": "?p=2"}', layout)
        Items(objects={'7': {'city': 'Bern'}}, count=1, nameless=0, following='?p=2', problem='')
    """
    try:
        document = json.loads(page)
    except RecursionError:
        return Items(problem="must be JSON that is not nested so deep")
    except ValueError:  # also a number of thousands of digits
        return Items(problem="must be JSON (it is not)")
    try:
        items = JsonPath.read(layout.items)
        key = JsonPath.read(layout.key)
        attributes = {name: JsonPath.read(part) for name, part in layout.attributes.items()}
        following = JsonPath.read(layout.following) if layout.following else None
        detail = JsonPath.read(layout.detail) if layout.detail else None
    except InvalidParameter as error:
        return Items(problem=f"must not be JSON, or {error}")
    found = items.all(document)
    if len(found) == 1 and isinstance(found[0], list) and items.steps[-1:] != (EVERY,):
        found = found[0]
    if len(found) > MOST_ITEMS:
        return Items(problem=f"must list at most {MOST_ITEMS:,} items (got {len(found):,})")
    rows = [
        (
            _text(key.first(item), LONGEST_KEY + 1),
            {name: _text(path.first(item)) for name, path in attributes.items()},
        )
        for item in found
    ]
    rows = [(each if len(each) <= LONGEST_KEY else "", values) for each, values in rows]
    links = [_text(detail.first(item)) for item in found] if detail else []
    details = [(canonical(link, address) or "") if link else "" for link in links]
    return collect_items(rows, _text(following.first(document)) if following else "", details)


def _text(value: Any, longest: int = LONGEST_VALUE) -> str:  # noqa: ANN401 - whatever JSON holds
    """A value as text: of an object or a list as JSON; nothing has none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value, longest)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return clean(json.dumps(value), longest)
    return clean(json.dumps(value, ensure_ascii=False, sort_keys=True)[: 4 * longest], longest)
