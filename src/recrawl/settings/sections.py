"""The parts of the settings: the top of the file, tables and blocks, and the keys of each.

Pure.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidParameter, InvalidSettings, without_logins
from recrawl.settings.access_keys import ACCESS, NETWORK
from recrawl.settings.keys import BLOCK, BLOCKS, TOP
from recrawl.settings.keys import TABLES as _TABLES
from recrawl.settings.listing_keys import LISTING
from recrawl.settings.notify_keys import NOTIFY
from recrawl.settings.push_keys import PUSH
from recrawl.settings.webhook_keys import WEBHOOK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.settings.keys import Key

TOP_TITLE = "the top of the file"
PLAIN_TITLE = "plain settings"
TABLES: Mapping[str, Mapping[str, Key]] = {**_TABLES, "network": NETWORK, "push": PUSH}
SITE_KEYS: Mapping[str, Key] = {**BLOCK, **ACCESS}
BLOCK_KEYS: Mapping[str, Mapping[str, Key]] = dict.fromkeys(BLOCKS, SITE_KEYS) | {
    "listing": LISTING,
    "webhook": WEBHOOK,
    "notify": NOTIFY,
}
# A file has a place, which plain settings have not.
PLAIN_KEYS = {key: TOP[key] for key in TOP if key != "weights"} | {**TABLES["politeness"]}
TITLES = {table: f"[{table}]" for table in TABLES} | {kind: f"[[{kind}]]" for kind in BLOCK_KEYS}

_SHOWN = 60  # characters of a value in a message
_ALIKE = 0.9  # keys that differ in a letter
_KEYS = {TOP_TITLE: TOP, PLAIN_TITLE: PLAIN_KEYS} | {
    title: BLOCK_KEYS.get(name) or TABLES[name] for name, title in TITLES.items()
}


def read_value(keys: Mapping[str, Key], key: str, value: object, title: str) -> Any:  # noqa: ANN401
    """What a key of a part is read as; `InvalidSettings` for one that it has not, or cannot have.

    >>> read_value(SITE_KEYS, "links", -1, "[[site]]")
    Traceback (most recent call last):
    recrawl.errors.InvalidSettings: links must be a whole number, at least 0 (got -1)
    """
    if key not in keys:
        raise InvalidSettings(_unknown(key, title))
    try:
        found = keys[key].read(value)
    except InvalidParameter as error:  # says more than a rule can
        raise InvalidSettings(str(error)) from None
    if found is None:
        got = shown(value)
        if title == TITLES["notify"] and "://" in got:
            got = "an address, which is not shown"
        raise InvalidSettings(f"{key} must be {keys[key].rule} (got {got})")
    return found


def _unknown(key: str, title: str) -> str:
    """Message for an unknown key, with a suggestion."""
    said = f"unknown key {shown(key)} in {title}"
    homes = [home for home, keys in _KEYS.items() if key in keys and home != PLAIN_TITLE]
    if homes:
        like = get_close_matches(key, _KEYS[title], n=1, cutoff=_ALIKE)
        or_this = f', or did you mean "{like[0]}"?' if like else ""
        return f"{said}; it belongs to {' or '.join(homes)}{or_this}"
    if key in TITLES:
        return f"{said}; {TITLES[key]} is a table of its own"
    names = {each: f'"{each}"' for each in _KEYS[title]} | (TITLES if title == TOP_TITLE else {})
    near = get_close_matches(key.lower(), names, n=1)
    if near:
        return f"{said}; did you mean {names[near[0]]}?"
    return f"{said}; expected one of {', '.join(_KEYS[title])}"


def shown(value: object) -> str:
    """A value on one line that a terminal shows as it is."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = without_logins(text if text.isprintable() else json.dumps(value, default=str))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
